package transcript

import (
	"cmp"
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/store"
)

const (
	defaultHits = 50
	// searchFor is how long a search looks for more: what it has by then is its
	// answer.
	searchFor = 150 * time.Millisecond
	// candidates is how many turns are taken from the index at first: if there
	// are more, it is asked for each session, so that one session's turns don't
	// hide the others. underOne is how many it is asked for then.
	candidates   = 200
	underOne     = 10
	snippetRunes = 60 // at either side
	maxTerms     = 8
)

// Search finds sessions by title and content, without regard to case: all words
// of the query must be in the title, or in one turn. It returns one hit a
// session, at most limit (0: 50): first those whose title matches, by their
// last use, then the others, the newest turn first. After about 150 ms
// it returns what it has found.
func (t *Transcript) Search(ctx context.Context, query string, limit int) ([]protocol.SearchHit, error) {
	if limit <= 0 {
		limit = defaultHits
	}
	terms := strings.Fields(fold(query))
	if len(terms) == 0 {
		return []protocol.SearchHit{}, nil
	}
	sessions, err := t.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	s := search{
		t: t, terms: terms[:min(len(terms), maxTerms)], limit: limit, until: time.Now().Add(t.searchFor),
		sessions: sessions, byID: map[string]*protocol.Session{}, hit: map[string]bool{}, hits: []protocol.SearchHit{},
	}
	for i := range sessions {
		s.byID[sessions[i].ID] = &sessions[i]
	}
	s.titles()
	if err := s.openTurns(ctx); err != nil {
		return nil, err
	}
	if t.index == nil {
		err = s.walk(ctx)
	} else {
		err = s.indexed(ctx)
	}
	return s.hits, err
}

type search struct {
	t        *Transcript
	terms    []string
	limit    int
	until    time.Time
	sessions []protocol.Session // the last used first
	byID     map[string]*protocol.Session
	hit      map[string]bool // sessions with a hit
	hits     []protocol.SearchHit
}

func (s *search) over() bool { return len(s.hits) >= s.limit || time.Now().After(s.until) }

func (s *search) add(session *protocol.Session, item, snippet string) {
	if len(s.hits) < s.limit {
		s.hit[session.ID] = true
		s.hits = append(s.hits, protocol.SearchHit{SessionID: session.ID, Title: session.Title, Item: item, Snippet: snippet})
	}
}

func (s *search) titles() {
	for i := range s.sessions {
		if containsAll(fold(s.sessions[i].Title), s.terms) {
			s.add(&s.sessions[i], "", "")
		}
	}
}

// openTurns looks at the turns under way: they are in no index yet.
func (s *search) openTurns(ctx context.Context) error {
	for i := range s.sessions {
		session := &s.sessions[i]
		if session.Turn == nil || s.hit[session.ID] {
			continue
		}
		if s.over() {
			return nil
		}
		items, err := s.t.OpenItems(ctx, session.Turn.ID)
		if err != nil {
			return err
		}
		s.match(session, items)
	}
	return nil
}

// indexed asks the index, and looks at the turns that it names.
func (s *search) indexed(ctx context.Context) error {
	if err := s.t.catchUp(ctx, indexAtSearch); err != nil {
		return err
	}
	s.until = time.Now().Add(s.t.searchFor)
	found, err := s.t.index.Find(ctx, s.terms, 0, candidates)
	if err != nil {
		return err
	}
	if err := s.look(ctx, found); err != nil || len(found) < candidates {
		return err
	}
	for i := range s.sessions {
		session := &s.sessions[i]
		if s.hit[session.ID] {
			continue
		}
		if s.over() {
			return nil
		}
		found, err := s.t.index.FindUnder(ctx, session.ID+".", s.terms, underOne)
		if err != nil {
			return err
		}
		if err := s.look(ctx, found); err != nil {
			return err
		}
	}
	return nil
}

func (s *search) look(ctx context.Context, found []store.Found) error {
	for _, f := range found {
		if s.over() {
			return nil
		}
		if err := s.candidate(ctx, f.Key); err != nil {
			return err
		}
	}
	return nil
}

// candidate looks at a committed turn, for the session that made it or, if that
// is gone, for a fork that goes on from it.
func (s *search) candidate(ctx context.Context, turn string) error {
	owner, ok := s.byID[SessionOfTurn(turn)]
	if ok {
		if s.hit[owner.ID] {
			return nil
		}
		_, err := s.inTurn(ctx, owner, turn)
		return err
	}
	for i := range s.sessions {
		fork := &s.sessions[i]
		if fork.Parent == "" || s.hit[fork.ID] {
			continue
		}
		if there, err := s.inTurn(ctx, fork, turn); err != nil || there {
			return err
		}
	}
	return nil
}

// inTurn looks at a turn if it is part of the session's conversation (it may
// have been rewound).
func (s *search) inTurn(ctx context.Context, session *protocol.Session, turn string) (there bool, err error) {
	if session.Head == "" {
		return false, nil
	}
	_, c, ok, err := s.t.FindTurn(ctx, store.ID(session.Head), turn)
	if err != nil || !ok {
		return false, err
	}
	items, err := s.t.CommitItems(ctx, c)
	if err != nil {
		return false, err
	}
	s.match(session, items)
	return true, nil
}

// walk looks through conversations without an index, from their ends.
func (s *search) walk(ctx context.Context) error {
	for i := range s.sessions {
		session := &s.sessions[i]
		for id := store.ID(session.Head); id != "" && !s.hit[session.ID]; {
			if s.over() {
				return nil
			}
			c, err := s.t.GetCommit(ctx, id)
			if err != nil {
				return err
			}
			items, err := s.t.CommitItems(ctx, c)
			if err != nil {
				return err
			}
			s.match(session, items)
			id = c.Parent
		}
	}
	return nil
}

// match adds a hit if all terms are in the items of a turn: at the item with
// most of them.
func (s *search) match(session *protocol.Session, items []protocol.Item) {
	missing := map[string]bool{}
	for _, term := range s.terms {
		missing[term] = true
	}
	best, bestText, most := "", "", 0
	// What was said comes first: it is shown where both have as many terms.
	for _, textOf := range []func(*protocol.Item) []string{searchText, printedText} {
		for i := range items {
			for _, text := range textOf(&items[i]) {
				folded, n := fold(text), 0
				for _, term := range s.terms {
					if strings.Contains(folded, term) {
						delete(missing, term)
						n++
					}
				}
				if n > most {
					best, bestText, most = items[i].ID, text, n
				}
			}
		}
	}
	if len(missing) == 0 {
		s.add(session, best, snippet(bestText, s.terms))
	}
}

func containsAll(folded string, terms []string) bool {
	for _, term := range terms {
		if !strings.Contains(folded, term) {
			return false
		}
	}
	return true
}

// fold maps each character to one, so that places in the folded text are
// places, in characters, in the text.
func fold(text string) string { return strings.Map(unicode.ToLower, text) }

// snippet is the text around the first term in it, on one line.
func snippet(text string, terms []string) string {
	folded := fold(text)
	at := -1
	for _, term := range terms {
		if i := strings.Index(folded, term); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	runes := []rune(text)
	middle := utf8.RuneCountInString(folded[:max(at, 0)])
	from, to := max(0, middle-snippetRunes), min(len(runes), middle+snippetRunes)
	out := strings.Join(strings.Fields(string(runes[from:to])), " ")
	if from > 0 {
		out = "…" + out
	}
	if to < len(runes) {
		out += "…"
	}
	return cmp.Or(out, "…")
}

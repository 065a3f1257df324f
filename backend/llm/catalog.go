package llm

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"temporal-sandbox-agent/backend/protocol"
)

// DefaultModel is what the OpenAI provider answers with when nothing else was
// chosen.
const DefaultModel = "gpt-5.4-mini"

// price is in US dollars per million tokens.
type price struct {
	in, cached, out float64
	// upTo is the largest input, in tokens, that these prices hold for; 0 is
	// any.
	upTo int64
}

// facts are what is known of a public OpenAI model.
type facts struct {
	// window is what a request may hold, in tokens; 0 when unknown.
	window  int64
	efforts []string
	images  bool
	price   *price
}

// known returns the facts of a model by its id. Prices are only given where
// they are certain; a newer model of a known family gets what the family has in
// common.
func known(id string) facts {
	base := baseModel(id)
	var (
		classic = []string{"minimal", "low", "medium", "high"}
		three   = []string{"low", "medium", "high"}
		four    = []string{"low", "medium", "high", "xhigh"}
		five    = []string{"none", "low", "medium", "high", "xhigh"}
		six     = []string{"none", "low", "medium", "high", "xhigh", "max"}
	)
	const (
		// Their 400,000 are 272,000 in and 128,000 out.
		mid  = 272_000
		long = 922_000
	)
	switch base {
	case "gpt-5":
		return facts{mid, classic, true, &price{1.25, 0.125, 10, 0}}
	case "gpt-5-mini":
		return facts{mid, classic, true, &price{0.25, 0.025, 2, 0}}
	case "gpt-5-nano":
		return facts{mid, classic, true, &price{0.05, 0.005, 0.40, 0}}
	case "gpt-5-codex":
		return facts{mid, three, true, &price{1.25, 0.125, 10, 0}}
	case "gpt-5.1":
		return facts{mid, []string{"none", "low", "medium", "high"}, true, &price{1.25, 0.125, 10, 0}}
	case "gpt-5.1-codex":
		return facts{mid, three, true, &price{1.25, 0.125, 10, 0}}
	case "gpt-5.1-codex-max":
		return facts{mid, four, true, &price{1.25, 0.125, 10, 0}}
	case "gpt-5.1-codex-mini":
		return facts{mid, three, true, &price{0.25, 0.025, 2, 0}}
	case "gpt-5.2":
		return facts{mid, five, true, &price{1.75, 0.175, 14, 0}}
	case "gpt-5.2-codex", "gpt-5.3-codex":
		return facts{mid, four, true, &price{1.75, 0.175, 14, 0}}
	case "gpt-5.4":
		return facts{long, five, true, &price{2.50, 0.25, 15, 272_000}}
	case "gpt-5.4-mini":
		return facts{mid, five, true, &price{0.75, 0.075, 4.50, 0}}
	case "gpt-5.4-nano":
		return facts{mid, five, true, &price{0.20, 0.02, 1.25, 0}}
	case "gpt-5.6", "gpt-5.6-sol", "gpt-5.6-terra", "gpt-5.6-luna":
		return facts{long, six, true, nil}
	case "gpt-4.1":
		return facts{1_047_576, nil, true, &price{2, 0.50, 8, 0}}
	case "gpt-4.1-mini":
		return facts{1_047_576, nil, true, &price{0.40, 0.10, 1.60, 0}}
	case "gpt-4.1-nano":
		return facts{1_047_576, nil, true, &price{0.10, 0.025, 0.40, 0}}
	case "gpt-4o":
		return facts{128_000, nil, true, &price{2.50, 1.25, 10, 0}}
	case "gpt-4o-mini":
		return facts{128_000, nil, true, &price{0.15, 0.075, 0.60, 0}}
	case "o1":
		return facts{200_000, three, true, &price{15, 7.50, 60, 0}}
	case "o3":
		return facts{200_000, three, true, &price{2, 0.50, 8, 0}}
	case "o3-mini":
		return facts{200_000, three, false, &price{1.10, 0.55, 4.40, 0}}
	case "o4-mini":
		return facts{200_000, three, true, &price{1.10, 0.275, 4.40, 0}}
	}
	switch {
	case strings.HasSuffix(base, "-pro") && reasoningName().MatchString(base):
		return facts{efforts: []string{"high"}, images: true}
	case reasoningName().MatchString(base):
		return facts{efforts: three, images: true}
	case strings.HasPrefix(base, "gpt-4"):
		return facts{images: true}
	case strings.Contains(base, "gpt-oss"):
		return facts{efforts: three}
	}
	return facts{}
}

var (
	reasoningName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(gpt-([5-9]|[1-9]\d)(\.\d+)?(-|$)|o[1-9](-|$))`) })
	snapshotDate  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-20\d\d-\d\d-\d\d$`) })
)

// baseModel takes the date of a snapshot and the marks of a fine-tune away.
func baseModel(id string) string {
	if rest, ok := strings.CutPrefix(id, "ft:"); ok {
		id, _, _ = strings.Cut(rest, ":")
	}
	id = snapshotDate().ReplaceAllString(id, "")
	if strings.HasSuffix(id, "chat-latest") {
		return "" // these neither reason on demand nor call tools well
	}
	return id
}

func modelInfo(id string) protocol.ModelInfo {
	f := known(id)
	return protocol.ModelInfo{ID: id, Window: f.window, Efforts: f.efforts, Images: f.images}
}

// usable lists the public models that are worth offering before the account's
// own list was read.
func usable() []protocol.ModelInfo {
	ids := []string{DefaultModel, "gpt-5.4", "gpt-5.4-nano", "gpt-5.3-codex", "gpt-5.2", "gpt-5-mini", "gpt-4.1"}
	list := make([]protocol.ModelInfo, 0, len(ids))
	for _, id := range ids {
		list = append(list, modelInfo(id))
	}
	return list
}

// cost fills in what u costs at p, or marks it as unpriced.
func cost(u protocol.Usage, p *price, cacheWrites int64) protocol.Usage {
	// Models that charge for writing the cache do so at a rate of their own.
	if p == nil || cacheWrites > 0 || (p.upTo > 0 && u.InputTokens > p.upTo) {
		u.Unpriced = true
		return u
	}
	fresh := max(u.InputTokens-u.CachedTokens, 0)
	// Dollars per million tokens are millionths of a dollar per token.
	micros := float64(fresh)*p.in + float64(u.CachedTokens)*p.cached + float64(u.OutputTokens)*p.out
	u.CostMicros = int64(micros + 0.5)
	return u
}

// efforts from the least to the most.
var effortOrder = [...]string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}

// nearestEffort returns the supported effort that is nearest to the wanted one:
// a session keeps its effort when its model changes. Empty is the model's own.
func nearestEffort(want string, supported []string) string {
	if want == "" || len(supported) == 0 || slices.Contains(supported, want) {
		if len(supported) == 0 {
			return ""
		}
		return want
	}
	at := slices.Index(effortOrder[:], want)
	if at < 0 {
		return ""
	}
	best, bestGap := "", len(effortOrder)
	for _, s := range supported {
		if i := slices.Index(effortOrder[:], s); i >= 0 && abs(i-at) < bestGap {
			best, bestGap = s, abs(i-at)
		}
	}
	return best
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

var (
	chatName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(gpt-([4-9]|[1-9]\d)|o[1-9]|codex-|ft:gpt-)`) })
	notChat  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`audio|realtime|transcribe|tts|image|search|embedding|instruct|chat-latest|deep-research|computer-use|moderation|vision-preview|^gpt-4(-32k)?(-\d{4})?(-preview)?$|^o1-(mini|preview)`)
	})
)

// forAgents keeps the models of OpenAI's list that can hold a conversation with
// tools: the default first, then the newest, dated snapshots last.
func forAgents(all []listedModel) []listedModel {
	var out []listedModel
	for _, m := range all {
		if chatName().MatchString(m.ID) && !notChat().MatchString(m.ID) {
			out = append(out, m)
		}
	}
	slices.SortStableFunc(out, func(a, b listedModel) int {
		return cmp.Or(
			cmp.Compare(rank(a.ID), rank(b.ID)),
			cmp.Compare(b.made(), a.made()),
			cmp.Compare(a.ID, b.ID),
		)
	})
	return out
}

func rank(id string) int {
	switch {
	case id == DefaultModel:
		return 0
	case snapshotDate().MatchString(id):
		return 2
	default:
		return 1
	}
}

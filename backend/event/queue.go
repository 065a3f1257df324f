package event

import (
	"temporal-sandbox-agent/backend/protocol"
)

// mergedBytes is how much text merged pieces may have together: beyond it a
// new event begins, so that no event grows without bounds.
const mergedBytes = 256 << 10

// queue holds events in order. It is not safe for concurrent use.
type queue struct {
	waiting []pending
	bytes   int
	// last is where the newest piece of a stream waits. A session's entries
	// are forgotten when an event of another kind comes: nothing may be merged
	// to before it.
	last map[stream]int
}

// stream names pieces that continue each other.
type stream struct {
	session string
	item    string
	attempt int // 0 for a tool's output
	channel protocol.Channel
}

// pending is an event that waits. Text gathers in text once there is more than
// one piece; the event that was published is shared and stays as it was.
type pending struct {
	ev   protocol.Event
	text []byte
	// end is the offset that the next piece must have.
	end int64
}

// put adds ev, and tells whether it must be delivered at once.
func (q *queue) put(ev protocol.Event) (urgent bool) {
	key, offset, text, streamed := piece(&ev)
	if streamed {
		if q.merge(key, offset, text) {
			return false
		}
	} else {
		q.barrier(ev.SessionID)
	}
	size := eventBytes(&ev)
	if len(q.waiting) >= maxWaiting || q.bytes+size > maxWaitingBytes && len(q.waiting) > 0 {
		q.overflow()
		urgent = true
	}
	q.waiting = append(q.waiting, pending{ev: ev, end: offset + int64(len(text))})
	q.bytes += size
	if streamed {
		if q.last == nil {
			q.last = map[stream]int{}
		}
		q.last[key] = len(q.waiting) - 1
		return urgent
	}
	return urgent || isUrgent(&ev)
}

// merge appends the text to the piece before it, if that waits.
func (q *queue) merge(key stream, offset int64, text string) bool {
	at, ok := q.last[key]
	if !ok {
		return false
	}
	p := &q.waiting[at]
	if p.end != offset || q.bytes+len(text) > maxWaitingBytes {
		return false
	}
	if p.text == nil {
		_, _, first, _ := piece(&p.ev)
		if len(first)+len(text) > mergedBytes {
			return false
		}
		p.text = append(make([]byte, 0, 2*(len(first)+len(text))), first...)
	}
	if len(p.text)+len(text) > mergedBytes {
		return false
	}
	p.text = append(p.text, text...)
	p.end += int64(len(text))
	q.bytes += len(text)
	return true
}

// barrier ends the merging of a session's streams; an event of no session ends
// all.
func (q *queue) barrier(session string) {
	if session == "" {
		clear(q.last)
		return
	}
	for key := range q.last {
		if key.session == session {
			delete(q.last, key)
		}
	}
}

// overflow drops all that waits for a gap. The state of the engine stays: it is
// nowhere to be read again.
func (q *queue) overflow() {
	var engine *protocol.Event
	for i := range q.waiting {
		if q.waiting[i].ev.Type == protocol.EventEngine {
			engine = &q.waiting[i].ev
		}
	}
	kept := []pending{{ev: protocol.Event{Type: protocol.EventGap}}}
	if engine != nil {
		kept = append(kept, pending{ev: *engine})
	}
	q.reset()
	q.waiting = kept
	for i := range kept {
		q.bytes += eventBytes(&kept[i].ev)
	}
}

// take empties the queue.
func (q *queue) take() []protocol.Event {
	if len(q.waiting) == 0 {
		return nil
	}
	batch := make([]protocol.Event, len(q.waiting))
	for i := range q.waiting {
		batch[i] = q.waiting[i].whole()
	}
	q.reset()
	return batch
}

func (q *queue) reset() {
	q.waiting, q.bytes = nil, 0
	clear(q.last)
}

func (p *pending) whole() protocol.Event {
	ev := p.ev
	switch {
	case p.text == nil:
	case ev.Delta != nil:
		d := *ev.Delta
		d.Text = string(p.text)
		ev.Delta = &d
	case ev.Output != nil:
		o := *ev.Output
		o.Text = string(p.text)
		ev.Output = &o
	}
	return ev
}

// piece takes a streamed event apart.
func piece(ev *protocol.Event) (key stream, offset int64, text string, ok bool) {
	switch {
	case ev.Type == protocol.EventDelta && ev.Delta != nil:
		d := ev.Delta
		return stream{ev.SessionID, d.Item, d.Attempt, d.Channel}, int64(d.Offset), d.Text, true
	case ev.Type == protocol.EventOutput && ev.Output != nil:
		o := ev.Output
		return stream{session: ev.SessionID, item: o.Item}, o.Offset, o.Text, true
	default:
		return stream{}, 0, "", false
	}
}

// isUrgent is true for what the user waits for; the rest may wait for more.
func isUrgent(ev *protocol.Event) bool {
	switch ev.Type {
	case protocol.EventDelta, protocol.EventOutput, protocol.EventFiles:
		return false
	case protocol.EventProgress:
		return ev.Progress == nil || ev.Progress.End
	default:
		return true
	}
}

// eventBytes is about what an event takes in memory.
func eventBytes(ev *protocol.Event) int {
	n := 256
	switch {
	case ev.Delta != nil:
		n += len(ev.Delta.Text)
	case ev.Output != nil:
		n += len(ev.Output.Text)
	case ev.Item != nil:
		n += itemBytes(ev.Item)
	case ev.Session != nil:
		n += 1024
		for i := range ev.Session.Approvals {
			n += len(ev.Session.Approvals[i].Ask.Detail)
		}
		for i := range ev.Session.Queue {
			n += len(ev.Session.Queue[i].Preview) + 200
		}
	}
	return n
}

func itemBytes(i *protocol.Item) int {
	switch {
	case i.User != nil:
		return len(i.User.Text)
	case i.Assistant != nil:
		return len(i.Assistant.Text) + len(i.Assistant.Raw)
	case i.Reasoning != nil:
		return len(i.Reasoning.Summary) + len(i.Reasoning.Raw)
	case i.Tool != nil:
		n := len(i.Tool.Args) + len(i.Tool.Ask.Detail) + len(i.Tool.Result.Output) + len(i.Tool.Result.Display) + len(i.Tool.Raw)
		for _, c := range i.Tool.Result.Changes {
			n += len(c.Diff)
		}
		return n
	case i.Summary != nil:
		return len(i.Summary.Text)
	default:
		return 512
	}
}

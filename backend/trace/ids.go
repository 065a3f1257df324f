package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// digest makes one name of several. The parts are joined by a byte that none of
// them has.
func digest(parts ...string) [sha256.Size]byte {
	return sha256.Sum256([]byte(strings.Join(parts, "\x00")))
}

// turnIDs are the ids of a turn's spans, each made of what it stands for.
type turnIDs struct{ session, turn string }

func (t turnIDs) trace() [sha256.Size]byte { return digest("trace", t.session, t.turn) }
func (t turnIDs) task() [sha256.Size]byte  { return digest("task", t.session, t.turn) }
func (t turnIDs) agent() [sha256.Size]byte { return digest("agent", t.session, t.turn) }

func (t turnIDs) step(n int) [sha256.Size]byte {
	return digest("step", t.session, t.turn, strconv.Itoa(n))
}

func (t turnIDs) model(step, attempt int) [sha256.Size]byte {
	return digest("model", t.session, t.turn, strconv.Itoa(step), strconv.Itoa(attempt))
}

func (t turnIDs) tool(call string) [sha256.Size]byte { return digest("tool", t.session, t.turn, call) }

// temporal is the id of the engine's own span around another one.
func temporal(of [sha256.Size]byte) [sha256.Size]byte { return digest("temporal", string(of[:])) }

// The forms in which OpenAI wants them.
func traceID(d [sha256.Size]byte) string { return "trace_" + hex.EncodeToString(d[:16]) }
func spanID(d [sha256.Size]byte) string  { return "span_" + hex.EncodeToString(d[:12]) }

func groupID(session string) string {
	d := digest("group", session)
	return "group_" + hex.EncodeToString(d[:12])
}

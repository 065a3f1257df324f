package tool

import (
	"context"
	"regexp"
	"strings"

	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/journal"
)

// A running command is known to the model by its call's id without the part
// that all calls of the session share. Both ways of the mapping need nothing
// but ids, so that it holds after a restart, and a fork does not reach the
// commands of the session that it came from.

// sessionID is the id by which the model knows the command of a call.
func sessionID(call string) string {
	if _, own, ok := strings.Cut(call, "."); ok {
		return own
	}
	return call
}

// sessionIDForm also keeps out the marks that calls leave in the journal: their
// names have one more dot.
var sessionIDForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// find finds the command that the model means by id.
func find(ctx context.Context, call Call, id string) (journal.Command, error) {
	prefix, _, ok := strings.Cut(call.ID, ".")
	if ok {
		prefix += "."
		id = strings.TrimPrefix(id, prefix)
	} else {
		prefix = ""
	}
	if !sessionIDForm.MatchString(id) {
		return nil, &sandbox.Error{Kind: sandbox.KindNotFound, Backend: call.Env.Backend, Op: "find a running command"}
	}
	return call.Journal.Find(ctx, prefix+id)
}

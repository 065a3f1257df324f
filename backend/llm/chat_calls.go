package llm

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"
)

// chatCalls assembles the tool calls of an answer from their pieces. Servers
// differ: index or none, the id in the first piece, in all, or in none, whole
// calls in one piece, several of them under one index.
type chatCalls struct {
	list []*assembledCall
}

type assembledCall struct {
	index  int // among the entries of the answer, -1 until it has one
	slot   int // the server's index, -1 when it gave none
	server string
	id     string
	name   string
	args   strings.Builder
	extra  json.RawMessage
}

// add takes a piece and tells whose it was and what it added to the arguments.
// It is nil for a piece that belongs to nothing.
func (c *chatCalls) add(d chatCallDelta) (*assembledCall, string) {
	call := c.find(d)
	if call == nil {
		if d.Function.Name == "" && d.ID == "" && d.Function.Arguments == "" {
			return nil, ""
		}
		call = &assembledCall{index: -1, slot: -1, server: string(d.ID), id: newCallID()}
		if d.Index != nil {
			call.slot = *d.Index
		}
		c.list = append(c.list, call)
	}
	if call.server == "" {
		call.server = string(d.ID)
	}
	switch name := d.Function.Name; {
	case name == "" || name == call.name:
	case call.args.Len() == 0:
		call.name += name // a name may come in pieces too
	}
	if present(d.Extra) {
		call.extra = slices.Clone(d.Extra)
	}
	added := string(d.Function.Arguments)
	call.args.WriteString(added)
	return call, added
}

func (c *chatCalls) find(d chatCallDelta) *assembledCall {
	if len(c.list) == 0 {
		return nil
	}
	last := c.list[len(c.list)-1]
	var found *assembledCall
	switch {
	case d.Index != nil:
		// The last one wins: some put all their calls at index 0.
		for _, call := range slices.Backward(c.list) {
			if call.slot == *d.Index {
				found = call
				break
			}
		}
	case d.ID != "":
		for _, call := range slices.Backward(c.list) {
			if call.server == string(d.ID) {
				found = call
				break
			}
		}
	case d.Function.Name == "":
		found = last
	case last.args.Len() == 0 && last.name == d.Function.Name:
		found = last
	}
	if found == nil || startsAnew(found, d) {
		return nil
	}
	return found
}

// startsAnew tells whether a piece that carries a known index or id is yet
// another call: it has another id and a name, or it brings whole arguments when
// the others are complete.
func startsAnew(call *assembledCall, d chatCallDelta) bool {
	if d.Function.Name == "" {
		return false
	}
	if d.ID != "" && call.server != "" && string(d.ID) != call.server {
		return true
	}
	return json.Valid([]byte(call.args.String())) && call.args.Len() > 0 &&
		strings.HasPrefix(strings.TrimSpace(string(d.Function.Arguments)), "{")
}

// arguments are the JSON text, an empty object when nothing came.
func (c *assembledCall) arguments() string {
	args := c.args.String()
	if strings.TrimSpace(args) == "" || args == "null" {
		return "{}"
	}
	// A string that holds the JSON: quoted twice.
	var inner string
	if json.Unmarshal([]byte(args), &inner) == nil && json.Valid([]byte(inner)) && bytes.HasPrefix(bytes.TrimSpace([]byte(inner)), []byte("{")) {
		return inner
	}
	return args
}

// newCallID makes an id for a call whose own can't be trusted to be unique.
// Nine letters and digits is the form that the strictest chat templates want.
func newCallID() string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789ab"
	var b [9]byte
	_, _ = rand.Read(b[:]) // never fails
	for i := range b {
		b[i] = alphabet[b[i]%64]
	}
	return string(b[:])
}

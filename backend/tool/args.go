package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// decode reads a call's arguments into v. The error's text tells the model what
// is wrong and, by usage, what is expected.
func decode(args json.RawMessage, v any, usage string) error {
	text := strings.TrimSpace(string(args))
	if text == "" {
		text = "{}"
	}
	if !utf8.ValidString(text) {
		return fmt.Errorf("the arguments are not valid UTF-8; expected %s", usage)
	}
	// Some models send the object as a string that holds JSON.
	if text[0] == '"' {
		var inner string
		if json.Unmarshal([]byte(text), &inner) == nil && strings.HasPrefix(strings.TrimSpace(inner), "{") {
			text = inner
		}
	}
	if err := json.Unmarshal([]byte(text), v); err != nil {
		return fmt.Errorf("the arguments can't be used: %s; expected %s", malformed(err), usage)
	}
	return nil
}

// malformed says in words what is wrong with JSON.
func malformed(err error) string {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if e.Field == "" {
			return "they are not a JSON object but a " + e.Value
		}
		return fmt.Sprintf("%s must be a %s, not a %s", e.Field, plainType(e.Type.Kind().String()), e.Value)
	}
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf("they are not JSON (%s, at byte %d)", e.Error(), e.Offset)
	}
	return err.Error()
}

func plainType(kind string) string {
	switch kind {
	case "bool":
		return "boolean"
	case "int", "int64":
		return "number"
	}
	return kind
}

// count is a number that some models send as text ("10000").
type count struct {
	n   int
	set bool
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *count) UnmarshalJSON(b []byte) error {
	text := strings.Trim(string(b), `" `)
	if text == "null" || text == "" {
		return nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != f {
		return fmt.Errorf("%s is not a number", b)
	}
	c.set = true
	// What does not fit an int is clamped by whoever reads it.
	c.n = int(min(max(f, -1<<31), 1<<31-1))
	return nil
}

// positive takes a number that is not positive for none: that is what models
// mean by a limit of 0.
func (c count) positive() count {
	c.set = c.set && c.n > 0
	return c
}

// or returns the number within lo and hi, or otherwise if none was given.
func (c count) or(otherwise, lo, hi int) int {
	if !c.set {
		return otherwise
	}
	return min(max(c.n, lo), hi)
}

// name is text that some models send as a number (a session id).
type name string

// UnmarshalJSON implements json.Unmarshaler.
func (n *name) UnmarshalJSON(b []byte) error {
	var text string
	if len(b) > 0 && b[0] != '"' {
		var number json.Number
		if err := json.Unmarshal(b, &number); err != nil {
			return err
		}
		text = number.String()
	} else if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	*n = name(text)
	return nil
}

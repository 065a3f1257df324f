package docker

import (
	"bytes"
	"errors"
)

// errEnded ends the reading of a connection whose command has ended.
var errEnded = errors.New("the command has ended")

// sink hands output on to a writer, until that fails.
type sink struct {
	write func([]byte) (int, error) // nil for output that nobody wants
	err   error
}

func (k *sink) take(data []byte) {
	if k.err == nil && k.write != nil && len(data) > 0 {
		_, k.err = k.write(data)
	}
}

// marked is one output of a command of exec.sh: the answers are taken out of it.
type marked struct {
	mark []byte
	to   *sink
	// answer is called for each.
	answer func(text string)
	held   []byte // the beginning of what may be an answer
	ended  bool
	// done tells whether all outputs have ended.
	done func() bool
}

// Write implements io.Writer. What comes after the end is dropped.
func (m *marked) Write(p []byte) (int, error) {
	data := p
	if len(m.held) > 0 {
		data = append(m.held, p...)
		m.held = nil
	}
	for !m.ended {
		at := bytes.Index(data, m.mark)
		if at < 0 {
			at = len(data) - overlap(data, m.mark)
			m.to.take(data[:at])
			m.held = bytes.Clone(data[at:])
			return len(p), nil
		}
		m.to.take(data[:at])
		text, rest, whole := bytes.Cut(data[at+len(m.mark):], []byte{'\n'})
		if !whole {
			m.held = bytes.Clone(data[at:])
			return len(p), nil
		}
		m.answer(string(text))
		data = rest
	}
	if m.done() {
		return 0, errEnded
	}
	return len(p), nil
}

// flush hands on what was held back when no more comes.
func (m *marked) flush() {
	if !m.ended {
		m.to.take(m.held)
		m.held = nil
	}
}

// overlap is how much of the end of data is the beginning of mark.
func overlap(data, mark []byte) int {
	for n := min(len(data), len(mark)-1); n > 0; n-- {
		if bytes.Equal(data[len(data)-n:], mark[:n]) {
			return n
		}
	}
	return 0
}

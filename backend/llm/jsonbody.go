package llm

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// jsonBody writes a request piece by piece. A conversation is long, and most of
// it is text: this is several times faster than the client library's own
// encoder, and keeps what a provider gave us byte for byte.
type jsonBody struct {
	buf bytes.Buffer
	enc *json.Encoder
	err error
}

func newBody(size int) *jsonBody {
	b := &jsonBody{}
	b.buf.Grow(size)
	b.enc = json.NewEncoder(&b.buf)
	b.enc.SetEscapeHTML(false)
	return b
}

// put writes a value.
func (b *jsonBody) put(v any) {
	if b.err != nil {
		return
	}
	b.err = b.enc.Encode(v)
	b.trim()
}

// open writes a value that is an object, and leaves it open for more members.
func (b *jsonBody) open(v any) {
	b.put(v)
	b.buf.Truncate(b.buf.Len() - 1)
}

// raw writes bytes as they are.
func (b *jsonBody) raw(p []byte)  { b.buf.Write(p) }
func (b *jsonBody) text(s string) { b.buf.WriteString(s) }
func (b *jsonBody) bytes() []byte { return b.buf.Bytes() }
func (b *jsonBody) trim()         { b.buf.Truncate(len(bytes.TrimRight(b.buf.Bytes(), "\n"))) }

// items writes the elements of a list, with commas between.
type items struct {
	b *jsonBody
	n int
}

func (i *items) next() *jsonBody {
	if i.n > 0 {
		i.b.text(",\n")
	}
	i.n++
	return i.b
}

func dataURL(img Image) string {
	return fmt.Sprintf("data:%s;base64,%s", img.MIME, base64.StdEncoding.EncodeToString(img.Data))
}

// sizeOf estimates the bytes of a request.
func sizeOf(req Request) int {
	n := len(req.Instructions) + 4096
	for _, e := range req.Input {
		n += len(e.Text) + len(e.Args) + len(e.Raw) + 160
		for _, img := range e.Images {
			n += len(img.Data)*4/3 + 64
		}
	}
	for _, t := range req.Tools {
		n += len(t.Description) + len(t.Schema) + 128
	}
	return n + n/8
}

// schemaOf gives the schema of a tool, or that of no arguments.
func schemaOf(t ToolSpec) json.RawMessage {
	if len(bytes.TrimSpace(t.Schema)) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return t.Schema
}

package llm

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"temporal-sandbox-agent/backend/llm/llmtest"
)

// longConversation has n entries, as a session after many steps of tools has.
func longConversation(n int) Request {
	output := "Exit code: 0 (0.01 s)\nOutput:\n" + strings.Repeat("a line of <output> & \"more\"\n", 60)
	raw := json.RawMessage(`{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"` + strings.Repeat("b3BhcXVl", 150) + `"}`)
	req := conversation(ProviderOpenAI)
	req.Input = []Entry{{Kind: EntryUser, Text: "Do it"}}
	for i := 0; len(req.Input) < n; i++ {
		id := fmt.Sprintf("call_%d", i)
		req.Input = append(req.Input,
			Entry{Kind: EntryReasoning, Raw: raw, Provider: ProviderOpenAI},
			Entry{Kind: EntryCall, CallID: id, Name: "exec_command", Args: `{"cmd":"go test ./..."}`, Provider: ProviderOpenAI},
			Entry{Kind: EntryResult, CallID: id, Text: output})
	}
	return req
}

func BenchmarkBody(b *testing.B) {
	for _, n := range []int{5, 500} {
		req := longConversation(n)
		for api, write := range map[string]func() ([]byte, error){
			"responses": func() ([]byte, error) {
				return responsesBody(req, ProviderOpenAI, DefaultModel, known(DefaultModel), leave{})
			},
			"chat": func() ([]byte, error) { return chatBody(req, "box", "m", facts{}, leave{}) },
		} {
			b.Run(fmt.Sprintf("%s/%d", api, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					body, err := write()
					if err != nil {
						b.Fatal(err)
					}
					b.SetBytes(int64(len(body)))
				}
			})
		}
	}
}

// BenchmarkStream is what a step pays for its request and answer, the scripted
// server's share included.
func BenchmarkStream(b *testing.B) {
	s := llmtest.New(b)
	s.Handle(func(llmtest.Request) llmtest.Answer { return llmtest.Call("exec_command", `{"cmd":"true"}`) })
	mem := newMemory()
	client := newClient(nil)
	models := map[string]Model{
		"responses": openAI{settings: OpenAISettings{Key: testKey, BaseURL: s.URL}, client: client, mem: mem}.Open(DefaultModel),
		"chat":      compatible{ep: Endpoint{Name: "box", BaseURL: s.URL}, client: client, mem: mem}.Open("m"),
	}
	for _, n := range []int{5, 500} {
		req := longConversation(n)
		for api, m := range models {
			b.Run(fmt.Sprintf("%s/%d", api, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := m.Stream(b.Context(), req, func(Delta) {}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

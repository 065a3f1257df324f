package cli_test

import (
	"bytes"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"temporal-sandbox-agent/backend/llm/llmtest"
)

// asleep is longer than most programs wait for a sign of life.
const asleep = 14 * time.Second

// A computer that sleeps in the middle of a turn, as every laptop does: the app
// stands still while the clock goes on. Nothing is stopped or done twice by it,
// neither a command nor an answer of the model.
func TestSleepInTheMiddleOfATurn(t *testing.T) {
	for name, lasts := range map[string]int{"a command": int(asleep/time.Second) + 6, "an answer": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := llmtest.New(t)
			asked := make(chan struct{}, 8)
			model.Handle(func(r llmtest.Request) llmtest.Answer {
				if len(r.Results) == 0 {
					return llmtest.Call("exec_command", fmt.Sprintf(`{"cmd":"echo begun >> log; sleep %d; echo ended >> log","yield_time_ms":30000}`, lasts))
				}
				asked <- struct{}{}
				answer := llmtest.Text("that was it")
				answer.Delay = 3 * time.Second
				return answer
			})
			a := newApp(t, "OPENAI_API_KEY=not-a-key", "OPENAI_BASE_URL="+model.URL)
			run := a.command("run", "--new", "--workspace", a.workspace, "--approve", "never", "--json", "go")
			var out bytes.Buffer
			run.Stdout, run.Stderr = &out, &out
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			timer := time.AfterFunc(limit, func() { _ = run.Process.Kill() })
			defer timer.Stop()
			if lasts == 0 {
				<-asked
			} else {
				for a.file("log") == "" {
					time.Sleep(10 * time.Millisecond)
				}
			}
			time.Sleep(300 * time.Millisecond)
			if err := run.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			time.Sleep(asleep)
			if err := run.Process.Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			if err := run.Wait(); err != nil {
				t.Errorf("%v\n%s", err, out.String())
			}
			if log := a.file("log"); log != "begun\nended\n" {
				t.Errorf("the command left %q", log)
			}
			s := a.show(a.sessions()[0].ID)
			var said []string
			for _, i := range s.Items {
				if i.Tool != nil {
					said = append(said, fmt.Sprint(i.Tool.Status, i.Tool.Result.ExitCode != nil && *i.Tool.Result.ExitCode == 0))
				}
				if i.Assistant != nil {
					said = append(said, i.Assistant.Text)
				}
			}
			if got := strings.Join(said, ", "); got != "donetrue, that was it" {
				t.Errorf("the conversation: %s", got)
			}
			if n := len(model.Requests()); n != 2 {
				t.Errorf("the model was asked %d times", n)
			}
		})
	}
}

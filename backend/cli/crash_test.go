package cli_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"temporal-sandbox-agent/backend/llm/llmtest"
	"temporal-sandbox-agent/backend/protocol"
)

// crashRounds is how often the app is killed; CRASH_ROUNDS asks for more.
const crashRounds = 20

// crashSteps is how many commands the turn of a round runs.
const crashSteps = 4

// counting is a model that has each of crashSteps commands run once: each
// appends its number to the file "count", which so tells what really ran.
func counting(r llmtest.Request) llmtest.Answer {
	n := len(r.Results)
	if n < crashSteps {
		answer := llmtest.Call("exec_command", fmt.Sprintf(`{"cmd":"echo %d >> count; sleep 0.1"}`, n))
		answer.Pace = 2 * time.Millisecond
		return answer
	}
	answer := llmtest.Text("all is counted")
	answer.Pace = 5 * time.Millisecond
	return answer
}

// The app is killed at random instants, twice in a row, and opened again: the
// turn goes on to its end by itself, no message is lost, no command runs twice.
func TestKilledAtAnyInstantTheTurnGoesOn(t *testing.T) {
	rounds := crashRounds
	if n, err := strconv.Atoi(os.Getenv("CRASH_ROUNDS")); err == nil {
		rounds = n
	}
	seed := uint64(time.Now().UnixNano())
	if n, err := strconv.ParseUint(os.Getenv("CRASH_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("CRASH_SEED=%d", seed)
	for round := range rounds {
		t.Run(strconv.Itoa(round), func(t *testing.T) {
			crashRound(t, rand.New(rand.NewPCG(seed, uint64(round))))
		})
	}
}

func crashRound(t *testing.T, random *rand.Rand) {
	model := llmtest.New(t)
	model.Handle(counting)
	a := newApp(t, "OPENAI_API_KEY=not-a-key", "OPENAI_BASE_URL="+model.URL)
	a.program = os.Getenv("TSA_BIN") // see newMoving

	first := a.command("run", "--new", "--workspace", a.workspace, "--approve", "never", "--json", "count to four")
	acknowledged := killAt(t, first, time.Duration(random.IntN(2200))*time.Millisecond)
	sessions := a.sessions()
	if len(sessions) == 0 {
		if acknowledged {
			t.Fatal("the session was there and is lost")
		}
		// Killed before anything was acknowledged: nothing may have run.
		if ran := a.file("count"); ran != "" {
			t.Fatalf("commands ran for a session that does not exist: %q", ran)
		}
		return
	}
	id := sessions[0].ID
	second := a.command("run", "--session", id, "--wait", "--json")
	killAt(t, second, time.Duration(random.IntN(1500))*time.Millisecond)
	if out := a.ok("run", "--session", id, "--wait", "--json"); !strings.Contains(out, `"type":"result"`) {
		t.Errorf("no result at the end of:\n%s", out)
	}
	if ran, want := a.file("count"), "0\n1\n2\n3\n"; ran != want {
		t.Errorf("commands that ran: %q, want %q", ran, want)
	}
	checkConversation(t, a.show(id))
}

// killAt starts a command and kills it after a while. It tells whether the
// command had printed the session by then: the state of the engine comes before.
func killAt(t *testing.T, cmd *exec.Cmd, after time.Duration) bool {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // also waits for all that was printed
	return strings.Contains(out.String(), `"type":"session"`)
}

// checkConversation wants the whole turn, each piece once.
func checkConversation(t *testing.T, s shown) {
	t.Helper()
	var users, ends, answers int
	calls := map[string]int{}
	for _, item := range s.Items {
		switch {
		case item.User != nil:
			users++
		case item.Tool != nil:
			calls[item.Tool.Ask.Title]++
			if item.Tool.Status != protocol.ToolDone || item.Tool.Result.ExitCode == nil || *item.Tool.Result.ExitCode != 0 {
				t.Errorf("call %s is %s: %s", item.Tool.Ask.Title, item.Tool.Status, item.Tool.Result.Output)
			}
		case item.Assistant != nil:
			answers++
			if item.Assistant.Text != "all is counted" {
				t.Errorf("answer %q", item.Assistant.Text)
			}
		case item.TurnEnd != nil:
			ends++
			if item.TurnEnd.Outcome != protocol.OutcomeDone {
				t.Errorf("outcome %s", item.TurnEnd.Outcome)
			}
		}
	}
	if users != 1 || ends != 1 || answers != 1 || len(calls) != crashSteps {
		t.Errorf("messages %d, ends %d, answers %d, calls %v", users, ends, answers, calls)
	}
	if s.Session.State != protocol.StateIdle || s.Session.Turns != 1 {
		t.Errorf("the session is %s after %d turns", s.Session.State, s.Session.Turns)
	}
}

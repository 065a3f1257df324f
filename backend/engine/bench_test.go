package engine

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/workflow"
	dc "go.temporal.io/server/common/dynamicconfig"
)

// BenchmarkActivity is the time of one no-op activity after another: what each
// step of a turn costs at least.
func BenchmarkActivity(b *testing.B) {
	e := testEngine(b, b.TempDir())
	testWorker(b, e)
	warm(b, e)
	before := cpuTime(b)
	b.ResetTimer()
	run := start(b, e.Client(), "bench", "Chain", b.N)
	result(b, run, time.Hour)
	b.StopTimer()
	b.ReportMetric(ms(b.Elapsed())/float64(b.N), "ms/activity")
	b.ReportMetric(ms(cpuTime(b)-before)/float64(b.N), "cpu-ms/activity")
	b.ReportMetric(0, "ns/op")

	gaps := activityGaps(b, e.Client(), run)
	b.ReportMetric(ms(gaps[len(gaps)/2]), "p50-ms")
	b.ReportMetric(ms(gaps[len(gaps)*95/100]), "p95-ms")
}

// activityGaps are the times between the starts of a run's activities, sorted.
func activityGaps(b *testing.B, c client.Client, run client.WorkflowRun) []time.Duration {
	b.Helper()
	var last time.Time
	gaps := []time.Duration{}
	for it := c.GetWorkflowHistory(b.Context(), run.GetID(), run.GetRunID(), false, 0); it.HasNext(); {
		ev, err := it.Next()
		if err != nil {
			b.Fatal(err)
		}
		if ev.GetActivityTaskScheduledEventAttributes() == nil {
			continue
		}
		at := ev.GetEventTime().AsTime()
		if !last.IsZero() {
			gaps = append(gaps, at.Sub(last))
		}
		last = at
	}
	slices.Sort(gaps)
	if len(gaps) == 0 {
		gaps = append(gaps, 0)
	}
	return gaps
}

// BenchmarkOpen is how long an owner takes from nothing to a worker on an
// existing file, in a process that did it before.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	fill(b, dir, 300)
	var ready, served, reaped, closed time.Duration
	b.ResetTimer()
	for range b.N {
		begin := time.Now()
		e, err := Open(b.Context(), Options{DataDir: dir})
		if err != nil {
			b.Fatal(err)
		}
		ready += time.Since(begin)
		if _, err := e.Reap(b.Context()); err != nil {
			b.Fatal(err)
		}
		reaped += time.Since(begin)
		testWorker(b, e)
		served += time.Since(begin)
		begin = time.Now()
		if err := e.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
		closed += time.Since(begin)
	}
	n := float64(b.N)
	b.ReportMetric(ms(ready)/n, "ready-ms")
	b.ReportMetric(ms(reaped)/n, "reaped-ms")
	b.ReportMetric(ms(served)/n, "worker-ms")
	b.ReportMetric(ms(closed)/n, "close-ms")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkColdOpen is Open in a fresh process, on an existing file.
func BenchmarkColdOpen(b *testing.B) {
	dir := b.TempDir()
	fill(b, dir, 300)
	var ready, exec, closed time.Duration
	for range b.N {
		begin := time.Now()
		c := launchChild(b, "own", dir)
		line := c.line()
		exec += time.Since(begin)
		f := strings.Fields(line)
		if len(f) != 4 {
			b.Fatal(line)
		}
		n, _ := strconv.Atoi(f[2])
		ready += time.Duration(n) * time.Millisecond
		_ = c.stdin.Close()
		n, _ = strconv.Atoi(strings.TrimPrefix(c.line(), "closed "))
		closed += time.Duration(n) * time.Millisecond
		c.quit()
	}
	n := float64(b.N)
	b.ReportMetric(ms(ready)/n, "ready-ms")
	b.ReportMetric(ms(exec)/n, "exec-to-ready-ms")
	b.ReportMetric(ms(closed)/n, "close-ms")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkReap is the search for workflows at work among 300 idle ones.
func BenchmarkReap(b *testing.B) {
	dir := b.TempDir()
	fill(b, dir, 300)
	e := testEngine(b, dir)
	b.ResetTimer()
	for range b.N {
		if r, err := e.Reap(b.Context()); err != nil || r != (Reaped{}) {
			b.Fatal(r, err)
		}
	}
}

// BenchmarkRoundTrip is a signal, an update and a query on an open workflow.
func BenchmarkRoundTrip(b *testing.B) {
	e := testEngine(b, b.TempDir())
	w, err := e.StartWorker(registerTestWork, WorkerOptions{TaskQueue: testQueue})
	if err != nil {
		b.Fatal(err)
	}
	_ = w
	warm(b, e)
	run := start(b, e.Client(), "talk", "Talk")
	var updates, queries time.Duration
	b.ResetTimer()
	for i := range b.N {
		begin := time.Now()
		h, err := e.Client().UpdateWorkflow(b.Context(), client.UpdateWorkflowOptions{
			WorkflowID: run.GetID(), UpdateName: "say", Args: []any{fmt.Sprint(i)},
			WaitForStage: client.WorkflowUpdateStageCompleted,
		})
		if err != nil {
			b.Fatal(err)
		}
		if err := h.Get(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
		updates += time.Since(begin)
		begin = time.Now()
		v, err := e.Client().QueryWorkflow(b.Context(), run.GetID(), "", "said")
		if err != nil {
			b.Fatal(err)
		}
		var said string
		if err := v.Get(&said); err != nil || said != fmt.Sprint(i) {
			b.Fatal(said, err)
		}
		queries += time.Since(begin)
	}
	b.ReportMetric(ms(updates)/float64(b.N), "ms/update")
	b.ReportMetric(ms(queries)/float64(b.N), "ms/query")
	b.ReportMetric(0, "ns/op")
}

// talkWorkflow answers updates and queries for ever.
func talkWorkflow(ctx workflow.Context) error {
	var said string
	if err := workflow.SetQueryHandler(ctx, "said", func() (string, error) { return said, nil }); err != nil {
		return err
	}
	if err := workflow.SetUpdateHandler(ctx, "say", func(_ workflow.Context, s string) error {
		said = s
		return nil
	}); err != nil {
		return err
	}
	return workflow.Await(ctx, func() bool { return false })
}

// idleFor is how long BenchmarkIdle watches; "30s" is what the figures in the
// notes were taken with.
const idleFor = "ENGINE_BENCH_IDLE"

// BenchmarkIdle is what an engine with a worker and 300 open workflows costs
// while nothing happens:
//
//	ENGINE_BENCH_IDLE=30s go test -run '^$' -bench Idle -benchtime 1x ./backend/engine
func BenchmarkIdle(b *testing.B) {
	watch, err := time.ParseDuration(os.Getenv(idleFor))
	if err != nil {
		watch = 5 * time.Second
	}
	dir := b.TempDir()
	fill(b, dir, 300)
	e := testEngine(b, dir)
	testWorker(b, e)
	time.Sleep(3 * time.Second) // what a start leaves to do
	for range b.N {
		cpu, begin := cpuTime(b), time.Now()
		time.Sleep(watch)
		used := cpuTime(b) - cpu
		b.ReportMetric(100*float64(used)/float64(time.Since(begin)), "%cpu")
	}
	b.ReportMetric(rssMB(b), "MB-rss")
	b.ReportMetric(0, "ns/op")
}

// fill makes a data folder with idle workflows that were left alone for a
// while: the server has crossed off the tasks that made them (it does so in the
// background; what a start finds not crossed off it does again).
func fill(b *testing.B, dir string, n int) {
	b.Helper()
	quick := settings(DefaultLongRun)
	for _, k := range []dc.Key{
		dc.TransferProcessorUpdateAckInterval.Key(), dc.TimerProcessorUpdateAckInterval.Key(),
		dc.VisibilityProcessorUpdateAckInterval.Key(), dc.ShardUpdateMinInterval.Key(), dc.ShardFirstUpdateInterval.Key(),
	} {
		quick[k] = 200 * time.Millisecond
	}
	e, err := Open(b.Context(), Options{DataDir: dir, settings: quick})
	if err != nil {
		b.Fatal(err)
	}
	testWorker(b, e)
	for i := range n {
		start(b, e.Client(), fmt.Sprint("idle-", i), "Wait")
	}
	eventually(b, time.Minute, "the tasks are crossed off", func() bool {
		left, err := column(b.Context(), e.db.db, `SELECT count(*) FROM
			(SELECT task_id FROM transfer_tasks UNION ALL SELECT task_id FROM visibility_tasks)`)
		return err == nil && left[0] == "0"
	})
	time.Sleep(time.Second)
	if err := e.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
}

// warm runs a workflow to its end, so that caches are filled.
func warm(b *testing.B, e *Engine) {
	b.Helper()
	result(b, start(b, e.Client(), "warm", "Chain", 20), time.Minute)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// cpuTime is what this process has used, as /proc/self/stat counts it.
func cpuTime(b testing.TB) time.Duration {
	b.Helper()
	raw, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		b.Skip("reads /proc")
	}
	// The name may hold spaces; what follows the last ")" does not.
	_, rest, _ := strings.Cut(string(raw), ") ")
	f := strings.Fields(rest)
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * 10 * time.Millisecond // ticks of 1/100 s
}

func rssMB(b *testing.B) float64 {
	b.Helper()
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Skip("reads /proc")
	}
	pages, _ := strconv.Atoi(strings.Fields(string(raw))[1])
	return float64(pages*os.Getpagesize()) / (1 << 20)
}

//go:build linux

package local_test

import (
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/journal"
)

// BenchmarkJournal runs true through the journal, from Start to Wait, and
// beside it as a plain process, and reports both medians and their ratio: the
// absolute figures depend on what else the machine does.
func BenchmarkJournal(b *testing.B) {
	for name, holder := range map[string]bool{"native": true, "over exec": false} {
		b.Run(name, func(b *testing.B) {
			p := newProvider(b, holder)
			sb, err := p.Create(b.Context(), sandbox.Spec{Session: "bench"})
			if err != nil {
				b.Fatal(err)
			}
			j := journal.Open(sb)
			once := func(id string) time.Duration {
				began := time.Now()
				c, err := j.Start(b.Context(), journal.Spec{CallID: id, Shell: "true"})
				if err != nil {
					b.Fatal(err)
				}
				if exit, err := c.Wait(b.Context()); err != nil || exit.Code != 0 {
					b.Fatalf("%+v, %v", exit, err)
				}
				return time.Since(began)
			}
			once("warm-up")
			var journalled, plain []time.Duration
			for i := range b.N {
				journalled = append(journalled, once("call"+strconv.Itoa(i)))
				began := time.Now()
				if err := exec.Command("true").Run(); err != nil {
					b.Fatal(err)
				}
				plain = append(plain, time.Since(began))
			}
			slices.Sort(journalled)
			slices.Sort(plain)
			b.ReportMetric(0, "ns/op") // two things are timed
			b.ReportMetric(float64(journalled[b.N/2].Microseconds()), "journal-µs")
			b.ReportMetric(float64(journalled[b.N*95/100].Microseconds()), "journal-p95-µs")
			b.ReportMetric(float64(plain[b.N/2].Microseconds()), "plain-µs")
			b.ReportMetric(float64(journalled[b.N/2])/float64(plain[b.N/2]), "ratio")
		})
	}
}

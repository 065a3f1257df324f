package snapshot_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"
	"time"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"runtime/debug"

	"temporal-sandbox-agent/backend/snapshot"
	"temporal-sandbox-agent/backend/store"
	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/local"
)

type rootSource struct{ *os.Root }

func (r rootSource) Open(_ context.Context, n string) (io.ReadCloser, error) { return r.Root.Open(n) }

func peak(stop chan struct{}) (uint64) {
	var m uint64
	for {
		b, _ := os.ReadFile("/proc/self/status")
		var kb uint64
		for i := 0; i+8 < len(b); i++ { if string(b[i:i+8]) == "RssAnon:" { fmt.Sscanf(string(b[i+8:i+40]), "%d", &kb); break } }
		m = max(m, kb)
		select { case <-stop: return m; case <-time.After(5*time.Millisecond): }
	}
}

func TestZZ(t *testing.T) {
	phase := os.Getenv("ZZ")
	dir, _ := os.MkdirTemp("/tmp", "sn-zz")
	defer os.RemoveAll(dir)
	p := local.New(local.Config{StateDir: dir+"/state"})
	sb, err := p.Create(t.Context(), sandbox.Spec{Session: "s", Root: "/tmp/sn-tree"})
	if err != nil { t.Fatal(err) }
	tree := bulkTree{sb.(sandbox.Bulk)}
	s, _, err := store.Open(t.Context(), dir+"/store")
	if err != nil { t.Fatal(err) }
	o := snapshot.CaptureOptions{Index: dir+"/index"}
	run := func(name string, f func()) {
		debug.FreeOSMemory()
		time.Sleep(100*time.Millisecond)
		if name == phase { fh, _ := os.Create("/tmp/sn-zz.prof"); pprof.StartCPUProfile(fh); defer pprof.StopCPUProfile() }
		st := make(chan struct{}); res := make(chan uint64)
		close(st); m0 := peak(st)
		st = make(chan struct{})
		go func() { res <- peak(st) }()
		var m1, m2 runtime.MemStats
		runtime.ReadMemStats(&m1)
		b := time.Now(); f(); d := time.Since(b)
		runtime.ReadMemStats(&m2)
		close(st)
		fmt.Printf("%-10s %8.1f ms  mem +%d MB (idle %d)  alloc %d MB gcs %d\n", name, float64(d.Microseconds())/1000, (<-res-m0)>>10, m0>>10, (m2.TotalAlloc-m1.TotalAlloc)>>20, m2.NumGC-m1.NumGC)
	}
	var c snapshot.Captured
	cap := func() { c, err = snapshot.Capture(t.Context(), tree, s, o); if err != nil { t.Fatal(err) } }
	run("first", cap)
	run("nochange", cap)
	run("nochange2", cap)
	i := 0
	one := func() { i++; os.WriteFile("/tmp/sn-tree/changed", fmt.Appendf(nil, "x%d", time.Now().UnixNano()), 0o644); time.Sleep(30*time.Millisecond); run("one", cap) }
	one(); one()
	u, _ := s.Usage(t.Context())
	fmt.Printf("%+v\n", u)
	rest := func(name string, ro snapshot.RestoreOptions) {
		to := filepath.Join(dir, name); os.Mkdir(to, 0o755)
		tb, err := p.Create(t.Context(), sandbox.Spec{Session: "s", Root: to})
		if err != nil { t.Fatal(err) }
		run(name, func() { if _, err := snapshot.Restore(t.Context(), bulkTree{tb.(sandbox.Bulk)}, s, c.Root, ro); err != nil { t.Fatal(err) } })
	}
	rest("restore", snapshot.RestoreOptions{Trust: true, Index: dir+"/i2"})
	rt, _ := os.OpenRoot("/tmp/sn-tree")
	rest("fork", snapshot.RestoreOptions{Trust: true, Source: rootSource{rt}, Index: dir+"/i3"})
}

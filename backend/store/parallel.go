package store

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// parallel calls f for 0 to n-1, on as many cores as there are.
func parallel(n int, f func(int)) {
	if n == 1 {
		f(0)
		return
	}
	var (
		next atomic.Int64
		wg   sync.WaitGroup
	)
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
}

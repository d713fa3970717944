package storetest

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weirhq/weir"
)

// callers is how many goroutines a case of concurrency has.
const callers = 64

// concurrencyCases: no interleaving admits more than one caller alone would get, nor less.
func concurrencyCases() []testCase {
	var cases []testCase
	for _, text := range []string{
		"200/h", "200/h stepwise", "200/h fixed-window", "200/h fixed-window anchored", "200/d fixed-window calendar UTC",
		"200/h sliding-window", "200/h sliding-log",
	} {
		cases = append(cases, testCase{text, func(t *testing.T, rig Rig) {
			testConcurrent(t, rig, 3, weir.MustParseLimits(text)...)
		}})
	}
	return append(cases,
		testCase{"several", func(t *testing.T, rig Rig) {
			testConcurrent(t, rig, 7, weir.MustParseLimits("210/h stepwise", "200/h fixed-window", "220/h sliding-log")...)
		}},
		testCase{"refunds", testConcurrentRefunds})
}

// together calls body in many goroutines at once, each with its number, and waits for them.
func together(body func(caller int)) {
	var done sync.WaitGroup
	start := make(chan struct{})
	for caller := range callers {
		done.Go(func() {
			<-start
			body(caller)
		})
	}
	close(start)
	done.Wait()
}

// testConcurrent asks each of two keys for more than the smallest of the limits, which is 200, has: all of it is
// admitted, and no more.
func testConcurrent(t *testing.T, rig Rig, cost int64, limits ...weir.Limit) {
	l := weir.MustNew(rig.Store, weir.Options{Limits: limits})
	keys := [2]string{"hot", "as hot"}
	var admitted [len(keys)]atomic.Int64
	together(func(caller int) {
		for i := range 2 * (200/int(cost)/callers + 3) {
			key := (caller + i) % len(keys)
			d, err := l.AllowN(t.Context(), keys[key], cost)
			if err != nil {
				t.Errorf("take %d of %v: error %v", cost, limits, err)
				return
			}
			if d.Allowed {
				admitted[key].Add(1)
			}
		}
	})
	for i, key := range keys {
		want := 200 / cost
		if got := admitted[i].Load(); got != want {
			t.Errorf("%d callers take %d of %v from %q: got %d admitted, want %d", callers, cost, limits, key, got, want)
		}
		d, err := l.AllowN(t.Context(), key, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range d.Figures() {
			if used := f.Limit - f.Remaining; used != want*cost {
				t.Errorf("take %d of %v from %q: got %d used of %d, want %d", cost, limits, key, used, f.Limit, want*cost)
			}
		}
	}
}

// testConcurrentRefunds: who gives back what was admitted leaves nothing behind.
func testConcurrentRefunds(t *testing.T, rig Rig) {
	if _, ok := rig.Store.(weir.Adjuster); !ok {
		return
	}
	l := weir.MustNew(rig.Store, weir.Options{Limits: weir.MustParseLimits("20/h", "30/h sliding-log")})
	var admitted atomic.Int64
	together(func(int) {
		for range 5 {
			d, err := l.Allow(t.Context(), "key")
			if err == nil && d.Allowed {
				admitted.Add(1)
				_, err = l.Refund(t.Context(), "key", 1)
			}
			if err != nil {
				t.Errorf("allow and refund: error %v", err)
				return
			}
		}
	})
	d, err := l.AllowN(t.Context(), "key", 0)
	if err != nil {
		t.Fatal(err)
	}
	if d.Figures()[0].Remaining != 20 || d.Figures()[1].Remaining != 30 || admitted.Load() < 10 {
		t.Errorf("after %d takes, all given back: got %s, want 20 and 30 to remain", admitted.Load(), Format(d.Figures()))
	}
}

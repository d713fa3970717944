package storetest

import (
	"fmt"
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
			testConcurrent(t, rig, 1, weir.MustParseLimits("210/h", "200/h fixed-window", "220/h sliding-log")...)
			testConcurrent(t, rig, 7, weir.MustParseLimits("210/h stepwise", "220/h sliding-window", "200/h leaky-bucket")...)
		}},
		testCase{"keys", testConcurrentKeys},
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

// testConcurrent asks for more than the smallest of the limits, which is 200, has: all of it is admitted, no more.
func testConcurrent(t *testing.T, rig Rig, cost int64, limits ...weir.Limit) {
	name := fmt.Sprintf("%d of %v", cost, limits)
	l := weir.MustNew(rig.Store, weir.Options{Name: name, Limits: limits})
	tries := int(200/cost/callers + 6)
	var admitted atomic.Int64
	together(func(int) {
		for range tries {
			d, err := l.AllowN(t.Context(), "hot", cost)
			if err != nil {
				t.Errorf("take %s: error %v", name, err)
				return
			}
			if d.Allowed {
				admitted.Add(1)
			}
		}
	})
	want := 200 / cost
	if got := admitted.Load(); got != want {
		t.Errorf("%d callers with %d takes of %s: got %d admitted, want %d", callers, tries, name, got, want)
	}
	d, err := l.AllowN(t.Context(), "hot", 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range d.Figures() {
		if used := f.Limit - f.Remaining; used != want*cost {
			t.Errorf("%s: got %d used of limit %d, want %d", name, used, i, want*cost)
		}
	}
}

// testConcurrentKeys: callers of many keys do not take from each other.
func testConcurrentKeys(t *testing.T, rig Rig) {
	const keys, quota = 8, 40
	l := weir.MustNew(rig.Store, weir.Options{Limits: weir.MustParseLimits(fmt.Sprintf("%d/h", quota))})
	var admitted [keys]atomic.Int64
	together(func(caller int) {
		for i := range keys * 2 {
			key := (i + caller) % keys
			d, err := l.Allow(t.Context(), fmt.Sprint("key", key))
			if err != nil {
				t.Errorf("allow: error %v", err)
				return
			}
			if d.Allowed {
				admitted[key].Add(1)
			}
		}
	})
	for key := range admitted {
		if got := admitted[key].Load(); got != quota {
			t.Errorf("key %d: got %d admitted, want %d", key, got, quota)
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

package memstore

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestShortWindowsUnderLoad: many goroutines on one key with windows of 20 ms admit no more than each window holds.
// Limiters that read the time outside their lock have been seen to admit half as much again.
func TestShortWindowsUnderLoad(t *testing.T) {
	s := testStore(t, 0)
	l := testLimiter(t, s, "50/20ms fixed-window")
	var admitted atomic.Int64
	var group sync.WaitGroup
	start := time.Now()
	for range 64 {
		group.Go(func() {
			for time.Since(start) < 300*time.Millisecond {
				if d, err := l.Allow(context.Background(), "key"); err != nil {
					t.Error(err)
				} else if d.Allowed {
					admitted.Add(1)
				}
			}
		})
	}
	group.Wait()
	windows := int64(time.Since(start)/(20*time.Millisecond)) + 2
	if got := admitted.Load(); got > 50*windows {
		t.Errorf("%d admitted in at most %d windows of 50", got, windows)
	}
}

// TestLookAtUnknownAndExpired: a key that was never seen has its full quota, and so has one whose window has passed.
func TestLookAtUnknownAndExpired(t *testing.T) {
	for _, limit := range []string{"10/s", "10/s stepwise", "10/s fixed-window", "10/s anchored", "10/s sliding-window", "10/s sliding-log"} {
		synctest.Test(t, func(t *testing.T) {
			s := MustNew(Options{})
			defer s.Close()
			l := testLimiter(t, s, limit)
			if d, err := l.Peek(t.Context(), "unknown"); err != nil || !d.Allowed || d.Remaining != 10 || d.ResetAfter != 0 {
				t.Errorf("%s: Peek of an unknown key = %+v, %v, want all 10", limit, d, err)
			}
			takeN(t, l, "key", 10, true)
			time.Sleep(2 * time.Second)
			if d, err := l.Peek(t.Context(), "key"); err != nil || !d.Allowed || d.Remaining != 10 || d.ResetAfter != 0 {
				t.Errorf("%s: Peek after two seconds = %+v, %v, want all 10", limit, d, err)
			}
		})
	}
}

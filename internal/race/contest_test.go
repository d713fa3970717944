package race

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

func TestContest(t *testing.T) {
	const limit, workers, requests = 50, 16, 2000
	for _, c := range []struct {
		name  string
		fault func(call int) bool // refuses although there is room
		check func(*tally) bool
	}{
		{"without a fault", func(int) bool { return false }, func(got *tally) bool { return got.admitted == limit && got.wronglyRefused() == 0 }},
		{"refuses every second one", func(call int) bool { return call%2 == 1 }, func(got *tally) bool {
			return got.admitted == limit && got.wronglyRefused() > 0 && got.wronglyRefused() <= limit
		}},
		{"admits only the first", func(call int) bool { return call > 1 }, func(got *tally) bool {
			return got.admitted == 1 && got.wronglyRefused() == requests-1
		}},
	} {
		var mu sync.Mutex
		var calls, count int
		var atOnce, most atomic.Int64
		contest := contest{limit: limit, workers: workers, requests: requests, key: "key", allow: func(_ context.Context, key string) (bool, error) {
			most.Store(max(most.Load(), atOnce.Add(1)))
			defer atOnce.Add(-1)
			mu.Lock()
			defer mu.Unlock()
			calls++
			if key != "key" || c.fault(calls) || count >= limit {
				return false, nil
			}
			count++
			return true, nil
		}}
		got, err := contest.run(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if calls != requests || got.admitted+got.refused != requests || len(got.latencies) != requests || got.elapsed <= 0 {
			t.Errorf("%s: %d calls, %d admitted, %d refused in %s; want %d calls", c.name, calls, got.admitted, got.refused, got.elapsed, requests)
		}
		if !c.check(got) {
			t.Errorf("%s: %d admitted, %d of %d refusals wrong", c.name, got.admitted, got.wronglyRefused(), got.refused)
		}
		if most.Load() > workers {
			t.Errorf("%s: %d asked at once, more than the %d workers", c.name, most.Load(), workers)
		}
	}
}

// TestContestStartsTogether: every worker's first request is under way before any of them is answered.
func TestContestStartsTogether(t *testing.T) {
	const workers = 32
	var first sync.WaitGroup
	first.Add(workers)
	contest := contest{limit: 1, workers: workers, requests: workers, allow: func(context.Context, string) (bool, error) {
		first.Done()
		first.Wait()
		return false, nil
	}}
	if got, err := contest.run(t.Context()); err != nil || got.refused != workers {
		t.Errorf("run = %+v, %v; want %d refused", got, err, workers)
	}
}

func TestContestGivesUp(t *testing.T) {
	broken := errors.New("broken on purpose")
	var calls atomic.Int64
	contest := contest{limit: 1, workers: 8, requests: 1_000_000, allow: func(context.Context, string) (bool, error) {
		calls.Add(1)
		return false, broken
	}}
	if got, err := contest.run(t.Context()); !errors.Is(err, broken) || got != nil {
		t.Errorf("run = %+v, %v; want the error of the requests", got, err)
	}
	if n := calls.Load(); n < 3 || n > 500_000 {
		t.Errorf("it gave up after %d requests, want 3 or a few more", n)
	}
}

package memstore

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/memstore/internal/specs"
)

// testStore returns a store that is closed with the test.
func testStore(t *testing.T, maxKeys int) *Store {
	t.Helper()
	s, err := New(Options{MaxKeys: maxKeys})
	if err != nil {
		t.Fatalf("New(MaxKeys: %d) = %v", maxKeys, err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func testLimiter(t *testing.T, s *Store, limits ...string) *weir.Limiter {
	t.Helper()
	l, err := weir.New(s, weir.Options{Limits: weir.MustParseLimits(limits...)})
	if err != nil {
		t.Fatalf("New(%q) = %v", limits, err)
	}
	return l
}

// takeN takes n units and fails the test if the answer is not want.
func takeN(t *testing.T, l *weir.Limiter, key string, n int64, want bool) weir.Decision {
	t.Helper()
	d, err := l.AllowN(t.Context(), key, n)
	if err != nil || d.Allowed != want {
		t.Fatalf("AllowN(%q, %d) = %+v, %v, want allowed %v", key, n, d, err, want)
	}
	return d
}

func TestOptionsMessage(t *testing.T) {
	_, err := New(Options{MaxKeys: -1})
	const want = "memstore: invalid options: MaxKeys is -1; use 1 to 2147483647, or 0 for 16777216"
	if err == nil || err.Error() != want {
		t.Errorf("New(MaxKeys: -1) = %v, want %s", err, want)
	}
}

// TestMaxKeysHoldsThatMany: a store holds exactly as many keys as it says, however few.
func TestMaxKeysHoldsThatMany(t *testing.T) {
	for _, maxKeys := range []int{1, 2, 3, 100, 1023, 5000} {
		s := testStore(t, maxKeys)
		l := testLimiter(t, s, "2/h")
		for i := range maxKeys {
			takeN(t, l, fmt.Sprint("key", i), 1, true)
			if got := s.Len(); got != i+1 {
				t.Fatalf("MaxKeys %d: Len() = %d after %d keys", maxKeys, got, i+1)
			}
		}
		for i := range 3 * maxKeys {
			takeN(t, l, fmt.Sprint("more", i), 1, true)
			if got := s.Len(); got > maxKeys {
				t.Fatalf("MaxKeys %d: Len() = %d", maxKeys, got)
			}
		}
	}
}

// TestFloodForgetsNoExhaustedKey: made-up keys do not make the store forget an exhausted one, under any algorithm.
func TestFloodForgetsNoExhaustedKey(t *testing.T) {
	for _, limit := range []string{
		"10/h", "10/h stepwise", "10/h leaky-bucket", "10/h fixed-window", "10/h anchored", "10/d calendar UTC",
		"10/h sliding-window", "10/h sliding-log",
	} {
		t.Run(limit, func(t *testing.T) {
			// A bubble, so that no hour ends in between.
			synctest.Test(t, func(t *testing.T) {
				const maxKeys, exhausted = 10_000, 100
				s := MustNew(Options{MaxKeys: maxKeys})
				defer s.Close()
				l := testLimiter(t, s, limit)
				for i := range exhausted {
					takeN(t, l, fmt.Sprint("exhausted", i), 10, true)
				}
				for i := range 20 * maxKeys {
					takeN(t, l, fmt.Sprint("flood", i), 1, true)
				}
				if got := s.Len(); got > maxKeys {
					t.Errorf("Len() = %d, want at most %d", got, maxKeys)
				}
				for i := range exhausted {
					takeN(t, l, fmt.Sprint("exhausted", i), 1, false)
				}
			})
		})
	}
}

// TestFloodUnderAnotherLimit: a flood that exhausts its keys at one request each does not displace keys that have used
// more.
func TestFloodUnderAnotherLimit(t *testing.T) {
	for _, c := range []struct{ limit, flood string }{{"10/m", "1/d"}, {"100/h fixed-window", "1/36500d"}, {"5/15m anchored", "1/15m"}} {
		synctest.Test(t, func(t *testing.T) {
			s := MustNew(Options{MaxKeys: 2000})
			defer s.Close()
			limit := weir.MustParseLimit(c.limit)
			l := weir.MustNew(s, weir.Options{Name: "limit", Limits: []weir.Limit{limit}})
			spec, _ := weir.SpecOf(limit)
			for i := range 100 {
				takeN(t, l, fmt.Sprint("exhausted", i), spec.Quota, true)
			}
			flood := weir.MustNew(s, weir.Options{Name: "flood", Limits: weir.MustParseLimits(c.flood)})
			for i := range 20_000 {
				takeN(t, flood, fmt.Sprint("flood", i), 1, true)
			}
			for i := range 100 {
				takeN(t, l, fmt.Sprint("exhausted", i), 1, false)
			}
		})
	}
}

// TestEvictionPrefersExpired: what has expired leaves before anything live does.
func TestEvictionPrefersExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := MustNew(Options{MaxKeys: 20})
		defer s.Close()
		short, long := testLimiter(t, s, "100/s fixed-window"), testLimiter(t, s, "100/h fixed-window")
		for i := range 10 {
			takeN(t, long, fmt.Sprint("long", i), 1, true)
			takeN(t, short, fmt.Sprint("short", i), 100, true)
		}
		time.Sleep(time.Second - time.Millisecond) // before the sweep looks
		time.Sleep(time.Millisecond)
		for i := range 10 {
			takeN(t, long, fmt.Sprint("late", i), 1, true)
		}
		for i := range 10 {
			if d, _ := long.Peek(t.Context(), fmt.Sprint("long", i)); d.Remaining != 99 {
				t.Errorf("Peek(long%d).Remaining = %d, want 99", i, d.Remaining)
			}
		}
	})
}

// TestSweep: entries leave by themselves once they decide like fresh ones, not before, and take their memory along.
func TestSweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const keys = 50_000
		s := MustNew(Options{})
		defer s.Close()
		for _, limit := range []string{"10/s", "10/s sliding-window", "10/s sliding-log", "10/m"} {
			l := testLimiter(t, s, limit)
			for i := range keys {
				takeN(t, l, fmt.Sprint(limit, i), 1, true)
			}
		}
		if got := s.Len(); got != 4*keys {
			t.Fatalf("Len() = %d, want %d", got, 4*keys)
		}
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if got := s.Len(); got != keys {
			t.Errorf("Len() = %d after 4 s, want %d: those of 10/m", got, keys)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if got := s.Len(); got != 0 {
			t.Errorf("Len() = %d after 14 s, want 0", got)
		}
		for i := range s.tables.Load().shards {
			sh := &s.tables.Load().shards[i]
			if sh.table.Sparse() || len(sh.logs) != len(sh.freeLogs) {
				t.Errorf("shard %d keeps memory: %d logs, %d free", i, len(sh.logs), len(sh.freeLogs))
			}
		}
		if s.tables.Load().armed.Load() {
			t.Error("the sweep of an empty store is armed")
		}
	})
}

// TestSpecsLeave: limits made up per request do not pile up.
func TestSpecsLeave(t *testing.T) {
	s := testStore(t, 1000)
	for i := range int64(20_000) {
		l := weir.MustNew(s, weir.Options{Limits: []weir.Limit{weir.TokenBucket{Capacity: 10 + i, Refill: 1, Interval: time.Hour}}})
		takeN(t, l, fmt.Sprint("key", i%500), 1, true)
		if i%7 == 0 {
			if err := l.Reset(t.Context(), fmt.Sprint("key", i%500)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if used := s.tables.Load().shards[0].specs.Used(); used > 2*500+specs.MaxIdle {
		t.Errorf("500 keys hold on to %d limits", used)
	}
}

// TestLogChangesItsAlgorithm: the stamps of a log leave when the limit becomes another, and the other way round.
func TestLogChangesItsAlgorithm(t *testing.T) {
	s := testStore(t, 1000)
	l := testLimiter(t, s, "10/h sliding-log")
	for round := range 10 {
		takeN(t, l, "key", 1, round < 10)
		next := "10/h"
		if round%2 == 1 {
			next = "10/h sliding-log"
		}
		changed, err := l.With(weir.MustParseLimit(next))
		if err != nil {
			t.Fatal(err)
		}
		l = changed
		if d, _ := l.Peek(t.Context(), "key"); d.Remaining != int64(9-round) {
			t.Errorf("round %d, %s: Remaining = %d, want %d", round, next, d.Remaining, 9-round)
		}
	}
	if err := l.Reset(t.Context(), "key"); err != nil {
		t.Fatal(err)
	}
	sh := &s.tables.Load().shards[0]
	if len(sh.logs) != len(sh.freeLogs) || s.Len() != 0 {
		t.Errorf("after Reset: %d logs, %d of them free, Len() = %d", len(sh.logs), len(sh.freeLogs), s.Len())
	}
}

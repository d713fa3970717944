package redisstore

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/redistest"
)

// TestCanonical: a bucket of the documented script, through the store.
func TestCanonical(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	bucket, err := open(t, server.URL(), nil).Canonical(CanonicalLimit{Capacity: 10, Refill: 0.5, Interval: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	var admitted atomic.Int64
	var done sync.WaitGroup
	for range 64 {
		done.Go(func() {
			if d, err := bucket.Allow(t.Context(), "raw:key"); err != nil {
				t.Errorf("allow: error %v", err)
			} else if d.Allowed {
				admitted.Add(1)
			}
		})
	}
	done.Wait()
	if admitted.Load() != 10 {
		t.Errorf("got %d of 64 admitted, want 10", admitted.Load())
	}
	if got := do(t, server, "HGET", "raw:key", "tokens"); got != "0" {
		t.Errorf("the field tokens is %v, want 0", got)
	}
	d, err := bucket.AllowN(t.Context(), "raw:key", 2)
	if err != nil || d.Allowed || d.Limit != 10 || d.RetryAfter < 3*time.Hour || d.RetryAfter > 4*time.Hour {
		t.Errorf("two more: got %+v, %v, want a refusal until the fourth step", d, err)
	}
	if d, err = bucket.AllowN(t.Context(), "raw:key", 11); err != nil || d.RetryAfter != weir.Never {
		t.Errorf("more than fits: got %+v, %v, want never", d, err)
	}
	if d, err = bucket.Refund(t.Context(), "raw:key", 3); err != nil || d.Remaining != 3 {
		t.Errorf("refund: got %+v, %v, want 3 to remain", d, err)
	}
	if d, err = bucket.Charge(t.Context(), "raw:key", 5); err != nil || d.Remaining != 0 {
		t.Errorf("charge: got %+v, %v, want nothing to remain", d, err)
	}
	if err := bucket.Reset(t.Context(), "raw:key"); err != nil {
		t.Error(err)
	}
	if d, err = bucket.Peek(t.Context(), "raw:key"); err != nil || d.Remaining != 10 {
		t.Errorf("after the reset: got %+v, %v, want a full bucket", d, err)
	}
}

func TestCanonicalErrors(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	store := open(t, server.URL(), nil)
	if _, err := store.Canonical(CanonicalLimit{Capacity: 0.5, Refill: 1, Interval: time.Second}); !errors.Is(err, weir.ErrInvalidLimit) {
		t.Errorf("half a token: got error %v, want %v", err, weir.ErrInvalidLimit)
	}
	bucket, err := store.Canonical(CanonicalLimit{Capacity: 10, Refill: 1, Interval: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	do(t, server, "SET", "text", "hello")
	for _, c := range []struct {
		key  string
		n    int64
		want error
	}{{"", 1, weir.ErrNoKey}, {"key", -1, weir.ErrInvalidCost}, {"text", 1, ErrNotBucket}} {
		_, err := bucket.AllowN(t.Context(), c.key, c.n)
		var typed *weir.Error
		if !errors.Is(err, c.want) || !errors.As(err, &typed) || typed.Op != "allow" || typed.Key != c.key {
			t.Errorf("allow %d of %q: got error %v, want %v", c.n, c.key, err, c.want)
		}
	}
}

// TestCanonicalOutage: the outage policy holds for it too.
func TestCanonicalOutage(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	if err := server.Pause(); err != nil {
		t.Fatal(err)
	}
	store := open(t, server.URL(), func(o *Options) { o.Outage, o.Processes, o.Timeout = OutageLocal, 2, 50*time.Millisecond })
	bucket, err := store.Canonical(CanonicalLimit{Capacity: 10, Refill: 0.3, Interval: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	admitted := 0
	for range 20 {
		d, err := bucket.Allow(t.Context(), "key")
		if err != nil || !d.Outage {
			t.Fatalf("got %+v, %v, want a decision that is marked", d, err)
		}
		if d.Allowed {
			admitted++
		}
	}
	if admitted != 5 {
		t.Errorf("got %d admitted, want the share of 5", admitted)
	}
	if _, err := bucket.Refund(t.Context(), "key", 1); !errors.Is(err, ErrOutage) {
		t.Errorf("refund: got error %v, want %v", err, ErrOutage)
	}
	if err := server.Resume(); err != nil {
		t.Fatal(err)
	}
	await(t, "Redis", func() bool { d, err := bucket.Peek(t.Context(), "key"); return err == nil && !d.Outage })
}

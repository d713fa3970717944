package trip

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/redisstore/internal/script"
)

// slow answers after d, or when the context ends.
func slow(d time.Duration) func(context.Context, []string, *script.Reply) error {
	return func(ctx context.Context, keys []string, into *script.Reply) error {
		select {
		case <-time.After(d):
			return admit(ctx, keys, into)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func someKeys(n int) (keys []string) {
	for i := range n {
		keys = append(keys, fmt.Sprint("key", i))
	}
	return keys
}

// TestGather: a call that finds Redis idle leaves at once and alone; those that come while two are on their way leave
// together, and none is forgotten or sent twice.
func TestGather(t *testing.T) {
	inBubbles(t, func(t *testing.T, e *Engine, redis *fakeRedis) {
		redis.says(slow(time.Millisecond))
		start := time.Now()
		if errs := asks(t, e, someKeys(300)...); slices.ContainsFunc(errs, func(err error) bool { return err != nil }) {
			t.Fatalf("got errors %v", errs)
		}
		seen := make(map[string]int)
		for i, keys := range redis.trips {
			if len(keys) > maxSubjects {
				t.Errorf("trip %d has %d keys, more than %d", i, len(keys), maxSubjects)
			}
			for _, key := range keys {
				seen[key]++
			}
		}
		for key, n := range seen {
			if n != 1 {
				t.Errorf("%s was sent %d times", key, n)
			}
		}
		if len(seen) != 300 || len(redis.trips) > 6 {
			t.Errorf("got %d keys in %d trips, want 300 in a few", len(seen), len(redis.trips))
		}
		if took := time.Since(start); took > 4*time.Millisecond {
			t.Errorf("took %v, want a few trips of 1ms, two at a time", took)
		}
	})
}

// TestEqualKeysTravelTogether: the script reads a key once for all its neighbours.
func TestEqualKeysTravelTogether(t *testing.T) {
	inBubbles(t, func(t *testing.T, e *Engine, redis *fakeRedis) {
		redis.says(slow(time.Millisecond))
		var keys []string
		for range 30 {
			keys = append(keys, "a", "b", "c")
		}
		asks(t, e, keys...)
		for i, trip := range redis.trips {
			if got := len(slices.Compact(slices.Clone(trip))); got > 3 {
				t.Errorf("trip %d has its equal keys apart: %v", i, trip)
			}
		}
	})
}

// TestRunnerThatHangs: nobody waits longer than the timeout for a runner that answers late or never, however it treats
// its context; the number of its calls is bounded; and when it answers again, so do we.
func TestRunnerThatHangs(t *testing.T) {
	for _, heeds := range []bool{true, false} {
		t.Run(fmt.Sprint("heeds its context ", heeds), func(t *testing.T) {
			inBubble(t, heeds, func(t *testing.T, e *Engine, redis *fakeRedis) {
				hang := make(chan struct{})
				redis.says(func(ctx context.Context, keys []string, into *script.Reply) error {
					if heeds {
						select {
						case <-hang:
						case <-ctx.Done():
							return ctx.Err()
						}
					}
					<-hang
					return admit(ctx, keys, into)
				})
				for range 40 {
					start := time.Now()
					for i, err := range asks(t, e, someKeys(100)...) {
						if !errors.Is(err, ErrOutage) {
							t.Fatalf("key %d: got error %v, want %v", i, err, ErrOutage)
						}
					}
					if took := time.Since(start); took > timeout {
						t.Fatalf("an answer took %v, want at most %v", took, timeout)
					}
					time.Sleep(10 * time.Millisecond)
				}
				if !e.Out() {
					t.Error("the breaker is closed")
				}
				if n := redis.most.Load(); n > maxFlights+2*maxLost {
					t.Errorf("got %d calls of the runner at once, want at most %d flights and %d probes", n, maxFlights+maxLost, maxLost)
				}
				close(hang)
				redis.says(nil)
				time.Sleep(probeMisconfigured)
				asks(t, e, "wakes the probe")
				time.Sleep(time.Millisecond)
				if errs := asks(t, e, someKeys(100)...); slices.ContainsFunc(errs, func(err error) bool { return err != nil }) {
					t.Errorf("after the fault: got errors %v", errs)
				}
			})
		})
	}
}

// TestBreaker: three failures open it; then Redis is probed in time, and only while somebody asks.
func TestBreaker(t *testing.T) {
	inBubbles(t, func(t *testing.T, e *Engine, redis *fakeRedis) {
		redis.says(fails("LOADING Redis is loading the dataset in memory"))
		for i := range maxFailures {
			if e.Out() {
				t.Errorf("open after %d failures", i)
			}
			asks(t, e, "key")
		}
		if !e.Out() || redis.count() != maxFailures {
			t.Fatalf("after %d failures: out = %v after %d trips", maxFailures, e.Out(), redis.count())
		}
		for range 100 {
			time.Sleep(probeEvery / 10)
			if err := asks(t, e, "key")[0]; !errors.Is(err, ErrOutage) || !strings.Contains(err.Error(), "LOADING") {
				t.Errorf("open: got error %v, want %v that names the cause", err, ErrOutage)
			}
		}
		if probes := redis.count() - maxFailures; probes < 8 || probes > 10 {
			t.Errorf("got %d probes in %v, want one each %v", probes, 100*probeEvery/10, probeEvery)
		}
		synctest.Wait()
		n := redis.count()
		time.Sleep(time.Minute)
		if redis.count() != n {
			t.Error("it probes though nobody asks")
		}
		redis.says(nil)
		asks(t, e, "wakes the probe")
		synctest.Wait()
		if err := asks(t, e, "key")[0]; err != nil || e.Out() {
			t.Errorf("Redis is back: got error %v, out = %v", err, e.Out())
		}
	})
}

// TestMisconfigured: one such answer is enough, it is told as what it is, and asked again once a second.
func TestMisconfigured(t *testing.T) {
	inBubbles(t, func(t *testing.T, e *Engine, redis *fakeRedis) {
		redis.says(fails("NOAUTH Authentication required."))
		for range 100 {
			if err := asks(t, e, "key")[0]; !errors.Is(err, ErrMisconfigured) || errors.Is(err, ErrOutage) {
				t.Errorf("got error %v, want %v", err, ErrMisconfigured)
			}
			time.Sleep(50 * time.Millisecond)
		}
		if n := redis.count(); n < 5 || n > 6 {
			t.Errorf("got %d trips in 5s, want about one a second", n)
		}
	})
}

// TestAnswers: what is done about each kind of error of Redis.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		text  string
		want  error
		trips int
	}{
		{"NOSCRIPT No matching script. Please use EVAL.", nil, 1}, // and an EVAL
		{"READONLY You can't write against a read only replica.", ErrOutage, maxAttempts},
		{"MASTERDOWN Link with MASTER is down", ErrOutage, maxAttempts},
		{"CLUSTERDOWN The cluster is down", ErrOutage, 1},
		{"BUSY Redis is busy running a script.", ErrOutage, 1},
		{"TRYAGAIN Multiple keys request during rehashing of slot", ErrOutage, 1},
		{"ERR max number of clients reached", ErrOutage, 1},
		{"something that a client says", ErrOutage, 1},
		{"ERR upstream failure", ErrOutage, 1},
		{"ERR Script killed by user with SCRIPT KILL.", ErrOutage, 1},
		{"ERR unknown command 'EVALSHA'", ErrMisconfigured, 1},
		{"ERR The user executing the script can't run this command or subcommand", ErrMisconfigured, 1},
		{"CROSSSLOT Keys in request don't hash to the same slot", ErrMisconfigured, 1},
		{"NOPERM this user has no permissions to run the 'evalsha' command", ErrMisconfigured, 1},
		{"WRONGPASS invalid username-password pair or user is disabled.", ErrMisconfigured, 1},
	} {
		inBubbles(t, func(t *testing.T, e *Engine, redis *fakeRedis) {
			redis.says(fails(c.text))
			if err := asks(t, e, "key")[0]; !errors.Is(err, c.want) || redis.count() != c.trips {
				t.Errorf("%s: got error %v after %d trips, want %v after %d", c.text, err, redis.count(), c.want, c.trips)
			}
			if rediscovered := redis.rediscovers > 0; rediscovered != (c.trips > 1) {
				t.Errorf("%s: rediscovered %v", c.text, rediscovered)
			}
		})
	}
}

// TestTryAgain: keys of a slot on its way are refused together, and served one by one.
func TestTryAgain(t *testing.T) {
	inBubbles(t, func(t *testing.T, e *Engine, redis *fakeRedis) {
		redis.says(func(ctx context.Context, keys []string, into *script.Reply) error {
			time.Sleep(time.Millisecond)
			if len(slices.Compact(slices.Clone(keys))) > 1 {
				return textError("TRYAGAIN Multiple keys request during rehashing of slot")
			}
			return admit(ctx, keys, into)
		})
		if errs := asks(t, e, someKeys(20)...); slices.ContainsFunc(errs, func(err error) bool { return err != nil }) {
			t.Errorf("got errors %v", errs)
		}
	})
}

// TestProblemsOfOne: an error of one subject does not concern the others of the batch.
func TestProblemsOfOne(t *testing.T) {
	inBubbles(t, func(t *testing.T, e *Engine, redis *fakeRedis) {
		redis.says(func(ctx context.Context, keys []string, into *script.Reply) error {
			time.Sleep(time.Millisecond)
			into.Clear()
			for _, key := range keys {
				if key == "key7" {
					into.Texts = append(into.Texts, "OOM command not allowed when used memory > 'maxmemory'.")
					into.Ints = append(into.Ints, -4, int64(len(into.Texts)), 0)
				} else {
					into.Ints = append(into.Ints, 1, 0, 0)
				}
			}
			return nil
		})
		for i, err := range asks(t, e, someKeys(20)...) {
			if want := i == 7; errors.Is(err, ErrOutage) != want || (err != nil) != want {
				t.Errorf("key %d: got error %v", i, err)
			}
		}
		if e.Out() {
			t.Error("the breaker is open though Redis answers")
		}
	})
}

// TestFullLane: more calls than may wait are told so at once.
func TestFullLane(t *testing.T) {
	inBubbles(t, func(t *testing.T, e *Engine, redis *fakeRedis) {
		redis.says(slow(10 * time.Millisecond))
		full := 0
		for _, err := range asks(t, e, someKeys(1000)...) {
			if errors.Is(err, ErrOutage) && strings.Contains(err.Error(), "500 operations wait already") {
				full++
			} else if err != nil {
				t.Errorf("got error %v", err)
			}
		}
		if full == 0 || full > 500 {
			t.Errorf("got %d calls refused of 1000, want at most the 500 that cannot wait", full)
		}
	})
}

// TestLeaving: who leaves is gone at once, and the call is not sent if it has not been.
func TestLeaving(t *testing.T) {
	inBubbles(t, func(t *testing.T, e *Engine, redis *fakeRedis) {
		redis.says(slow(20 * time.Millisecond))
		for range maxFlights {
			go e.Ask(t.Context(), 0, take("first"))
			synctest.Wait() // until it is on its way
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		start := time.Now()
		if _, err := e.Ask(ctx, 0, take("leaves")); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrOutage) {
			t.Errorf("got error %v, want that of the context", err)
		}
		if took := time.Since(start); took != 5*time.Millisecond {
			t.Errorf("left after %v", took)
		}
		if err := asks(t, e, "last")[0]; err != nil {
			t.Errorf("got error %v", err)
		}
		for _, keys := range redis.trips {
			if slices.Contains(keys, "leaves") {
				t.Error("the call of who had left was sent")
			}
		}
	})
}

// TestCloseEndsAll: whoever waits hears that it is over.
func TestCloseEndsAll(t *testing.T) {
	inBubbles(t, func(t *testing.T, e *Engine, redis *fakeRedis) {
		redis.says(slow(time.Hour))
		errs := make(chan error, 100)
		for _, key := range someKeys(cap(errs)) {
			go func() {
				_, err := e.Ask(t.Context(), 0, take(key))
				errs <- err
			}()
		}
		synctest.Wait()
		if !e.Close() || e.Close() {
			t.Error("close does not know the first time from the second")
		}
		for range cap(errs) {
			if err := <-errs; !errors.Is(err, ErrClosed) {
				t.Errorf("got error %v, want %v", err, ErrClosed)
			}
		}
		if err := asks(t, e, "late")[0]; !errors.Is(err, ErrClosed) {
			t.Errorf("afterwards: got error %v, want %v", err, ErrClosed)
		}
	})
}

// TestSingle: the way for single scripts keeps the same promises.
func TestSingle(t *testing.T) {
	inBubbles(t, func(t *testing.T, e *Engine, redis *fakeRedis) {
		single := e.Single(Script{Source: "return 1", SHA: "sha"})
		if reply, err := single.Run(t.Context(), "key", nil); err != nil || len(reply.Ints) != 3 {
			t.Errorf("got %v, %v", reply, err)
		}
		hang := make(chan struct{})
		redis.says(func(ctx context.Context, keys []string, into *script.Reply) error {
			<-hang
			return admit(ctx, keys, into)
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := single.Run(ctx, "key", nil); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrOutage) {
			t.Errorf("got error %v, want that of the context", err)
		}
		for range 20 {
			start := time.Now()
			if _, err := single.Run(t.Context(), "key", nil); !errors.Is(err, ErrOutage) || time.Since(start) > timeout {
				t.Errorf("got error %v after %v", err, time.Since(start))
			}
		}
		if n := redis.count(); n > 6 || !e.Out() {
			t.Errorf("got %d trips, and out = %v, want a breaker that is open", n, e.Out())
		}
		close(hang)
		redis.says(nil)
		time.Sleep(probeEvery)
		if _, err := single.Run(t.Context(), "key", nil); err != nil || e.Out() {
			t.Errorf("Redis is back: got error %v, out = %v", err, e.Out())
		}
	})
}

// TestFullLaneLives: calls that were given up with a lost flight do not fill the lane for ever.
func TestFullLaneLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		redis := &fakeRedis{}
		e := newEngine(redis, 1)
		defer func() { e.Close(); e.Wait() }()
		redis.says(func(context.Context, []string, *script.Reply) error {
			time.Sleep(2 * timeout)
			return textError("READONLY You can't write against a read only replica.")
		})
		asks(t, e, "key")
		time.Sleep(2 * timeout)
		redis.says(nil)
		if err := asks(t, e, "key")[0]; err != nil {
			t.Errorf("Redis is well: got error %v", err)
		}
	})
}

// TestOneFaultCountsOnce: trips that hang at the same time are one failure, not the end of patience.
func TestOneFaultCountsOnce(t *testing.T) {
	inBubbles(t, func(t *testing.T, e *Engine, redis *fakeRedis) {
		redis.says(slow(2 * timeout))
		asks(t, e, someKeys(40)...)
		if e.Out() {
			t.Error("the breaker is open after one pause of Redis")
		}
		time.Sleep(timeout)
		redis.says(nil)
		if errs := asks(t, e, someKeys(40)...); slices.ContainsFunc(errs, func(err error) bool { return err != nil }) {
			t.Errorf("after the pause: got errors %v", errs)
		}
	})
}

// TestTooSlow: a Redis that answers, but never in time, stays given up.
func TestTooSlow(t *testing.T) {
	inBubbles(t, func(t *testing.T, e *Engine, redis *fakeRedis) {
		redis.says(slow(2 * timeout))
		for !e.Out() {
			asks(t, e, "key")
		}
		for range 100 {
			time.Sleep(50 * time.Millisecond)
			start := time.Now()
			asks(t, e, "key")
			if took := time.Since(start); took > 0 || !e.Out() {
				t.Fatalf("a call took %v, and out = %v, want a breaker that stays open", took, e.Out())
			}
		}
	})
}

// TestProbeHangs: a probe that never returns is followed by others, not many.
func TestProbeHangs(t *testing.T) {
	inBubble(t, false, func(t *testing.T, e *Engine, redis *fakeRedis) {
		hang := make(chan struct{})
		redis.says(func(ctx context.Context, keys []string, into *script.Reply) error {
			<-hang
			return ctx.Err()
		})
		for range 1000 {
			asks(t, e, "key")
			time.Sleep(20 * time.Millisecond)
		}
		if n := redis.count(); n > 2*maxLost+maxFlights {
			t.Errorf("got %d trips that hang, want at most %d flights and as many probes", n, maxLost)
		}
		close(hang)
		redis.says(nil)
		time.Sleep(time.Minute)
		asks(t, e, "wakes the probe")
		synctest.Wait()
		if err := asks(t, e, "key")[0]; err != nil {
			t.Errorf("Redis is back: got error %v", err)
		}
	})
}

// TestClosedWhileOut: a closed store says so, not what was wrong before.
func TestClosedWhileOut(t *testing.T) {
	inBubbles(t, func(t *testing.T, e *Engine, redis *fakeRedis) {
		redis.says(fails("LOADING Redis is loading the dataset in memory"))
		for !e.Out() {
			asks(t, e, "key")
		}
		e.Close()
		if err := asks(t, e, "key")[0]; !errors.Is(err, ErrClosed) {
			t.Errorf("got error %v, want %v", err, ErrClosed)
		}
	})
}

// TestForeignProbeKey: a value where the probe looks is no fault of Redis.
func TestForeignProbeKey(t *testing.T) {
	inBubbles(t, func(t *testing.T, e *Engine, redis *fakeRedis) {
		redis.says(func(_ context.Context, _ []string, into *script.Reply) error {
			into.Clear()
			into.Ints = append(into.Ints, -3, 0, 0)
			return nil
		})
		if err := e.Check(t.Context()); err != nil {
			t.Errorf("got error %v", err)
		}
	})
}

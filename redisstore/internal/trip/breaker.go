package trip

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxFailures is how many trips in a row may fail before the breaker opens.
	maxFailures = 3
	// probeEvery is how often Redis is asked while the breaker is open and there are calls.
	probeEvery = 200 * time.Millisecond
	// probeMisconfigured is the same while waiting does not help.
	probeMisconfigured = time.Second
	// probeTimeout is how long a probe may take at least: connecting, too, takes its time.
	probeTimeout = 250 * time.Millisecond
)

// breaker spares callers the wait for a Redis that does not answer. It is closed as long as trips succeed; after
// maxFailures in a row, or one that says that Redis is misconfigured, it opens: calls fail at once, and a probe, started
// by the next call that comes when it is due, finds out when Redis is back. Without calls there are no probes.
type breaker struct {
	engine *Engine
	// probe asks Redis, on a goroutine of its own. Nil lets a call through instead, whose trip is the probe.
	probe func(context.Context) error

	open     atomic.Bool
	failures atomic.Int32

	mu      sync.Mutex
	cause   error
	wait    time.Duration // from a failure to the next probe
	due     int64         // when to probe next; all times are nanoseconds since the engine was made
	counted int64         // when the latest failure was counted
	probes  int           // under way
	started int64         // when the latest of them began
}

// admit returns nil, or the error that callers get instead of a trip.
func (b *breaker) admit() error {
	if !b.open.Load() {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.engine.now()
	switch {
	case !b.open.Load():
		return nil
	case b.engine.life.Err() != nil:
		return ErrClosed
	case now < b.due:
	case b.probe == nil:
		b.due = now + int64(b.wait)
		return nil
	case b.probes > 0 && now-b.started < int64(2*b.timeout()), b.probes == maxLost:
		// One is under way, and not overdue yet; or too many are.
	case b.engine.hold():
		b.probes++
		b.started = now
		go b.ask()
	}
	return b.cause
}

// timeout is how long a probe may take.
func (b *breaker) timeout() time.Duration { return max(probeTimeout, b.engine.settings.Timeout) }

// ask probes: Redis is back when it answers within the time that calls have. An answer that came later may have had to
// connect first; then it is asked once more.
func (b *breaker) ask() {
	defer b.engine.flights.Done()
	ctx, cancel := context.WithTimeout(b.engine.life, b.timeout())
	defer cancel()
	var began int64
	late, err := true, error(nil)
	for i := 0; i < 2 && late && err == nil; i++ {
		began = b.engine.now()
		err = b.probe(ctx)
		late = b.engine.now()-began > int64(b.engine.settings.Timeout)
	}
	b.mu.Lock()
	b.probes--
	b.mu.Unlock()
	switch {
	case err != nil:
		b.failed(err, began)
	case late:
		b.failed(b.engine.overdue, began)
	default:
		b.succeeded()
	}
}

// succeeded says that a trip brought an answer.
func (b *breaker) succeeded() {
	if b.failures.Load() != 0 {
		b.failures.Store(0)
	}
	if !b.open.Load() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open.CompareAndSwap(true, false) {
		b.engine.tell(-1, nil)
	}
}

// failed says that a trip that began at a time failed with err, which wraps ErrOutage or ErrMisconfigured. Trips that were
// under way at the same time fail for the same reason: they count as one.
func (b *breaker) failed(err error, began int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	wait := probeMisconfigured
	if !errors.Is(err, ErrMisconfigured) {
		if began < b.counted {
			return
		}
		wait = probeEvery
		b.counted = b.engine.now()
		if b.failures.Add(1) < maxFailures && !b.open.Load() {
			return
		}
	}
	b.cause, b.wait = err, wait
	b.due = b.engine.now() + int64(wait)
	if b.open.CompareAndSwap(false, true) {
		b.engine.tell(+1, err)
	}
}

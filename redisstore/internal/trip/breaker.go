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
	probe  func(context.Context) error

	open     atomic.Bool
	failures atomic.Int32

	mu      sync.Mutex
	cause   error
	due     int64 // when to probe next, nanoseconds since the engine was made
	probing bool
}

// admit returns nil, or the error that callers get instead of a trip.
func (b *breaker) admit() error {
	if !b.open.Load() {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open.Load() {
		return nil
	}
	if !b.probing && b.engine.now() >= b.due && b.engine.hold() {
		b.probing = true
		go b.ask()
	}
	return b.cause
}

// ask probes once.
func (b *breaker) ask() {
	defer b.engine.flights.Done()
	ctx, cancel := context.WithTimeout(b.engine.life, max(probeTimeout, b.engine.settings.Timeout))
	defer cancel()
	err := b.probe(ctx)
	b.mu.Lock()
	b.probing = false
	b.mu.Unlock()
	if err == nil {
		b.succeeded()
		return
	}
	b.failed(err)
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

// failed says that a trip failed with err, which wraps ErrOutage or ErrMisconfigured.
func (b *breaker) failed(err error) {
	wait := probeEvery
	if misconfigured := errors.Is(err, ErrMisconfigured); misconfigured {
		wait = probeMisconfigured
	} else if b.failures.Add(1) < maxFailures && !b.open.Load() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cause = err
	b.due = b.engine.now() + int64(wait)
	if b.open.CompareAndSwap(false, true) {
		b.engine.tell(+1, err)
	}
}

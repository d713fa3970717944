package redisconn

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// pause is how long the error of an attempt answers for those who would begin another.
const pause = 50 * time.Millisecond

// attempt is a try to connect, for all who need it.
type attempt struct {
	before error         // of the attempt before it
	done   chan struct{} // closed at the end; then there are
	err    error
	ended  time.Time
}

// fresh says that a is under way or has just failed.
func (a *attempt) fresh() bool {
	select {
	case <-a.done:
		return a.err != nil && time.Since(a.ended) < pause
	default:
		return true
	}
}

func (a *attempt) end(err error) {
	a.err, a.ended = err, time.Now()
	close(a.done)
}

// wait returns when a has ended, ctx has, or everything has.
func (a *attempt) wait(ctx, life context.Context) error {
	ctx, cancel := punctual(ctx)
	defer cancel()
	select {
	case <-a.done:
		return a.err
	case <-life.Done():
		return ErrClosed
	case <-ctx.Done():
		before := a.before
		if c, ok := errors.AsType[*ConnectError](before); ok {
			before = c.Err
		}
		if before != nil {
			return &ConnectError{Err: fmt.Errorf("%w; the attempt before: %v", ctx.Err(), before)}
		}
		return &ConnectError{Err: ctx.Err()}
	}
}

// attempts lets one attempt at a time connect to an address.
type attempts struct {
	mu     sync.Mutex
	latest map[string]*attempt
}

// begin returns the attempt that is fresh, or a new one, which the caller then has to make.
func (s *attempts) begin(addr string) (a *attempt, isNew bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.latest[addr]
	if last != nil && last.fresh() {
		return last, false
	}
	a = &attempt{done: make(chan struct{})}
	if last != nil {
		a.before = last.err
	}
	if s.latest == nil {
		s.latest = make(map[string]*attempt)
	}
	s.latest[addr] = a
	return a, true
}

// punctual returns ctx with a Done that is closed at its deadline, which that of a trip is not.
func punctual(ctx context.Context) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		// A deadline that the parent seems to keep would not get a timer.
		return context.WithDeadline(withoutDeadline{ctx}, deadline)
	}
	return ctx, func() {}
}

type withoutDeadline struct{ context.Context }

func (withoutDeadline) Deadline() (time.Time, bool) { return time.Time{}, false }

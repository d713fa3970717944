package model

import (
	"fmt"
	"math/big"
	"time"

	"github.com/weirhq/weir"
)

// A rule is a limit. Its methods say what becomes of a state; a nil state is a fresh subject. No method changes the
// state it is given.
type rule interface {
	// quota is the capacity or limit.
	quota() int64
	// settle returns s as it is at now: what has come back has come back, and nil if s decides like a fresh one.
	settle(s *state, now int64) *state
	// inUse returns how much of the quota s, settled at now and not nil, holds then.
	inUse(s *state, now int64) *big.Rat
	// charge adds n, at least 1, to s, settled at now.
	charge(s *state, now, n int64) *state
	// refund takes up to n, at least 1, from s, settled at now and not nil.
	refund(s *state, now, n int64) *state
}

// state is what any of the rules remembers; each uses some of the fields.
type state struct {
	at       int64    // when it was written, or its window or step began
	used     *big.Rat // buckets: tokens taken and not yet back
	count    int64    // windows: units of the window of at
	previous int64    // sliding window: units of the window before
	stamps   []stamp  // log: oldest first
}

type stamp struct{ at, n int64 }

// most is the largest count that any rule keeps.
const most = weir.MaxQuota

// hundredYears is the longest time that a debt may take to pay, in microseconds.
const hundredYears = int64(weir.MaxPeriod / time.Microsecond)

// ruleOf reads a valid limit.
func ruleOf(limit weir.Limit) rule {
	switch l := limit.(type) {
	case weir.TokenBucket:
		if l.Stepwise {
			return newStepwise(l)
		}
		return newSmooth(l.Capacity, l.Refill, l.Interval)
	case weir.LeakyBucket:
		return newSmooth(l.Capacity, l.Leak, l.Interval)
	case weir.FixedWindow:
		if l.Anchored {
			return anchored{l.Limit, l.Window.Microseconds()}
		}
		return newFixed(l)
	case weir.SlidingWindow:
		return sliding{l.Limit, l.Window.Microseconds()}
	case weir.SlidingLog:
		return log{l.Limit, l.Window.Microseconds()}
	}
	panic(fmt.Sprintf("model: unknown limit %T", limit))
}

// Subject is a key under one limit. It is a value: operations return the subject that comes after them.
type Subject struct {
	limit weir.Limit
	rule  rule // the limit in force
	spec  weir.Spec

	under weir.Spec // what the state was written under
	wrote rule
	state *state
}

// New returns a subject that was never seen. The limit must be valid.
func New(limit weir.Limit) Subject {
	s := Subject{}.Change(limit)
	s.under, s.wrote = s.spec, s.rule
	return s
}

// Limit returns the limit in force.
func (s Subject) Limit() weir.Limit { return s.limit }

// Take charges cost if the limit admits it.
func (s Subject) Take(now, cost int64) (Subject, weir.Figures) {
	s, taken := s.Taken(now, cost)
	if taken {
		cost = 0 // for which there is never a wait
	}
	return s, s.Peek(now, cost)
}

// Taken is [Subject.Take] without the searches. It reports whether cost was admitted.
func (s Subject) Taken(now, cost int64) (Subject, bool) {
	s = s.carried(now)
	if !s.Admits(now, cost) {
		return s, false
	}
	return s.charged(now, cost), true
}

// Peek returns what the limit says of cost at now.
func (s Subject) Peek(now, cost int64) weir.Figures {
	s = s.carried(now)
	f := weir.Figures{Limit: s.rule.quota(), Remaining: s.Remaining(now), RetryAfter: weir.Never}
	if cost <= f.Limit {
		f.RetryAfter = earliest(func(wait int64) bool { return s.Admits(now+wait, cost) })
	}
	f.ResetAfter = earliest(func(wait int64) bool { return s.Fresh(now + wait) })
	return f
}

// Refund gives back n, most recent first.
func (s Subject) Refund(now, n int64) (Subject, weir.Figures) {
	s = s.Refunded(now, n)
	return s, s.Peek(now, 1)
}

// Refunded is [Subject.Refund] without the searches.
func (s Subject) Refunded(now, n int64) Subject {
	s = s.carried(now)
	if n == 0 {
		return s
	}
	if s.state = s.rule.settle(s.state, now); s.state != nil {
		s.state = s.rule.settle(s.rule.refund(s.state, now, n), now)
	}
	return s
}

// Charge takes n without asking.
func (s Subject) Charge(now, n int64) (Subject, weir.Figures) {
	s = s.Charged(now, n)
	return s, s.Peek(now, 1)
}

// Charged is [Subject.Charge] without the searches.
func (s Subject) Charged(now, n int64) Subject { return s.carried(now).charged(now, n) }

func (s Subject) charged(now, n int64) Subject {
	if n > 0 {
		r := s.rule
		s.state = r.charge(r.settle(s.state, now), now, n)
	}
	return s
}

// Reset returns the subject as never seen.
func (s Subject) Reset() Subject { return New(s.limit) }

// Change puts another limit in force. What was consumed carries over at the next operation, which knows the time.
func (s Subject) Change(to weir.Limit) Subject {
	spec, err := weir.SpecOf(to)
	if err != nil {
		panic(err)
	}
	s.limit, s.spec, s.rule = to, spec, ruleOf(to)
	return s
}

// Admits says whether the limit admits cost at now.
func (s Subject) Admits(now, cost int64) bool {
	s = s.carried(now)
	r := s.rule
	if cost == 0 {
		return true
	}
	if cost > r.quota() {
		return false
	}
	settled := r.settle(s.state, now)
	if settled == nil {
		return true
	}
	used := r.inUse(settled, now)
	return used.Add(used, integer(cost)).Cmp(integer(r.quota())) <= 0
}

// Remaining returns the largest cost that the limit admits at now.
func (s Subject) Remaining(now int64) int64 {
	s = s.carried(now)
	r := s.rule
	settled := r.settle(s.state, now)
	if settled == nil {
		return r.quota()
	}
	left := integer(r.quota())
	left.Sub(left, r.inUse(settled, now))
	return max(0, floor(left))
}

// Fresh says whether the subject decides at now, and ever after, as if it had never been seen.
func (s Subject) Fresh(now int64) bool {
	s = s.carried(now)
	return s.rule.settle(s.state, now) == nil
}

// Confirm checks figures of a cost at now against the definitions, without a search: the waits must satisfy, and a
// microsecond less must not. The error says what does not hold.
func (s Subject) Confirm(now, cost int64, f weir.Figures) error {
	s = s.carried(now)
	quota := s.rule.quota()
	if f.Limit != quota {
		return fmt.Errorf("limit is %d, want %d", f.Limit, quota)
	}
	if remaining := s.Remaining(now); f.Remaining != remaining {
		return fmt.Errorf("remaining is %d, want %d", f.Remaining, remaining)
	}
	if (f.RetryAfter == weir.Never) != (cost > quota) {
		return fmt.Errorf("retry after is %v for a cost of %d of %d", f.RetryAfter, cost, quota)
	}
	if f.RetryAfter != weir.Never {
		err := confirm(f.RetryAfter, func(wait int64) bool { return s.Admits(now+wait, cost) })
		if err != nil {
			return fmt.Errorf("retry after %v: %w", f.RetryAfter, err)
		}
	}
	if err := confirm(f.ResetAfter, func(wait int64) bool { return s.Fresh(now + wait) }); err != nil {
		return fmt.Errorf("reset after %v: %w", f.ResetAfter, err)
	}
	return nil
}

func confirm(d time.Duration, holds func(wait int64) bool) error {
	wait := d.Microseconds()
	switch {
	case wait < 0 || d%time.Microsecond != 0:
		return fmt.Errorf("is no wait in whole microseconds")
	case !holds(wait):
		return fmt.Errorf("is too short")
	case wait > 0 && holds(wait-1):
		return fmt.Errorf("is too long")
	}
	return nil
}

// earliest returns the smallest wait for which holds is true. Once true, it must stay true.
func earliest(holds func(wait int64) bool) time.Duration {
	if holds(0) {
		return 0
	}
	before, after := int64(0), int64(1)
	for !holds(after) {
		before, after = after, 2*after
		if after > 8*hundredYears {
			panic("model: a wait without end")
		}
	}
	for after-before > 1 {
		if middle := before + (after-before)/2; holds(middle) {
			after = middle
		} else {
			before = middle
		}
	}
	return time.Duration(after) * time.Microsecond
}

func integer(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }

// floor and ceil round to whole numbers; the results fit.
func floor(r *big.Rat) int64 {
	return new(big.Int).Div(r.Num(), r.Denom()).Int64() // Euclidean: down, for a positive denominator
}

func ceil(r *big.Rat) int64 { return -floor(new(big.Rat).Neg(r)) }

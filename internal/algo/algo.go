package algo

import (
	"math/bits"

	"github.com/weirhq/weir"
)

// Never is the wait for a cost that no wait admits.
const Never = -1

const (
	maxExact = 1<<53 - 1
	// horizon is the longest time, in microseconds, that a state may need to become fresh: a hundred years.
	horizon = int64(weir.MaxPeriod / 1000)
)

// State is what is kept of one subject under one limit. Its numbers mean what the algorithm says; the zero State is
// a fresh subject under every algorithm. Only [Log] uses the slice.
type State struct {
	A, B, C int64
	Log     []Stamp
}

// Algorithm decides one limit. Its values do not change and are safe to share. All methods but Settle want a settled state.
type Algorithm interface {
	// Quota returns the most units that a fresh subject can take at once.
	Quota() int64
	// Settle brings the state to now; a state that is fresh by now comes back as the zero State.
	Settle(s State, now int64) State
	// Used returns how many units of the quota are taken, rounded up; more than the quota in debt.
	Used(s State, now int64) int64
	// Wait returns the microseconds until cost, 1 to Quota, is admitted: 0 if it is now.
	Wait(s State, now, cost int64) int64
	// Charge takes n units without asking, n >= 1. It may write into the memory behind s.Log.
	Charge(s State, now, n int64) State
	// Refund gives n units back, n >= 1, the most recent first. It may write into the memory behind s.Log.
	Refund(s State, now, n int64) State
	// carry turns s, a settled state under from, which is of the same type, into one under the receiver.
	carry(from Algorithm, s State, now int64) State
}

// For returns the algorithm that decides spec.
func For(spec weir.Spec) Algorithm {
	switch spec.Algorithm {
	case weir.StepwiseBucket:
		return newStepwise(spec.Quota, spec.Refill, spec.Period)
	case weir.AlignedWindow:
		return &fixed{limit: spec.Quota, length: spec.Period}
	case weir.CalendarWindow:
		return &fixed{limit: spec.Quota, calendar: &calendar{unit: spec.Calendar, zone: spec.Zone}}
	case weir.AnchoredWindow:
		return &anchored{limit: spec.Quota, length: spec.Period}
	case weir.TwoWindows:
		return &sliding{limit: spec.Quota, length: spec.Period}
	case weir.Log:
		return &log{limit: spec.Quota, length: spec.Period}
	}
	return newBucket(spec.Quota, spec.Refill, spec.Period)
}

// Take decides cost under a and charges it if it is admitted. s need not be settled; the state that comes back is.
func Take(a Algorithm, s State, now, cost int64) (State, Outcome) {
	if b, ok := a.(*Bucket); ok {
		used, at, o := b.Take(s.A, s.B, now, cost)
		return State{A: used, B: at}, o
	}
	s = a.Settle(s, now)
	wait := Wait(a, s, now, cost)
	if wait == 0 && cost > 0 {
		s = a.Charge(s, now, cost)
	}
	return s, Look(a, s, now, wait)
}

// Outcome is what one limit says at an instant.
type Outcome struct {
	Remaining int64 // units that are admitted now
	Wait      int64 // microseconds until the cost is admitted; 0 now; Never
	Reset     int64 // microseconds until the full quota is back
}

// Wait returns how long cost must wait under a: 0 if it is admitted now, which a cost of 0 always is, or Never.
func Wait(a Algorithm, s State, now, cost int64) int64 {
	switch {
	case cost == 0:
		return 0
	case cost > a.Quota():
		return Never
	}
	return a.Wait(s, now, cost)
}

// Look returns what a says of the settled state s. wait is the wait that was found for the cost.
func Look(a Algorithm, s State, now, wait int64) Outcome {
	quota := a.Quota()
	return Outcome{
		Remaining: max(0, quota-a.Used(s, now)),
		Wait:      wait,
		Reset:     a.Wait(s, now, quota),
	}
}

// Fresh reports whether the settled state s decides as if the subject had never been seen.
func Fresh(a Algorithm, s State, now int64) bool { return a.Wait(s, now, a.Quota()) == 0 }

// Carry turns s, the state of a subject under from, into its settled state under to: what was consumed stays
// consumed, so that a change of numbers is no free burst. Where it would take longer than a full refill to come back, in
// buckets and sliding windows, it is never more than to's quota (and what was in debt), so that the change is no
// lock-out either. Between two algorithms the units in use at now are charged to a fresh state.
func Carry(from Algorithm, s State, to Algorithm, now int64) State {
	s = from.Settle(s, now)
	if Fresh(from, s, now) {
		return State{}
	}
	if sameType(from, to) {
		return to.Settle(to.carry(from, s, now), now)
	}
	return recharge(from, s, to, now)
}

// recharge charges to a fresh state under to what is in use under from.
func recharge(from Algorithm, s State, to Algorithm, now int64) State {
	used := from.Used(s, now)
	used = min(used, to.Quota()+max(0, used-from.Quota()))
	if used == 0 {
		return State{}
	}
	return to.Charge(State{}, now, used)
}

// Sane reports whether s, from outside, is a state that a could have written, so far as that keeps the arithmetic in
// bounds. Its numbers must lie within 0 and 2^53-1.
func Sane(a Algorithm, s State) bool {
	switch a := a.(type) {
	case *Bucket:
		return s.A <= a.maxUsed
	case *stepwise:
		return s.A <= a.maxUsed
	}
	return true
}

func sameType(a, b Algorithm) bool {
	switch a.(type) {
	case *Bucket:
		_, ok := b.(*Bucket)
		return ok
	case *stepwise:
		_, ok := b.(*stepwise)
		return ok
	case *fixed:
		_, ok := b.(*fixed)
		return ok
	case *anchored:
		_, ok := b.(*anchored)
		return ok
	case *sliding:
		_, ok := b.(*sliding)
		return ok
	case *log:
		_, ok := b.(*log)
		return ok
	}
	return false
}

// addCapped returns a + n, at most limit. All are non-negative and below 2^62.
func addCapped(a, n, limit int64) int64 { return min(a+n, limit) }

// mulCapped returns a x b, at most limit.
func mulCapped(a, b, limit int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi != 0 || lo > uint64(limit) {
		return limit
	}
	return int64(lo)
}

// mulDivFloor returns a x b / c rounded down. All are non-negative, c is positive, the result must fit.
func mulDivFloor(a, b, c int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	q, _ := bits.Div64(hi, lo, uint64(c))
	return int64(q)
}

// mulDivCeil returns a x b / c rounded up, at most limit.
func mulDivCeil(a, b, c, limit int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	lo, carry := bits.Add64(lo, uint64(c-1), 0)
	hi += carry
	if hi >= uint64(c) {
		return limit
	}
	q, _ := bits.Div64(hi, lo, uint64(c))
	return int64(min(q, uint64(limit)))
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }

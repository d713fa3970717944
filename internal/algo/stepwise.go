package algo

// stepwise is the token bucket that gives back refill tokens at the end of each whole interval: floor(elapsed /
// interval) x refill, as in the token bucket of the Redis documentation. The steps are counted from the take that
// found the bucket full; a bucket that is full again has no phase and is fresh.
//
// State: A tokens in use, B the time of the last step.
type stepwise struct {
	capacity int64
	refill   int64
	interval int64 // microseconds
	maxUsed  int64 // where debt stops
	fullTime int64
}

func newStepwise(capacity, refill, interval int64) *stepwise {
	return &stepwise{
		capacity: capacity, refill: refill, interval: interval,
		maxUsed:  mulCapped(horizon/interval, refill, maxExact),
		fullTime: ceilDiv(capacity, refill) * interval,
	}
}

func (w *stepwise) Quota() int64 { return w.capacity }

func (w *stepwise) Settle(s State, now int64) State {
	if s.A == 0 {
		return State{}
	}
	if now <= s.B {
		if s.B-now > w.fullTime {
			return State{}
		}
		return s
	}
	steps := (now - s.B) / w.interval
	if steps >= ceilDiv(s.A, w.refill) {
		return State{}
	}
	s.A -= steps * w.refill
	s.B += steps * w.interval
	return s
}

func (w *stepwise) Used(s State, _ int64) int64 { return s.A }

func (w *stepwise) Wait(s State, now, cost int64) int64 {
	short := s.A + cost - w.capacity
	if short <= 0 {
		return 0
	}
	return s.B + ceilDiv(short, w.refill)*w.interval - now
}

func (w *stepwise) Charge(s State, now, n int64) State {
	if s.A == 0 {
		s.B = now
	}
	s.A = addCapped(s.A, n, w.maxUsed)
	return s
}

func (w *stepwise) Refund(s State, _, n int64) State {
	s.A = max(0, s.A-n)
	if s.A == 0 {
		return State{}
	}
	return s
}

// carry keeps the part of the step that has passed, not its length: a step half gone stays half gone, however often
// the interval changes.
func (w *stepwise) carry(from Algorithm, s State, now int64) State {
	old := from.(*stepwise)
	most := addCapped(w.capacity, max(0, s.A-old.capacity), w.maxUsed)
	at := min(s.B, now+w.fullTime)
	if s.B < now {
		at = max(0, now-mulDivFloor(now-s.B, w.interval, old.interval))
	}
	return State{A: min(s.A, most), B: at}
}

package algo

import "github.com/weirhq/weir"

// sliding is the sliding window of two weighted counters. Windows are aligned to the Unix epoch. With e the time
// since the current window began, the estimate is previous x (length - e) / length + current; it is compared rounded
// down.
//
// State: A the start of the current window, B the previous count, C the current count.
type sliding struct {
	limit  int64
	length int64 // microseconds
}

const maxSlidingCount = weir.MaxSlidingWindow

func (w *sliding) Quota() int64 { return w.limit }

func (w *sliding) Settle(s State, now int64) State {
	start := now - now%w.length
	switch {
	case s.A > now:
		if s.A-now > 2*w.length {
			return State{}
		}
	case start == s.A+w.length:
		s = State{A: start, B: s.C}
	case start > s.A:
		return State{}
	}
	if s.C == 0 && w.previous(s, now) == 0 {
		return State{}
	}
	return s
}

// previous returns what the previous window still counts for.
func (w *sliding) previous(s State, now int64) int64 {
	if s.B == 0 {
		return 0
	}
	return mulDivFloor(s.B, w.length-max(0, now-s.A), w.length)
}

func (w *sliding) Used(s State, now int64) int64 { return s.C + w.previous(s, now) }

func (w *sliding) Wait(s State, now, cost int64) int64 {
	if w.Used(s, now)+cost <= w.limit {
		return 0
	}
	// The wait ends in this window as soon as the previous count has faded to what the current count leaves, or,
	// if the current count alone is too much, in the next one as soon as it has faded in its turn.
	start, fading, left := s.A, s.B, w.limit-cost-s.C
	if left < 0 {
		start, fading, left = s.A+w.length, s.C, w.limit-cost
	}
	// floor(fading x rest / length) <= left holds just when rest < (left+1) x length / fading.
	rest := mulDivCeil(left+1, w.length, fading, w.length) - 1
	return start + w.length - rest - now
}

func (w *sliding) Charge(s State, now, n int64) State {
	if s.B == 0 && s.C == 0 {
		s.A = now - now%w.length
	}
	s.C = addCapped(s.C, n, maxSlidingCount)
	return s
}

func (w *sliding) Refund(s State, now, n int64) State {
	current := min(n, s.C)
	s.C -= current
	s.B = max(0, s.B-(n-current))
	return w.Settle(s, now)
}

func (w *sliding) carry(from Algorithm, s State, now int64) State {
	old := from.(*sliding)
	if old.length != w.length {
		return recharge(old, s, w, now)
	}
	most := w.limit + max(0, old.Used(s, now)-old.limit)
	s.B, s.C = min(s.B, most, maxSlidingCount), min(s.C, most, maxSlidingCount)
	return s
}

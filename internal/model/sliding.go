package model

import (
	"math/big"

	"github.com/weirhq/weir"
)

// sliding weighs the counts of two windows that stand on the time line.
type sliding struct{ limit, length int64 }

func (w sliding) quota() int64 { return w.limit }

func (w sliding) settle(s *state, now int64) *state {
	if s == nil || s.at-now > 2*w.length {
		return nil
	}
	switch start := now - now%w.length; {
	case start <= s.at:
	case start == s.at+w.length:
		s = &state{at: start, previous: s.count}
	default:
		return nil
	}
	if w.inUse(s, now).Sign() == 0 {
		return nil
	}
	return s
}

// inUse is the estimate, rounded down.
func (w sliding) inUse(s *state, now int64) *big.Rat {
	elapsed := max(0, now-s.at)
	part := big.NewRat(w.length-elapsed, w.length)
	estimate := part.Add(part.Mul(part, integer(s.previous)), integer(s.count))
	return integer(floor(estimate))
}

func (w sliding) charge(s *state, now, n int64) *state {
	if s == nil {
		s = &state{at: now - now%w.length}
	}
	return &state{at: s.at, previous: s.previous, count: min(s.count+n, weir.MaxSlidingWindow)}
}

func (w sliding) refund(s *state, _, n int64) *state {
	current := min(n, s.count)
	previous := min(n-current, s.previous)
	return &state{at: s.at, previous: s.previous - previous, count: s.count - current}
}

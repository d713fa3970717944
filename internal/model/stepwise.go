package model

import (
	"math/big"

	"github.com/weirhq/weir"
)

// stepwise is a bucket that gets whole refills at whole intervals, counted from the take that found it full.
type stepwise struct{ capacity, refill, interval int64 }

func newStepwise(l weir.TokenBucket) stepwise {
	return stepwise{l.Capacity, l.Refill, l.Interval.Microseconds()}
}

func (b stepwise) quota() int64 { return b.capacity }

// full is the time from empty to full.
func (b stepwise) full() int64 { return ceil(big.NewRat(b.capacity, b.refill)) * b.interval }

func (b stepwise) settle(s *state, now int64) *state {
	if s == nil {
		return nil
	}
	if now < s.at {
		if s.at-now > b.full() {
			return nil
		}
		return s
	}
	steps := (now - s.at) / b.interval
	used := new(big.Rat).Mul(integer(steps), integer(b.refill))
	used.Sub(s.used, used)
	if used.Sign() <= 0 {
		return nil
	}
	return &state{at: s.at + steps*b.interval, used: used}
}

func (b stepwise) inUse(s *state, _ int64) *big.Rat { return new(big.Rat).Set(s.used) }

func (b stepwise) charge(s *state, now, n int64) *state {
	if s == nil {
		s = &state{at: now, used: new(big.Rat)}
	}
	return &state{at: s.at, used: b.cut(new(big.Rat).Add(s.used, integer(n)))}
}

// cut bounds a debt by what the steps of a hundred years give back, and by the most that stores can count.
func (b stepwise) cut(used *big.Rat) *big.Rat {
	used = smaller(used, new(big.Rat).Mul(integer(hundredYears/b.interval), integer(b.refill)))
	return smaller(used, integer(most))
}

func (b stepwise) refund(s *state, _, n int64) *state {
	used := new(big.Rat).Sub(s.used, integer(n))
	if used.Sign() <= 0 {
		return nil
	}
	return &state{at: s.at, used: used}
}

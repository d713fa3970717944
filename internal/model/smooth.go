package model

import (
	"math/big"
	"time"
)

// smooth is a bucket from which what was taken drains at a steady rate.
type smooth struct {
	capacity int64
	rate     *big.Rat // tokens per microsecond
}

func newSmooth(capacity, refill int64, interval time.Duration) smooth {
	return smooth{capacity, big.NewRat(refill, interval.Microseconds())}
}

func (b smooth) quota() int64 { return b.capacity }

// full is the time from empty to full.
func (b smooth) full() int64 { return ceil(new(big.Rat).Quo(integer(b.capacity), b.rate)) }

func (b smooth) settle(s *state, now int64) *state {
	if s == nil {
		return nil
	}
	if now < s.at {
		if s.at-now > b.full() {
			return nil
		}
		return s
	}
	back := new(big.Rat).Mul(integer(now-s.at), b.rate)
	used := new(big.Rat).Sub(s.used, back)
	if used.Sign() <= 0 {
		return nil
	}
	return &state{at: now, used: used}
}

func (b smooth) inUse(s *state, _ int64) *big.Rat { return new(big.Rat).Set(s.used) }

func (b smooth) charge(s *state, now, n int64) *state {
	if s == nil {
		s = &state{at: now, used: new(big.Rat)}
	}
	return &state{at: s.at, used: b.cut(new(big.Rat).Add(s.used, integer(n)))}
}

// cut bounds a debt by what comes back in a hundred years, and by the most units that stores can count.
func (b smooth) cut(used *big.Rat) *big.Rat {
	used = smaller(used, new(big.Rat).Mul(integer(hundredYears), b.rate))
	return smaller(used, new(big.Rat).Mul(integer(most), b.unit()))
}

func (b smooth) refund(s *state, _, n int64) *state {
	used := new(big.Rat).Sub(s.used, integer(n))
	if used.Sign() <= 0 {
		return nil
	}
	return &state{at: s.at, used: used}
}

// unit is the part of a token by which the bucket can change in a whole number of microseconds.
func (b smooth) unit() *big.Rat { return new(big.Rat).SetFrac(big.NewInt(1), b.rate.Denom()) }

// roundUp rounds tokens up to whole units, of which there may be more than fit an int64.
func (b smooth) roundUp(tokens *big.Rat) *big.Rat {
	units := new(big.Rat).Quo(tokens, b.unit())
	whole, rest := new(big.Int).DivMod(units.Num(), units.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	return units.Mul(new(big.Rat).SetInt(whole), b.unit())
}

func smaller(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) <= 0 {
		return a
	}
	return b
}

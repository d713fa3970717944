package model

import (
	"math/big"

	"github.com/weirhq/weir"
)

// carried returns s with its state under the limit in force. Limits that mean the same, such as 10/s and
// 600/m burst 10, are no change.
func (s Subject) carried(now int64) Subject {
	if s.under != s.spec {
		if s.state = s.wrote.settle(s.state, now); s.state != nil {
			s.state = s.rule.settle(carry(s.wrote, s.rule, s.state, now), now)
		}
	}
	s.under, s.wrote = s.spec, s.rule
	return s
}

// carry translates a state that is settled at now and not fresh.
func carry(from, to rule, s *state, now int64) *state {
	used := from.inUse(s, now)
	debt := larger(new(big.Rat), new(big.Rat).Sub(used, integer(from.quota())))
	switch to := to.(type) {
	case smooth:
		if _, same := from.(smooth); same {
			limit := new(big.Rat).Add(integer(to.capacity), to.roundUp(debt))
			return &state{at: min(s.at, now+to.full()), used: to.cut(smaller(to.roundUp(used), limit))}
		}
	case stepwise:
		if from, same := from.(stepwise); same {
			limit := new(big.Rat).Add(integer(to.capacity), debt)
			return &state{at: stepBegan(from, to, s.at, now), used: to.cut(smaller(used, limit))}
		}
	case fixed:
		if _, same := from.(fixed); same {
			return s
		}
	case anchored:
		if _, same := from.(anchored); same {
			return s
		}
	case sliding:
		if from, same := from.(sliding); same && from.length == to.length {
			limit := min(to.limit+floor(debt), weir.MaxSlidingWindow)
			return &state{at: s.at, count: min(s.count, limit), previous: min(s.previous, limit)}
		}
	case log:
		if _, same := from.(log); same {
			return s
		}
	}
	n := min(ceil(used), to.quota()+ceil(debt))
	return to.charge(nil, now, n)
}

// stepBegan keeps the part of the step that has passed: a third of the old interval becomes a third of the new one.
func stepBegan(from, to stepwise, at, now int64) int64 {
	if at >= now {
		return min(at, now+to.full())
	}
	passed := new(big.Rat).Mul(integer(now-at), big.NewRat(to.interval, from.interval))
	return max(0, now-floor(passed)) // times do not lie before 1970
}

func larger(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) >= 0 {
		return a
	}
	return b
}

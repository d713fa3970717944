package model

import (
	"math/big"
	"slices"
)

// log remembers each unit for as long as it counts. The time of a state is that of its newest stamp.
type log struct{ limit, length int64 }

func (l log) quota() int64 { return l.limit }

func (l log) settle(s *state, now int64) *state {
	if s == nil || len(s.stamps) == 0 {
		return nil
	}
	newest := s.stamps[len(s.stamps)-1].at
	if newest-now > l.length {
		return nil
	}
	now = max(now, newest)
	kept := &state{}
	for i, stamp := range s.stamps {
		if now < stamp.at+l.length {
			kept.stamps = s.stamps[i:]
			break
		}
	}
	if kept.stamps == nil {
		return nil
	}
	return kept
}

func (l log) inUse(s *state, _ int64) *big.Rat { return integer(units(s)) }

func units(s *state) (n int64) {
	for _, stamp := range s.stamps {
		n += stamp.n
	}
	return n
}

func (l log) charge(s *state, now, n int64) *state {
	if s == nil {
		return &state{stamps: []stamp{{now, n}}}
	}
	n = min(n, most-units(s))
	if n == 0 {
		return s
	}
	stamps := slices.Clone(s.stamps)
	if newest := &stamps[len(stamps)-1]; now <= newest.at {
		newest.n += n
	} else {
		stamps = append(stamps, stamp{now, n})
	}
	return l.gathered(&state{stamps: stamps})
}

// gathered keeps a log from growing with its debt: of the instants that lie wholly beyond the newest limit units, which
// no decision but a refund can tell apart, all units count from the time of the newest.
func (l log) gathered(s *state) *state {
	beyond, debt := units(s)-l.limit, int64(0)
	last := -1
	for i, stamp := range s.stamps {
		if debt+stamp.n > beyond {
			break
		}
		debt += stamp.n
		last = i
	}
	if last < 1 {
		return s
	}
	return &state{stamps: append([]stamp{{s.stamps[last].at, debt}}, s.stamps[last+1:]...)}
}

func (l log) refund(s *state, _, n int64) *state {
	stamps := slices.Clone(s.stamps)
	for n > 0 && len(stamps) > 0 {
		newest := &stamps[len(stamps)-1]
		back := min(n, newest.n)
		newest.n -= back
		n -= back
		if newest.n == 0 {
			stamps = stamps[:len(stamps)-1]
		}
	}
	return &state{stamps: stamps}
}

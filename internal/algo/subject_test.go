package algo_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
	_ "time/tzdata" // the days of the tests do not depend on the machine

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/algo"
)

var (
	steps = flag.Int("steps", 4000, "steps of each random comparison with the model")
	seed  = flag.Uint64("seed", rand.Uint64(), "seed of the random comparisons")
)

// subject is a state under a limit, handled as a store handles it: a refusal and a look write nothing, and what was
// consumed under another limit is carried over by the first take, refund or charge.
type subject struct {
	spec  weir.Spec
	under weir.Spec // what state was written under
	state algo.State
}

func newSubject(limit weir.Limit) *subject {
	s := &subject{}
	s.change(limit)
	s.under = s.spec
	return s
}

func (s *subject) change(limit weir.Limit) {
	spec, err := weir.SpecOf(limit)
	if err != nil {
		panic(err)
	}
	s.spec = spec
}

// settled returns the algorithm in force and the state under it at now. The state may be written to.
func (s *subject) settled(now int64) (algo.Algorithm, algo.State) {
	a, state := algo.For(s.spec), clone(s.state)
	if s.under != s.spec {
		return a, algo.Carry(algo.For(s.under), state, a, now)
	}
	return a, a.Settle(state, now)
}

func (s *subject) take(now, cost int64) (f weir.Figures, taken bool) {
	if s.under != s.spec {
		_, s.state = s.settled(now)
		s.under = s.spec
	}
	a := algo.For(s.spec)
	state, outcome := algo.Take(a, clone(s.state), now, cost)
	if outcome.Wait == 0 && cost > 0 {
		s.state = state
	}
	return figures(a, outcome), outcome.Wait == 0
}

func (s *subject) peek(now, cost int64) weir.Figures {
	a, state := s.settled(now)
	return figures(a, algo.Look(a, state, now, algo.Wait(a, state, now, cost)))
}

func (s *subject) refund(now, n int64) weir.Figures {
	return s.adjust(now, n, algo.Algorithm.Refund)
}

func (s *subject) charge(now, n int64) weir.Figures {
	return s.adjust(now, n, algo.Algorithm.Charge)
}

func (s *subject) adjust(now, n int64, how func(algo.Algorithm, algo.State, int64, int64) algo.State) weir.Figures {
	a, state := s.settled(now)
	if n > 0 {
		state = how(a, state, now, n)
		s.state, s.under = clone(state), s.spec
	} else if s.under != s.spec {
		s.state, s.under = clone(state), s.spec
	}
	return figures(a, algo.Look(a, state, now, algo.Wait(a, state, now, 1)))
}

func (s *subject) fresh(now int64) bool {
	a, state := s.settled(now)
	return algo.Fresh(a, state, now)
}

func clone(s algo.State) algo.State {
	s.Log = slices.Clone(s.Log)
	return s
}

func figures(a algo.Algorithm, o algo.Outcome) weir.Figures {
	f := weir.Figures{Limit: a.Quota(), Remaining: o.Remaining, RetryAfter: weir.Never, ResetAfter: micros(o.Reset)}
	if o.Wait != algo.Never {
		f.RetryAfter = micros(o.Wait)
	}
	return f
}

func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// maxSliding is the longest sliding window of the comparisons. A state may be two windows ahead of the clock, and then
// takes two more to become fresh: four windows of 100 years are more than a time.Duration holds.
const maxSliding = weir.MaxPeriod / 10 * 7

// limitMakers make random limits of each kind, which may be invalid.
var limitMakers = []struct {
	name string
	make func(r *rand.Rand) weir.Limit
}{
	{"smooth", func(r *rand.Rand) weir.Limit {
		if r.IntN(4) == 0 {
			return weir.LeakyBucket{Capacity: wide(r, weir.MaxQuota), Leak: wide(r, weir.MaxQuota), Interval: period(r)}
		}
		return weir.TokenBucket{Capacity: wide(r, weir.MaxQuota), Refill: wide(r, weir.MaxQuota), Interval: period(r)}
	}},
	{"stepwise", func(r *rand.Rand) weir.Limit {
		return weir.TokenBucket{Capacity: wide(r, weir.MaxQuota), Refill: wide(r, weir.MaxQuota), Interval: period(r), Stepwise: true}
	}},
	{"aligned", func(r *rand.Rand) weir.Limit {
		return weir.FixedWindow{Limit: wide(r, weir.MaxQuota), Window: period(r)}
	}},
	{"anchored", func(r *rand.Rand) weir.Limit {
		return weir.FixedWindow{Limit: wide(r, weir.MaxQuota), Window: period(r), Anchored: true}
	}},
	{"calendar", func(r *rand.Rand) weir.Limit {
		zones := []string{"UTC", "Europe/Berlin", "America/St_Johns", "America/Santiago", "Africa/Cairo", "Pacific/Apia",
			"Australia/Lord_Howe", "Asia/Kathmandu", "America/New_York", "Pacific/Kiritimati", "Africa/Monrovia", "Antarctica/Troll"}
		return weir.FixedWindow{Limit: wide(r, weir.MaxQuota), Calendar: weir.Day + weir.Calendar(r.IntN(4)), Zone: zones[r.IntN(len(zones))]}
	}},
	{"sliding", func(r *rand.Rand) weir.Limit {
		return weir.SlidingWindow{Limit: wide(r, weir.MaxSlidingWindow), Window: min(period(r), maxSliding)}
	}},
	{"log", func(r *rand.Rand) weir.Limit {
		return weir.SlidingLog{Limit: wide(r, weir.MaxLog), Window: period(r)}
	}},
}

// randomLimit returns a valid limit.
func randomLimit(r *rand.Rand, make func(*rand.Rand) weir.Limit) weir.Limit {
	for {
		limit := make(r)
		if _, err := weir.SpecOf(limit); err == nil {
			return limit
		}
	}
}

// sibling returns a limit of the same kind and about the same size, often of the same length.
func sibling(r *rand.Rand, limit weir.Limit) weir.Limit {
	near := func(n int64) int64 { return max(1, n*(1+r.Int64N(4))/(1+r.Int64N(4))) }
	scale := func(d time.Duration) time.Duration {
		if r.IntN(2) == 0 {
			return d
		}
		return max(weir.MinPeriod, micros(near(d.Microseconds())))
	}
	for {
		var next weir.Limit
		switch l := limit.(type) {
		case weir.TokenBucket:
			next = weir.TokenBucket{Capacity: near(l.Capacity), Refill: near(l.Refill), Interval: scale(l.Interval), Stepwise: l.Stepwise}
		case weir.LeakyBucket:
			next = weir.LeakyBucket{Capacity: near(l.Capacity), Leak: near(l.Leak), Interval: scale(l.Interval)}
		case weir.FixedWindow:
			l.Limit = near(l.Limit)
			if l.Calendar == weir.NoCalendar {
				l.Window = scale(l.Window)
			}
			next = l
		case weir.SlidingWindow:
			next = weir.SlidingWindow{Limit: near(l.Limit), Window: min(scale(l.Window), maxSliding)}
		case weir.SlidingLog:
			next = weir.SlidingLog{Limit: near(l.Limit), Window: scale(l.Window)}
		}
		if _, err := weir.SpecOf(next); err == nil {
			return next
		}
	}
}

func anyLimit(r *rand.Rand) weir.Limit { return limitMakers[r.IntN(len(limitMakers))].make(r) }

// wide returns 1 to most, all orders of magnitude alike, and often a small number.
func wide(r *rand.Rand, most int64) int64 {
	if r.IntN(2) == 0 {
		most = min(most, 100)
	}
	bits := 0
	for most>>bits > 0 {
		bits++
	}
	return min(most, 1+r.Int64N(1<<r.IntN(bits+1)))
}

// period returns a period in whole microseconds.
func period(r *rand.Rand) time.Duration {
	round := []time.Duration{time.Millisecond, 10 * time.Millisecond, time.Second, time.Minute, time.Hour, 24 * time.Hour, weir.MaxPeriod}
	if r.IntN(2) == 0 {
		return round[r.IntN(len(round))]
	}
	return max(weir.MinPeriod, micros(wide(r, int64(weir.MaxPeriod/time.Microsecond))))
}

// lengthOf returns about how long a limit remembers, in microseconds.
func lengthOf(limit weir.Limit) int64 {
	spec, err := weir.SpecOf(limit)
	if err != nil {
		panic(err)
	}
	switch spec.Algorithm {
	case weir.SmoothBucket, weir.StepwiseBucket:
		return max(1, int64(float64(spec.Quota)/float64(spec.Refill)*float64(spec.Period)))
	case weir.CalendarWindow:
		return map[weir.Calendar]int64{weir.Day: 1, weir.Week: 7, weir.Month: 31, weir.Year: 366}[spec.Calendar] * 86400e6
	}
	return spec.Period
}

func describe(history []string) string {
	const most = 30
	if len(history) > most {
		history = append([]string{"..."}, history[len(history)-most:]...)
	}
	return fmt.Sprint(history)
}

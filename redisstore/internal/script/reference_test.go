package script

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
	_ "time/tzdata" // the days of the tests do not depend on the machine

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/algo"
)

// reference is a subject as the script must keep it, decided by internal/algo.
type reference struct {
	under  []weir.Spec
	states []algo.State
}

// apply does what the script does for one request, and returns the row that it must answer.
func (f *reference) apply(op Op, specs []weir.Spec, now, cost int64) []int64 {
	n := len(specs)
	if op == Reset {
		f.forget(n)
		return make([]int64, 3*n)
	}
	states, changed, waits := make([]algo.State, n), make([]bool, n), make([]int64, n)
	admitted := op == Take
	for i, spec := range specs {
		a := algo.For(spec)
		if i < len(f.under) {
			states[i] = clone(f.states[i])
			if changed[i] = f.under[i] != spec; changed[i] {
				states[i] = algo.Carry(algo.For(f.under[i]), states[i], a, now)
			} else {
				states[i] = a.Settle(states[i], now)
			}
		}
		waits[i] = algo.Wait(a, states[i], now, cost)
		admitted = admitted && waits[i] == 0
	}
	var row []int64
	written, fresh := make([]bool, n), true
	for i, spec := range specs {
		a := algo.For(spec)
		written[i] = op != Peek && changed[i]
		if cost > 0 && (admitted || op == Charge) {
			states[i], written[i] = a.Charge(states[i], now, cost), true
		} else if cost > 0 && op == Refund && !algo.Fresh(a, states[i], now) {
			states[i], written[i] = a.Refund(states[i], now, cost), true
		}
		if op == Refund || op == Charge {
			waits[i] = algo.Wait(a, states[i], now, 1)
		}
		o := algo.Look(a, states[i], now, waits[i])
		row = append(row, o.Remaining, min(o.Wait, maxExact), min(o.Reset, maxExact))
		fresh = fresh && o.Reset == 0
	}
	f.write(specs, states, written, fresh)
	return row
}

// write keeps what is written, as one record: there is none when all of it is fresh.
func (f *reference) write(specs []weir.Spec, states []algo.State, written []bool, fresh bool) {
	if !slices.Contains(written, true) {
		return
	}
	if fresh && len(f.under) <= len(specs) {
		*f = reference{}
		return
	}
	for i, spec := range specs {
		if i == len(f.under) {
			f.under, f.states = append(f.under, spec), append(f.states, algo.State{})
		}
		if written[i] {
			f.under[i], f.states[i] = spec, clone(states[i])
		}
	}
}

// forget makes the first n limits fresh.
func (f *reference) forget(n int) {
	if len(f.under) <= n {
		*f = reference{}
	}
	for i := range min(n, len(f.under)) {
		f.states[i] = algo.State{}
	}
}

func clone(s algo.State) algo.State {
	s.Log = slices.Clone(s.Log)
	return s
}

// valid returns a limit that is valid.
func valid(r *rand.Rand, some func(*rand.Rand) weir.Limit) weir.Limit {
	for {
		limit := some(r)
		if _, err := weir.SpecOf(limit); err == nil {
			return limit
		}
	}
}

func smoothLimit(r *rand.Rand) weir.Limit {
	return weir.TokenBucket{Capacity: wide(r, weir.MaxQuota), Refill: wide(r, weir.MaxQuota), Interval: period(r)}
}

func logLimit(r *rand.Rand) weir.Limit {
	return weir.SlidingLog{Limit: wide(r, 30), Window: period(r)}
}

// someLimit returns a limit of any kind and size.
func someLimit(r *rand.Rand) weir.Limit {
	zones := []string{"UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Apia", "America/Argentina/Buenos_Aires", "Etc/GMT+5"}
	switch r.IntN(7) {
	case 0, 1:
		return weir.TokenBucket{Capacity: wide(r, weir.MaxQuota), Refill: wide(r, weir.MaxQuota), Interval: period(r), Stepwise: r.IntN(2) == 0}
	case 2:
		return weir.FixedWindow{Limit: wide(r, weir.MaxQuota), Window: period(r)}
	case 3:
		return weir.FixedWindow{Limit: wide(r, weir.MaxQuota), Window: period(r), Anchored: true}
	case 4:
		return weir.FixedWindow{Limit: wide(r, weir.MaxQuota), Calendar: weir.Day + weir.Calendar(r.IntN(4)), Zone: zones[r.IntN(len(zones))]}
	case 5:
		return weir.SlidingWindow{Limit: wide(r, weir.MaxSlidingWindow), Window: period(r)}
	}
	return weir.SlidingLog{Limit: wide(r, weir.MaxLog), Window: period(r)}
}

// sibling returns a limit of the same kind and about the same size.
func sibling(r *rand.Rand, limit weir.Limit) weir.Limit {
	near := func(n, most int64) int64 {
		k, m := 1+r.Int64N(4), 1+r.Int64N(4)
		return max(1, min(most, n/m*k+n%m))
	}
	length := func(d time.Duration) time.Duration {
		if r.IntN(2) == 0 {
			return d
		}
		return max(weir.MinPeriod, micros(near(d.Microseconds(), weir.MaxPeriod.Microseconds())))
	}
	for {
		var next weir.Limit
		switch l := limit.(type) {
		case weir.TokenBucket:
			l.Capacity, l.Refill, l.Interval = near(l.Capacity, weir.MaxQuota), near(l.Refill, weir.MaxQuota), length(l.Interval)
			next = l
		case weir.FixedWindow:
			l.Limit = near(l.Limit, weir.MaxQuota)
			if l.Calendar == weir.NoCalendar {
				l.Window = length(l.Window)
			} else if r.IntN(2) == 0 {
				l.Calendar = weir.Day + weir.Calendar(r.IntN(4))
			}
			next = l
		case weir.SlidingWindow:
			next = weir.SlidingWindow{Limit: near(l.Limit, weir.MaxSlidingWindow), Window: length(l.Window)}
		case weir.SlidingLog:
			next = weir.SlidingLog{Limit: near(l.Limit, weir.MaxLog), Window: length(l.Window)}
		}
		if _, err := weir.SpecOf(next); err == nil {
			return next
		}
	}
}

// wide returns 1 to most, all orders of magnitude alike, often a small number and sometimes the largest.
func wide(r *rand.Rand, most int64) int64 {
	switch r.IntN(8) {
	case 0:
		return most
	case 1, 2, 3:
		most = min(most, 100)
	}
	bits := 0
	for most>>bits > 0 {
		bits++
	}
	return min(most, 1+r.Int64N(1<<r.IntN(bits+1)))
}

func period(r *rand.Rand) time.Duration {
	round := []time.Duration{time.Millisecond, 10 * time.Millisecond, time.Second, time.Minute, time.Hour, 24 * time.Hour, weir.MaxPeriod}
	if r.IntN(2) == 0 {
		return round[r.IntN(len(round))]
	}
	return max(weir.MinPeriod, micros(wide(r, weir.MaxPeriod.Microseconds())))
}

func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// memory returns about how long a limit remembers, in microseconds.
func memory(limit weir.Limit) int64 {
	spec := specsOf(limit)[0]
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

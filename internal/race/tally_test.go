package race

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestWronglyRefused(t *testing.T) {
	in := func(begin, end time.Duration) outcome { return outcome{begin: begin, end: end, allowed: true} }
	out := func(begin, end time.Duration) outcome { return outcome{begin: begin, end: end} }
	failed := func(begin, end time.Duration) outcome {
		return outcome{begin: begin, end: end, err: errors.New("lost")}
	}
	for _, c := range []struct {
		name     string
		outcomes []outcome
		want     int
	}{
		{"nothing asked", nil, 0},
		{"after the limit", []outcome{in(0, 1), in(2, 3), out(4, 5)}, 0},
		{"before the last admission began", []outcome{in(0, 1), out(2, 3), in(4, 5)}, 1},
		{"beside the last admission", []outcome{in(0, 1), out(2, 5), in(4, 6)}, 0},
		{"at the instant when the last admission began", []outcome{in(0, 1), out(2, 4), in(4, 6)}, 0},
		{"too few admitted", []outcome{in(0, 1), out(2, 3), out(4, 5)}, 2},
		{"none admitted", []outcome{out(0, 1), out(0, 2)}, 2},
		{"more admitted than may", []outcome{in(0, 9), in(1, 9), out(2, 3), in(4, 9)}, 0},
		{"a failed request may have taken room", []outcome{in(0, 1), failed(1, 2), out(3, 4), in(5, 6)}, 0},
		{"a failed request that came later did not", []outcome{in(0, 1), out(2, 3), failed(4, 5), in(5, 6)}, 1},
	} {
		total := &tally{limit: 2}
		for _, o := range c.outcomes {
			one := &tally{limit: 2}
			one.add(o, 0)
			total.merge(one)
		}
		if got := total.wronglyRefused(); got != c.want {
			t.Errorf("%s: %d wrongly refused, want %d", c.name, got, c.want)
		}
	}
}

// TestWronglyRefusedIsNeverTooMany compares with requests whose instant of decision is known.
func TestWronglyRefusedIsNeverTooMany(t *testing.T) {
	type request struct {
		outcome
		decided time.Duration
	}
	found, hidden := 0, 0
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 0))
		requests := make([]request, 1+random.IntN(60))
		for i := range requests {
			begin := time.Duration(random.IntN(200))
			took := 1 + time.Duration(random.IntN(40))
			requests[i] = request{outcome{begin: begin, end: begin + took}, begin + time.Duration(random.Int64N(int64(took)+1))}
		}
		slices.SortStableFunc(requests, func(a, b request) int { return cmp.Compare(a.decided, b.decided) })
		limit, faults := 1+random.IntN(20), random.Float64()*float64(random.IntN(2))
		count, truth := 0, 0
		for i := range requests {
			switch r := &requests[i]; {
			case count >= limit:
			case random.Float64() < faults:
				truth++
			default:
				r.allowed = true
				count++
			}
		}
		total := &tally{limit: limit}
		for _, r := range requests {
			answered := 0
			for _, other := range requests {
				if other.allowed && other.end < r.end {
					answered++
				}
			}
			total.add(r.outcome, answered)
		}
		got := total.wronglyRefused()
		if got > truth {
			t.Fatalf("seed %d: %d wrongly refused, of which only %d were", seed, got, truth)
		}
		found, hidden = found+got, hidden+truth-got
	}
	if found < 5*hidden {
		t.Errorf("%d wrong refusals are seen and %d are not: the count is too timid to be of use", found, hidden)
	}
}

func TestPercentile(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(100 - i)
	}
	for _, c := range []struct {
		latencies []time.Duration
		percent   int
		want      time.Duration
	}{
		{nil, 50, 0},
		{[]time.Duration{7}, 50, 7},
		{[]time.Duration{7}, 99, 7},
		{[]time.Duration{2, 1}, 50, 1},
		{[]time.Duration{3, 1, 2}, 50, 2},
		{hundred, 50, 50},
		{hundred, 99, 99},
		{hundred[:50], 99, 100},
	} {
		total := &tally{latencies: slices.Clone(c.latencies)}
		if got := total.percentile(c.percent); got != c.want {
			t.Errorf("percentile %d of %d = %d, want %d", c.percent, c.latencies, got, c.want)
		}
	}
}

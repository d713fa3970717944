package script

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weirhq/weir"
)

// proofLimits are the limits of each algorithm's proof, which take turns where limits change.
var proofLimits = []struct {
	name   string
	limits []string
}{
	{"smooth", []string{"10/s burst 20", "3/s burst 5", "7/1500ms burst 1", "1000/s burst 10", "10/s leaky-bucket", "999983/h burst 40000"}},
	{"stepwise", []string{"3/s burst 10 stepwise", "1/1ms burst 7 stepwise", "10/7s stepwise", "7/m burst 100 stepwise"}},
	{"aligned", []string{"10/s fixed-window", "3/7s fixed-window", "100/m fixed-window", "5/1ms fixed-window"}},
	{"calendar", []string{"10/d fixed-window calendar Europe/Berlin", "7/w fixed-window calendar UTC", "3/month", "20/year"}},
	{"anchored", []string{"10/s fixed-window anchored", "3/7s fixed-window anchored", "1/1ms fixed-window anchored"}},
	{"sliding", []string{"10/s sliding-window", "3/s sliding-window", "25/s sliding-window", "4000000000000/d sliding-window", "10/m sliding-window"}},
	{"log", []string{"10/s sliding-log", "3/s sliding-log", "200/7s sliding-log", "2/1ms sliding-log"}},
}

// TestProof lets many subjects live side by side, each step of all of them in one batch, and compares every number with
// internal/algo, as which the store in memory decides. `make prove` gives each algorithm a million steps, as many with
// limits that change, and as many of three limits at once.
func TestProof(t *testing.T) {
	r := startRig(t)
	for i, kind := range proofLimits {
		limits := weir.MustParseLimits(kind.limits...)
		t.Run(kind.name, func(t *testing.T) { prove(t, r, uint64(3*i), kind.name, 1, limits[:1]) })
		t.Run(kind.name+" changing", func(t *testing.T) { prove(t, r, uint64(3*i+1), kind.name+" changing", 1, limits) })
		t.Run(kind.name+" three", func(t *testing.T) {
			other := weir.MustParseLimits("10/s burst 30", "20/10s fixed-window", "15/5s sliding-log")
			prove(t, r, uint64(3*i+2), kind.name+" three", 3, slices.Concat(limits[:1], other))
		})
	}
}

// prove makes the steps, in batches of 64 subjects that have n limits each.
func prove(t *testing.T, r *rig, stream uint64, name string, n int, limits []weir.Limit) {
	const subjects = 64
	random := rand.New(rand.NewPCG(*seed, stream))
	references := make([]reference, subjects)
	scopes := make([]*Scope, len(limits))
	for i := range limits {
		scopes[i] = NewScope(specsOf(pick(limits, i, n)...))
	}
	now := int64(1_700_000_000_000_000)
	length := memory(limits[0])
	for done := 0; done < *steps; done += subjects {
		now += pause(random, length)
		requests := make([]request, subjects)
		chosen := make([]int, subjects)
		for i := range requests {
			if n == 1 {
				chosen[i] = random.IntN(len(limits))
			}
			quota := specsOf(limits[chosen[i]])[0].Quota
			op := []Op{Take, Take, Take, Take, Take, Take, Peek, Refund, Charge, Take}[random.IntN(10)]
			if random.IntN(200) == 0 {
				op = Reset
			}
			requests[i] = request{op, scopes[chosen[i]], proofCost(random, op, quota), fmt.Sprintf("{p}%s:%d:%d", name, stream, i)}
		}
		for i, got := range r.all(t, at(now), requests...) {
			q := requests[i]
			before := fmt.Sprintf("%+v", references[i])
			want := references[i].apply(q.op, specsOf(pick(limits, chosen[i], n)...), now, q.cost)
			if got.problem != (Problem{}) || !slices.Equal(got.row, want) {
				t.Fatalf("-seed=%d: step %d: at %d %c %d under %v\nbefore %s\n got %v %+v\nwant %v",
					*seed, done+i, now, q.op, q.cost, pick(limits, chosen[i], n), before, got.row, got.problem, want)
			}
		}
	}
}

// pick returns n limits from the i-th on.
func pick(limits []weir.Limit, i, n int) []weir.Limit { return limits[i%(len(limits)-n+1):][:n] }

// pause returns how much time passes: often none, sometimes a part of what the limit remembers.
func pause(random *rand.Rand, length int64) int64 {
	switch random.IntN(8) {
	case 0:
		return 1
	case 1:
		return random.Int64N(1000)
	case 2, 3:
		return random.Int64N(length/20 + 2)
	case 4:
		return random.Int64N(length/2 + 2)
	}
	return 0
}

func proofCost(random *rand.Rand, op Op, quota int64) int64 {
	if op == Reset {
		return 0
	}
	switch random.IntN(40) {
	case 0:
		return weir.MaxQuota
	case 1:
		return quota + 1
	case 2:
		return 0
	}
	return []int64{1, 1, 1, 2, 3, quota, random.Int64N(quota + 1)}[random.IntN(7)]
}

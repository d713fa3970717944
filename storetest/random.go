package storetest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/weirhq/weir"
)

// The environment of random stories.
const (
	seedVariable  = "STORETEST_SEED"
	stepsVariable = "STORETEST_STEPS"
	defaultSteps  = 300
)

// story is a random sequence of operations.
type story struct {
	*rand.Rand
	families [][]weir.Limit // the limits that each position changes among
	keys     int
	steps    int
}

// randomCases are random stories, each step of which must be as the model says.
func randomCases(t *testing.T) []testCase {
	seed := environment(t, seedVariable, rand.Uint64())
	steps := environment(t, stepsVariable, defaultSteps)
	var cases []testCase
	add := func(name string, keys int, families ...[]weir.Limit) {
		number := uint64(len(cases))
		cases = append(cases, testCase{name, func(t *testing.T, rig Rig) {
			s := story{rand.New(rand.NewPCG(seed, number)), families, keys, int(steps) / len(families)}
			s.run(t, rig, fmt.Sprintf("%s=%d, ", seedVariable, seed))
		}})
	}
	var all []weir.Limit
	for _, kind := range randomKinds {
		limits := weir.MustParseLimits(kind.limits...)
		all = append(all, limits...)
		add(kind.name, 1, limits[:1])
		add(kind.name+" changing", 1, limits)
	}
	add("changing kinds", 1, all)
	add("keys", 30, all[:6])
	add("several", 3, all[:1], all[6:7], all[20:21])
	add("several changing", 2, all, all, all, all)
	var eight [][]weir.Limit
	for i := range kinds[1:] {
		eight = append(eight, kinds[i+1:i+2])
	}
	add("eight", 1, eight...)
	return cases
}

// randomKinds are limits that take turns on one key.
var randomKinds = []struct {
	name   string
	limits []string
}{
	{"smooth", []string{"10/s burst 20", "3/s burst 5", "7/1500ms burst 1", "1/m burst 9", "1000/s burst 10", "2/1ms burst 100", "10/s leaky-bucket"}},
	{"stepwise", []string{"3/s burst 10 stepwise", "1/1ms burst 7 stepwise", "10/7s stepwise", "7/m burst 100 stepwise"}},
	{"aligned", []string{"10/s fixed-window", "3/7s fixed-window", "100/m fixed-window", "5/1ms fixed-window"}},
	{"calendar", []string{"10/d fixed-window calendar Europe/Berlin", "7/w fixed-window calendar UTC", "3/month", "20/year", "5/s fixed-window"}},
	{"anchored", []string{"10/s fixed-window anchored", "3/7s fixed-window anchored", "1/1ms fixed-window anchored"}},
	{"sliding", []string{"10/s sliding-window", "3/s sliding-window", "25/s sliding-window", "7/1ms sliding-window", "10/m sliding-window"}},
	{"log", []string{"10/s sliding-log", "3/s sliding-log", "20/7s sliding-log", "2/1ms sliding-log"}},
}

func environment(t *testing.T, variable string, otherwise uint64) uint64 {
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

func (s *story) run(t *testing.T, rig Rig, seed string) {
	first := newPair(t, rig, s.pick()...)
	pairs := make([]*pair, s.keys)
	for i := range pairs {
		pairs[i] = first.other(fmt.Sprint("key", i))
		pairs[i].seed = seed
	}
	var wait time.Duration // the last that was told
	for range s.steps {
		p := pairs[s.IntN(len(pairs))]
		p.advance(s.pause(wait))
		op, n := s.operation(p)
		if op == Limits {
			p.change(s.pick()...)
			continue
		}
		if f := p.do(op, n); f != nil {
			wait = longest(f)
		}
	}
}

// pick returns a limit for each position.
func (s *story) pick() []weir.Limit {
	limits := make([]weir.Limit, len(s.families))
	for i, family := range s.families {
		limits[i] = family[s.IntN(len(family))]
	}
	return limits
}

// pause returns how much time passes before the next step: often none, sometimes as told, sometimes just too little.
// No case may take many hours of a store's time: a store may have work to do in each second of it.
func (s *story) pause(wait time.Duration) time.Duration {
	const most = 5 * time.Minute
	switch s.IntN(12) {
	case 0:
		return time.Microsecond
	case 1:
		return time.Duration(s.Int64N(1000)) * time.Microsecond
	case 2:
		return time.Duration(s.Int64N(1_000_000)) * time.Microsecond
	case 3:
		return time.Duration(s.Int64N(10_000_000)) * time.Microsecond
	case 4:
		return min(wait, most)
	case 5:
		return min(wait-min(wait, time.Microsecond), most)
	case 6:
		return time.Duration(s.IntN(3)) * time.Second
	}
	return 0
}

func (s *story) operation(p *pair) (Op, int64) {
	quota := quotaOf(p.limits[0])
	n := []int64{0, 1, 1, 2, 3, quota, quota + 1, s.Int64N(quota + 1)}[s.IntN(8)]
	switch s.IntN(20) {
	case 0, 1:
		return Refund, n
	case 2:
		return Charge, n
	case 3, 4, 5:
		return Peek, n
	case 6:
		if len(s.families[0]) > 1 {
			return Limits, 0
		}
	case 7:
		return []Op{Reset, Charge, Take, Take}[s.IntN(4)], weir.MaxQuota
	}
	return Take, n
}

// longest returns the longest wait that ends.
func longest(figures []weir.Figures) (wait time.Duration) {
	for _, f := range figures {
		if f.RetryAfter != weir.Never {
			wait = max(wait, f.RetryAfter)
		}
	}
	return max(wait, time.Microsecond)
}

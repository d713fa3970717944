package script

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weirhq/weir"
)

var (
	steps = flag.Int("steps", 2000, "steps of each random comparison")
	seed  = flag.Uint64("seed", rand.Uint64(), "seed of the random comparisons")
)

// TestAgainstAlgo does random operations at random times, forwards and backwards, under limits of any size, and compares
// every number with internal/algo. Run it with -steps=100000 now and then.
func TestAgainstAlgo(t *testing.T) {
	r := startRig(t)
	for i, kind := range []struct {
		name string
		some func(*rand.Rand) weir.Limit
	}{{"any", someLimit}, {"smooth", smoothLimit}, {"log", logLimit}} {
		for n := range 4 {
			t.Run(fmt.Sprintf("%d %s", n+1, kind.name), func(t *testing.T) {
				random := rand.New(rand.NewPCG(*seed, uint64(4*i+n)))
				for subject := range *steps / 100 {
					c := &comparison{Rand: random, t: t, rig: r, key: fmt.Sprintf("{k}%d:%d:%d", i, n, subject), most: n + 1, some: kind.some}
					c.change()
					c.now = c.anyTime()
					for range 100 {
						c.step()
					}
				}
			})
		}
	}
}

// TestLogStartsItsTotalsAnew before they pass what is exact, and gathers its debt at the same time.
func TestLogStartsItsTotalsAnew(t *testing.T) {
	r := startRig(t)
	specs := specsOf(weir.MustParseLimit("3/m sliding-log"))
	scope := NewScope(specs)
	var f reference
	for _, step := range []struct {
		second, n int64
		op        Op
	}{
		{0, maxExact - 10, Charge}, {30, 2, Charge}, {40, 1, Charge}, {61, 20, Charge}, {61, 1, Peek}, {91, 20, Refund}, {91, 1, Take}, {99, 1, Take},
		{100, 1, Take}, {100, 1, Take}, {130, maxExact, Charge}, {130, 1, Refund}, {160, 1, Take}, {189, 1, Take}, {190, 3, Take},
	} {
		now := 1_700_000_000_000_000 + step.second*1e6
		got := r.all(t, at(now), request{step.op, scope, step.n, "k"})[0]
		if want := f.apply(step.op, specs, now, step.n); got.problem != (Problem{}) || !slices.Equal(got.row, want) {
			t.Fatalf("after %ds: %c %d: got %+v, want %v", step.second, step.op, step.n, got, want)
		}
	}
}

// comparison is a subject of the script and of the reference.
type comparison struct {
	*rand.Rand
	t         *testing.T
	rig       *rig
	key       string
	most      int // limits
	some      func(*rand.Rand) weir.Limit
	limits    []weir.Limit
	now       int64
	reference reference
	wait      int64 // the last that was told
	history   []string
}

// change puts other limits in force, similar ones or not, mostly as many.
func (c *comparison) change() {
	n := c.most
	if c.IntN(5) == 0 {
		n = 1 + c.IntN(c.most)
	}
	limits := make([]weir.Limit, n)
	for i := range limits {
		switch {
		case i < len(c.limits) && c.IntN(3) == 0:
			limits[i] = c.limits[i]
		case i < len(c.limits) && c.IntN(3) > 0:
			limits[i] = sibling(c.Rand, c.limits[i])
		default:
			limits[i] = valid(c.Rand, c.some)
		}
	}
	c.limits = limits
	c.history = append(c.history, fmt.Sprintf("limits %+v", limits))
}

// lastTime leaves room for calendars' last window: its end is no exact number if it is beyond 2^53.
const lastTime = maxExact - 400*86400e6

func (c *comparison) anyTime() int64 {
	switch c.IntN(10) {
	case 0:
		return c.Int64N(1000)
	case 1:
		return lastTime - c.Int64N(1000)
	}
	return c.Int64N(1 << 51)
}

func (c *comparison) move() {
	length := memory(c.limits[c.IntN(len(c.limits))])
	var d int64
	switch c.IntN(20) {
	case 0:
		d = 1
	case 1:
		d = c.Int64N(1000)
	case 2, 3:
		d = c.Int64N(length + 1)
	case 4:
		d = c.wait
	case 5:
		d = c.wait - 1
	case 6:
		d = c.Int64N(length/10 + 2)
	case 7:
		d = length
	case 8:
		d = -c.Int64N(length/3 + 2)
	case 9:
		d = []int64{-1, -length, -length - 1, -2*length - 1, c.Int64N(1 << c.IntN(52)), -c.Int64N(1000)}[c.IntN(6)]
	}
	if c.now += d; c.now < 0 || c.now > lastTime {
		c.now = c.anyTime()
	}
}

func (c *comparison) step() {
	c.move()
	op := []Op{Take, Take, Take, Take, Take, Take, Take, Take, Peek, Peek, Refund, Refund, Charge, Charge}[c.IntN(14)]
	if c.IntN(50) == 0 {
		op = Reset
	}
	if c.IntN(12) == 0 {
		c.change()
	}
	specs, cost := specsOf(c.limits...), c.amount()
	if op == Reset {
		cost = 0
	}
	c.history = append(c.history, fmt.Sprintf("%d %c %d", c.now, op, cost))
	got := c.rig.all(c.t, at(c.now), request{op, NewScope(specs), cost, c.key})[0]
	before := fmt.Sprintf("%+v", c.reference)
	want := c.reference.apply(op, specs, c.now, cost)
	if got.problem != (Problem{}) || !slices.Equal(got.row, want) {
		c.t.Fatalf("-seed=%d, %s: %s\nbefore: %s\n got %v, %+v\nwant %v", *seed, c.key, describe(c.history), before, got.row, got.problem, want)
	}
	c.wait = max(1, want[1], want[2]*7/8)
}

func (c *comparison) amount() int64 {
	quota := specsOf(c.limits[c.IntN(len(c.limits))])[0].Quota
	switch c.IntN(10) {
	case 0:
		if c.IntN(4) == 0 {
			return weir.MaxQuota
		}
		return 0
	case 1, 2:
		return 1
	case 3:
		return quota
	case 4:
		return min(quota+1, weir.MaxQuota)
	case 5:
		return wide(c.Rand, weir.MaxQuota)
	case 6:
		return min(3, quota)
	}
	return 1 + c.Int64N(quota)/(1+c.Int64N(4))
}

package algo_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/model"
	"github.com/weirhq/weir/storetest"
)

// TestTraces tells the written stories to the arithmetic.
func TestTraces(t *testing.T) {
	traces, err := storetest.Traces()
	if err != nil {
		t.Fatal(err)
	}
	for _, trace := range traces {
		if len(trace.Limits) == 1 {
			t.Run(trace.Name, func(t *testing.T) { testTrace(t, &trace) })
		}
	}
}

func testTrace(t *testing.T, trace *storetest.Trace) {
	s := newSubject(trace.Limits[0])
	now := trace.Start.UnixMicro()
	err := trace.Play(func(step storetest.Step) ([]weir.Figures, error) {
		now += step.Advance.Microseconds()
		var f weir.Figures
		switch step.Op {
		case storetest.Take:
			f, _ = s.take(now, step.N)
		case storetest.Peek:
			f = s.peek(now, step.N)
		case storetest.Refund:
			f = s.refund(now, step.N)
		case storetest.Charge:
			f = s.charge(now, step.N)
		case storetest.Reset:
			s = newSubject(trace.Limits[0])
			return nil, nil
		case storetest.Limits:
			s.change(step.Limits[0])
			return nil, nil
		}
		return []weir.Figures{f}, nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestAgainstModel does random operations at random times, forwards and backwards, with each kind of limit, and
// compares every figure with the model. Run it with -steps=1000000 now and then.
func TestAgainstModel(t *testing.T) {
	for i, kind := range limitMakers {
		t.Run(kind.name, func(t *testing.T) {
			compareAll(t, uint64(i), func(r *rand.Rand) *comparison { return newComparison(t, r, kind.make, nil) })
		})
		t.Run(kind.name+" changing", func(t *testing.T) {
			compareAll(t, 100+uint64(i), func(r *rand.Rand) *comparison { return newComparison(t, r, kind.make, kind.make) })
		})
	}
	t.Run("changing kinds", func(t *testing.T) {
		compareAll(t, 200, func(r *rand.Rand) *comparison { return newComparison(t, r, anyLimit, anyLimit) })
	})
}

func compareAll(t *testing.T, number uint64, start func(r *rand.Rand) *comparison) {
	r := rand.New(rand.NewPCG(*seed, number))
	for done := 0; done < *steps; {
		c := start(r)
		for range 20 + r.IntN(200) {
			c.step()
			done++
		}
	}
}

// comparison is a subject and the model of it.
type comparison struct {
	*rand.Rand
	t       *testing.T
	now     int64
	limit   weir.Limit
	other   func(*rand.Rand) weir.Limit // makes the limits that it changes to; nil for none
	subject *subject
	model   model.Subject
	wait    int64 // the last that was told
	history []string
}

func newComparison(t *testing.T, r *rand.Rand, make, other func(*rand.Rand) weir.Limit) *comparison {
	limit := randomLimit(r, make)
	return &comparison{Rand: r, t: t, now: r.Int64N(1 << 51), limit: limit, other: other, subject: newSubject(limit), model: model.New(limit)}
}

func (c *comparison) step() {
	c.move()
	n := c.amount()
	switch op := c.IntN(16); {
	case op < 8:
		c.perform(take, n)
	case op < 10:
		c.perform(peek, n)
	case op < 13:
		c.perform(refund, n)
	case op < 14:
		c.perform(charge, n)
	case c.other != nil:
		if c.IntN(2) == 0 {
			c.limit = randomLimit(c.Rand, c.other)
		} else {
			c.limit = sibling(c.Rand, c.limit)
		}
		c.history = append(c.history, fmt.Sprintf("limit %+v", c.limit))
		c.subject.change(c.limit)
		c.model = c.model.Change(c.limit)
	}
}

// The operations of a comparison.
const (
	take = iota
	peek
	refund
	charge
)

// perform does one operation by both, and compares.
func (c *comparison) perform(op byte, n int64) {
	switch op {
	case take:
		f, taken := c.subject.take(c.now, n)
		var want bool
		before := c.model
		c.model, want = c.model.Taken(c.now, n)
		c.did("take", n)
		if taken != want {
			c.fail("taken = %v, want %v; model before: %+v", taken, want, before.Peek(c.now, n))
		}
		if taken {
			n = 0
		}
		c.check(n, f)
	case peek:
		c.did("peek", n)
		c.check(n, c.subject.peek(c.now, n))
	case refund:
		c.did("refund", n)
		f := c.subject.refund(c.now, n)
		c.model = c.model.Refunded(c.now, n)
		c.check(1, f)
	case charge:
		c.did("charge", n)
		f := c.subject.charge(c.now, n)
		c.model = c.model.Charged(c.now, n)
		c.check(1, f)
	}
}

// move sets the time of the next step, within the times that the algorithms know.
func (c *comparison) move() {
	length := lengthOf(c.limit)
	var d int64
	switch c.IntN(16) {
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
		d = 3 * c.Int64N(length+1)
	case 8:
		d = -c.Int64N(length/3 + 2)
	case 9:
		switch c.IntN(5) {
		case 0:
			d = -c.Int64N(1000)
		case 1:
			d = -1
		case 2:
			d = -length
		case 3:
			d = -2*length - 1
		case 4:
			d = c.Int64N(1 << c.IntN(52))
		}
	}
	if c.now += d; c.now < 0 || c.now > 1<<53-1 {
		c.now = c.Int64N(1 << 51)
	}
}

func (c *comparison) amount() int64 {
	quota := c.subject.spec.Quota
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

func (c *comparison) did(op string, n int64) {
	c.history = append(c.history, fmt.Sprintf("%d %s %d", c.now, op, n))
}

// check compares the figures of a cost: always with their definitions, now and then with the model's own search.
func (c *comparison) check(cost int64, f weir.Figures) {
	if err := c.model.Confirm(c.now, cost, f); err != nil {
		c.fail("got %+v: %v, want %+v", f, err, c.model.Peek(c.now, cost))
	}
	if c.IntN(50) == 0 {
		if want := c.model.Peek(c.now, cost); f != want {
			c.fail("got %+v, want %+v", f, want)
		}
	}
	if got, want := c.subject.fresh(c.now), c.model.Fresh(c.now); got != want {
		c.fail("fresh = %v, want %v", got, want)
	}
	if f.RetryAfter != weir.Never {
		c.wait = max(f.RetryAfter, f.ResetAfter*7/8).Microseconds()
	}
}

func (c *comparison) fail(format string, args ...any) {
	c.t.Helper()
	c.t.Fatalf("-seed=%d: limit %+v, state %+v\nafter %s:\n%s", *seed, c.limit, c.subject.state, describe(c.history), fmt.Sprintf(format, args...))
}

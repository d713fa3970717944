package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/model"
)

// pair is a key on the store and the model of it. Each operation is done by both, and must bring the same.
type pair struct {
	t       *testing.T
	rig     Rig
	limiter *weir.Limiter
	limits  []weir.Limit
	key     string
	model   model.Limiter
	history []string // what was done, to print with a failure
	seed    string   // of random stories
}

// pairKey is the key of a pair unless another is chosen.
const pairKey = "user:42"

func newPair(t *testing.T, rig Rig, limits ...weir.Limit) *pair {
	return &pair{
		t: t, rig: rig, key: pairKey, limits: limits,
		limiter: weir.MustNew(rig.Store, weir.Options{Name: "storetest", Limits: limits}),
		model:   model.NewLimiter(limits...),
	}
}

// other returns a pair of another key under the same limits.
func (p *pair) other(key string) *pair {
	q := *p
	q.key, q.model, q.history = key, model.NewLimiter(p.limits...), nil
	return &q
}

// can says whether the store has the ability for op.
func (p *pair) can(op Op) bool {
	var ok bool
	switch op {
	case Peek:
		_, ok = p.rig.Store.(weir.Peeker)
	case Refund, Charge:
		_, ok = p.rig.Store.(weir.Adjuster)
	case Reset:
		_, ok = p.rig.Store.(weir.Resetter)
	default:
		ok = true
	}
	return ok
}

// advance moves time.
func (p *pair) advance(d time.Duration) {
	if d > 0 {
		p.rig.Advance(d)
		p.history = append(p.history, fmt.Sprintf("+%v", d))
	}
}

// do performs an operation by both, and ends the test where they differ. A store that cannot is left alone: the
// figures are nil then.
func (p *pair) do(op Op, n int64) []weir.Figures {
	p.t.Helper()
	if !p.can(op) {
		return nil
	}
	got, err := p.try(Step{Op: op, N: n})
	if err != nil {
		p.fail("%s %d: error %v", op, n, err)
	}
	want := p.expect(op, n)
	if !slices.Equal(got, want) {
		p.fail("%s %d by %v\n got %s\nwant %s", op, n, p.limits, Format(got), Format(want))
	}
	return got
}

// expect performs an operation by the model.
func (p *pair) expect(op Op, n int64) (figures []weir.Figures) {
	now := p.rig.Now().UnixMicro()
	switch op {
	case Take:
		p.model, figures = p.model.Take(now, n)
	case Peek:
		figures = p.model.Peek(now, n)
	case Refund:
		p.model, figures = p.model.Refund(now, n)
	case Charge:
		p.model, figures = p.model.Charge(now, n)
	case Reset:
		p.model = p.model.Reset()
	}
	return figures
}

// change puts other limits in force.
func (p *pair) change(limits ...weir.Limit) {
	p.t.Helper()
	if _, err := p.try(Step{Op: Limits, Limits: limits}); err != nil {
		p.fail("limits %v: error %v", limits, err)
	}
	p.model = p.model.Change(limits...)
}

// try performs a step by the store alone.
func (p *pair) try(step Step) ([]weir.Figures, error) {
	p.history = append(p.history, fmt.Sprintf("%s %d %v", step.Op, step.N, step.Limits))
	var d weir.Decision
	var err error
	ctx := p.t.Context()
	switch step.Op {
	case Take:
		d, err = p.limiter.AllowN(ctx, p.key, step.N)
	case Peek:
		d, err = p.limiter.PeekN(ctx, p.key, step.N)
	case Refund:
		d, err = p.limiter.Refund(ctx, p.key, step.N)
	case Charge:
		d, err = p.limiter.Charge(ctx, p.key, step.N)
	case Reset:
		return nil, p.limiter.Reset(ctx, p.key)
	case Limits:
		p.limiter, err = p.limiter.With(step.Limits...)
		p.limits = step.Limits
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	return d.Figures(), nil
}

// fail ends the test with what was done before.
func (p *pair) fail(format string, args ...any) {
	p.t.Helper()
	const most = 24
	history := p.history
	if len(history) > most {
		history = append([]string{"..."}, history[len(history)-most:]...)
	}
	p.t.Fatalf("%skey %.40q, after %s:\n%s", p.seed, p.key, strings.Join(history, ", "), fmt.Sprintf(format, args...))
}

// allows and refuses are operations whose outcome the case knows by itself.
func (p *pair) allows(n int64) weir.Figures  { p.t.Helper(); return p.must(true, n) }
func (p *pair) refuses(n int64) weir.Figures { p.t.Helper(); return p.must(false, n) }

func (p *pair) must(allowed bool, n int64) weir.Figures {
	p.t.Helper()
	f := p.do(Take, n)
	if (slices.IndexFunc(f, func(f weir.Figures) bool { return f.RetryAfter != 0 }) < 0) != allowed {
		p.fail("take %d by %v: got %s, want allowed = %v", n, p.limits, Format(f), allowed)
	}
	return f[0]
}

// look returns the first limit's figures of a cost, by Peek or, where the store has none, by a cost of 0.
func (p *pair) look() weir.Figures {
	p.t.Helper()
	if f := p.do(Peek, 0); f != nil {
		return f[0]
	}
	return p.do(Take, 0)[0]
}

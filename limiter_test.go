package weir_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/memstore"
)

func newLimiter(t *testing.T, limits ...string) *weir.Limiter {
	t.Helper()
	store := memstore.MustNew(memstore.Options{})
	t.Cleanup(func() { store.Close() })
	return weir.MustNew(store, weir.Options{Name: "test", Limits: weir.MustParseLimits(limits...)})
}

func TestNewMessages(t *testing.T) {
	store := answers{{}}
	one := weir.MustParseLimits("10/s")
	for _, c := range []struct {
		store   weir.Store
		options weir.Options
		want    string
		is      error
	}{
		{nil, weir.Options{Limits: one}, "weir: invalid options: store is nil; give one, such as a *memstore.Store", weir.ErrInvalidOptions},
		{store, weir.Options{}, `weir: invalid options: Limits is empty; give 1 to 8, such as weir.MustParseLimits("10/s")`, weir.ErrInvalidOptions},
		{store, weir.Options{Limits: slices.Repeat(one, 9)}, "weir: invalid options: Limits has 9 entries; use at most 8", weir.ErrInvalidOptions},
		{store, weir.Options{Name: strings.Repeat("n", 257), Limits: one}, "weir: invalid options: Name has 257 bytes; use at most 256", weir.ErrInvalidOptions},
		{store, weir.Options{Limits: []weir.Limit{one[0], nil}}, `weir: limit "nil": limit nil is no limit; give one, such as weir.MustParseLimit("10/s") (Limits[1])`, weir.ErrInvalidLimit},
		{store, weir.Options{Limits: []weir.Limit{weir.SlidingLog{Limit: 1}}},
			`weir: limit "1/0s sliding-log": window 0s is below 1ms; use a longer one with more units: 1000/s instead of 1 per 1ms or less`, weir.ErrInvalidLimit},
	} {
		l, err := weir.New(c.store, c.options)
		if l != nil || err == nil || err.Error() != c.want || !errors.Is(err, c.is) {
			t.Errorf("New(%v, %+v):\n got %v, error %v\nwant error %s", c.store, c.options, l, err, c.want)
		}
	}
	if _, err := weir.New(store, weir.Options{Name: strings.Repeat("n", 256), Limits: slices.Repeat(one, 8)}); err != nil {
		t.Errorf("New with 8 limits and a name of 256 bytes: got error %v, want none", err)
	}
}

func TestMustNewPanics(t *testing.T) {
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, weir.ErrInvalidOptions) {
			t.Errorf("MustNew without limits: panicked with %v, want ErrInvalidOptions", err)
		}
	}()
	weir.MustNew(answers{{}}, weir.Options{})
}

// calls are all methods that ask a store, with the name that errors give them.
var calls = []struct {
	op   string
	call func(l *weir.Limiter, ctx context.Context, key string, n int64) error
}{
	{"allow", func(l *weir.Limiter, ctx context.Context, key string, n int64) error {
		_, err := l.AllowN(ctx, key, n)
		return err
	}},
	{"peek", func(l *weir.Limiter, ctx context.Context, key string, n int64) error {
		_, err := l.PeekN(ctx, key, n)
		return err
	}},
	{"refund", func(l *weir.Limiter, ctx context.Context, key string, n int64) error {
		_, err := l.Refund(ctx, key, n)
		return err
	}},
	{"charge", func(l *weir.Limiter, ctx context.Context, key string, n int64) error {
		_, err := l.Charge(ctx, key, n)
		return err
	}},
	{"reset", func(l *weir.Limiter, ctx context.Context, key string, _ int64) error { return l.Reset(ctx, key) }},
}

func TestInvalidCalls(t *testing.T) {
	limiter := newLimiter(t, "10/h fixed-window")
	for _, c := range calls {
		for _, bad := range []struct {
			key  string
			n    int64
			is   error
			want string
		}{
			{"", 1, weir.ErrNoKey, `weir: ` + c.op + ` "": weir: empty key; name the subject, or use one key for all, such as "global"`},
			{"k", -1, weir.ErrInvalidCost, `weir: ` + c.op + ` "k": weir: invalid cost: -1 is negative; use 0 to 9007199254740991, with Refund to give back and Charge to take without asking`},
			{"k", math.MinInt64, weir.ErrInvalidCost,
				`weir: ` + c.op + ` "k": weir: invalid cost: -9223372036854775808 is negative; use 0 to 9007199254740991, with Refund to give back and Charge to take without asking`},
			{"k", weir.MaxQuota + 1, weir.ErrInvalidCost, `weir: ` + c.op + ` "k": weir: invalid cost: 9007199254740992 is above 9007199254740991; use 0 to that, or larger units`},
			{"k", math.MaxInt64, weir.ErrInvalidCost, `weir: ` + c.op + ` "k": weir: invalid cost: 9223372036854775807 is above 9007199254740991; use 0 to that, or larger units`},
		} {
			if c.op == "reset" && bad.key != "" {
				continue // it has no cost
			}
			err := c.call(limiter, t.Context(), bad.key, bad.n)
			if err == nil || err.Error() != bad.want || !errors.Is(err, bad.is) {
				t.Errorf("%s(%q, %d):\n got error %v\nwant error %s", c.op, bad.key, bad.n, err, bad.want)
			}
			var typed *weir.Error
			if !errors.As(err, &typed) || typed.Op != c.op || typed.Key != bad.key {
				t.Errorf("%s(%q, %d): got error %#v, want an *Error of the call", c.op, bad.key, bad.n, err)
			}
		}
	}
	if d, err := limiter.Peek(t.Context(), "k"); err != nil || d.Remaining != 10 {
		t.Errorf("after calls that are invalid: got %+v, %v, want all 10 remaining", d, err)
	}
}

func TestLargestCosts(t *testing.T) {
	limiter := newLimiter(t, "10/h fixed-window", "9007199254740991/h fixed-window")
	for range 3 {
		d, err := limiter.AllowN(t.Context(), "k", weir.MaxQuota)
		if err != nil || d.Allowed || d.RetryAfter != weir.Never || d.Deciding != 0 || d.Remaining != 10 {
			t.Errorf("take all there can be of 10: got %+v, %v, want refused for ever by limit 0", d, err)
		}
	}
	for range 3 {
		if _, err := limiter.Charge(t.Context(), "k", weir.MaxQuota); err != nil {
			t.Errorf("charge all there can be: got error %v", err)
		}
	}
	d, err := limiter.AllowN(t.Context(), "k", 0)
	if err != nil || !d.Allowed || d.Remaining != 0 || d.RetryAfter != 0 {
		t.Errorf("take 0 in debt: got %+v, %v, want allowed with 0 remaining", d, err)
	}
	d, err = limiter.Refund(t.Context(), "k", weir.MaxQuota)
	if err != nil || !d.Allowed || d.Remaining != 10 {
		t.Errorf("refund all there can be: got %+v, %v, want 10 remaining", d, err)
	}
}

// TestEndedContextChargesNothing: a call whose context has ended does not reach the store.
func TestEndedContextChargesNothing(t *testing.T) {
	limiter := newLimiter(t, "10/h fixed-window")
	if _, err := limiter.AllowN(t.Context(), "k", 4); err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	expired, cancelExpired := context.WithTimeout(t.Context(), 0)
	defer cancelExpired()
	for _, c := range calls {
		if err := c.call(limiter, cancelled, "k", 1); !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a cancelled context: got error %v, want %v", c.op, err, context.Canceled)
		}
		if err := c.call(limiter, expired, "k", 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s with an expired context: got error %v, want %v", c.op, err, context.DeadlineExceeded)
		}
	}
	if d, err := limiter.Peek(t.Context(), "k"); err != nil || d.Remaining != 6 {
		t.Errorf("after calls with ended contexts: got %+v, %v, want 6 remaining", d, err)
	}
}

func TestUnsupportedAbilities(t *testing.T) {
	limiter := weir.MustNew(answers{{Remaining: 3}}, weir.Options{Limits: weir.MustParseLimits("10/s")})
	for _, c := range calls {
		err := c.call(limiter, t.Context(), "k", 1)
		if c.op == "allow" {
			if err != nil {
				t.Errorf("allow by a store that only takes: got error %v", err)
			}
			continue
		}
		want := `weir: ` + c.op + ` "k": weir: not supported by this store`
		if !errors.Is(err, weir.ErrUnsupported) || err.Error() != want {
			t.Errorf("%s by a store that only takes: got error %v, want %s", c.op, err, want)
		}
	}
}

// failing is a store that cannot decide.
type failing struct{ err error }

func (f failing) Take(context.Context, *weir.Scope, string, int64) (weir.Results, error) {
	return weir.Results{}, f.err
}
func (f failing) Peek(context.Context, *weir.Scope, string, int64) (weir.Results, error) {
	return weir.Results{}, f.err
}
func (f failing) Refund(context.Context, *weir.Scope, string, int64) (weir.Results, error) {
	return weir.Results{}, f.err
}
func (f failing) Charge(context.Context, *weir.Scope, string, int64) (weir.Results, error) {
	return weir.Results{}, f.err
}
func (f failing) Reset(context.Context, *weir.Scope, string) error { return f.err }

// TestStoreErrors: what the store cannot decide is an error that says which call, and no decision.
func TestStoreErrors(t *testing.T) {
	cause := errors.New("the wire is cut")
	for _, limits := range [][]weir.Limit{weir.MustParseLimits("10/s"), weir.MustParseLimits("10/s", "10/m")} {
		limiter := weir.MustNew(failing{cause}, weir.Options{Limits: limits})
		for _, c := range calls {
			err := c.call(limiter, t.Context(), "k\n", 1)
			want := `weir: ` + c.op + ` "k\n": the wire is cut`
			if !errors.Is(err, cause) || err.Error() != want {
				t.Errorf("%s: got error %v, want %s", c.op, err, want)
			}
		}
		if d, err := limiter.Allow(t.Context(), "k"); err == nil || d.Allowed {
			t.Errorf("allow by a store that fails: got %+v, %v, want an error and nothing allowed", d, err)
		}
	}
}

func TestLimiterIsImmutable(t *testing.T) {
	limits := weir.MustParseLimits("10/h", "20/h")
	limiter := weir.MustNew(answers{{}, {}}, weir.Options{Name: "n", Limits: limits})
	limits[0] = weir.MustParseLimit("1/s")
	limiter.Limits()[1] = limits[0]
	if got := limiter.Limits(); got[0].String() != "10/h" || got[1].String() != "20/h" {
		t.Errorf("Limits: got %v, want [10/h 20/h]", got)
	}
	with, err := limiter.With(weir.MustParseLimits("5/h")...)
	if err != nil || with.Name() != "n" || len(with.Limits()) != 1 || len(limiter.Limits()) != 2 {
		t.Errorf("With: got %v, %v, and the limiter has %v", with, err, limiter.Limits())
	}
	if _, err := limiter.With(); !errors.Is(err, weir.ErrInvalidOptions) {
		t.Errorf("With no limits: got error %v, want %v", err, weir.ErrInvalidOptions)
	}
}

// TestWithCarriesOver: what a key has used stays used when its limit changes from one request to the next.
func TestWithCarriesOver(t *testing.T) {
	free := newLimiter(t, "10/h fixed-window")
	paid, err := free.With(weir.MustParseLimits("100/h fixed-window")...)
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		limiter   *weir.Limiter
		n         int64
		allowed   bool
		remaining int64
	}{{free, 10, true, 0}, {free, 1, false, 0}, {paid, 1, true, 89}, {free, 1, false, 0}, {paid, 89, true, 0}} {
		d, err := step.limiter.AllowN(t.Context(), "k", step.n)
		if err != nil || d.Allowed != step.allowed || d.Remaining != step.remaining {
			t.Errorf("step %d: take %d by %v: got %+v, %v, want allowed = %v with %d remaining",
				i, step.n, step.limiter.Limits(), d, err, step.allowed, step.remaining)
		}
	}
}

// TestAllowAllocatesNothing holds for one limit, which most limiters have.
func TestAllowAllocatesNothing(t *testing.T) {
	limiter := newLimiter(t, "10/h burst 1000000")
	if got := testing.AllocsPerRun(1000, func() {
		if d, err := limiter.Allow(t.Context(), "k"); err != nil || !d.Allowed {
			t.Errorf("allow: got %+v, %v", d, err)
		}
	}); got != 0 {
		t.Errorf("Allow: got %v allocations, want 0", got)
	}
}

// outStore has lost its state, and allows everything.
type outStore struct{}

var errAway = errors.New("away")

func (outStore) Take(_ context.Context, scope *weir.Scope, _ string, _ int64) (weir.Results, error) {
	results := weir.Results{One: weir.Result{Remaining: scope.Specs[0].Quota}}
	if len(scope.Specs) > 1 {
		results = weir.Results{All: new([weir.MaxLimits]weir.Result)}
	}
	return weir.Results{}, fmt.Errorf("wrapped: %w", &weir.Outage{Results: results, Err: errAway})
}

// TestOutage: what a store decided without its state is a decision, and marked.
func TestOutage(t *testing.T) {
	for _, limits := range [][]string{{"5/s"}, {"5/s", "7/m"}} {
		d, err := weir.MustNew(outStore{}, weir.Options{Limits: weir.MustParseLimits(limits...)}).Allow(t.Context(), "key")
		if err != nil || !d.Allowed || !d.Outage || len(d.Figures()) != len(limits) || d.Limit != 5 {
			t.Errorf("allow under %v: got %+v, %v, want an allowed decision of an outage", limits, d, err)
		}
	}
	_, err := outStore{}.Take(t.Context(), &weir.Scope{Specs: make([]weir.Spec, 1)}, "key", 1)
	if !errors.Is(err, errAway) {
		t.Errorf("the outage hides its cause: %v", err)
	}
}

package weir_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/weirhq/weir"
)

// answers is a store that says what it is told to say, and can only take.
type answers []weir.Result

func (a answers) Take(context.Context, *weir.Scope, string, int64) (weir.Results, error) {
	if len(a) == 1 {
		return weir.Results{One: a[0]}, nil
	}
	all := new([weir.MaxLimits]weir.Result)
	copy(all[:], a)
	return weir.Results{All: all}, nil
}

func TestDecision(t *testing.T) {
	const s, m = time.Second, time.Minute
	for _, c := range []struct {
		name    string
		results answers // of limits of 10, 20, 30, ...
		want    weir.Decision
	}{
		{"one that allows", answers{{7, 0, 3 * s}}, weir.Decision{Allowed: true, Limit: 10, Remaining: 7, ResetAfter: 3 * s}},
		{"one that refuses", answers{{0, s, m}}, weir.Decision{Limit: 10, RetryAfter: s, ResetAfter: m}},
		{"one that refuses for ever", answers{{10, weir.Never, 0}}, weir.Decision{Limit: 10, Remaining: 10, RetryAfter: weir.Never}},
		{"the least remaining decides", answers{{7, 0, 3 * s}, {5, 0, m}, {6, 0, s}},
			weir.Decision{Allowed: true, Deciding: 1, Limit: 20, Remaining: 5, ResetAfter: m}},
		{"the first of equals decides", answers{{7, 0, 3 * s}, {5, 0, m}, {5, 0, s}},
			weir.Decision{Allowed: true, Deciding: 1, Limit: 20, Remaining: 5, ResetAfter: m}},
		{"a refusal decides, however little remains elsewhere", answers{{0, 0, 3 * s}, {5, s, m}},
			weir.Decision{Deciding: 1, Limit: 20, RetryAfter: s, ResetAfter: m}},
		{"the longest wait decides", answers{{0, s, 3 * s}, {1, m, 2 * m}, {0, 2 * s, m}},
			weir.Decision{Deciding: 1, Limit: 20, RetryAfter: m, ResetAfter: 2 * m}},
		{"the first of equal waits decides", answers{{3, m, 3 * s}, {1, m, 2 * m}},
			weir.Decision{Deciding: 0, Limit: 10, Remaining: 1, RetryAfter: m, ResetAfter: 3 * s}},
		{"never is longest", answers{{0, m, m}, {20, weir.Never, 0}, {3, 24 * time.Hour, 24 * time.Hour}},
			weir.Decision{Deciding: 1, Limit: 20, RetryAfter: weir.Never}},
	} {
		t.Run(c.name, func(t *testing.T) {
			limits := make([]weir.Limit, len(c.results))
			for i := range limits {
				limits[i] = weir.FixedWindow{Limit: 10 * (int64(i) + 1), Window: time.Minute}
			}
			d, err := weir.MustNew(c.results, weir.Options{Limits: limits}).Allow(t.Context(), "key")
			if err != nil {
				t.Fatal(err)
			}
			got := weir.Decision{Allowed: d.Allowed, Outage: d.Outage, Deciding: d.Deciding, Limit: d.Limit,
				Remaining: d.Remaining, RetryAfter: d.RetryAfter, ResetAfter: d.ResetAfter}
			if !same(got, c.want) {
				t.Errorf("decision of %+v:\n got %+v\nwant %+v", c.results, got, c.want)
			}
			var want []weir.Figures
			for i, r := range c.results {
				want = append(want, weir.Figures{Limit: 10 * (int64(i) + 1), Remaining: r.Remaining, RetryAfter: r.RetryAfter, ResetAfter: r.ResetAfter})
			}
			if got := d.Figures(); !slices.Equal(got, want) {
				t.Errorf("figures of %+v:\n got %+v\nwant %+v", c.results, got, want)
			}
		})
	}
}

// same compares the fields that everybody sees.
func same(a, b weir.Decision) bool {
	return a.Allowed == b.Allowed && a.Outage == b.Outage && a.Deciding == b.Deciding && a.Limit == b.Limit &&
		a.Remaining == b.Remaining && a.RetryAfter == b.RetryAfter && a.ResetAfter == b.ResetAfter
}

// TestDecisionsAreValues: a decision is not changed by later ones.
func TestDecisionsAreValues(t *testing.T) {
	limiter := newLimiter(t, "10/h fixed-window", "20/h fixed-window")
	first, err := limiter.Allow(t.Context(), "key")
	if err != nil {
		t.Fatal(err)
	}
	before := first.Figures()
	for range 5 {
		if _, err := limiter.AllowN(t.Context(), "key", 2); err != nil {
			t.Fatal(err)
		}
	}
	if after := first.Figures(); !slices.Equal(before, after) || first.Remaining != 9 {
		t.Errorf("figures of the first decision: got %+v, then %+v", before, after)
	}
}

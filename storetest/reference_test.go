package storetest_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/model"
	"github.com/weirhq/weir/storetest"
)

// reference is a store that keeps models: the slowest right one. Its time is moved by hand.
type reference struct {
	mu   sync.Mutex
	now  int64
	keys map[subject]model.Limiter
}

type subject struct{ name, key string }

func newReference() *reference {
	start := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
	return &reference{now: start.UnixMicro(), keys: make(map[subject]model.Limiter)}
}

// rig returns a rig of a store over r.
func (r *reference) rig(store weir.Store) storetest.Rig {
	return storetest.Rig{
		Store: store,
		Advance: func(d time.Duration) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.now += d.Microseconds()
		},
		Now: func() time.Time {
			r.mu.Lock()
			defer r.mu.Unlock()
			return time.UnixMicro(r.now)
		},
	}
}

// update does op on the model of a key.
func (r *reference) update(scope *weir.Scope, key string, op func(l model.Limiter, now int64) (model.Limiter, []weir.Figures)) (weir.Results, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	limits := make([]weir.Limit, len(scope.Specs))
	for i, spec := range scope.Specs {
		limits[i] = spec.Limit()
	}
	id := subject{scope.Name, key}
	l, figures := op(r.keys[id].Change(limits...), r.now)
	r.keys[id] = l
	return results(figures), nil
}

func results(figures []weir.Figures) (r weir.Results) {
	all := new([weir.MaxLimits]weir.Result)
	for i, f := range figures {
		all[i] = weir.Result{Remaining: f.Remaining, RetryAfter: f.RetryAfter, ResetAfter: f.ResetAfter}
	}
	if len(figures) == 1 {
		return weir.Results{One: all[0]}
	}
	r.All = all
	return r
}

func (r *reference) Take(_ context.Context, scope *weir.Scope, key string, cost int64) (weir.Results, error) {
	return r.update(scope, key, func(l model.Limiter, now int64) (model.Limiter, []weir.Figures) { return l.Take(now, cost) })
}

func (r *reference) Peek(_ context.Context, scope *weir.Scope, key string, cost int64) (weir.Results, error) {
	return r.update(scope, key, func(l model.Limiter, now int64) (model.Limiter, []weir.Figures) { return l, l.Peek(now, cost) })
}

func (r *reference) Refund(_ context.Context, scope *weir.Scope, key string, n int64) (weir.Results, error) {
	return r.update(scope, key, func(l model.Limiter, now int64) (model.Limiter, []weir.Figures) { return l.Refund(now, n) })
}

func (r *reference) Charge(_ context.Context, scope *weir.Scope, key string, n int64) (weir.Results, error) {
	return r.update(scope, key, func(l model.Limiter, now int64) (model.Limiter, []weir.Figures) { return l.Charge(now, n) })
}

func (r *reference) Reset(_ context.Context, scope *weir.Scope, key string) error {
	_, err := r.update(scope, key, func(l model.Limiter, _ int64) (model.Limiter, []weir.Figures) { return l.Reset(), nil })
	return err
}

// TestReference: the suite lets a right store pass.
func TestReference(t *testing.T) {
	t.Setenv("STORETEST_STEPS", "100")
	storetest.Run(t, func(t *testing.T, body func(*testing.T, storetest.Rig)) {
		r := newReference()
		body(t, r.rig(r))
	})
}

// TestReferenceThatOnlyTakes: optional abilities may be missing.
func TestReferenceThatOnlyTakes(t *testing.T) {
	t.Setenv("STORETEST_STEPS", "40")
	storetest.Run(t, func(t *testing.T, body func(*testing.T, storetest.Rig)) {
		r := newReference()
		body(t, r.rig(struct{ weir.Store }{r}))
	})
}

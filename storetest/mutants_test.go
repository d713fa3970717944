package storetest_test

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/storetest"
)

// mutant is a reference store with one fault.
type mutant struct {
	*reference
	take func(m *mutant, ctx context.Context, scope *weir.Scope, key string, cost int64) (weir.Results, error)
	peek func(m *mutant, ctx context.Context, scope *weir.Scope, key string, cost int64) (weir.Results, error)

	calls int
}

func (m *mutant) Take(ctx context.Context, scope *weir.Scope, key string, cost int64) (weir.Results, error) {
	if m.take == nil {
		return m.reference.Take(ctx, scope, key, cost)
	}
	return m.take(m, ctx, scope, key, cost)
}

func (m *mutant) Peek(ctx context.Context, scope *weir.Scope, key string, cost int64) (weir.Results, error) {
	if m.peek == nil {
		return m.reference.Peek(ctx, scope, key, cost)
	}
	return m.peek(m, ctx, scope, key, cost)
}

func refused(r weir.Results) bool {
	return r.One.RetryAfter > 0 || r.All != nil && slices.ContainsFunc(r.All[:], func(r weir.Result) bool { return r.RetryAfter > 0 })
}

// faults are the mutants: what is wrong, and a group of cases that must notice.
var faults = []struct {
	name   string
	caught []string
	mutant mutant
}{
	{"ignores the cost", []string{"costs", "golden"}, mutant{
		take: func(m *mutant, ctx context.Context, scope *weir.Scope, key string, cost int64) (weir.Results, error) {
			return m.reference.Take(ctx, scope, key, min(cost, 1))
		}}},
	{"charges what it refuses", []string{"refusals", "waiting", "several"}, mutant{
		take: func(m *mutant, ctx context.Context, scope *weir.Scope, key string, cost int64) (weir.Results, error) {
			r, err := m.reference.Take(ctx, scope, key, cost)
			if refused(r) {
				m.reference.Charge(ctx, scope, key, cost)
			}
			return r, err
		}}},
	{"rounds the wait down", []string{"waiting", "golden"}, mutant{
		take: func(m *mutant, ctx context.Context, scope *weir.Scope, key string, cost int64) (weir.Results, error) {
			r, err := m.reference.Take(ctx, scope, key, cost)
			if wait := r.One.RetryAfter; wait > time.Millisecond && wait != weir.Never {
				r.One.RetryAfter = wait.Truncate(time.Millisecond)
			}
			return r, err
		}}},
	{"forgets a key now and then", []string{"keys"}, mutant{
		take: func(m *mutant, ctx context.Context, scope *weir.Scope, key string, cost int64) (weir.Results, error) {
			m.mu.Lock()
			if m.calls++; m.calls%500 == 0 {
				clear(m.keys)
			}
			m.mu.Unlock()
			return m.reference.Take(ctx, scope, key, cost)
		}}},
	{"charges the limits before one that refuses", []string{"several", "golden"}, mutant{
		take: func(m *mutant, ctx context.Context, scope *weir.Scope, key string, cost int64) (weir.Results, error) {
			before, err := m.reference.Peek(ctx, scope, key, cost)
			r, _ := m.reference.Take(ctx, scope, key, cost)
			if before.All != nil && before.All[0].RetryAfter == 0 && before.All[1].RetryAfter > 0 {
				m.reference.Take(ctx, &weir.Scope{Name: scope.Name, Specs: scope.Specs[:1]}, key, cost)
			}
			return r, err
		}}},
	{"joins name and key without a seam", []string{"keys"}, mutant{
		take: func(m *mutant, ctx context.Context, scope *weir.Scope, key string, cost int64) (weir.Results, error) {
			return m.reference.Take(ctx, &weir.Scope{Specs: scope.Specs}, scope.Name+key, cost)
		}}},
	{"ends keys at the first NUL", []string{"keys"}, mutant{
		take: func(m *mutant, ctx context.Context, scope *weir.Scope, key string, cost int64) (weir.Results, error) {
			key, _, _ = strings.Cut(key, "\x00")
			return m.reference.Take(ctx, scope, key, cost)
		}}},
	{"looks, then takes", []string{"concurrency"}, mutant{
		take: func(m *mutant, ctx context.Context, scope *weir.Scope, key string, cost int64) (weir.Results, error) {
			r, err := m.reference.Peek(ctx, scope, key, cost)
			if cost == 0 || refused(r) {
				return r, err
			}
			runtime.Gosched()
			m.reference.Charge(ctx, scope, key, cost)
			return m.reference.Peek(ctx, scope, key, 0)
		}}},
	{"starts afresh when the limit changes", []string{"golden", "random"}, mutant{
		take: func(m *mutant, ctx context.Context, scope *weir.Scope, key string, cost int64) (weir.Results, error) {
			m.mu.Lock()
			id := subject{scope.Name, key}
			if l, ok := m.keys[id]; ok && l.Limits()[0].String() != scope.Specs[0].Limit().String() {
				delete(m.keys, id)
			}
			m.mu.Unlock()
			return m.reference.Take(ctx, scope, key, cost)
		}}},
	{"takes when it should look", []string{"refusals", "golden"}, mutant{
		peek: func(m *mutant, ctx context.Context, scope *weir.Scope, key string, cost int64) (weir.Results, error) {
			r, err := m.reference.Peek(ctx, scope, key, cost)
			m.reference.Take(ctx, scope, key, cost)
			return r, err
		}}},
}

// mutantVariable tells a copy of this test binary which mutant it is to test.
const mutantVariable = "STORETEST_MUTANT"

// TestMutants: the suite lets no broken store pass. Each is tested by a process of its own, for it must fail.
func TestMutants(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range faults {
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			groups := "^TestMutant$/^(" + strings.Join(fault.caught, "|") + ")$"
			cmd := exec.CommandContext(t.Context(), self, "-test.run="+groups, "-test.timeout=1m")
			cmd.Env = append(os.Environ(), mutantVariable+"="+fault.name, "STORETEST_STEPS=50")
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Fatalf("a store that %s: passed", fault.name)
			}
			for _, group := range fault.caught {
				if want := "--- FAIL: TestMutant/" + group + " "; !strings.Contains(string(out), want) {
					t.Errorf("a store that %s: the cases of %q did not fail; output:\n%s", fault.name, group, out)
				}
			}
		})
	}
}

// TestMutant is the process of [TestMutants]; by itself it tests nothing.
func TestMutant(t *testing.T) {
	for _, fault := range faults {
		if os.Getenv(mutantVariable) == fault.name {
			storetest.Run(t, func(t *testing.T, body func(*testing.T, storetest.Rig)) {
				m := fault.mutant
				m.reference = newReference()
				body(t, m.rig(&m))
			})
		}
	}
}

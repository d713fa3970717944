package redisstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir"
)

// load is callers that ask without a pause until it is stopped.
type load struct {
	t        *testing.T
	stopping atomic.Bool
	done     sync.WaitGroup

	admitted, refused atomic.Int64 // by Redis
	out, outAdmitted  atomic.Int64 // decisions without it, and those of them that admit
	outages           atomic.Int64 // errors that wrap ErrOutage
}

// newLoad starts callers, each of which asks for its key with a cost of 1.
func newLoad(t *testing.T, l *weir.Limiter, callers int, key func(caller int) string) *load {
	x := &load{t: t}
	for caller := range callers {
		x.done.Go(func() {
			for k := key(caller); !x.stopping.Load(); {
				x.ask(l, k)
			}
		})
	}
	t.Cleanup(x.stop)
	return x
}

func (x *load) ask(l *weir.Limiter, key string) {
	d, err := l.Allow(context.Background(), key)
	switch {
	case errors.Is(err, ErrOutage):
		x.outages.Add(1)
	case err != nil:
		x.t.Errorf("allow: error %v", err)
		x.stopping.Store(true)
	case d.Outage:
		x.out.Add(1)
		if d.Allowed {
			x.outAdmitted.Add(1)
		}
	case d.Allowed:
		x.admitted.Add(1)
	default:
		x.refused.Add(1)
	}
}

// stop ends the callers.
func (x *load) stop() {
	x.stopping.Store(true)
	x.done.Wait()
}

// String says what came of it.
func (x *load) String() string {
	return fmt.Sprintf("%d admitted, %d refused; without Redis %d decided, %d of them admitted; %d errors of an outage",
		x.admitted.Load(), x.refused.Load(), x.out.Load(), x.outAdmitted.Load(), x.outages.Load())
}

// await polls until it holds, for a long time at most.
func await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	const patience = 20 * time.Second
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v for %s", patience, what)
		}
	}
}

// awaitDecisions waits until Redis has decided n more requests.
func (x *load) awaitDecisions(n int64) {
	x.t.Helper()
	from := x.admitted.Load() + x.refused.Load()
	await(x.t, fmt.Sprintf("%d decisions by Redis, so far %v", n, x), func() bool {
		return x.admitted.Load()+x.refused.Load() >= from+n
	})
}

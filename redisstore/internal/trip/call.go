package trip

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/redisstore/internal/script"
)

// call is one operation under way. Two hold it: the caller, who waits for done, and the lane, which lets go when
// it has decided it or found that nobody waits. Whoever moves state on from pending writes the result.
type call struct {
	Request
	deadline int64 // nanoseconds since the engine was made
	again    script.Problem
	attempts int

	pool    *pool
	state   atomic.Int32
	holders atomic.Int32
	done    chan struct{} // gets one token when results and err are there

	results weir.Results
	err     error
}

// Request is what a call wants.
type Request struct {
	Op    script.Op
	Scope *script.Scope
	Cost  int64
	Key   string // in Redis
}

// The states of a call.
const (
	pending int32 = iota
	decided       // results and err are being written, or are there
	left          // the caller's context ended first
)

// pool keeps calls for others to use.
type pool struct{ sync.Pool }

func (p *pool) take(r Request, deadline int64) *call {
	c, ok := p.Get().(*call)
	if !ok {
		c = &call{pool: p, done: make(chan struct{}, 1)}
	}
	c.Request, c.deadline = r, deadline
	c.again, c.attempts = script.Problem{}, 0
	c.results, c.err = weir.Results{}, nil
	c.state.Store(pending)
	c.holders.Store(2)
	return c
}

// release lets go of c. The last who does gives it back.
func (c *call) release() {
	if c.holders.Add(-1) == 0 {
		c.pool.Put(c)
	}
}

// isPending says whether somebody still waits for a result.
func (c *call) isPending() bool { return c.state.Load() == pending }

// decide gives the caller its result, unless it has one or has left.
func (c *call) decide(results weir.Results, err error) {
	if c.state.CompareAndSwap(pending, decided) {
		c.results, c.err = results, err
		c.done <- struct{}{}
	}
}

// wait returns when the call is decided, or ctx has ended.
func (c *call) wait(ctx context.Context) (weir.Results, error) {
	defer c.release()
	if ended := ctx.Done(); ended == nil {
		<-c.done
	} else {
		select {
		case <-c.done:
		case <-ended:
			if c.state.CompareAndSwap(pending, left) {
				return weir.Results{}, ctx.Err()
			}
			<-c.done
		}
	}
	return c.results, c.err
}

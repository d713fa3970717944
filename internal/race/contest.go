package race

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// contest is many workers that ask one way about one key.
type contest struct {
	allow    Allow
	key      string
	limit    int
	workers  int
	requests int
}

// maxFailing is how many requests of a worker may fail in a row. Then Redis is taken to be gone, and nobody waits for
// millions of others to fail.
const maxFailing = 3

// run makes the requests, from a start that all workers wait for, and returns what they saw. When ctx ends, or Redis
// is gone, it returns an error instead, once every worker has come back.
func (c *contest) run(ctx context.Context) (*tally, error) {
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	var (
		next, taken atomic.Int64
		ready, done sync.WaitGroup
		start       time.Time
		gate        = make(chan struct{})
		tallies     = make([]tally, c.workers)
	)
	for i := range tallies {
		mine := &tallies[i]
		mine.limit = c.limit
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-gate
			for ctx.Err() == nil && next.Add(1) <= int64(c.requests) {
				o, before := c.ask(ctx, start, &taken)
				mine.add(o, before)
				if mine.failing == maxFailing {
					giveUp(fmt.Errorf("%d requests of a worker failed in a row, the last with: %w", maxFailing, o.err))
				}
			}
		})
	}
	ready.Wait()
	start = time.Now()
	close(gate)
	done.Wait()
	total := &tally{limit: c.limit, elapsed: time.Since(start)}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for i := range tallies {
		total.merge(&tallies[i])
	}
	return total, nil
}

// ask makes one request. It also returns how many admissions had been answered before the request ended.
func (c *contest) ask(ctx context.Context, start time.Time, taken *atomic.Int64) (outcome, int) {
	o := outcome{begin: time.Since(start)}
	o.allowed, o.err = c.allow(ctx, c.key)
	before := taken.Load() // to be read before the end: what begins after the end must not be in it
	o.end = time.Since(start)
	if o.err == nil && o.allowed {
		taken.Add(1)
	}
	return o, int(before)
}

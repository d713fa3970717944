package trip

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/redisstore/internal/script"
)

// maxAttempts is how often a call may be sent: the answer to the first can be that the script needs another window of
// a calendar, or lists, or that the master is elsewhere.
const maxAttempts = 4

// flight carries batches of calls to Redis, one after another.
type flight struct {
	lane     *lane
	calls    []*call   // on board, read by the lane too: they stay as they are until it has taken them off
	order    []*call   // the same, as they are sent
	verdicts []verdict // of order
	again    []*call   // those to be sent once more
	batch    script.Batch
	indexes  []int // of the calls in the batch
	reply    script.Reply
	began    int64 // when the trip did; guarded by the lane
	lost     bool  // likewise
}

// hangar keeps flights that are not under way, for their memory.
type hangar struct{ sync.Pool }

func (h *hangar) take() *flight {
	if f, ok := h.Get().(*flight); ok {
		return f
	}
	return &flight{}
}

// verdict is what became of a call.
type verdict struct {
	results weir.Results
	err     error
	again   bool
}

// run sends the calls on board and finds their verdicts.
func (f *flight) run() {
	f.order = append(f.order[:0], f.calls...)
	slices.SortFunc(f.order, inBatchOrder)
	f.verdicts = slices.Grow(f.verdicts[:0], len(f.calls))[:len(f.calls)]
	deadline := f.calls[0].deadline
	for _, c := range f.calls {
		deadline = max(deadline, c.deadline)
	}
	e := f.lane.engine
	ctx, cancel := e.until(deadline)
	defer cancel()
	switch err := f.send(ctx, f.order); {
	case err == nil:
		f.read(f.order, f.verdicts)
		f.lane.breaker.succeeded()
	case faultOfError(err) == faultTryAgain && len(f.calls) > 1:
		f.sendEach(ctx)
	default:
		f.failAll(err)
	}
}

// inBatchOrder puts together what the script decides together, and equal keys next to each other, as it wants them.
func inBatchOrder(a, b *call) int {
	return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.Scope.ID(), b.Scope.ID()), cmp.Compare(a.Cost, b.Cost),
		cmp.Compare(a.again.Kind, b.again.Kind), strings.Compare(a.Key, b.Key))
}

// send makes one script call of the calls.
func (f *flight) send(ctx context.Context, calls []*call) error {
	e := f.lane.engine
	f.batch.Begin(e.settings.Clock())
	f.indexes = f.indexes[:0]
	for _, c := range calls {
		c.attempts++
		f.indexes = append(f.indexes, f.batch.Add(c.Op, c.Scope, c.Cost, c.Key, c.again))
	}
	err := e.run(ctx, decide, f.batch.Keys(), f.batch.Args(), &f.reply)
	if err == nil {
		err = f.batch.Check(&f.reply)
	}
	return err
}

// sendEach sends each call by itself: a cluster does not serve several keys of a slot that is on its way to another
// node, but each of them.
func (f *flight) sendEach(ctx context.Context) {
	for i := range f.order {
		one := f.order[i : i+1]
		if err := f.send(ctx, one); err != nil {
			f.fail(i, err)
			continue
		}
		f.read(one, f.verdicts[i:i+1])
	}
}

// read finds the verdicts of calls in the reply.
func (f *flight) read(calls []*call, verdicts []verdict) {
	rediscover := false
	for i, c := range calls {
		v := &verdicts[i]
		row, problem := f.batch.Row(&f.reply, f.indexes[i])
		switch problem.Kind {
		case script.None:
			v.results = resultsOf(row)
		case script.Window, script.Lists:
			c.again = problem
			f.retry(v, c, fmt.Errorf("%w: the script asks again and again", ErrOutage))
		case script.Foreign:
			v.err = errForeign(c.Key)
		default:
			kind := faultOf(problem.Text)
			v.err = errorOf(kind, problem.Text, c.Key)
			if kind == faultReadOnly {
				rediscover = true
				f.retry(v, c, v.err)
			}
		}
	}
	if rediscover {
		f.lane.engine.rediscover()
	}
}

// retry sends c once more, or fails with err if it was sent too often.
func (f *flight) retry(v *verdict, c *call, err error) {
	if c.attempts >= maxAttempts {
		v.err = err
		return
	}
	v.again, v.err = true, ErrClosed
	f.again = append(f.again, c)
}

// failAll is for an error of the whole batch.
func (f *flight) failAll(err error) {
	if kind := faultOfError(err); kind == faultReadOnly {
		f.lane.engine.rediscover()
		for i, c := range f.order {
			f.retry(&f.verdicts[i], c, errorOf(kind, err.Error(), c.Key))
		}
		return
	}
	tryAgain := faultOfError(err) == faultTryAgain
	err = f.lane.engine.explain(err)
	if !tryAgain { // which is about keys, not about Redis
		f.lane.breaker.failed(err, f.began)
	}
	for i := range f.verdicts {
		f.verdicts[i].err = err
	}
}

// fail is for an error of a call that was sent by itself.
func (f *flight) fail(i int, err error) {
	kind := faultOfError(err)
	err = f.lane.engine.explain(err)
	switch kind {
	case faultReadOnly:
		f.lane.engine.rediscover()
		f.retry(&f.verdicts[i], f.order[i], err)
		return
	case faultOutage:
		f.lane.breaker.failed(err, f.began)
	}
	f.verdicts[i].err = err
}

// clear makes f ready for the next calls.
func (f *flight) clear() {
	clear(f.calls)
	clear(f.order)
	clear(f.again)
	clear(f.verdicts)
	f.calls, f.order, f.again, f.verdicts = f.calls[:0], f.order[:0], f.again[:0], f.verdicts[:0]
}

// maxWait is the longest wait that a duration holds, some 292 years. Only a state from a clock that has gone back by
// decades takes longer.
const maxWait = int64(math.MaxInt64 / time.Microsecond)

// resultsOf makes results of the script's numbers, three for each limit.
func resultsOf(row []int64) weir.Results {
	if len(row) == 3 {
		return weir.Results{One: resultOf(row)}
	}
	all := new([weir.MaxLimits]weir.Result)
	for i := range len(row) / 3 {
		all[i] = resultOf(row[3*i:])
	}
	return weir.Results{All: all}
}

func resultOf(row []int64) weir.Result {
	r := weir.Result{
		Remaining:  row[0],
		RetryAfter: time.Duration(min(row[1], maxWait)) * time.Microsecond,
		ResetAfter: time.Duration(min(row[2], maxWait)) * time.Microsecond,
	}
	if row[1] < 0 {
		r.RetryAfter = weir.Never
	}
	return r
}

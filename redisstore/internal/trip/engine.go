package trip

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/redisstore/internal/script"
)

// Runner runs scripts on a client; package redisstore, which hands it on, says how.
type Runner interface {
	EvalSHA(ctx context.Context, sha string, keys, args []string, into *script.Reply) error
	Eval(ctx context.Context, source string, keys, args []string, into *script.Reply) error
}

// Settings are what an [Engine] is made of. All fields are required.
type Settings struct {
	Runner     Runner
	Timeout    time.Duration // of a call
	MaxWaiting int           // calls in one lane
	// Lanes is how many queues there are; ProbeKey returns a key that nobody uses and that is kept where the lane's are.
	Lanes    int
	ProbeKey func(lane int) string
	// Clock returns the time that the script is given, empty for Redis's own, and a guess of it for calendars.
	Clock func() (now string, guess int64)
	Log   *slog.Logger
}

// Engine sends requests to Redis. It is safe for concurrent use; make one with [New], and close it.
type Engine struct {
	settings Settings
	lanes    []lane
	made     time.Time
	life     context.Context // ends with the engine
	end      context.CancelFunc
	overdue  error
	prompt   bool // the runner sees to deadlines by itself

	flights sync.WaitGroup // flights, probes and single calls under way
	mu      sync.RWMutex   // held while flights grows outside a lane
	closed  bool

	calls pool
	idle  hangar
	trips atomic.Uint64
	out   atomic.Int32 // breakers that are open
	since atomic.Int64 // when the first of them opened, in nanoseconds since the engine was made
}

// New returns an engine. It does not ask Redis anything yet.
func New(s Settings) *Engine {
	e := &Engine{
		settings: s,
		lanes:    make([]lane, s.Lanes),
		made:     time.Now(),
		overdue:  fmt.Errorf("%w: no answer within %v", ErrOutage, s.Timeout),
	}
	if p, ok := s.Runner.(interface{ Prompt() bool }); ok {
		e.prompt = p.Prompt()
	}
	e.life, e.end = context.WithCancel(context.Background())
	for i := range e.lanes {
		l := &e.lanes[i]
		l.engine = e
		l.breaker = breaker{engine: e, probe: func(ctx context.Context) error { return e.probe(ctx, i) }}
	}
	return e
}

// now returns the nanoseconds since the engine was made.
func (e *Engine) now() int64 { return int64(time.Since(e.made)) }

// until returns a context that ends with the engine, and at the deadline, for a trip. For a prompt runner it has no timer of
// its own, which would cost a lone caller much of a trip's time: it wakes a thread that waits for the network.
func (e *Engine) until(deadline int64) (context.Context, context.CancelFunc) {
	at := e.made.Add(time.Duration(deadline))
	if e.prompt {
		return deadlineContext{e.life, at}, func() {}
	}
	return context.WithDeadline(e.life, at)
}

// deadlineContext has a deadline, at which Done is not closed.
type deadlineContext struct {
	context.Context
	at time.Time
}

func (c deadlineContext) Deadline() (time.Time, bool) { return c.at, true }

func (c deadlineContext) Err() error {
	if err := c.Context.Err(); err != nil || time.Now().Before(c.at) {
		return err
	}
	return context.DeadlineExceeded
}

// Ask sends r in a lane and waits for its results. An error wraps one of the sentinels, or is that of ctx.
func (e *Engine) Ask(ctx context.Context, lane int, r Request) (weir.Results, error) {
	l := &e.lanes[lane]
	if err := l.breaker.admit(); err != nil {
		return weir.Results{}, err
	}
	c := e.calls.take(r, e.now()+int64(e.settings.Timeout))
	f, err := l.add(c, e.prompt && !endsEarlier(ctx, e.settings.Timeout))
	if err != nil {
		return weir.Results{}, err
	}
	if f != nil {
		l.lead(f)
	}
	return c.wait(ctx)
}

// endsEarlier says whether ctx has a deadline that comes before timeout.
func endsEarlier(ctx context.Context, timeout time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) < timeout
}

// Script is a script's text with its SHA-1 sum.
type Script struct{ Source, SHA string }

var decide = Script{Source: script.Source, SHA: script.SHA}

// run runs a script by its sum and, where Redis does not know it (any more), by its text.
func (e *Engine) run(ctx context.Context, s Script, keys, args []string, into *script.Reply) error {
	e.trips.Add(1)
	err := e.settings.Runner.EvalSHA(ctx, s.SHA, keys, args, into)
	if err != nil && faultOf(err.Error()) == faultNoScript {
		e.trips.Add(1)
		err = e.settings.Runner.Eval(ctx, s.Source, keys, args, into)
	}
	return err
}

// probeScope is the limit of a look that tells whether Redis works.
var probeScope = script.NewScope([]weir.Spec{{Algorithm: weir.SmoothBucket, Quota: 1, Refill: 1, Period: 1}})

// probe looks at a key that nobody has, where the lane's keys are. Its error wraps a sentinel.
func (e *Engine) probe(ctx context.Context, lane int) error {
	c := &call{Request: Request{Op: script.Peek, Scope: probeScope, Cost: 1, Key: e.settings.ProbeKey(lane)}}
	f := flight{lane: &e.lanes[lane], order: []*call{c}, verdicts: make([]verdict, 1)}
	if err := f.send(ctx, f.order); err != nil {
		return e.explain(err)
	}
	f.read(f.order, f.verdicts)
	if err := f.verdicts[0].err; !errors.Is(err, ErrForeignValue) {
		return err
	}
	return nil // somebody has put a value there, and Redis tells
}

// Check asks Redis for a sign of life, for each lane, until ctx ends. An error wraps a sentinel.
func (e *Engine) Check(ctx context.Context) error {
	if !e.hold() {
		return ErrClosed
	}
	defer e.flights.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.life, cancel)()
	for i := range e.lanes {
		if err := e.probe(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// hold reserves a place in flights, unless the engine is closed.
func (e *Engine) hold() bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.closed {
		return false
	}
	e.flights.Add(1)
	return true
}

// rediscover makes the runner look for the master anew, if it can.
func (e *Engine) rediscover() {
	if r, ok := e.settings.Runner.(interface{ Rediscover() }); ok {
		r.Rediscover()
	}
}

// explain makes what callers get of an error of the runner.
func (e *Engine) explain(err error) error {
	switch {
	case e.life.Err() != nil:
		return ErrClosed
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w (%w)", e.overdue, err)
	}
	kind := faultOfError(err)
	if kind == faultMoved && len(e.lanes) == 1 {
		kind = faultConfig
	}
	return errorOf(kind, err.Error(), "")
}

// tell counts the breakers that open and close, and logs when the first opens and the last closes.
func (e *Engine) tell(change int32, err error) {
	n := e.out.Add(change)
	log := e.settings.Log
	switch {
	case change > 0 && errors.Is(err, ErrMisconfigured):
		e.since.Store(e.now())
		log.Error("redisstore: Redis is misconfigured", "error", err)
	case change > 0 && n == 1:
		e.since.Store(e.now())
		log.Warn("redisstore: Redis is given up for now", "error", err)
	case change < 0 && n == 0:
		log.Info("redisstore: Redis is back", "after", time.Duration(e.now()-e.since.Load()).Round(time.Millisecond))
	}
}

// Trips is how many script calls were sent.
func (e *Engine) Trips() uint64 { return e.trips.Load() }

// Out says that a breaker is open.
func (e *Engine) Out() bool { return e.out.Load() > 0 }

// Close ends calls that wait, and those to come, with [ErrClosed]. It says whether it is the first. Then the runner can be
// closed, which ends those that were sent, and [Engine.Wait].
func (e *Engine) Close() bool {
	e.mu.Lock()
	first := !e.closed
	e.closed = true
	e.mu.Unlock()
	if !first {
		return false
	}
	for i := range e.lanes {
		e.lanes[i].close()
	}
	e.end()
	return true
}

// Wait waits, after Close, for what was sent.
func (e *Engine) Wait() { e.flights.Wait() }

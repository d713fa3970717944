package trip

import (
	"context"

	"github.com/weirhq/weir/redisstore/internal/script"
)

// maxSingle bounds the calls of a [Single] under way; others wait, up to the timeout.
const maxSingle = 64

// Single runs a script for one request at a time, with the engine's timeout and a breaker of its own. It is safe for concurrent
// use; [Engine.Single] makes one.
type Single struct {
	engine  *Engine
	script  Script
	slots   chan struct{}
	breaker breaker
}

// Single returns a way for a script that does not travel in batches.
func (e *Engine) Single(s Script) *Single {
	return &Single{
		engine: e, script: s, slots: make(chan struct{}, maxSingle),
		breaker: breaker{engine: e, probe: func(ctx context.Context) error { return e.probe(ctx, 0) }},
	}
}

// answer is what came of a call.
type answer struct {
	reply script.Reply
	err   error
}

// Run runs the script. An error wraps one of the sentinels, or is that of ctx.
func (s *Single) Run(ctx context.Context, keys, args []string) (script.Reply, error) {
	if err := ctx.Err(); err != nil {
		return script.Reply{}, err
	}
	if err := s.breaker.admit(); err != nil {
		return script.Reply{}, err
	}
	limited, cancel := context.WithTimeout(ctx, s.engine.settings.Timeout)
	defer cancel()
	select {
	case s.slots <- struct{}{}:
	case <-limited.Done():
		return script.Reply{}, s.late(ctx)
	}
	if !s.engine.hold() {
		<-s.slots
		return script.Reply{}, ErrClosed
	}
	answers := make(chan answer, 1)
	go func() {
		defer s.engine.flights.Done()
		defer func() { <-s.slots }()
		answers <- s.send(keys, args)
	}()
	select {
	case a := <-answers:
		return a.reply, a.err
	case <-limited.Done():
		return script.Reply{}, s.late(ctx)
	}
}

// late is the error of who has waited in vain: the caller's own if its context has ended.
func (s *Single) late(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.engine.overdue
}

// send makes one script call. It ends with the engine's timeout, not with the caller, who has not to wait for it.
func (s *Single) send(keys, args []string) (a answer) {
	e := s.engine
	ctx, cancel := context.WithTimeout(e.life, e.settings.Timeout)
	defer cancel()
	err := e.run(ctx, s.script, keys, args, &a.reply)
	if err == nil {
		s.breaker.succeeded()
		return a
	}
	if faultOfError(err) == faultReadOnly {
		e.rediscover()
	}
	a.err = e.explain(err)
	s.breaker.failed(a.err)
	return a
}

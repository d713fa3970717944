package trip

import (
	"context"

	"github.com/weirhq/weir/redisstore/internal/keyname"
	"github.com/weirhq/weir/redisstore/internal/script"
)

// maxSingle bounds the calls of a [Single] under way; others wait, up to the timeout.
const maxSingle = 64

// Single runs a script for one key at a time, with the engine's timeout, and a breaker for each part of the slots that a lane
// has. It is safe for concurrent use; [Engine.Single] makes one.
type Single struct {
	engine   *Engine
	script   Script
	slots    chan struct{}
	breakers []breaker
}

// Single returns a way for a script that does not travel in batches.
func (e *Engine) Single(s Script) *Single {
	single := &Single{engine: e, script: s, slots: make(chan struct{}, maxSingle), breakers: make([]breaker, len(e.lanes))}
	for i := range single.breakers {
		single.breakers[i].engine = e // without a probe: who may use these keys may not use others
	}
	return single
}

// answer is what came of a call.
type answer struct {
	reply script.Reply
	err   error
}

// Run runs the script. An error wraps one of the sentinels, or is that of ctx.
func (s *Single) Run(ctx context.Context, key string, args []string) (script.Reply, error) {
	if err := ctx.Err(); err != nil {
		return script.Reply{}, err
	}
	b := &s.breakers[keyname.Slot(key)*len(s.breakers)/keyname.Slots]
	if err := b.admit(); err != nil {
		return script.Reply{}, err
	}
	began := s.engine.now()
	limited, cancel := context.WithTimeout(ctx, s.engine.settings.Timeout)
	defer cancel()
	select {
	case s.slots <- struct{}{}:
	case <-limited.Done():
		return script.Reply{}, s.late(ctx, b, began)
	}
	if !s.engine.hold() {
		<-s.slots
		return script.Reply{}, ErrClosed
	}
	answers := make(chan answer, 1)
	go func() {
		defer s.engine.flights.Done()
		defer func() { <-s.slots }()
		answers <- s.send(b, key, args)
	}()
	select {
	case a := <-answers:
		return a.reply, a.err
	case <-limited.Done():
		return script.Reply{}, s.late(ctx, b, began)
	case <-s.engine.life.Done():
		return script.Reply{}, ErrClosed
	}
}

// late is the error of who has waited in vain: the caller's own if its context has ended.
func (s *Single) late(ctx context.Context, b *breaker, began int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b.failed(s.engine.overdue, began)
	return s.engine.overdue
}

// send makes one script call. It ends with the engine's timeout, not with the caller, who has not to wait for it.
func (s *Single) send(b *breaker, key string, args []string) (a answer) {
	e := s.engine
	began := e.now()
	ctx, cancel := context.WithTimeout(e.life, e.settings.Timeout)
	defer cancel()
	err := e.run(ctx, s.script, []string{key}, args, &a.reply)
	if err == nil {
		b.succeeded()
		return a
	}
	if faultOfError(err) == faultReadOnly {
		e.rediscover()
	}
	a.err = e.explain(err)
	b.failed(a.err, began)
	return a
}

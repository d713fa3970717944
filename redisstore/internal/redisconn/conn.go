package redisconn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/weirhq/weir/redisstore/internal/redisurl"
	"github.com/weirhq/weir/redisstore/internal/script"
)

// rediscoverEvery is how often everything can be connected anew.
const rediscoverEvery = 500 * time.Millisecond

// doubtful is the silence after which connections are no longer trusted that are idle. Calls that wait less say nothing
// about them.
const doubtful = 20 * time.Millisecond

// maxOnCluster bounds the calls under way on a cluster. It is far above what a store sends, and keeps a node that hangs
// from piling up goroutines without end.
const maxOnCluster = 4096

// Conn runs scripts on a target. It connects when it has to, and as often. It is safe for concurrent use.
type Conn struct {
	target   redisurl.Target
	settings Settings
	slots    chan struct{} // one for each call under way
	life     context.Context
	end      context.CancelFunc
	work     sync.WaitGroup // attempts and retirements; grows under mu, and not after closed
	attempts attempts       // to make a generation

	mu      sync.Mutex
	current *generation // nil: not connected
	renewed time.Time   // by the last Rediscover
	closed  bool
}

// Open returns a runner for the target at once, and begins to connect in the background. If that fails, calls try
// again: each waits for an attempt, of which there is one at a time, and gets its error.
func Open(target redisurl.Target, settings Settings) *Conn {
	settings.setDefaults()
	c := &Conn{target: target, settings: settings}
	if c.Clustered() {
		c.slots = make(chan struct{}, maxOnCluster)
	} else {
		c.slots = make(chan struct{}, settings.Connections)
	}
	c.life, c.end = context.WithCancel(context.Background())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.openLocked()
	return c
}

// Clustered says that the keys of one call must share a slot.
func (c *Conn) Clustered() bool { return c.target.Kind == redisurl.Cluster }

// Prompt says that a call ends at the deadline of its context without a goroutine to see to it, and without a Done that
// is closed then.
func (c *Conn) Prompt() bool { return !c.Clustered() }

// EvalSHA runs the script with the SHA-1 sum sha. It clears into and fills it: with the integers of the array that the
// script returns, and with its strings and errors. What Redis answers instead is a [*ServerError]. After a
// [*ConnectError], and after [ErrClosed] of a call that began after Close, nothing was sent; after other errors that is
// unknown.
//
// The call ends when ctx does; but if ctx is cancelled within the last 250 ms before its deadline, it may last until that.
// The bytes of keys and args must not change afterwards: a call that has ended may still be on its way.
func (c *Conn) EvalSHA(ctx context.Context, sha string, keys, args []string, into *script.Reply) error {
	return c.run(&request{ctx: ctx, into: into, build: func(b rueidis.Builder) rueidis.Completed {
		return b.Evalsha().Sha1(sha).Numkeys(int64(len(keys))).Key(keys...).Arg(args...).Build()
	}})
}

// Eval is EvalSHA with the text of the script.
func (c *Conn) Eval(ctx context.Context, source string, keys, args []string, into *script.Reply) error {
	return c.run(&request{ctx: ctx, into: into, build: func(b rueidis.Builder) rueidis.Completed {
		return b.Eval().Script(source).Numkeys(int64(len(keys))).Key(keys...).Arg(args...).Build()
	}})
}

// request is what a call wants.
type request struct {
	ctx      context.Context
	build    func(rueidis.Builder) rueidis.Completed // a command is used up by sending it
	into     *script.Reply
	connects bool // by itself
}

// run sends a command, and again as long as it was not sent, or was sent to a replica, which does not execute it.
func (c *Conn) run(r *request) error {
	r.into.Clear()
	rediscovered := false
	var err error
	// Each round but the last meets a connection that has gone, or waits for one.
	for range 2*c.settings.Connections + 8 {
		var g *generation
		if g, err = c.hold(r.ctx); err != nil {
			return err
		}
		var again bool
		if again, err = c.try(r, g); again {
			continue
		}
		server, ok := errors.AsType[*ServerError](err)
		if !ok || rediscovered || !isReplica(server.Text) || !c.renew(g) {
			return err
		}
		rediscovered = true
	}
	return err
}

// isReplica tells by an error that a replica was asked.
func isReplica(text string) bool {
	return strings.HasPrefix(text, "READONLY ") || strings.HasPrefix(text, "MASTERDOWN ")
}

// try sends a command once. again says that it was not sent, and now may be.
func (c *Conn) try(r *request, g *generation) (again bool, err error) {
	defer g.calls.Done()
	if err := c.takeSlot(r.ctx); err != nil {
		return false, err
	}
	begun := g.now()
	result, err := g.do(&purpose{Context: r.ctx, call: !r.connects}, c.slots, r.build(g.client.B()))
	refused, unsent := errors.AsType[*refusal](err)
	switch {
	case err == nil:
		return false, read(result, r.into)
	case unsent:
		if a := g.begin(refused.addr, func(g *generation) { c.renew(g) }); a == nil {
			r.connects = true
		} else if err := a.wait(r.ctx, c.life); err != nil {
			return false, err
		}
		return true, &ConnectError{Err: refused}
	case errors.Is(err, errStale):
		return r.ctx.Err() == nil, &ConnectError{Err: err}
	case errors.Is(err, rueidis.ErrClosing) && !g.shared:
		// The master has changed meanwhile, and with it the pool. On shared connections it may have been sent.
		return c.life.Err() == nil, ErrClosed
	case c.life.Err() != nil:
		return false, ErrClosed
	}
	if end := g.now(); isTimeout(err) && end-begun >= int64(doubtful) {
		g.doubt.Store(end)
	}
	if server, ok := errors.AsType[*rueidis.RedisError](err); ok { // of a connection that rueidis has tried to make
		return false, refusedBy(server)
	}
	if network, ok := errors.AsType[*net.OpError](err); ok && network.Op == "dial" { // likewise
		return false, &ConnectError{Err: err}
	}
	return false, fmt.Errorf("no reply from Redis: %w", err)
}

// takeSlot waits until the call may be under way.
func (c *Conn) takeSlot(ctx context.Context) error {
	select {
	case c.slots <- struct{}{}:
		return nil
	default:
	}
	ctx, cancel := punctual(ctx)
	defer cancel()
	select {
	case c.slots <- struct{}{}:
		return nil
	case <-c.life.Done():
		return ErrClosed
	case <-ctx.Done():
		return &ConnectError{Err: fmt.Errorf("all connections are busy: %w", ctx.Err())}
	}
}

// hold returns the client, as one of its calls. It connects, if need be.
func (c *Conn) hold(ctx context.Context) (*generation, error) {
	for {
		c.mu.Lock()
		if c.closed {
			c.mu.Unlock()
			return nil, ErrClosed
		}
		if g := c.current; g != nil {
			g.calls.Add(1)
			c.mu.Unlock()
			return g, nil
		}
		a := c.openLocked()
		c.mu.Unlock()
		if err := a.wait(ctx, c.life); err != nil {
			return nil, err
		}
	}
}

// openLocked begins to connect, or joins those who do. mu must be held and c be open.
func (c *Conn) openLocked() *attempt {
	a, isNew := c.attempts.begin("")
	if isNew {
		c.work.Go(func() {
			g, err := newGeneration(c.life, c.target, c.settings)
			if err == nil {
				c.mu.Lock()
				if c.closed {
					err = ErrClosed
					c.work.Go(func() { g.retire(c.life) })
				} else {
					c.current = g
				}
				c.mu.Unlock()
			}
			a.end(err)
		})
	}
	return a
}

// Rediscover makes calls from now on use new connections, to whatever the names and the sentinels then say is the
// master. It returns at once, and does nothing if it did something less than half a second ago. Calls under way are not
// disturbed.
func (c *Conn) Rediscover() { c.renew(nil) }

// renew is Rediscover unless g is no longer in use. It says whether the next call will use another client than g.
func (c *Conn) renew(g *generation) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.current
	if c.closed || old == nil || g != nil && g != old {
		return !c.closed
	}
	if time.Since(c.renewed) < rediscoverEvery {
		return false
	}
	c.renewed = time.Now()
	c.current = nil
	c.work.Go(func() { old.retire(c.life) })
	c.openLocked()
	return true
}

// Close ends calls under way with [ErrClosed], all connections, and all goroutines but some that rueidis keeps sleeping
// for up to five seconds. It returns when that is done, which takes some 100 ms at most.
func (c *Conn) Close() error {
	c.mu.Lock()
	c.closed = true
	if g := c.current; g != nil {
		c.current = nil
		c.work.Go(func() { g.retire(c.life) })
	}
	c.mu.Unlock()
	c.end()
	c.work.Wait()
	return nil
}

// runner is the interface of package redisstore, which imports this one.
type runner interface {
	EvalSHA(ctx context.Context, sha string, keys, args []string, into *script.Reply) error
	Eval(ctx context.Context, source string, keys, args []string, into *script.Reply) error
	Clustered() bool
}

var (
	_ runner    = (*Conn)(nil)
	_ io.Closer = (*Conn)(nil)
)

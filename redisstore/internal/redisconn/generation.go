package redisconn

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/weirhq/weir/redisstore/internal/redisurl"
)

// grace is how long calls under way, and what rueidis has to say to servers, may take when everything ends.
const grace = 100 * time.Millisecond

// soon is up to when a call's context may end for the call to be made without a goroutine of its own.
const soon = 250 * time.Millisecond

// generation is one client of rueidis, with its connections. [Conn.Rediscover] begins another.
type generation struct {
	target   redisurl.Target
	settings Settings
	shared   bool // calls share connections
	client   rueidis.Client
	calls    sync.WaitGroup // under way; once retired, nobody adds the first
	attempts attempts
	made     time.Time
	doubt    atomic.Int64 // when a call was not answered in time, see now

	life context.Context // of its connecting
	end  context.CancelFunc

	mu      sync.Mutex
	opening bool  // until there is a client
	despair error // why there will not be one
	conns   map[*conn]struct{}
	isGone  bool
	gone    chan struct{} // closed when life has ended and conns is empty
}

// newGeneration connects. It returns when that has succeeded or failed, which takes some timeouts at most, or soon after
// life has ended.
func newGeneration(life context.Context, target redisurl.Target, settings Settings) (*generation, error) {
	g := &generation{
		target:   target,
		settings: settings,
		shared:   target.Kind == redisurl.Cluster,
		made:     time.Now(),
		opening:  true,
		conns:    make(map[*conn]struct{}),
		gone:     make(chan struct{}),
	}
	g.life, g.end = context.WithCancel(life)
	context.AfterFunc(g.life, g.windUp)
	options := g.options()
	if target.Kind == redisurl.Sentinel {
		options.InitAddress = g.liveliest(options.InitAddress)
	}
	client, err := rueidis.NewClient(options)
	g.opened()
	if client != nil {
		g.client = client
	}
	if err == nil {
		err = g.greet()
	}
	if err != nil {
		g.shut()
		return nil, connectError(target, err)
	}
	return g, nil
}

// now is the time since g was made, in nanoseconds.
func (g *generation) now() int64 { return int64(time.Since(g.made)) }

// greet finds out whether the client is of use.
func (g *generation) greet() error {
	switch {
	case !g.shared:
		return g.ping(g.client)
	case g.client.Mode() == rueidis.ClientModeCluster:
		return nil
	}
	// CLUSTER was refused, and rueidis has fallen back to a single server.
	ctx, cancel := context.WithTimeout(g.life, g.settings.ConnectTimeout)
	defer cancel()
	err := g.client.Do(ctx, g.client.B().Arbitrary("CLUSTER", "SLOTS").Build()).Error()
	if err != nil && strings.HasPrefix(err.Error(), "NOPERM") {
		return err
	}
	return &ServerError{Text: "ERR the server is not part of a cluster; use redis:// instead of redis-cluster://"}
}

// begin begins to connect to addr, or joins those who do; only on a cluster it matters what addr is. The caller is one
// of the calls. It returns nil for a node that rueidis does not list: it was left out of the cluster, such as a master
// that died, and another node has just sent a call there.
//
// lost is called when a master is silent. With its machine the sentinel may have gone that would tell of the next.
func (g *generation) begin(addr string, lost func(*generation)) *attempt {
	node := g.client
	if !g.shared {
		addr = ""
	} else if node = g.client.Nodes()[addr]; node == nil {
		return nil
	}
	a, isNew := g.attempts.begin(addr)
	if isNew {
		g.calls.Go(func() {
			err := g.ping(node)
			if err != nil {
				err = connectError(g.target, err)
			}
			if g.target.Kind == redisurl.Sentinel && isTimeout(err) {
				lost(g)
			}
			a.end(err)
		})
	}
	return a
}

// ping makes a connection, unless one is idle. The answer does not matter: the user may have no right to PING.
func (g *generation) ping(node rueidis.Client) (err error) {
	for range g.settings.Connections + 2 {
		ctx, cancel := context.WithTimeout(g.life, 2*g.settings.ConnectTimeout)
		why := &purpose{Context: ctx}
		err = node.Do(why, node.B().Ping().Build()).NonRedisError()
		cancel()
		if why.failed != nil {
			return why.failed
		}
		// In rueidis all who fail to connect to a server at the same time may get the error of one of them, which here
		// can be a call.
		if _, refused := errors.AsType[*refusal](err); !refused && !errors.Is(err, errStale) {
			return err
		}
	}
	return err
}

// do sends a command, for which the caller has taken a slot. Its error is that of ctx, if that ends first, or a refusal.
//
// Where calls have connections of their own and ctx ends soon, it needs no goroutine, which would cost about a tenth of
// a call: rueidis itself then ends at the deadline, but does not hear of a cancellation before.
func (g *generation) do(ctx *purpose, slots <-chan struct{}, cmd rueidis.Completed) (rueidis.RedisResult, error) {
	if end, ok := ctx.Deadline(); ok && !g.shared && time.Until(end) <= soon {
		defer func() { <-slots }()
		return ctx.or(g.client.Do(ctx, cmd))
	}
	results := make(chan rueidis.RedisResult, 1)
	done, cancel := punctual(ctx)
	defer cancel()
	g.calls.Go(func() {
		defer func() { <-slots }()
		results <- g.client.Do(ctx, cmd)
	})
	select {
	case r := <-results:
		return ctx.or(r)
	case <-done.Done():
	case <-g.life.Done():
	}
	select {
	case r := <-results:
		return ctx.or(r)
	default:
	}
	if err := done.Err(); err != nil {
		return rueidis.RedisResult{}, err
	}
	return rueidis.RedisResult{}, ErrClosed
}

// keep remembers a new connection, unless everything ends.
func (g *generation) keep(c *conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.life.Err() != nil {
		return false
	}
	g.conns[c] = struct{}{}
	return true
}

// forget forgets a closed one.
func (g *generation) forget(c *conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.conns, c)
	g.leaveLocked()
}

// leaveLocked notices that the last connection has gone. mu must be held.
func (g *generation) leaveLocked() {
	if len(g.conns) == 0 && g.life.Err() != nil && !g.isGone {
		g.isGone = true
		close(g.gone)
	}
}

// windUp runs when life has ended. It gives the connections a moment to come to their end, and closes the others.
func (g *generation) windUp() {
	g.mu.Lock()
	g.leaveLocked()
	g.mu.Unlock()
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case <-g.gone:
		return
	case <-late.C:
	}
	g.mu.Lock()
	left := make([]*conn, 0, len(g.conns))
	for c := range g.conns {
		left = append(left, c)
	}
	g.mu.Unlock()
	for _, c := range left {
		c.Close()
	}
}

// shut ends the client and its connections.
func (g *generation) shut() {
	g.end()
	if g.client != nil {
		g.client.Close()
	}
	<-g.gone
}

// retire shuts g when its calls have ended, or life has.
func (g *generation) retire(life context.Context) {
	idle := make(chan struct{})
	go func() {
		g.calls.Wait()
		close(idle)
	}()
	select {
	case <-idle:
	case <-life.Done():
	}
	g.shut()
	<-idle
}

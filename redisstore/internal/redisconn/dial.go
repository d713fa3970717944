package redisconn

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/redis/rueidis"
)

// errStale is the error of a connection that the server has closed, or spoiled, before the request: nothing was sent.
var errStale = errors.New("the server has closed the connection")

// refusal is the error of a call that would have had to connect. It is not sent.
type refusal struct{ addr string }

func (r *refusal) Error() string { return "not connected to " + r.addr }

// purpose is why a context comes to dial.
type purpose struct {
	context.Context
	call    bool     // a call, which must not connect
	refused *refusal // what came of that
	failed  error    // why it did not connect, if it may
}

type purposeKey struct{}

// Value returns the purpose itself for its key.
func (p *purpose) Value(key any) any {
	if key == (purposeKey{}) {
		return p
	}
	return p.Context.Value(key)
}

// or returns r, which has come, unless the call was refused: the error in r may then be of somebody else.
func (p *purpose) or(r rueidis.RedisResult) (rueidis.RedisResult, error) {
	if p.refused != nil {
		return r, p.refused
	}
	return r, r.NonRedisError()
}

// keepAlive finds out within some 10 s that nobody is at the other end.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: time.Second, Count: 5}

// dial connects, on behalf of rueidis, to addr. Contexts without a purpose are of rueidis itself: the first connection,
// those to sentinels, and those that look for the nodes of a cluster.
func (g *generation) dial(ctx context.Context, addr string, _ *net.Dialer, config *tls.Config) (net.Conn, error) {
	why, _ := ctx.Value(purposeKey{}).(*purpose)
	if why != nil && why.call {
		why.refused = &refusal{addr: addr}
		return nil, why.refused
	}
	if err := g.hopeless(); err != nil {
		return nil, err
	}
	if g.life.Err() != nil {
		return nil, ErrClosed
	}
	ctx, cancel := context.WithTimeout(ctx, g.settings.ConnectTimeout)
	defer cancel()
	defer context.AfterFunc(g.life, cancel)()
	c, err := g.connect(ctx, addr, config)
	if err != nil {
		if isTimeout(err) {
			g.noteSilence(addr)
		}
		if why != nil {
			why.failed = err
		}
		return nil, err
	}
	c.alone, c.last = why != nil && !g.shared, g.now()
	if !g.keep(c) {
		c.Close()
		return nil, ErrClosed
	}
	return c, nil
}

func (g *generation) connect(ctx context.Context, addr string, config *tls.Config) (*conn, error) {
	network := "tcp"
	if g.target.Socket {
		network = "unix"
	}
	dialer := net.Dialer{KeepAliveConfig: keepAlive}
	raw, err := dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: raw, raw: raw, owner: g, addr: addr}
	c.check = c.hasInput
	if s, ok := raw.(syscall.Conn); ok {
		c.fd, _ = s.SyscallConn()
	}
	if config == nil {
		return c, nil
	}
	if config.ServerName == "" {
		config = config.Clone()
		config.ServerName, _, _ = net.SplitHostPort(addr)
	}
	secure := tls.Client(raw, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, fmt.Errorf("TLS with %s: %w", addr, err)
	}
	c.Conn = secure
	return c, nil
}

// conn is a connection as rueidis sees it.
type conn struct {
	net.Conn // with TLS, if there is TLS
	raw      net.Conn
	addr     string
	owner    *generation
	heard    atomic.Bool // something was read
	close    sync.Once

	// Of a connection on which requests and replies take turns:
	alone   bool
	fd      syscall.RawConn
	check   func(fd uintptr) bool
	input   bool  // what check found
	waiting bool  // for the reply of a request that has begun
	last    int64 // when something was read, see generation.now
}

// Write sends. A connection that was idle is looked at first: a server that has restarted has closed it, and what is
// written then is lost without anybody knowing whether it was executed. If another has failed to answer in time since
// this one was last heard of, both may have been forgotten by something on the way: it is not used again.
func (c *conn) Write(b []byte) (int, error) {
	if c.alone && !c.waiting {
		c.waiting, c.input = true, false
		if c.last < c.owner.doubt.Load() || c.fd != nil && c.fd.Read(c.check) == nil && c.input {
			return 0, errStale
		}
	}
	return c.Conn.Write(b)
}

// Read receives.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.alone {
		c.waiting, c.last = false, c.owner.now()
	}
	if n > 0 && !c.heard.Load() {
		c.heard.Store(true)
	}
	return n, err
}

// Close does not say good-bye in TLS, for which it would have to wait if the server does not read.
func (c *conn) Close() error {
	err := net.ErrClosed
	c.close.Do(func() {
		err = c.raw.Close()
		if !c.heard.Load() {
			c.owner.noteSilence(c.addr)
		}
		c.owner.forget(c)
	})
	return err
}

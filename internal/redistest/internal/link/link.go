package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/Shopify/toxiproxy/v2/stream"

	"github.com/weirhq/weir/internal/redistest/internal/poll"
	"github.com/weirhq/weir/internal/redistest/internal/ports"
)

// Link is a line to a server on which a test can make trouble. It is in one condition at a time: each method ends the
// one before. They may be called by several goroutines at once. All but Cut wait for clients that do not read their
// answers.
type Link struct {
	// Addr is where clients connect, host:port. It never changes.
	Addr string

	tb      testing.TB
	target  string
	metrics *toxiproxy.ApiServer // Toxiproxy asks it for nothing else
	work    sync.WaitGroup       // the accepting goroutine and one for each connection

	mu          sync.Mutex
	toxics      *toxiproxy.ToxicCollection
	listener    net.Listener // nil while the line is cut
	connections map[*connection]bool
	accepted    int
	hanging     bool
}

// Open opens a line to a server until the test ends. It does no harm until a condition is set.
func Open(tb testing.TB, addr string) *Link {
	tb.Helper()
	l := &Link{
		tb:          tb,
		target:      addr,
		metrics:     &toxiproxy.ApiServer{Metrics: toxiproxy.NewMetricsContainer(nil)},
		toxics:      toxiproxy.NewToxicCollection(&toxiproxy.Proxy{}),
		connections: make(map[*connection]bool),
	}
	if err := l.launch(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		l.Cut()
		l.work.Wait()
	})
	return l
}

// launch listens on a port of its own.
func (l *Link) launch() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return poll.Until("listen", func() error {
		port, err := ports.Draw()
		if err != nil {
			return poll.Final(err)
		}
		l.Addr = ports.Address(port)
		return l.listenLocked()
	})
}

// Latency makes every answer come later by d, in whole milliseconds. Connections stay.
func (l *Link) Latency(d time.Duration) {
	l.become(func() { l.add("latency", stream.Downstream, "latency", d) })
}

// SlowClose makes clients learn later by d, in whole milliseconds, that the server has closed a connection.
func (l *Link) SlowClose(d time.Duration) {
	l.become(func() { l.add("slow_close", stream.Downstream, "delay", d) })
}

// Hang lets no byte through in either direction. Connections stay, new ones are accepted, and all of them are closed
// when the condition ends: they have lost bytes.
func (l *Link) Hang() {
	l.become(func() {
		l.add("timeout", stream.Upstream, "timeout", 0)
		l.add("timeout", stream.Downstream, "timeout", 0)
		l.hanging = true
	})
}

// Cut closes all connections and makes new ones be refused.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.listener != nil {
		l.listener.Close()
		l.listener = nil
		l.awaitRefusalLocked()
	}
	l.clearLocked(true)
}

// Heal ends the trouble.
func (l *Link) Heal() { l.become(func() {}) }

// become ends the condition that is and sets another.
func (l *Link) become(set func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clearLocked(l.hanging)
	if l.listener == nil {
		if err := poll.Until("listen again", l.listenLocked); err != nil {
			l.tb.Error(err)
			return
		}
	}
	set()
}

// clearLocked takes all toxics away, and the connections too if they are to be dropped. mu must be held.
func (l *Link) clearLocked(drop bool) {
	if drop {
		for c := range l.connections {
			c.close()
		}
	}
	// A toxic that swallows must not go before its connections: it would leave a goroutine behind with every byte that
	// comes in that moment. The others must, since they hold back the end of a connection.
	if l.hanging {
		l.awaitLocked()
		l.hanging = false
	}
	l.toxics.ResetToxics(context.Background())
	if drop {
		l.awaitLocked()
	}
}

// awaitLocked returns when nothing is left of the connections, which are closed. mu must be held.
func (l *Link) awaitLocked() {
	for c := range l.connections {
		c.open.Wait()
	}
}

// add sets a toxic, whose attribute is a time. mu must be held.
func (l *Link) add(toxic string, direction stream.Direction, attribute string, d time.Duration) {
	text := fmt.Sprintf(`{"type": %q, "stream": %q, "attributes": {%q: %d}}`, toxic, direction, attribute, d.Milliseconds())
	if _, err := l.toxics.AddToxicJson(strings.NewReader(text)); err != nil {
		l.tb.Errorf("link: toxic %s: %v", text, err)
	}
}

// listenLocked begins to accept connections. mu must be held.
func (l *Link) listenLocked() error {
	ln, err := net.Listen("tcp", l.Addr)
	if err != nil {
		return err
	}
	l.listener = ln
	l.work.Go(func() {
		for {
			client, err := ln.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				l.tb.Error(err)
				return
			}
			l.work.Go(func() { l.carry(client, ln) })
		}
	})
	return nil
}

// awaitRefusalLocked returns when connections are refused: a process that is just being forked holds the closed listener
// for a moment. mu must be held.
func (l *Link) awaitRefusalLocked() {
	err := poll.Until("refusal", func() error {
		conn, err := net.Dial("tcp", l.Addr)
		if err != nil {
			return nil
		}
		conn.Close()
		return errors.New("connections are still accepted")
	})
	if err != nil {
		l.tb.Error(err)
	}
}

// dialTime is how long connecting to the server may take.
const dialTime = 10 * time.Second

// carry connects a client that ln has accepted to the server, and returns when both are closed.
func (l *Link) carry(client net.Conn, ln net.Listener) {
	server, err := net.DialTimeout("tcp", l.target, dialTime)
	if err != nil {
		client.Close()
		return
	}
	c := &connection{client: client, server: server}
	if !l.open(c, ln) {
		c.close()
		return
	}
	c.open.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.connections, c)
}

// open gives the connection to Toxiproxy, if the line was not cut since ln accepted it.
func (l *Link) open(c *connection, ln net.Listener) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.listener != ln {
		return false
	}
	l.connections[c] = true
	l.accepted++
	c.open.Add(2)
	l.toxics.StartLink(l.metrics, fmt.Sprint("up", l.accepted), c.client, &outlet{Conn: c.server, source: c.client, done: c.open.Done}, stream.Upstream)
	l.toxics.StartLink(l.metrics, fmt.Sprint("down", l.accepted), c.server, &outlet{Conn: c.client, source: c.server, done: c.open.Done}, stream.Downstream)
	return true
}

package link

import (
	"net"
	"sync"
)

// connection is a client's connection and the one to the server that goes with it.
type connection struct {
	client, server net.Conn
	open           sync.WaitGroup // a count for each direction that carries bytes
}

func (c *connection) close() {
	c.client.Close()
	c.server.Close()
}

// outlet is where Toxiproxy writes what it has read from source. A write never fails: Toxiproxy would leave what still
// comes to nobody, and its goroutines would wait for ever. So that is swallowed, and source closed, from which it comes.
type outlet struct {
	net.Conn
	source net.Conn
	broken bool
	done   func()
}

func (o *outlet) Write(p []byte) (int, error) {
	if !o.broken {
		if _, err := o.Conn.Write(p); err != nil {
			o.broken = true
			o.source.Close()
		}
	}
	return len(p), nil
}

// Close is called by Toxiproxy, once, when nothing more comes.
func (o *outlet) Close() error {
	defer o.done()
	return o.Conn.Close()
}

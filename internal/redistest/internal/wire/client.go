package wire

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"
)

// patience is how long a server may take to answer.
const patience = 10 * time.Second

// Client sends commands, each on a connection of its own.
type Client struct {
	Addr     string
	Password string      // of the default user; empty if it has none
	TLS      *tls.Config // nil for a server without
}

// Do sends a command and returns the reply, as [Conn.Do] does.
func (c *Client) Do(args ...any) (any, error) {
	reply, err := c.do(args)
	if _, refused := errors.AsType[Error](err); err != nil && !refused {
		return nil, fmt.Errorf("wire: %s: %v: %w", c.Addr, args[0], err)
	}
	return reply, err
}

func (c *Client) do(args []any) (any, error) {
	conn, err := net.DialTimeout("tcp", c.Addr, patience)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	if c.TLS != nil {
		conn = tls.Client(conn, c.TLS)
	}
	w := NewConn(conn)
	if c.Password != "" {
		if _, err := w.Do("AUTH", c.Password); err != nil {
			return nil, err
		}
	}
	return w.Do(args...)
}

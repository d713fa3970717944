package wire

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

// Error is what a server answered instead of a result, such as "WRONGPASS invalid username-password pair".
type Error string

func (e Error) Error() string { return string(e) }

// Conn is a connection on which commands are sent one after the other.
type Conn struct {
	net.Conn
	in *bufio.Reader
}

// NewConn sends and reads on conn.
func NewConn(conn net.Conn) *Conn { return &Conn{Conn: conn, in: bufio.NewReader(conn)} }

// Do sends a command and reads the reply, as [Conn.Reply] does.
func (c *Conn) Do(args ...any) (any, error) {
	if err := c.Send(args...); err != nil {
		return nil, err
	}
	return c.Reply()
}

// Send sends a command of strings and byte slices; anything else is sent as fmt prints it.
func (c *Conn) Send(args ...any) error {
	var command strings.Builder
	fmt.Fprintf(&command, "*%d\r\n", len(args))
	for _, arg := range args {
		text, ok := arg.([]byte)
		if !ok {
			text = fmt.Append(nil, arg)
		}
		fmt.Fprintf(&command, "$%d\r\n%s\r\n", len(text), text)
	}
	_, err := io.WriteString(c, command.String())
	return err
}

// Reply reads a reply: a string, an int64, nil, or a []any of these and of [Error]. If it is an [Error] itself, it is
// returned as the error.
func (c *Conn) Reply() (any, error) {
	reply, err := c.read()
	if refused, ok := reply.(Error); ok {
		return nil, refused
	}
	return reply, err
}

func (c *Conn) read() (any, error) {
	line, err := c.in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line, ok := strings.CutSuffix(line, "\r\n")
	if !ok || line == "" {
		return nil, fmt.Errorf("wire: not RESP2: %q", line)
	}
	kind, rest := line[0], line[1:]
	switch kind {
	case '+':
		return rest, nil
	case '-':
		return Error(rest), nil
	}
	n, err := strconv.ParseInt(rest, 10, 64)
	switch {
	case err != nil:
		return nil, fmt.Errorf("wire: not RESP2: %q", line)
	case kind == ':':
		return n, nil
	case n < 0:
		return nil, nil
	case kind == '$':
		text := make([]byte, n+2) // the line's end too
		_, err := io.ReadFull(c.in, text)
		return string(text[:n]), err
	case kind == '*':
		array := make([]any, n)
		for i := range array {
			if array[i], err = c.read(); err != nil {
				return nil, err
			}
		}
		return array, nil
	}
	return nil, fmt.Errorf("wire: not RESP2: %q", line)
}

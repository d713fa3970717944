package redisconn

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/redis/rueidis"

	"github.com/weirhq/weir/redisstore/internal/redisurl"
)

// ErrClosed is returned by calls after Close, and by those that it ends.
var ErrClosed = errors.New("redisconn: closed")

// ServerError is what Redis answered instead of a result, to a script or when it was connected to.
type ServerError struct {
	// Text begins with the code, such as NOSCRIPT or ERR.
	Text string
}

// Error returns the text.
func (e *ServerError) Error() string { return e.Text }

// RedisError does nothing. Errors of go-redis that a server sent have this method, too, which tells them from others.
func (e *ServerError) RedisError() {}

// ConnectError says that there is no connection, so that nothing was sent. Its error is that of the network, of TLS or
// of the context that ended first, or several of these.
type ConnectError struct{ Err error }

// Error implements the error interface.
func (e *ConnectError) Error() string { return "no connection to Redis: " + e.Err.Error() }

// Unwrap returns the reason.
func (e *ConnectError) Unwrap() error { return e.Err }

// codes are those with which a server refuses a connection, apart from ERR.
var codes = []string{"NOAUTH", "WRONGPASS", "NOPERM", "NOPROTO", "DENIED", "LOADING", "MASTERDOWN", "BUSY", "MISCONF", "CLUSTERDOWN"}

// refusedBy makes a ServerError of an error of rueidis, which takes the ERR off the texts.
func refusedBy(server *rueidis.RedisError) *ServerError {
	text := server.Error()
	if code, _, _ := strings.Cut(text, " "); !slices.Contains(codes, code) {
		text = "ERR " + text
	}
	return &ServerError{Text: text}
}

// connectError makes what callers get of the reason for which there is no connection.
func connectError(target redisurl.Target, err error) error {
	if target.Kind == redisurl.Sentinel && (errors.Is(err, rueidis.Nil) || strings.Contains(err.Error(), "No such master with that name")) {
		return &ServerError{Text: fmt.Sprintf("ERR the sentinels do not know a master %q; check the name in the URL", target.MasterName)}
	}
	if server, ok := errors.AsType[*rueidis.RedisError](err); ok {
		return refusedBy(server)
	}
	if server, ok := errors.AsType[*ServerError](err); ok {
		return server
	}
	return &ConnectError{Err: err}
}

// isTimeout says whether somebody was silent for too long.
func isTimeout(err error) bool {
	network, ok := errors.AsType[net.Error](err)
	return ok && network.Timeout()
}

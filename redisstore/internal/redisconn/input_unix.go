//go:build unix

package redisconn

import "syscall"

// hasInput finds out, without waiting and without taking it, whether there is something to read: between requests that is
// the end of the connection, or what nobody has asked for. Of TLS it may also be a ticket for another session, which
// comes when the server likes. It is called by [syscall.RawConn.Read].
func (c *conn) hasInput(fd uintptr) bool {
	var b [1]byte
	n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK)
	switch {
	case err == nil:
		c.input = n == 0 || c.Conn == c.raw
	default:
		c.input = err != syscall.EAGAIN && err != syscall.EWOULDBLOCK && err != syscall.EINTR
	}
	return true
}

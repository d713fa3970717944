//go:build unix

package redisconn

import "syscall"

// hasInput finds out, without waiting, whether there is something to read: between requests that is the end of the
// connection, or what nobody has asked for. It is called by [syscall.RawConn.Read].
func (c *conn) hasInput(fd uintptr) bool {
	var b [1]byte
	n, err := syscall.Read(int(fd), b[:])
	c.input = n >= 0 && err == nil || err != syscall.EAGAIN && err != syscall.EWOULDBLOCK && err != syscall.EINTR
	return true
}

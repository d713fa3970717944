//go:build !unix

package redisconn

// hasInput cannot find out here whether there is something to read.
func (c *conn) hasInput(uintptr) bool { return true }

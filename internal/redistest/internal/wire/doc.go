// Package wire speaks RESP2 with a server and does nothing to be fast: what a test learns about a server this way does
// not depend on the client that is under test.
package wire

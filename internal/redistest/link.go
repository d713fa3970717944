package redistest

import (
	"testing"

	"github.com/weirhq/weir/internal/redistest/internal/link"
)

// Link is a line to a server on which a test can make trouble. Clients connect to its Addr. It is in one condition at a
// time, which the next one ends: Latency(d), SlowClose(d), Hang() and Cut(), until Heal().
type Link = link.Link

// Proxy opens a line to a server until the test ends. It does no harm until a condition is set.
func Proxy(tb testing.TB, addr string) *Link {
	tb.Helper()
	return link.Open(tb, addr)
}

package ports

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// Loopback is the address on which servers listen.
const Loopback = "127.0.0.1"

// A cluster's node listens on a second port, busOffset above the first.
const (
	first     = 10000
	last      = 19999
	busOffset = 10000
)

var drawn = struct {
	sync.Mutex
	ports map[int]bool
}{ports: make(map[int]bool)}

// Draw returns a port that is free now, and so is the one for a cluster's bus. Another process may still be faster to
// take it.
func Draw() (int, error) {
	drawn.Lock()
	defer drawn.Unlock()
	for range last - first {
		port := first + rand.IntN(last-first+1)
		if !drawn.ports[port] && free(port) && free(port+busOffset) {
			drawn.ports[port] = true
			return port, nil
		}
	}
	return 0, errors.New("ports: none is free")
}

func free(port int) bool {
	ln, err := net.Listen("tcp", Address(port))
	if err != nil {
		return false
	}
	ln.Close()
	return true
}

// Address is host:port for a port of the loopback interface.
func Address(port int) string { return net.JoinHostPort(Loopback, strconv.Itoa(port)) }

package redisconn

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/weirhq/weir/redisstore/internal/redisurl"
)

// A machine that dies takes its connections with it, but says nothing. If a master and a sentinel were on it, rueidis
// tries the one and the other for a timeout each, and each again and again. What follows keeps the time until the new
// master is found to one timeout after the sentinels have elected it.

// liveliest returns the addresses with one in front that answers, if one does within the timeout.
func (g *generation) liveliest(addrs []string) []string {
	if len(addrs) < 2 {
		return addrs
	}
	ctx, cancel := context.WithTimeout(g.life, g.settings.ConnectTimeout)
	answered := make(chan string, len(addrs))
	var asked sync.WaitGroup
	for _, addr := range addrs {
		asked.Go(func() {
			if g.answers(ctx, addr) {
				answered <- addr
				cancel()
			}
		})
	}
	asked.Wait()
	cancel()
	select {
	case first := <-answered:
		others := slices.DeleteFunc(slices.Clone(addrs), func(addr string) bool { return addr == first })
		return append([]string{first}, others...)
	default:
		return addrs
	}
}

// answers says whether a server says anything at all.
func (g *generation) answers(ctx context.Context, addr string) bool {
	c, err := g.connect(ctx, addr, g.target.TLS)
	if err != nil {
		return false
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	if _, err := c.Write([]byte("PING\r\n")); err != nil {
		return false
	}
	_, err = c.Read(make([]byte, 1))
	return err == nil
}

// hopeless returns an error once the master that the sentinels name has been silent: rueidis would ask every other
// sentinel, and then try the same master.
func (g *generation) hopeless() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.despair
}

// noteSilence notes that a connection to addr could not be made in time, or ended without a word.
func (g *generation) noteSilence(addr string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opening && g.target.Kind == redisurl.Sentinel && !slices.Contains(g.target.Addrs, addr) {
		g.despair = fmt.Errorf("the master at %s does not answer: %w", addr, context.DeadlineExceeded)
	}
}

// opened says that rueidis need not be hurried any more.
func (g *generation) opened() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.opening, g.despair = false, nil
}

package proxy

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"
)

// Serve answers what comes in on ln until ctx ends, and then drains: ln is closed, idle connections are closed, and
// requests, streams and upgraded connections may go on for Options.Drain before they are cut. It returns nil after a
// drain, and an error when ln fails. It closes ln in every case.
//
// Slow clients: a request's header must arrive within ReadHeaderTimeout and MaxHeaderBytes, the next request within
// IdleTimeout. There is no bound on the time of a body or a response, since any would cut uploads and streams.
func (p *Proxy) Serve(ctx context.Context, ln net.Listener) error {
	base, cut := context.WithCancelCause(context.Background())
	defer cut(nil)
	server := &http.Server{
		Handler:                      p,
		ReadHeaderTimeout:            p.options.ReadHeaderTimeout,
		IdleTimeout:                  p.options.IdleTimeout,
		MaxHeaderBytes:               p.options.MaxHeaderBytes,
		DisableGeneralOptionsHandler: true, // OPTIONS * is the upstream's to answer
		BaseContext:                  func(net.Listener) context.Context { return base },
		ErrorLog:                     log.New(p.forward.errors, "", 0),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(ln) }()
	select {
	case err := <-failed:
		server.Close()
		return fmt.Errorf("proxy: serve on %s: %w", ln.Addr(), err)
	case <-ctx.Done():
	}
	p.drain(server, cut)
	<-failed
	return nil
}

// cutGrace is how long requests that are cut may take to end.
const cutGrace = time.Second

// drain waits for what is under way, and cuts what does not end.
func (p *Proxy) drain(server *http.Server, cut context.CancelCauseFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), max(p.options.Drain, 0))
	defer cancel()
	server.Shutdown(ctx) // fails when the time is over, which the count tells too
	p.awaitIdle(ctx)     // upgraded connections, which Shutdown does not know
	if n := p.active.Load(); n > 0 {
		p.options.Logger.Warn("drain time is over", "cut", n)
		cut(errShutdown)
		grace, cancel := context.WithTimeout(context.Background(), cutGrace)
		defer cancel()
		p.awaitIdle(grace)
	}
	server.Close()
}

// awaitIdle waits until nothing is under way or ctx ends.
func (p *Proxy) awaitIdle(ctx context.Context) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for p.active.Load() > 0 && ctx.Err() == nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

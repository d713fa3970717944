package proxy

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"sync/atomic"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/httplimit"
	"github.com/weirhq/weir/memstore"
)

// Proxy limits requests and forwards those that pass. It is an [http.Handler], and [Proxy.Serve] runs it as a server.
// It is safe for concurrent use; make one with [New] and Close it.
type Proxy struct {
	options Options
	trusted []netip.Prefix
	memory  *memstore.Store // the proxy's own; nil with Options.Store
	forward *forwarder
	handler http.Handler // limits, then forwards
	log     *accessLog   // nil when there is none
	counts  counters
	active  atomic.Int64 // requests, streams and upgraded connections under way
}

// Counts are totals since the proxy was made.
type Counts struct {
	// Allowed are the requests that the limits admitted, or all of them without limits. What the limits admitted stays
	// charged, whatever the upstream then did.
	Allowed uint64
	// Refused are those that the limits refused; in shadow mode those that they would have refused.
	Refused uint64
	// UpstreamErrors are requests that were answered with 502: the upstream could not be reached or broke off.
	UpstreamErrors uint64
	// LostLines are lines of the access log that were dropped because its reader was too slow.
	LostLines uint64
	// Keys is how many keys the limits remember now, among them some that are about to be forgotten. 0 with Options.Store.
	Keys int
	// Active are the requests, streams and upgraded connections under way now.
	Active int
}

type counters struct {
	allowed, refused, upstreamErrors atomic.Uint64
}

// New returns a proxy. It neither listens nor connects yet.
func New(opts Options) (*Proxy, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	opts.setDefaults()
	p := &Proxy{options: opts, trusted: unmapped(opts.TrustedProxies)}
	p.forward = newForwarder(p)
	p.handler = p.forward
	if err := p.limit(); err != nil {
		return nil, err
	}
	if opts.AccessLog != nil {
		p.log = newAccessLog(opts.AccessLog)
	}
	return p, nil
}

// limit puts the limits before the forwarder.
func (p *Proxy) limit() error {
	key, err := p.options.key()
	if err != nil {
		return err
	}
	limits := p.options.Limits
	if len(limits) == 0 {
		limits = weir.MustParseLimits("1/s") // so that a mistake in the key shows here too
	}
	store := p.options.Store
	if store == nil {
		if p.memory, err = memstore.New(memstore.Options{MaxKeys: p.options.MaxKeys}); err != nil {
			return fmt.Errorf("proxy: %w", err)
		}
		store = p.memory
	}
	limiter, err := weir.New(store, weir.Options{Name: "proxy", Limits: limits})
	if err != nil {
		return fmt.Errorf("proxy: %w", err)
	}
	limit, err := httplimit.New(httplimit.Options{
		Policies: []httplimit.Policy{{Limiter: limiter, Key: key, Shadow: p.options.Shadow}},
		Observe:  p.observe,
		Logger:   p.options.Logger,
	})
	if err != nil {
		return fmt.Errorf("proxy: %w", err)
	}
	if len(p.options.Limits) > 0 {
		p.handler = limit(p.forward)
	}
	return nil
}

// ServeHTTP answers one request.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.active.Add(1)
	defer p.active.Add(-1)
	rec := &recorder{ResponseWriter: w}
	if rec.body = newRequestBody(w, r); rec.body != nil {
		own := *r
		own.Body = rec.body
		r = &own
		defer rec.finishBody(p.options.BodyGrace)
	}
	if len(p.options.Limits) == 0 {
		p.counts.allowed.Add(1)
	}
	if p.log == nil {
		p.handler.ServeHTTP(rec, r)
		return
	}
	line := p.begin(rec, r)
	defer p.log.add(line) // also when the upstream breaks off and the handler panics to say so
	p.handler.ServeHTTP(rec, r.WithContext(context.WithValue(r.Context(), lineKey{}, line)))
}

// observe counts what the limits decided.
func (p *Proxy) observe(r *http.Request, o httplimit.Outcome) {
	switch {
	case o.Err != nil: // answered with 400 or 503: nothing was decided
	case o.Decision.Allowed:
		p.counts.allowed.Add(1)
	default:
		p.counts.refused.Add(1)
	}
	if p.log != nil {
		if line, ok := r.Context().Value(lineKey{}).(*logLine); ok {
			line.decided(o)
		}
	}
}

// Counts returns the totals so far.
func (p *Proxy) Counts() Counts {
	c := Counts{
		Allowed:        p.counts.allowed.Load(),
		Refused:        p.counts.refused.Load(),
		UpstreamErrors: p.counts.upstreamErrors.Load(),
		Active:         int(p.active.Load()),
	}
	if p.log != nil {
		c.LostLines = p.log.lost.Load()
	}
	if n := len(p.options.Limits); n > 0 && p.memory != nil {
		c.Keys = (p.memory.Len() + n - 1) / n // a key has an entry per limit, until each expires by itself
	}
	return c
}

// Close writes what is left of the access log and lets connections and memory go. Call it when no request is under
// way, as after Serve.
func (p *Proxy) Close() error {
	p.forward.close()
	var err error
	if p.log != nil {
		err = p.log.close()
	}
	if p.memory != nil {
		p.memory.Close()
	}
	return err
}

// unmapped returns prefixes as the addresses that they are compared with are written: IPv4 as IPv4.
func unmapped(prefixes []netip.Prefix) []netip.Prefix {
	out := make([]netip.Prefix, 0, len(prefixes))
	for _, p := range prefixes {
		if p.Addr().Is4In6() && p.Bits() >= 96 {
			p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
		}
		out = append(out, p)
	}
	return out
}

package proxy

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// forwarder sends requests to the upstream and copies the answers back.
type forwarder struct {
	proxy     *Proxy
	upstream  url.URL
	transport *http.Transport
	reverse   httputil.ReverseProxy
	errors    *complaints
}

// idleUpstream is how long an unused connection to the upstream is kept: less than the 5 s after which Node.js, the
// most impatient of the common servers, closes it. A POST sent at that moment would be lost, and could not be repeated.
const idleUpstream = 4 * time.Second

func newForwarder(p *Proxy) *forwarder {
	f := &forwarder{proxy: p, upstream: *p.options.Upstream, errors: &complaints{logger: p.options.Logger}}
	dialer := &net.Dialer{Timeout: p.options.DialTimeout, KeepAlive: 15 * time.Second}
	f.transport = &http.Transport{
		// No Proxy: who names an upstream means that one, whatever HTTP_PROXY says.
		DialContext:           dialer.DialContext,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:   p.options.DialTimeout,
		ForceAttemptHTTP2:     true,
		DisableCompression:    true, // the client's Accept-Encoding is the one that counts
		MaxIdleConnsPerHost:   1024, // there is one host; the default of 2 makes most requests connect anew
		IdleConnTimeout:       idleUpstream,
		ExpectContinueTimeout: time.Second,
	}
	f.reverse = httputil.ReverseProxy{
		Rewrite:      f.rewrite,
		Transport:    f.transport,
		BufferPool:   &buffers{},
		ErrorHandler: f.fail,
		ErrorLog:     log.New(f.errors, "", 0),
	}
	return f
}

func (f *forwarder) close() { f.transport.CloseIdleConnections() }

// ServeHTTP implements [http.Handler]. w is a *recorder.
func (f *forwarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rec := w.(*recorder)
	if status, detail := f.unfit(r); status != 0 {
		writeProblem(rec, r, status, detail)
		return
	}
	rec.keepHeader()
	if rec.body != nil {
		rec.body.skimmable = false
	}
	whole := false
	defer func() {
		// Without a return the upstream broke off amid its answer, and the panic breaks off ours, so that the client does
		// not take a part for the whole. If the client left, the context says so.
		if !whole && r.Context().Err() == nil {
			f.proxy.counts.upstreamErrors.Add(1)
		}
	}()
	f.reverse.ServeHTTP(rec, r)
	whole = true
}

// unfit returns the status and detail with which a request is answered that must not reach the upstream, or 0.
func (f *forwarder) unfit(r *http.Request) (status int, detail string) {
	switch {
	case r.Method == http.MethodConnect:
		return http.StatusNotImplemented, "This is no proxy to other hosts."
	case r.Method == "PRI":
		return http.StatusHTTPVersionNotSupported, "This is no HTTP/2 server."
	case r.URL.Opaque != "":
		// Forwarded as it is, it would stand in the place of the upstream's path and host.
		return http.StatusBadRequest, "The target of the request is no path."
	case f.base() && slices.Contains(strings.Split(r.URL.Path, "/"), ".."):
		return http.StatusBadRequest, "The path leads out of the part of the site that is served here."
	}
	return 0, ""
}

// base says whether a path is put before those of requests.
func (f *forwarder) base() bool { return f.upstream.Path != "" && f.upstream.Path != "/" }

// rewrite turns the client's request into the upstream's.
func (f *forwarder) rewrite(pr *httputil.ProxyRequest) {
	in, out := pr.In, pr.Out
	if !f.base() || in.URL.Path == "*" { // OPTIONS * asks about the server, not about a path
		out.URL.Scheme, out.URL.Host = f.upstream.Scheme, f.upstream.Host
	} else {
		pr.SetURL(&f.upstream)
	}
	out.URL.RawQuery = in.URL.RawQuery // as written, even where net/url would not read it: nothing here depends on it
	out.Host = in.Host
	if f.proxy.options.Host == HostUpstream {
		out.Host = "" // the transport then sends that of the URL
	}
	dropH2C(out.Header)
	if out.Trailer = in.Trailer; in.Trailer != nil { // the same map, not the clone: its values arrive after the body
		f.proxy.dropIdentity(in.Trailer)
		out.Body = &trailed{out.Body, func() { f.proxy.dropIdentity(in.Trailer) }}
	}
	f.proxy.setForwarded(in, out)
}

// trailed is a body that calls ended when its trailers have arrived.
type trailed struct {
	io.ReadCloser
	ended func()
}

// Read implements [io.Reader].
func (b *trailed) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.ended()
	}
	return n, err
}

// dropH2C takes back the offer to go on in HTTP/2, to which no server must agree. Through the connection that an upgrade
// opens, any number of requests would pass the limits for one.
func dropH2C(h http.Header) {
	if offer := h["Upgrade"]; len(offer) > 0 && strings.Contains(strings.ToLower(offer[0]), "h2c") {
		h.Del("Upgrade")
		h.Del("Connection")
		h.Del("Http2-Settings")
	}
}

// fail answers a request that got no response from the upstream.
func (f *forwarder) fail(w http.ResponseWriter, r *http.Request, err error) {
	rec := w.(*recorder)
	ctx := r.Context()
	switch {
	case rec.status == http.StatusSwitchingProtocols: // the connection is no longer ours to answer on
		f.errors.complain("upgraded connection failed", err)
	case context.Cause(ctx) == errShutdown:
		writeProblem(rec, r, http.StatusServiceUnavailable, "The proxy is shutting down.")
	case ctx.Err() != nil:
		rec.status = statusClientGone
	case rec.body != nil && rec.body.failed.Load():
		writeProblem(rec, r, http.StatusBadRequest, "The body of the request could not be read.")
	default:
		f.proxy.counts.upstreamErrors.Add(1)
		f.errors.complain("no answer from the upstream", err)
		writeProblem(rec, r, http.StatusBadGateway, "The upstream gave no answer.")
	}
}

// statusClientGone stands in the access log, as in nginx's, for a client that left before the answer.
const statusClientGone = 499

// writeProblem answers with application/problem+json (RFC 9457). Neither detail nor the status's text needs escaping.
func writeProblem(w http.ResponseWriter, r *http.Request, status int, detail string) {
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		io.WriteString(w, `{"title":"`+http.StatusText(status)+`","status":`+strconv.Itoa(status)+`,"detail":"`+detail+"\"}\n") // the client is gone if this fails
	}
}

// buffers lends the buffers through which bodies are copied.
type buffers struct{ pool sync.Pool }

const bufferSize = 32 << 10

// Get implements [httputil.BufferPool].
func (b *buffers) Get() []byte {
	if p, ok := b.pool.Get().(*[bufferSize]byte); ok {
		return p[:]
	}
	return make([]byte, bufferSize)
}

// Put implements [httputil.BufferPool].
func (b *buffers) Put(p []byte) { b.pool.Put((*[bufferSize]byte)(p)) }

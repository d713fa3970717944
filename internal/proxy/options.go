package proxy

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/httplimit"
	"github.com/weirhq/weir/memstore"
)

// Options say what a [Proxy] does. Only Upstream is required.
type Options struct {
	// Upstream is where requests go: http or https, a host, and possibly a port and a path to put before theirs.
	Upstream *url.URL
	// Host says which Host header the upstream gets. Zero is [HostAuto].
	Host Host
	// Limits are decided together, all-or-nothing. None forwards everything.
	Limits []weir.Limit
	// Key says whom a request is counted for: "ip", "global", "header:NAME" or "cookie:NAME". A request without the
	// header or cookie is counted by its client's address. Empty is "ip".
	Key string
	// Store holds the state of the limits, and stays the caller's to close. Nil is memory of the proxy's own.
	Store weir.Store
	// MaxKeys bounds that memory, as in memstore.Options; 0 is its default. Not with Store.
	MaxKeys int
	// Shadow counts what would be refused and refuses nothing.
	Shadow bool
	// TrustedProxies are the addresses whose TrustHeader, X-Forwarded-For, -Host and -Proto and Forwarded are believed
	// and passed on. From everybody else these headers are dropped.
	TrustedProxies []netip.Prefix
	// TrustHeader is the header that names the client when a trusted proxy connects. Empty is X-Forwarded-For. Only with
	// TrustedProxies.
	TrustHeader string
	// AccessLog gets a line per request; see docs/proxy.md for its format. Nil writes none.
	AccessLog io.Writer
	// Logger gets warnings and errors. Nil is slog.Default().
	Logger *slog.Logger
	// Drain is how long requests, streams and upgraded connections may go on once the proxy stops. Zero is 15 s,
	// negative is not at all.
	Drain time.Duration
	// ReadHeaderTimeout is how long a client may take to send a request's header. Zero is 10 s.
	ReadHeaderTimeout time.Duration
	// IdleTimeout is how long a connection may wait for its next request. Zero is 2 minutes.
	IdleTimeout time.Duration
	// BodyGrace is how long a client may go on sending a body that nobody reads any more, since it has its answer. Zero
	// is 5 s.
	BodyGrace time.Duration
	// MaxHeaderBytes bounds a request's header. Zero is 64 KiB; a larger header is answered with 431.
	MaxHeaderBytes int
	// DialTimeout is how long connecting to the upstream may take, and a TLS handshake with it. Zero is 10 s.
	DialTimeout time.Duration
}

// Host says which Host header the upstream gets. X-Forwarded-Host holds the client's in every case.
type Host uint8

const (
	// HostAuto is [HostClient] for an http upstream, which usually is the application itself, and [HostUpstream] for
	// an https one, which usually finds the site by its name. The default.
	HostAuto Host = iota
	// HostClient passes on what the client sent.
	HostClient
	// HostUpstream sends the upstream's own name.
	HostUpstream
)

const (
	defaultDrain             = 15 * time.Second
	defaultReadHeaderTimeout = 10 * time.Second
	defaultIdleTimeout       = 2 * time.Minute
	defaultBodyGrace         = 5 * time.Second
	defaultMaxHeaderBytes    = 64 << 10
	defaultDialTimeout       = 10 * time.Second
	defaultTrustHeader       = "X-Forwarded-For"
)

// validate refuses what cannot be meant; limits are checked by weir, names and trust by httplimit.
func (o *Options) validate() error {
	const url = "give a URL such as http://localhost:3000"
	u := o.Upstream
	switch {
	case u == nil:
		return &OptionError{"Upstream", "is missing", url}
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Opaque != "":
		return &OptionError{"Upstream", fmt.Sprintf("is %q", u.Redacted()), url}
	case !validPort(u.Port()):
		return &OptionError{"Upstream", fmt.Sprintf("%q has the port %s", u.Redacted(), u.Port()), "use 1 to 65535"}
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return &OptionError{"Upstream", fmt.Sprintf("%q holds a user, a query or a fragment", u.Redacted()), "give scheme, host, port and path alone"}
	case o.Host > HostUpstream:
		return &OptionError{"Host", fmt.Sprintf("is %d", o.Host), "use HostAuto, HostClient or HostUpstream"}
	case o.MaxKeys < 0 || o.MaxKeys > 1<<31-1:
		return &OptionError{"MaxKeys", fmt.Sprintf("is %d", o.MaxKeys), fmt.Sprintf("use 1 to %d, or 0 for %d", 1<<31-1, memstore.DefaultMaxKeys)}
	case o.MaxKeys != 0 && o.Store != nil:
		return &OptionError{"MaxKeys", "bounds the proxy's own memory, but there is a Store", "leave one of them out"}
	case o.TrustHeader != "" && len(o.TrustedProxies) == 0:
		return &OptionError{"TrustHeader", fmt.Sprintf("is %q but nobody is trusted to write it", o.TrustHeader), "name your proxies too"}
	case o.ReadHeaderTimeout < 0 || o.IdleTimeout < 0 || o.BodyGrace < 0 || o.DialTimeout < 0:
		return &OptionError{"ReadHeaderTimeout, IdleTimeout, BodyGrace or DialTimeout", "is negative", "use 0 for the default"}
	case o.MaxHeaderBytes < 0:
		return &OptionError{"MaxHeaderBytes", "is negative", "use 0 for the default"}
	}
	return nil
}

func validPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
}

func (o *Options) setDefaults() {
	if o.Key == "" {
		o.Key = "ip"
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	setDefault(&o.Drain, defaultDrain)
	setDefault(&o.ReadHeaderTimeout, defaultReadHeaderTimeout)
	setDefault(&o.IdleTimeout, defaultIdleTimeout)
	setDefault(&o.BodyGrace, defaultBodyGrace)
	setDefault(&o.MaxHeaderBytes, defaultMaxHeaderBytes)
	setDefault(&o.DialTimeout, defaultDialTimeout)
	if len(o.TrustedProxies) > 0 && o.TrustHeader == "" {
		o.TrustHeader = defaultTrustHeader
	}
	o.TrustHeader = http.CanonicalHeaderKey(o.TrustHeader)
	if o.Host == HostAuto && o.Upstream.Scheme == "https" {
		o.Host = HostUpstream
	}
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// clientIP returns how the client's address is told.
func (o *Options) clientIP() httplimit.ClientIPOptions {
	return httplimit.ClientIPOptions{Header: o.TrustHeader, TrustedProxies: o.TrustedProxies}
}

// key reads o.Key.
func (o *Options) key() (httplimit.Key, error) {
	ip := httplimit.ClientIP(o.clientIP())
	kind, name, named := strings.Cut(o.Key, ":")
	switch {
	case kind == "ip" && !named:
		return ip, nil
	case kind == "global" && !named:
		return httplimit.Global(), nil
	case kind == "header" && name != "":
		return httplimit.First(httplimit.Header(name), ip), nil
	case kind == "cookie" && name != "":
		return httplimit.First(httplimit.Cookie(name), ip), nil
	}
	return httplimit.Key{}, &OptionError{"Key", fmt.Sprintf("is %q", o.Key), "use ip, global, header:NAME or cookie:NAME"}
}

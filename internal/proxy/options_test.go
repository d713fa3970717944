package proxy

import (
	"errors"
	"io"
	"log/slog"
	"net/netip"
	"net/url"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/httplimit"
	"github.com/weirhq/weir/memstore"
)

func TestOptionsAreChecked(t *testing.T) {
	upstream := &url.URL{Scheme: "http", Host: "localhost:3000"}
	for _, c := range []struct {
		opts Options
		want string
	}{
		{Options{}, "proxy: Upstream is missing; give a URL such as http://localhost:3000"},
		{Options{Upstream: &url.URL{Scheme: "ftp", Host: "a"}}, `proxy: Upstream is "ftp://a"; give a URL such as http://localhost:3000`},
		{Options{Upstream: &url.URL{Scheme: "http", Host: ":80"}}, `proxy: Upstream is "http://:80"; give a URL such as http://localhost:3000`},
		{Options{Upstream: &url.URL{Scheme: "http", Host: "a", User: url.UserPassword("me", "secret")}}, `proxy: Upstream "http://me:xxxxx@a" holds a user, a query or a fragment; give scheme, host, port and path alone`},
		{Options{Upstream: upstream, Host: 9}, "proxy: Host is 9; use HostAuto, HostClient or HostUpstream"},
		{Options{Upstream: upstream, Key: "user"}, `proxy: Key is "user"; use ip, global, header:NAME or cookie:NAME`},
		{Options{Upstream: upstream, Key: "header:"}, `proxy: Key is "header:"; use ip, global, header:NAME or cookie:NAME`},
		{Options{Upstream: upstream, MaxKeys: -1}, "proxy: MaxKeys is -1; use 1 to 2147483647, or 0 for 16777216"},
		{Options{Upstream: upstream, MaxKeys: 5, Store: memstore.MustNew(memstore.Options{})}, "proxy: MaxKeys bounds the proxy's own memory, but there is a Store; leave one of them out"},
		{Options{Upstream: upstream, TrustHeader: "X-Real-IP"}, `proxy: TrustHeader is "X-Real-IP" but nobody is trusted to write it; name your proxies too`},
		{Options{Upstream: upstream, IdleTimeout: -1}, "proxy: ReadHeaderTimeout, IdleTimeout, BodyGrace or DialTimeout is negative; use 0 for the default"},
		{Options{Upstream: upstream, MaxHeaderBytes: -1}, "proxy: MaxHeaderBytes is negative; use 0 for the default"},
	} {
		_, err := New(c.opts)
		if !errors.Is(err, ErrInvalidOptions) || err.Error() != c.want {
			t.Errorf("New(%+v): %v\nwant %s", c.opts, err, c.want)
		}
	}
}

func TestWhatOthersRefuseIsRefused(t *testing.T) {
	opts := Options{Upstream: &url.URL{Scheme: "http", Host: "localhost:3000"}, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	opts.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}
	if _, err := New(opts); !errors.Is(err, httplimit.ErrConfig) {
		t.Errorf("trusting everybody: %v, want an error of httplimit", err)
	}
	opts.TrustedProxies, opts.Limits = nil, []weir.Limit{weir.TokenBucket{}}
	if _, err := New(opts); !errors.Is(err, weir.ErrInvalidLimit) {
		t.Errorf("an empty bucket: %v, want an error of weir", err)
	}
}

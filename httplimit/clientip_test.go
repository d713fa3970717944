package httplimit_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/weirhq/weir/httplimit"
)

// The ways to tell the client that the tests use.
var (
	peerOnly   = httplimit.ClientIPOptions{}
	xff        = httplimit.ClientIPOptions{Header: "X-Forwarded-For", TrustedProxies: prefixes("10.0.0.0/8", "2001:db8:ffff::/48")}
	xffMapped  = httplimit.ClientIPOptions{Header: "x-forwarded-for", TrustedProxies: prefixes("::ffff:10.0.0.0/104")}
	xffHops    = httplimit.ClientIPOptions{Header: "X-Forwarded-For", TrustedHops: 2}
	xffUnix    = httplimit.ClientIPOptions{Header: "X-Forwarded-For", UnixPeer: true}
	forwarded  = httplimit.ClientIPOptions{Header: "Forwarded", TrustedProxies: prefixes("10.0.0.0/8")}
	cloudflare = httplimit.ClientIPOptions{Header: "CF-Connecting-IP", TrustedProxies: prefixes("10.0.0.0/8")}
	realIPHop  = httplimit.ClientIPOptions{Header: "X-Real-IP", TrustedHops: 1}
)

const (
	noPeer  = "httplimit: no key: the connection has no IP address"
	noEntry = "httplimit: no key: the client's entry is no IP address"
	tooFew  = "httplimit: no key: the header has fewer entries than trusted proxies"
	tooMany = "httplimit: no key: the header has more entries than are looked at"
)

var clientIPTests = []struct {
	name    string
	options httplimit.ClientIPOptions
	peer    string
	headers []string
	want    string // the key, or the error
}{
	{"peer", peerOnly, "203.0.113.7:4711", nil, "ip:203.0.113.7"},
	{"peer without a port", peerOnly, "203.0.113.7", nil, "ip:203.0.113.7"},
	{"peer of IPv6", peerOnly, "[2001:db8:1:2:3:4:5:6]:80", nil, "ip:2001:db8:1:2::/64"},
	{"two addresses of one subscriber", peerOnly, "[2001:db8:1:2:ffff::1]:80", nil, "ip:2001:db8:1:2::/64"},
	{"mapped peer is IPv4", peerOnly, "[::ffff:203.0.113.7]:80", nil, "ip:203.0.113.7"},
	{"another mapped peer is another", peerOnly, "[::ffff:203.0.113.8]:80", nil, "ip:203.0.113.8"},
	{"IPv4 digits do not make IPv4", peerOnly, "[2001:db8::203.0.113.7]:80", nil, "ip:2001:db8::/64"},
	{"NAT64 holds IPv4", peerOnly, "[64:ff9b::203.0.113.7]:80", nil, "ip:203.0.113.7"},
	{"zone is dropped", peerOnly, "[fe80::1%eth0]:80", nil, "ip:fe80::/64"},
	{"unspecified peer", peerOnly, "0.0.0.0:80", nil, noPeer},
	{"unspecified mapped peer", peerOnly, "[::ffff:0.0.0.0]:80", nil, noPeer},
	{"unspecified IPv6 peer", peerOnly, "[::]:80", nil, noPeer},
	{"no peer", peerOnly, "", nil, noPeer},
	{"unix peer", peerOnly, "@", nil, noPeer},
	{"no header is believed", peerOnly, "203.0.113.7:1", []string{"X-Forwarded-For: 6.6.6.6", "X-Real-IP: 6.6.6.6", "True-Client-IP: 6.6.6.6", "Forwarded: for=6.6.6.6"}, "ip:203.0.113.7"},
	{"prefix of 56", httplimit.ClientIPOptions{IPv6Prefix: 56}, "[2001:db8:1:2ff:3::]:80", nil, "ip:2001:db8:1:200::/56"},
	{"prefix of 128", httplimit.ClientIPOptions{IPv6Prefix: 128}, "[2001:db8::1%eth0]:80", nil, "ip:2001:db8::1"},
	{"prefix of IPv4", httplimit.ClientIPOptions{IPv4Prefix: 24}, "203.0.113.7:80", nil, "ip:203.0.113.0/24"},

	{"one proxy", xff, "10.0.0.1:1", []string{"X-Forwarded-For: 203.0.113.7"}, "ip:203.0.113.7"},
	{"stranger's header", xff, "198.51.100.1:1", []string{"X-Forwarded-For: 203.0.113.7"}, "ip:198.51.100.1"},
	{"leftmost is forged", xff, "10.0.0.1:1", []string{"X-Forwarded-For: 6.6.6.6, 203.0.113.7"}, "ip:203.0.113.7"},
	{"trusted ones are passed", xff, "10.0.0.1:1", []string{"X-Forwarded-For: 6.6.6.6, 203.0.113.7, 10.0.0.3,10.0.0.2"}, "ip:203.0.113.7"},
	{"several lines are one list", xff, "10.0.0.1:1", []string{"X-Forwarded-For: 6.6.6.6", "X-Forwarded-For: 6.6.6.7, 203.0.113.7", "X-Forwarded-For: 10.0.0.2"}, "ip:203.0.113.7"},
	{"a forged first line", xff, "10.0.0.1:1", []string{"X-Forwarded-For: 6.6.6.6", "X-Forwarded-For: 203.0.113.7"}, "ip:203.0.113.7"},
	{"a forged trusted address", xff, "10.0.0.1:1", []string{"X-Forwarded-For: 6.6.6.6, 10.0.0.9, 203.0.113.7"}, "ip:203.0.113.7"},
	{"mapped peer is trusted", xff, "[::ffff:10.0.0.1]:1", []string{"X-Forwarded-For: 203.0.113.7"}, "ip:203.0.113.7"},
	{"mapped prefix is IPv4", xffMapped, "10.0.0.1:1", []string{"X-Forwarded-For: 203.0.113.7"}, "ip:203.0.113.7"},
	{"mapped entry is IPv4", xff, "10.0.0.1:1", []string{"X-Forwarded-For: ::ffff:203.0.113.7"}, "ip:203.0.113.7"},
	{"mapped entry is trusted", xff, "10.0.0.1:1", []string{"X-Forwarded-For: 203.0.113.7, ::ffff:10.0.0.2"}, "ip:203.0.113.7"},
	{"IPv6 proxy with a zone", xff, "[2001:db8:ffff::1%eth0]:1", []string{"X-Forwarded-For: 203.0.113.7"}, "ip:203.0.113.7"},
	{"trust is of the whole address", xff, "[2001:db8:fffe::1]:1", []string{"X-Forwarded-For: 203.0.113.7"}, "ip:2001:db8:fffe::/64"},
	{"entry with a port", xff, "10.0.0.1:1", []string{"X-Forwarded-For: 203.0.113.7:51234"}, "ip:203.0.113.7"},
	{"entry in brackets", xff, "10.0.0.1:1", []string{"X-Forwarded-For: [2001:db8:1::1]"}, "ip:2001:db8:1::/64"},
	{"entry in brackets with a port", xff, "10.0.0.1:1", []string{"X-Forwarded-For: [2001:db8:1::1]:443"}, "ip:2001:db8:1::/64"},
	{"bare IPv6 entry", xff, "10.0.0.1:1", []string{"X-Forwarded-For: 2001:db8:1::1"}, "ip:2001:db8:1::/64"},
	{"entry with a made-up zone", xff, "10.0.0.1:1", []string{"X-Forwarded-For: fe80::1%made-up-1"}, "ip:fe80::/64"},
	{"blanks", xff, "10.0.0.1:1", []string{"X-Forwarded-For: 6.6.6.6 ,\t 203.0.113.7 \t"}, "ip:203.0.113.7"},
	{"empty entry is not passed over", xff, "10.0.0.1:1", []string{"X-Forwarded-For: 6.6.6.6, ,10.0.0.2"}, noEntry},
	{"empty line is not passed over", xff, "10.0.0.1:1", []string{"X-Forwarded-For: 6.6.6.6", "X-Forwarded-For: "}, noEntry},
	{"empty entries that nobody vouches for", xff, "10.0.0.1:1", []string{"X-Forwarded-For: ,,", "X-Forwarded-For: , 203.0.113.7"}, "ip:203.0.113.7"},
	{"entry that is no address", xff, "10.0.0.1:1", []string{"X-Forwarded-For: 6.6.6.6, unknown"}, noEntry},
	{"no address behind a proxy", xff, "10.0.0.1:1", []string{"X-Forwarded-For: 6.6.6.6, nonsense, 10.0.0.2"}, noEntry},
	{"nonsense that nobody vouches for", xff, "10.0.0.1:1", []string{"X-Forwarded-For: nonsense, 203.0.113.7"}, "ip:203.0.113.7"},
	{"octal", xff, "10.0.0.1:1", []string{"X-Forwarded-For: 010.0.0.1"}, noEntry},
	{"short IPv4", xff, "10.0.0.1:1", []string{"X-Forwarded-For: 127.1"}, noEntry},
	{"unspecified", xff, "10.0.0.1:1", []string{"X-Forwarded-For: 0.0.0.0"}, noEntry},
	{"unspecified IPv6", xff, "10.0.0.1:1", []string{"X-Forwarded-For: [::]:80"}, noEntry},
	{"IPv4 in brackets", xff, "10.0.0.1:1", []string{"X-Forwarded-For: [203.0.113.7]"}, noEntry},
	{"bad port", xff, "10.0.0.1:1", []string{"X-Forwarded-For: 203.0.113.7:x"}, noEntry},
	{"text behind brackets", xff, "10.0.0.1:1", []string{"X-Forwarded-For: [2001:db8::1]x"}, noEntry},
	{"long entry", xff, "10.0.0.1:1", []string{"X-Forwarded-For: fe80::1%" + strings.Repeat("x", 100)}, noEntry},
	{"no header", xff, "10.0.0.1:1", nil, "ip:10.0.0.1"},
	{"everybody is trusted", xff, "10.0.0.1:1", []string{"X-Forwarded-For: 10.0.0.7, 10.0.0.2"}, "ip:10.0.0.7"},
	{"too many trusted entries", xff, "10.0.0.1:1", []string{"X-Forwarded-For: 203.0.113.7" + strings.Repeat(", 10.0.0.2", 40)}, tooMany},
	{"another header", xff, "10.0.0.1:1", []string{"X-Real-IP: 6.6.6.6", "X_Forwarded_For: 6.6.6.6"}, "ip:10.0.0.1"},

	{"two hops", xffHops, "198.51.100.1:1", []string{"X-Forwarded-For: 6.6.6.6, 203.0.113.7, 10.0.0.2"}, "ip:203.0.113.7"},
	{"two hops in lines", xffHops, "198.51.100.1:1", []string{"X-Forwarded-For: 6.6.6.6", "X-Forwarded-For: 203.0.113.7", "X-Forwarded-For: 10.0.0.2"}, "ip:203.0.113.7"},
	{"too few hops", xffHops, "198.51.100.1:1", []string{"X-Forwarded-For: 203.0.113.7"}, tooFew},
	{"no hops", xffHops, "198.51.100.1:1", nil, tooFew},
	{"hop that is no address", xffHops, "198.51.100.1:1", []string{"X-Forwarded-For: 6.6.6.6, unknown, 10.0.0.2"}, noEntry},
	{"hops over a unix socket", xffHops, "@", []string{"X-Forwarded-For: 203.0.113.7, 10.0.0.2"}, "ip:203.0.113.7"},

	{"unix proxy", xffUnix, "@", []string{"X-Forwarded-For: 6.6.6.6, 203.0.113.7"}, "ip:203.0.113.7"},
	{"unix proxy without a header", xffUnix, "", nil, noPeer},
	{"unix proxies and a stranger", xffUnix, "198.51.100.1:1", []string{"X-Forwarded-For: 203.0.113.7"}, "ip:198.51.100.1"},
	{"unix proxy that is not trusted", xff, "@", []string{"X-Forwarded-For: 203.0.113.7"}, noPeer},

	{"forwarded", forwarded, "10.0.0.1:1", []string{`Forwarded: for=6.6.6.6, For="[2001:db8:1::1]:4711";proto=https;by=203.0.113.43`}, "ip:2001:db8:1::/64"},
	{"forwarded in another order", forwarded, "10.0.0.1:1", []string{`Forwarded: proto=http; by=10.0.0.2 ; FOR=203.0.113.7`}, "ip:203.0.113.7"},
	{"forwarded in lines", forwarded, "10.0.0.1:1", []string{"Forwarded: for=6.6.6.6", "Forwarded: for=203.0.113.7, for=10.0.0.2"}, "ip:203.0.113.7"},
	{"forwarded with a port", forwarded, "10.0.0.1:1", []string{`Forwarded: for="203.0.113.7:_http"`}, "ip:203.0.113.7"},
	{"forwarded with unquoted colons", forwarded, "10.0.0.1:1", []string{`Forwarded: for=[2001:db8:1::1]:80`}, "ip:2001:db8:1::/64"},
	{"forwarded with escapes", forwarded, "10.0.0.1:1", []string{`Forwarded: for="203\.0.113\.7"`}, "ip:203.0.113.7"},
	{"forwarded escape at the start", forwarded, "10.0.0.1:1", []string{`Forwarded: for="\203.0.113.7"`}, "ip:203.0.113.7"},
	{"quoted comma", forwarded, "10.0.0.1:1", []string{`Forwarded: for=6.6.6.6;host="a, for=6.6.6.7", for=203.0.113.7;host="b, for=6.6.6.8"`}, "ip:203.0.113.7"},
	{"quoted quote", forwarded, "10.0.0.1:1", []string{`Forwarded: for=203.0.113.7;host="a\", for=6.6.6.7"`}, "ip:203.0.113.7"},
	{"obfuscated", forwarded, "10.0.0.1:1", []string{"Forwarded: for=6.6.6.6, for=_hidden"}, noEntry},
	{"unknown", forwarded, "10.0.0.1:1", []string{"Forwarded: for=6.6.6.6, for=unknown"}, noEntry},
	{"element without for", forwarded, "10.0.0.1:1", []string{"Forwarded: for=6.6.6.6, by=10.0.0.2"}, noEntry},
	{"for twice", forwarded, "10.0.0.1:1", []string{"Forwarded: for=203.0.113.7;for=6.6.6.6"}, noEntry},
	{"open quote cannot hide", forwarded, "10.0.0.1:1", []string{`Forwarded: for="6.6.6.6, for=203.0.113.7`}, noEntry},
	{"open quote closed by the proxy", forwarded, "10.0.0.1:1", []string{`Forwarded: for=6.6.6.6;x=", for="[2001:db8::1]"`}, noEntry},
	{"nonsense line before the proxy's", forwarded, "10.0.0.1:1", []string{`Forwarded: for="6.6`, "Forwarded: for=203.0.113.7"}, "ip:203.0.113.7"},
	{"pair without a value", forwarded, "10.0.0.1:1", []string{"Forwarded: for="}, noEntry},
	{"no pair", forwarded, "10.0.0.1:1", []string{"Forwarded: 203.0.113.7"}, noEntry},
	{"empty element is not passed over", forwarded, "10.0.0.1:1", []string{"Forwarded: for=6.6.6.6, ,for=10.0.0.2"}, noEntry},
	{"empty for is not passed over", forwarded, "10.0.0.1:1", []string{`Forwarded: for=6.6.6.6, for=""`}, noEntry},
	{"empty elements that nobody vouches for", forwarded, "10.0.0.1:1", []string{"Forwarded: ,, for=203.0.113.7;"}, "ip:203.0.113.7"},
	{"long line", forwarded, "10.0.0.1:1", []string{"Forwarded: for=203.0.113.7;x=" + strings.Repeat("y", 9000)}, noEntry},
	{"many elements", forwarded, "10.0.0.1:1", []string{"Forwarded: " + strings.Repeat("for=10.0.0.2, ", 40) + "for=10.0.0.3"}, noEntry},

	{"single", cloudflare, "10.0.0.1:1", []string{"CF-Connecting-IP: 203.0.113.7"}, "ip:203.0.113.7"},
	{"single from a stranger", cloudflare, "198.51.100.1:1", []string{"CF-Connecting-IP: 203.0.113.7"}, "ip:198.51.100.1"},
	{"last line of a single", cloudflare, "10.0.0.1:1", []string{"CF-Connecting-IP: 6.6.6.6", "CF-Connecting-IP: 203.0.113.7"}, "ip:203.0.113.7"},
	{"single is not walked", cloudflare, "10.0.0.1:1", []string{"CF-Connecting-IP: 6.6.6.6", "CF-Connecting-IP: 10.0.0.7"}, "ip:10.0.0.7"},
	{"single is no list", cloudflare, "10.0.0.1:1", []string{"CF-Connecting-IP: 6.6.6.6, 203.0.113.7"}, noEntry},
	{"single is absent", cloudflare, "10.0.0.1:1", nil, "ip:10.0.0.1"},
	{"single by hop", realIPHop, "198.51.100.1:1", []string{"X-Real-IP: 6.6.6.6", "X-Real-IP: 203.0.113.7"}, "ip:203.0.113.7"},
	{"single by hop is absent", realIPHop, "198.51.100.1:1", nil, tooFew},
}

func TestClientIP(t *testing.T) {
	for _, tt := range clientIPTests {
		t.Run(tt.name, func(t *testing.T) {
			r := request("GET", "/", tt.headers...)
			r.RemoteAddr = tt.peer
			got := keyOf(t, httplimit.ClientIP(tt.options), r)
			if got != tt.want {
				t.Errorf("key of %s %q = %q, want %q", tt.peer, tt.headers, got, tt.want)
			}
		})
	}
}

// keyOf returns the key that a middleware takes for r, or the error text.
func keyOf(t testing.TB, k httplimit.Key, r *http.Request) string {
	t.Helper()
	var got httplimit.Outcome
	opts := policies(httplimit.Policy{Limiter: newLimiter(t, "1000/s"), Key: k})
	opts.Observe = func(_ *http.Request, o httplimit.Outcome) { got = o }
	w := send(build(t, opts), r)
	if got.Err != nil {
		if w.Code != http.StatusBadRequest || !errors.Is(got.Err, httplimit.ErrMissingKey) {
			t.Errorf("a request without a key was answered %d, error %v; want 400 and ErrMissingKey", w.Code, got.Err)
		}
		return got.Err.Error()
	}
	if w.Code != http.StatusOK {
		t.Errorf("a request with the key %q was answered %d, want 200", got.Key, w.Code)
	}
	return got.Key
}

func TestAddr(t *testing.T) {
	r := request("GET", "/", "X-Forwarded-For: [2001:db8::1%eth0]:80")
	r.RemoteAddr = "10.0.0.1:1"
	if got, err := xff.Addr(r); err != nil || got != netip.MustParseAddr("2001:db8::1") {
		t.Errorf("Addr = %v, %v; want the whole address", got, err)
	}
	r.Header.Set("X-Forwarded-For", "unknown")
	if got, err := xff.Addr(r); !errors.Is(err, httplimit.ErrMissingKey) || got.IsValid() {
		t.Errorf("Addr without an address = %v, %v; want ErrMissingKey", got, err)
	}
	if got, err := (httplimit.ClientIPOptions{Header: "Forwarded"}).Addr(r); !errors.Is(err, httplimit.ErrConfig) || got.IsValid() {
		t.Errorf("Addr of options that New refuses = %v, %v; want ErrConfig", got, err)
	}
}

// FuzzClientIP sends what clients and proxies may send, in every way that options can read it.
func FuzzClientIP(f *testing.F) {
	for _, tt := range clientIPTests {
		one, two, _ := strings.Cut(strings.Join(tt.headers, "\n"), "\n")
		_, one, _ = strings.Cut(one, ": ")
		_, two, _ = strings.Cut(two, ": ")
		f.Add(tt.peer, one, two)
	}
	options := []httplimit.ClientIPOptions{peerOnly, xff, xffMapped, xffHops, xffUnix, forwarded, cloudflare, realIPHop, {IPv4Prefix: 24, IPv6Prefix: 48}}
	f.Fuzz(func(t *testing.T, peer, one, two string) {
		for _, o := range options {
			r := httptest.NewRequest("GET", "/", nil).WithContext(context.Background())
			r.RemoteAddr = peer
			if o.Header != "" {
				r.Header[http.CanonicalHeaderKey(o.Header)] = []string{one, two}
			}
			a, err := o.Addr(r)
			if err != nil {
				if !errors.Is(err, httplimit.ErrMissingKey) || a.IsValid() {
					t.Fatalf("Addr(%q, %q, %q) = %v, %v; want ErrMissingKey", peer, one, two, a, err)
				}
				continue
			}
			if !a.IsValid() || a.Is4In6() || a.Zone() != "" || a.IsUnspecified() {
				t.Fatalf("Addr(%q, %q, %q) = %v, want it valid, unmapped, without a zone, specified", peer, one, two, a)
			}
			wantMasked(t, o, keyOf(t, httplimit.ClientIP(o), r))
		}
	})
}

// wantMasked checks that key is the client's prefix and nothing more of the address.
func wantMasked(t *testing.T, o httplimit.ClientIPOptions, key string) {
	t.Helper()
	text, _ := strings.CutPrefix(key, "ip:")
	if a, err := netip.ParseAddr(text); err == nil {
		if o.IPv4Prefix != 0 || !a.Is4() || a.String() != text {
			t.Fatalf("key %q, want a canonical IPv4 address or a prefix", key)
		}
		return
	}
	p, err := netip.ParsePrefix(text)
	if err != nil || p != p.Masked() || p.String() != text {
		t.Fatalf("key %q, want a canonical prefix (%v)", key, err)
	}
	want := o.IPv6Prefix
	switch {
	case p.Addr().Is4():
		want = o.IPv4Prefix
	case want == 0:
		want = 64
	}
	if p.Bits() != want {
		t.Fatalf("key %q has %d bits, want %d", key, p.Bits(), want)
	}
}

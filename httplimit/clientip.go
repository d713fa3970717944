package httplimit

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"sync/atomic"

	"github.com/weirhq/weir/httplimit/internal/clientaddr"
)

// ClientIPOptions say how the client's address is told. The zero value believes the address of the connection alone,
// which is right where clients connect directly and wrong behind a proxy: there everybody has the proxy's address.
//
// Behind proxies set Header and one of TrustedProxies and TrustedHops. No choice believes the leftmost entry of a
// header, tries several headers, or reads a header that anybody could have written.
type ClientIPOptions struct {
	// Header is the one header that the proxies write: "X-Forwarded-For", "Forwarded" (RFC 7239), or one that holds a
	// single address, such as "X-Real-IP" or "CF-Connecting-IP", whose last line counts. Empty reads none.
	Header string
	// TrustedProxies are the addresses of the proxies. A connection from elsewhere is the client itself; in a list the
	// client is the rightmost entry that is no trusted proxy. When all are, it is the leftmost; without entries it
	// is the connection's address. Mapped prefixes (::ffff:10.0.0.0/104) mean their IPv4 addresses.
	TrustedProxies []netip.Prefix
	// TrustedHops is how many proxies append to Header, 1 to 16: the client is the entry that many from the right, and
	// fewer entries are an error. Only where nobody can reach the server around the proxies. Not with TrustedProxies;
	// 1 for a header with a single address.
	TrustedHops int
	// UnixPeer counts connections without an address, as over a Unix socket, as coming from a trusted proxy.
	UnixPeer bool
	// IPv6Prefix is how many bits of an IPv6 address are the client, 32 to 128. Zero is 64, what a subscriber has at
	// least; many have 56 or 48.
	IPv6Prefix int
	// IPv4Prefix is how many bits of an IPv4 address are the client, 8 to 32. Zero is 32.
	IPv4Prefix int
}

// ClientIP counts by the client's address: "ip:203.0.113.7", or "ip:2001:db8:0:1::/64" for a whole prefix. IPv4 in
// IPv6 notation is IPv4, zones and ports are no part of an address. A request whose address cannot be told has no key.
func ClientIP(o ClientIPOptions) Key {
	s, found := o.compile()
	k := Key{kind: "ip", findings: found, peerOnly: o.Header == ""}
	if found.err() == nil {
		k.make = func(r *http.Request) (string, error) {
			a, err := s.Addr(r)
			if err != nil {
				return "", fmt.Errorf("%w: %w", ErrMissingKey, err)
			}
			return s.Key(a), nil
		}
	}
	return k
}

// Addr returns the client's address as [ClientIP] sees it, before the prefix is taken: valid, unmapped, without a zone.
// For logs and handlers. An error wraps [ErrMissingKey], or is a [ConfigError].
func (o ClientIPOptions) Addr(r *http.Request) (netip.Addr, error) {
	s, found := o.compile()
	if err := found.err(); err != nil {
		return netip.Addr{}, err
	}
	a, err := s.Addr(r)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("%w: %w", ErrMissingKey, err)
	}
	return a, nil
}

const maxHops = 16

// compile returns o made ready, and what is wrong with it.
func (o *ClientIPOptions) compile() (*clientaddr.Source, findings) {
	var f findings
	s := clientaddr.Source{Header: http.CanonicalHeaderKey(o.Header), Hops: o.TrustedHops, Unix: o.UnixPeer, Bits4: o.IPv4Prefix, Bits6: o.IPv6Prefix}
	o.checkTrust(&f, clientaddr.FormOf(s.Header))
	for i, p := range o.TrustedProxies {
		s.Trusted = append(s.Trusted, trustedPrefix(&f, fmt.Sprintf("TrustedProxies[%d]", i), p))
	}
	if s.Bits4 == 0 {
		s.Bits4 = 32
	}
	if s.Bits6 == 0 {
		s.Bits6 = 64
	}
	if s.Bits4 < 8 || s.Bits4 > 32 {
		f.add(CodeBadPrefix, "IPv4Prefix", fmt.Sprintf("is %d", s.Bits4), "use 8 to 32, or 0 for 32")
	}
	if s.Bits6 < 32 || s.Bits6 > 128 {
		f.add(CodeBadPrefix, "IPv6Prefix", fmt.Sprintf("is %d", s.Bits6), "use 32 to 128, or 0 for 64")
	}
	return clientaddr.New(s), f
}

// checkTrust compares the options of trust with each other.
func (o *ClientIPOptions) checkTrust(f *findings, form clientaddr.Form) {
	trusts := len(o.TrustedProxies) > 0 || o.TrustedHops > 0 || o.UnixPeer
	switch {
	case form != clientaddr.NoHeader && !clientaddr.IsToken(o.Header):
		f.add(CodeBadKey, "Header", fmt.Sprintf("is %q", o.Header), "use a header's name, such as X-Forwarded-For")
	case form != clientaddr.NoHeader && !trusts:
		f.add(CodeNoTrust, "Header", "is believed from everybody, so that clients choose their own key", "set TrustedProxies to your proxies' addresses, or TrustedHops to their number")
	case form == clientaddr.NoHeader && trusts:
		f.add(CodeNoHeader, "Header", "is empty but proxies are trusted, so that all clients would share the proxy's address", "name the header that your proxies write, such as X-Forwarded-For")
	}
	switch {
	case len(o.TrustedProxies) > 0 && o.TrustedHops != 0:
		f.add(CodeTwoTrusts, "TrustedHops", "is set together with TrustedProxies", "choose one of them; TrustedProxies is the safer")
	case o.TrustedHops < 0 || o.TrustedHops > maxHops:
		f.add(CodeBadHops, "TrustedHops", fmt.Sprintf("is %d", o.TrustedHops), fmt.Sprintf("use 1 to %d", maxHops))
	case o.TrustedHops > 1 && form == clientaddr.Single:
		f.add(CodeBadHops, "TrustedHops", fmt.Sprintf("is %d for a header with a single address", o.TrustedHops), "use 1")
	}
}

// uniqueLocal and linkLocal are wide but nobody's outside.
var (
	uniqueLocal = netip.MustParsePrefix("fc00::/7")
	linkLocal   = netip.MustParsePrefix("fe80::/10")
)

// trustedPrefix returns p in the notation of the addresses that it is compared with.
func trustedPrefix(f *findings, field string, p netip.Prefix) netip.Prefix {
	if !p.IsValid() {
		f.add(CodeBadProxy, field, "is not valid", `use netip.MustParsePrefix, such as of "10.0.0.0/8"`)
		return p
	}
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	local := uniqueLocal.Contains(p.Addr()) && p.Bits() >= 7 || linkLocal.Contains(p.Addr()) && p.Bits() >= 10
	switch {
	case p.Bits() == 0:
		f.add(CodeTrustsAll, field, fmt.Sprintf("is %s: every client is a trusted proxy and chooses its own key", p), "list the addresses of your proxies")
	case !local && (p.Addr().Is4() && p.Bits() < 8 || p.Addr().Is6() && p.Bits() < 16):
		f.add(CodeWideTrust, field, fmt.Sprintf("is %s, a very large part of all addresses", p), "list the addresses of your proxies")
	}
	return p
}

// proxyWatch warns once when requests come through a proxy while only the connection's address is read. Nothing at
// construction tells that, and it is how a limit per client becomes one for everybody.
type proxyWatch struct {
	logger *slog.Logger
	warned atomic.Bool
}

func (p *proxyWatch) look(r *http.Request) {
	if p == nil || p.warned.Load() {
		return
	}
	_, listed := r.Header["X-Forwarded-For"]
	if _, standard := r.Header["Forwarded"]; !listed && !standard {
		return
	}
	// Anybody can send the header; only a peer in the neighbourhood that does is a sign of a proxy.
	if a, ok := clientaddr.Parse(r.RemoteAddr); ok && !a.IsPrivate() && !a.IsLoopback() {
		return
	}
	if p.warned.CompareAndSwap(false, true) {
		p.logger.Warn("httplimit: requests come through a proxy, and all its clients are counted as one", "code", string(CodeProxySeen),
			"remedy", "set Header and TrustedProxies of ClientIPOptions")
	}
}

package proxy

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// setForwarded tells the upstream who the client is. What a trusted proxy said of it is passed on and appended to;
// what anybody else said is dropped, so that the upstream can believe what it reads.
func (p *Proxy) setForwarded(in, out *http.Request) {
	host, _, err := net.SplitHostPort(in.RemoteAddr)
	if err != nil {
		host = "" // a peer without an address
	}
	scheme := "http"
	if in.TLS != nil {
		scheme = "https"
	}
	said := http.Header(nil)
	if p.trusts(host) {
		said = in.Header
	} else {
		delete(out.Header, p.options.TrustHeader)
	}
	p.dropAliases(out.Header)
	delete(out.Header, "X-Forwarded-For")
	if host != "" {
		out.Header["X-Forwarded-For"] = []string{appended(said["X-Forwarded-For"], host)}
	}
	out.Header["X-Forwarded-Host"] = firstOr(said["X-Forwarded-Host"], in.Host)
	out.Header["X-Forwarded-Proto"] = firstOr(said["X-Forwarded-Proto"], scheme)
	if elements := said["Forwarded"]; len(elements) > 0 { // not begun by itself: it is said in X-Forwarded-*
		out.Header["Forwarded"] = []string{appended(elements, "for="+node(host))}
	}
}

// dropIdentity drops from trailers what says who the client is: no proxy says so there, and some servers take trailers
// for headers.
func (p *Proxy) dropIdentity(trailer http.Header) {
	p.dropAliases(trailer)
	for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded", p.options.TrustHeader} {
		delete(trailer, name)
	}
}

// dropAliases drops what many servers cannot tell from the headers that say who the client is: X_Forwarded_For becomes
// HTTP_X_FORWARDED_FOR to a CGI, WSGI or Rack application, as X-Forwarded-For does.
func (p *Proxy) dropAliases(h http.Header) {
	for name := range h {
		if strings.IndexByte(name, '_') < 0 {
			continue
		}
		switch http.CanonicalHeaderKey(strings.ReplaceAll(name, "_", "-")) {
		case "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", p.options.TrustHeader:
			delete(h, name)
		}
	}
}

// trusts says whether the peer with that address is a trusted proxy.
func (p *Proxy) trusts(host string) bool {
	if len(p.trusted) == 0 {
		return false
	}
	a, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	a = a.WithZone("").Unmap()
	for _, t := range p.trusted {
		if t.Contains(a) {
			return true
		}
	}
	return false
}

// appended returns the lines of a list as one, with entry at its end.
func appended(lines []string, entry string) string {
	if len(lines) == 0 {
		return entry
	}
	return strings.Join(lines, ", ") + ", " + entry
}

func firstOr(lines []string, otherwise string) []string {
	if len(lines) > 0 {
		return lines[:1:1]
	}
	return []string{otherwise}
}

// node writes an address as RFC 7239 wants it.
func node(host string) string {
	switch {
	case host == "":
		return "unknown"
	case strings.Contains(host, ":"):
		return `"[` + host + `]"`
	}
	return host
}

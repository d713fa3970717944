package clientaddr

import (
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Source says where the client's address stands. [New] fills in the form of the header.
type Source struct {
	Header  string         // canonical; empty reads none
	Trusted []netip.Prefix // masked, with IPv4 as IPv4
	Hops    int            // the entry that many from the right, whoever connects; 0 to walk
	Unix    bool           // a peer without an address is trusted
	Bits4   int            // how much of an IPv4 address is a client
	Bits6   int            // how much of an IPv6 address is

	form Form
}

// Form is how a header names the client.
type Form uint8

// The forms.
const (
	NoHeader Form = iota
	List          // X-Forwarded-For
	Elements      // Forwarded
	Single        // any other: one address
)

// FormOf returns the form of the header with that canonical name.
func FormOf(header string) Form {
	switch header {
	case "":
		return NoHeader
	case "X-Forwarded-For":
		return List
	case "Forwarded":
		return Elements
	}
	return Single
}

// New returns s, ready for use.
func New(s Source) *Source {
	s.form = FormOf(s.Header)
	return &s
}

// The reasons why an address cannot be told.
var (
	errPeer    = errors.New("the connection has no IP address")
	errEntry   = errors.New("the client's entry is no IP address")
	errTooFew  = errors.New("the header has fewer entries than trusted proxies")
	errTooMany = errors.New("the header has more entries than are looked at")
)

// maxEntries is how many entries of a header are looked at, from the right.
const maxEntries = 32

// Addr returns the client's address: valid, unmapped, without a zone.
func (s *Source) Addr(r *http.Request) (netip.Addr, error) {
	peer, known := Parse(r.RemoteAddr)
	switch {
	case s.form != NoHeader && s.Hops > 0:
		// Whoever the peer is: counting means that only proxies can connect.
	case !known && (!s.Unix || s.form == NoHeader):
		return netip.Addr{}, errPeer
	case s.form == NoHeader || known && !s.trusts(peer):
		return peer, nil
	}
	var buf [maxEntries]string
	entries := s.entries(r.Header[s.Header], buf[:0])
	if s.Hops > 0 {
		return nth(entries, s.Hops)
	}
	return s.walk(peer, known, entries)
}

// entries returns the entries of the header, rightmost first. All lines are one list: the last line is the nearest.
func (s *Source) entries(lines, entries []string) []string {
	for _, line := range slices.Backward(lines) {
		switch s.form {
		case Single:
			return append(entries, trimBlanks(line))
		case Elements:
			entries = appendForwarded(entries, line)
		default:
			entries = appendList(entries, line)
		}
		if len(entries) == maxEntries {
			break
		}
	}
	return entries
}

// nth returns the entry that is hops from the right.
func nth(entries []string, hops int) (netip.Addr, error) {
	if len(entries) < hops {
		return netip.Addr{}, errTooFew
	}
	a, ok := Parse(entries[hops-1])
	if !ok {
		return netip.Addr{}, errEntry
	}
	return a, nil
}

// walk returns the rightmost entry that is no trusted proxy. An entry that is no address ends it: beyond it stands what
// nobody vouches for.
func (s *Source) walk(peer netip.Addr, known bool, entries []string) (netip.Addr, error) {
	for _, e := range entries {
		a, ok := Parse(e)
		if !ok {
			return netip.Addr{}, errEntry
		}
		peer, known = a, true
		if !s.trusts(a) {
			return a, nil
		}
	}
	switch {
	case len(entries) == maxEntries:
		return netip.Addr{}, errTooMany
	case !known:
		return netip.Addr{}, errPeer
	}
	return peer, nil
}

func (s *Source) trusts(a netip.Addr) bool {
	for _, p := range s.Trusted {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// nat64 holds IPv4 addresses in its last 32 bits; as a /64 it would be one client.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// Key writes the client that a is counted for.
func (s *Source) Key(a netip.Addr) string {
	if nat64.Contains(a) {
		b := a.As16()
		a = netip.AddrFrom4([4]byte(b[12:]))
	}
	size := s.Bits6
	if a.Is4() {
		size = s.Bits4
	}
	var buf [64]byte
	b := append(buf[:0], "ip:"...)
	if size == a.BitLen() {
		return string(a.AppendTo(b))
	}
	p, _ := a.Prefix(size) // size is within the address: the options are checked
	return string(p.AppendTo(b))
}

// Parse reads an address with or without a port, brackets or a zone, and returns it unmapped and without the zone.
// It is strict otherwise: no octal, no short forms, and not the unspecified address.
func Parse(text string) (netip.Addr, bool) {
	if len(text) > 80 {
		return netip.Addr{}, false
	}
	host, port := text, ""
	if rest, ok := strings.CutPrefix(text, "["); ok {
		end := strings.IndexByte(rest, ']')
		if end < 0 || strings.IndexByte(rest[:end], ':') < 0 {
			return netip.Addr{}, false
		}
		host, port = rest[:end], rest[end+1:]
	} else if i := strings.IndexByte(text, ':'); i >= 0 && i == strings.LastIndexByte(text, ':') {
		host, port = text[:i], text[i:]
	}
	a, err := netip.ParseAddr(host)
	if err != nil || port != "" && !isPort(port) {
		return netip.Addr{}, false
	}
	a = a.WithZone("").Unmap()
	return a, !a.IsUnspecified()
}

// isPort accepts ":80" and the obfuscated ":_name" of RFC 7239.
func isPort(s string) bool {
	if len(s) < 2 || s[0] != ':' {
		return false
	}
	if s[1] == '_' {
		return IsToken(s[1:])
	}
	return len(s) <= 6 && strings.Trim(s[1:], "0123456789") == ""
}

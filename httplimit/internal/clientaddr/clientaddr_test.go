package clientaddr

import (
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"203.0.113.7", "203.0.113.7"},
		{"203.0.113.7:80", "203.0.113.7"},
		{"203.0.113.7:_hidden", "203.0.113.7"},
		{"2001:db8::1", "2001:db8::1"},
		{"2001:DB8:0:0::1", "2001:db8::1"},
		{"[2001:db8::1]", "2001:db8::1"},
		{"[2001:db8::1]:65535", "2001:db8::1"},
		{"[2001:db8::1%eth0]:1", "2001:db8::1"},
		{"::ffff:203.0.113.7", "203.0.113.7"},
		{"[::ffff:cb00:7107]:1", "203.0.113.7"},
		{"::ffff:203.0.113.7%eth0", "203.0.113.7"},
		{"", ""}, {":", ""}, {":80", ""}, {"[]", ""}, {"[", ""}, {"]", ""}, {"[::1", ""}, {"[203.0.113.7]:80", ""},
		{"203.0.113.7:", ""}, {"203.0.113.7:-1", ""}, {"203.0.113.7:123456", ""}, {"203.0.113.7:_a b", ""}, {"[::1]80", ""}, {"[::1]]", ""},
		{" 203.0.113.7", ""}, {"203.0.113.7 ", ""}, {"203.0.113", ""}, {"203.0.113.007", ""}, {"0x7f.1", ""}, {"2130706433", ""}, {"203.0.113.256", ""},
		{"0.0.0.0", ""}, {"::", ""}, {"::ffff:0.0.0.0", ""}, {"::%eth0", ""},
		{"localhost", ""}, {"unknown", ""}, {"_hidden", ""}, {"203.0.113.7%eth0", ""}, {"203.0.113.7, 203.0.113.8", ""},
	} {
		a, ok := Parse(tt.text)
		if got := a.String(); ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("Parse(%q) = %s, %t; want %q", tt.text, got, ok, tt.want)
		}
	}
}

func TestForwarded(t *testing.T) {
	for _, tt := range []struct{ line, want string }{ // rightmost first, joined by |
		{"", "malformed"},
		{"for=a", "a"},
		{"for=a,,for=b,", "malformed|b|malformed|a"},
		{"for=a,for=b , for=c", "c|b|a"},
		{`FOR="a,b;c=d";by=e`, "a,b;c=d"},
		{`for="a\"b\\c"`, `a"b\c`},
		{`for=a, for=""`, "|a"},
		{"by=a;for=b;proto=c", "b"},
		{"by=a, for=b", "b|malformed"},
		{";;for=a;;", "a"},
		{`for="a`, "malformed"},
		{`for="a\`, "malformed"},
		{`for="a"b`, "malformed"},
		{"for=a b", "malformed"},
		{"for =a", "malformed"},
		{"for=", "malformed"},
		{"=a", "malformed"},
		{"for", "malformed"},
		{"for=a;for=b", "malformed"},
		{"for=a, for=b\x00", "malformed"},
	} {
		if got := strings.Join(appendForwarded(nil, tt.line), "|"); got != tt.want {
			t.Errorf("appendForwarded(%q) = %q, want %q", tt.line, got, tt.want)
		}
	}
}

// Whatever a sender writes into the header, the work and what is kept of it are bounded.
func TestEntriesAreBounded(t *testing.T) {
	lines := slices.Repeat([]string{strings.Repeat("10.0.0.1,", 1000)}, 100)
	for _, header := range []string{"X-Forwarded-For", "Forwarded", "X-Real-IP"} {
		s := New(Source{Header: header, Hops: 1})
		if got := len(s.entries(lines, nil)); got > maxEntries {
			t.Errorf("%s: %d entries, want at most %d", header, got, maxEntries)
		}
	}
}

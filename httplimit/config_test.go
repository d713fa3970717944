package httplimit_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/netip"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/weirhq/weir/httplimit"
)

// prefixes parses texts.
func prefixes(texts ...string) []netip.Prefix {
	var p []netip.Prefix
	for _, text := range texts {
		p = append(p, netip.MustParsePrefix(text))
	}
	return p
}

// configTests are misconfigurations with what New says of them: errors one to a line, or warnings.
var configTests = []struct {
	name string
	edit func(*httplimit.Options) // of options with one policy that is right
	want string                   // the error, or the log when it begins with level=
}{
	{"nothing wrong", func(o *httplimit.Options) {}, ""},
	{"no policies", func(o *httplimit.Options) { o.Policies = nil },
		`httplimit: WH001: Policies is empty; give at least one, or leave the middleware out`},
	{"no limiter", func(o *httplimit.Options) { o.Policies[0].Limiter = nil },
		`httplimit: WH002: Policies[0].Limiter is nil; give one, such as weir.MustNew(store, weir.Options{Limits: weir.MustParseLimits("100/m")})`},
	{"no key", func(o *httplimit.Options) { o.Policies[0].Key = httplimit.Key{} },
		`httplimit: WH003: Policies[0].Key is not set; say who is limited, such as httplimit.ClientIP(httplimit.ClientIPOptions{}), or httplimit.Global() for everybody together`},
	{"no key in a join", key(httplimit.Join(httplimit.Global(), httplimit.Key{})),
		`httplimit: WH003: Policies[0].Key.join[1] is not set; use one of the constructors of httplimit.Key`},
	{"upper case name", func(o *httplimit.Options) { o.Policies[0].Name = "API" },
		`httplimit: WH004: Policies[0].Name is "API"; use a lower-case letter and then at most 63 of a-z, 0-9, _, . and -`},
	{"name with a quote", func(o *httplimit.Options) { o.Policies[0].Name = `a"b` },
		`httplimit: WH004: Policies[0].Name is "a\"b"; use a lower-case letter and then at most 63 of a-z, 0-9, _, . and -`},
	{"long name", func(o *httplimit.Options) { o.Policies[0].Name = strings.Repeat("a", 65) },
		`httplimit: WH004: Policies[0].Name is "` + strings.Repeat("a", 65) + `"; use a lower-case letter and then at most 63 of a-z, 0-9, _, . and -`},
	{"same name twice", func(o *httplimit.Options) { *o = twice(o.Policies[0], httplimit.Header("A")) },
		`httplimit: WH005: Policies[1].Name gives the header name "default", which Policies[0] has; give each policy a name of its own`},
	{"name of another's limit", func(o *httplimit.Options) {
		*o = twice(o.Policies[0], httplimit.Header("A"))
		o.Policies[0].Limiter = onStore(brokenStore{}, "", "1/s", "1/m")
		o.Policies[1].Name = "default.m"
	}, `httplimit: WH005: Policies[1].Name gives the header name "default.m", which Policies[0] has; give each policy a name of its own`},
	{"cost above the limit", func(o *httplimit.Options) { o.Policies[0].Cost = httplimit.FixedCost(11) },
		`httplimit: WH006: Policies[0].Cost is 11, above the 10 of "10/m": every request would be refused; use a smaller cost or a larger limit`},
	{"negative cost", func(o *httplimit.Options) { o.Policies[0].Cost = httplimit.FixedCost(-1) },
		`httplimit: WH007: Policies[0].Cost is negative or has a nil function; use FixedCost(n) with n of at least 1, or CostFunc with a function`},
	{"nil cost function", func(o *httplimit.Options) { o.Policies[0].Cost = httplimit.CostFunc(nil) },
		`httplimit: WH007: Policies[0].Cost is negative or has a nil function; use FixedCost(n) with n of at least 1, or CostFunc with a function`},
	{"drafts 11 and 7", func(o *httplimit.Options) { o.Headers = httplimit.HeadersDraft11 | httplimit.HeadersDraft7 },
		`httplimit: WH008: Headers joins HeadersDraft11 with draft 6 or 7, which write RateLimit-Policy in another shape; choose one of them`},
	{"drafts 11 and 6", func(o *httplimit.Options) { o.Headers = httplimit.HeadersDraft11 | httplimit.HeadersDraft6 },
		`httplimit: WH008: Headers joins HeadersDraft11 with draft 6 or 7, which write RateLimit-Policy in another shape; choose one of them`},
	{"epoch and delta", func(o *httplimit.Options) { o.Headers = httplimit.HeadersXEpoch | httplimit.HeadersXDelta },
		`httplimit: WH008: Headers joins HeadersXEpoch and HeadersXDelta, which give X-RateLimit-Reset two meanings; choose one of them`},
	{"none and others", func(o *httplimit.Options) { o.Headers = httplimit.HeadersNone | httplimit.HeadersXDelta },
		`httplimit: WH008: Headers joins HeadersNone with others; use it alone`},
	{"unknown headers", func(o *httplimit.Options) { o.Headers = 1 << 7 },
		`httplimit: WH008: Headers has unknown bits; join the constants of httplimit.Headers with |`},
	{"unknown choices", func(o *httplimit.Options) { o.Policies[0].Missing, o.Policies[0].OnFailure = 7, 8 },
		"httplimit: WH009: Policies[0].Missing is 7; use httplimit.RefuseMissing or httplimit.ShareMissing\n" +
			"httplimit: WH009: Policies[0].OnFailure is 8; use httplimit.FailClosed or httplimit.FailOpen"},
	{"header name", key(httplimit.Header("X Key")), `httplimit: WH010: Policies[0].Key reads a header named "X Key"; use a header's name, such as X-API-Key`},
	{"no header name", key(httplimit.Header("")), `httplimit: WH010: Policies[0].Key reads a header named ""; use a header's name, such as X-API-Key`},
	{"cookie name", key(httplimit.Cookie("a=b")), `httplimit: WH010: Policies[0].Key reads a cookie named "a=b"; use a cookie's name, such as session`},
	{"no patterns", key(httplimit.Path()), `httplimit: WH010: Policies[0].Key has no patterns; list those of your routes, such as "/users/{id}" and "/"`},
	{"nil user function", key(httplimit.User(nil)), `httplimit: WH010: Policies[0].Key has a nil function; give one that reads the user from the context`},
	{"nil key function", key(httplimit.KeyFunc("tenant", nil)), `httplimit: WH010: Policies[0].Key has a nil function; give one that returns whom the request is counted for`},
	{"kind that is taken", key(httplimit.KeyFunc("ip", func(*http.Request) (string, error) { return "x", nil })),
		`httplimit: WH010: Policies[0].Key has the name "ip"; use lower-case letters, digits, _ and -, and none of cookie, first, global, header, ip, join, missing, path, user`},
	{"join of nothing", key(httplimit.Join()), `httplimit: WH010: Policies[0].Key combines no keys; give at least one`},
	{"finding deep inside", key(httplimit.First(httplimit.Global(), httplimit.Join(httplimit.ClientIP(httplimit.ClientIPOptions{IPv6Prefix: 8})))),
		`httplimit: WH025: Policies[0].Key.first[1].join[0].IPv6Prefix is 8; use 32 to 128, or 0 for 64`},

	{"trusts everybody", ip(httplimit.ClientIPOptions{Header: "X-Forwarded-For", TrustedProxies: prefixes("10.0.0.0/8", "0.0.0.0/0")}),
		`httplimit: WH020: Policies[0].Key.TrustedProxies[1] is 0.0.0.0/0: every client is a trusted proxy and chooses its own key; list the addresses of your proxies`},
	{"trusts everybody of IPv6", ip(httplimit.ClientIPOptions{Header: "X-Forwarded-For", TrustedProxies: prefixes("::/0")}),
		`httplimit: WH020: Policies[0].Key.TrustedProxies[0] is ::/0: every client is a trusted proxy and chooses its own key; list the addresses of your proxies`},
	{"trusts everybody in disguise", ip(httplimit.ClientIPOptions{Header: "X-Forwarded-For", TrustedProxies: prefixes("::ffff:0.0.0.0/96")}),
		`httplimit: WH020: Policies[0].Key.TrustedProxies[0] is 0.0.0.0/0: every client is a trusted proxy and chooses its own key; list the addresses of your proxies`},
	{"header without trust", ip(httplimit.ClientIPOptions{Header: "X-Real-IP"}),
		`httplimit: WH021: Policies[0].Key.Header is believed from everybody, so that clients choose their own key; set TrustedProxies to your proxies' addresses, or TrustedHops to their number`},
	{"trust without header", ip(httplimit.ClientIPOptions{TrustedHops: 1}),
		`httplimit: WH022: Policies[0].Key.Header is empty but proxies are trusted, so that all clients would share the proxy's address; name the header that your proxies write, such as X-Forwarded-For`},
	{"two trusts", ip(httplimit.ClientIPOptions{Header: "Forwarded", TrustedHops: 1, TrustedProxies: prefixes("10.0.0.0/8")}),
		`httplimit: WH023: Policies[0].Key.TrustedHops is set together with TrustedProxies; choose one of them; TrustedProxies is the safer`},
	{"many hops", ip(httplimit.ClientIPOptions{Header: "Forwarded", TrustedHops: 17}), `httplimit: WH024: Policies[0].Key.TrustedHops is 17; use 1 to 16`},
	{"negative hops", ip(httplimit.ClientIPOptions{Header: "Forwarded", TrustedHops: -1, UnixPeer: true}), `httplimit: WH024: Policies[0].Key.TrustedHops is -1; use 1 to 16`},
	{"hops of a single address", ip(httplimit.ClientIPOptions{Header: "CF-Connecting-IP", TrustedHops: 2}),
		`httplimit: WH024: Policies[0].Key.TrustedHops is 2 for a header with a single address; use 1`},
	{"prefix lengths", ip(httplimit.ClientIPOptions{IPv4Prefix: 33, IPv6Prefix: 129}),
		"httplimit: WH025: Policies[0].Key.IPv4Prefix is 33; use 8 to 32, or 0 for 32\nhttplimit: WH025: Policies[0].Key.IPv6Prefix is 129; use 32 to 128, or 0 for 64"},
	{"zero prefix", ip(httplimit.ClientIPOptions{Header: "Forwarded", TrustedProxies: make([]netip.Prefix, 1)}),
		`httplimit: WH026: Policies[0].Key.TrustedProxies[0] is not valid; use netip.MustParsePrefix, such as of "10.0.0.0/8"`},
	{"header that is no name", ip(httplimit.ClientIPOptions{Header: "a,b", TrustedHops: 1}),
		`httplimit: WH010: Policies[0].Key.Header is "a,b"; use a header's name, such as X-Forwarded-For`},
	{"private proxies", ip(httplimit.ClientIPOptions{Header: "X-Forwarded-For", TrustedProxies: prefixes("10.0.0.0/8", "127.0.0.0/8", "fc00::/7", "fe80::/10", "192.168.0.0/16", "::1/128")}), ""},

	{"half of all addresses", ip(httplimit.ClientIPOptions{Header: "X-Forwarded-For", TrustedProxies: prefixes("128.0.0.0/1", "8000::/1")}),
		`level=WARN msg="httplimit: Policies[0].Key.TrustedProxies[0] is 128.0.0.0/1, a very large part of all addresses" code=WH101 remedy="list the addresses of your proxies"` + "\n" +
			`level=WARN msg="httplimit: Policies[0].Key.TrustedProxies[1] is 8000::/1, a very large part of all addresses" code=WH101 remedy="list the addresses of your proxies"` + "\n"},
	{"shared state", func(o *httplimit.Options) {
		*o = twice(o.Policies[0], o.Policies[0].Key)
		o.Policies[1].Name = "other"
	}, `level=WARN msg="httplimit: Policies[1].Limiter counts the same keys under the same limiter name as Policies[0]" code=WH102 remedy="give each weir.Limiter a Name of its own, unless they are on different stores"` + "\n"},
	{"nothing refuses", func(o *httplimit.Options) { o.Policies[0].Shadow = true },
		`level=WARN msg="httplimit: Policies are all shadow policies: nothing is ever refused" code=WH103 remedy="clear Shadow when you have seen enough"` + "\n"},
	{"costs nothing", func(o *httplimit.Options) { o.Policies[0].Cost = httplimit.FixedCost(0) },
		`level=WARN msg="httplimit: Policies[0].Cost is 0: no request ever uses anything up" code=WH104 remedy="use a cost of at least 1, or leave the policy out"` + "\n"},
}

func key(k httplimit.Key) func(*httplimit.Options) {
	return func(o *httplimit.Options) { o.Policies[0].Key = k }
}

func ip(o httplimit.ClientIPOptions) func(*httplimit.Options) { return key(httplimit.ClientIP(o)) }

func twice(p httplimit.Policy, second httplimit.Key) httplimit.Options {
	q := p
	q.Key = second
	return policies(p, q)
}

func TestConfiguration(t *testing.T) {
	for _, tt := range configTests {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			opts := policies(httplimit.Policy{Limiter: newLimiter(t, "10/m"), Key: httplimit.User(nobody)})
			tt.edit(&opts)
			opts.Logger = logTo(&log)
			limit, err := httplimit.New(opts)
			got := log.String()
			if err != nil {
				got += err.Error()
			}
			if got != tt.want {
				t.Errorf("New(...) said\n%s\nwant\n%s", got, tt.want)
			}
			if (limit == nil) != (err != nil) {
				t.Errorf("New(...) = %t middleware, error %v", limit != nil, err)
			}
			if err != nil {
				wantConfigError(t, err, tt.want)
			}
		})
	}
}

func nobody(context.Context) (string, bool) { return "", false }

// wantConfigError checks that err can be told apart without reading its text.
func wantConfigError(t *testing.T, err error, text string) {
	t.Helper()
	var c *httplimit.ConfigError
	if !errors.As(err, &c) || !errors.Is(err, httplimit.ErrConfig) {
		t.Fatalf("New(...) = %T %v, want a *ConfigError that is ErrConfig", err, err)
	}
	if first, _, _ := strings.Cut(strings.TrimPrefix(text, "httplimit: "), ":"); string(c.Code) != first {
		t.Errorf("the error's code is %s, want %s", c.Code, first)
	}
}

func TestBadPattern(t *testing.T) {
	for _, patterns := range [][]string{{""}, {"/{"}, {"/a", "/a"}, {"/{x}/b", "/a/{y}"}} {
		_, err := httplimit.New(policies(httplimit.Policy{Limiter: newLimiter(t, "1/s"), Key: httplimit.Path(patterns...)}))
		if err == nil || !strings.HasPrefix(err.Error(), "httplimit: WH010: Policies[0].Key has the pattern ") {
			t.Errorf("New with Path(%q) = %v, want WH010", patterns, err)
		}
	}
}

func TestMustNewPanics(t *testing.T) {
	defer func() {
		if err, _ := recover().(error); !errors.Is(err, httplimit.ErrConfig) {
			t.Errorf("MustNew(Options{}) panicked with %v, want an ErrConfig", err)
		}
	}()
	httplimit.MustNew(httplimit.Options{})
}

// Every code is reached by a test here, or named with the test that reaches it, and explained in the documentation.
func TestCodesAreExplained(t *testing.T) {
	source, err := os.ReadFile("errors.go")
	if err != nil {
		t.Fatal(err)
	}
	docs, err := os.ReadFile("../docs/http.md")
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`Code = "(WH\d+)"`).FindAllStringSubmatch(string(source), -1)
	if len(codes) < 20 {
		t.Fatalf("errors.go has %d codes, want them all", len(codes))
	}
	reached := map[string]bool{string(httplimit.CodeProxySeen): true} // TestProxySeen
	for _, tt := range configTests {
		for _, code := range regexp.MustCompile(`WH\d+`).FindAllString(tt.want, -1) {
			reached[code] = true
		}
	}
	for _, c := range codes {
		if !reached[c[1]] {
			t.Errorf("no test reaches %s", c[1])
		}
		if !strings.Contains(string(docs), "| "+c[1]+" |") {
			t.Errorf("docs/http.md has no row for %s", c[1])
		}
	}
}

// Behind a proxy whose header is not read, all its clients are one. Only the first sign of it is logged.
func TestProxySeen(t *testing.T) {
	warning := `level=WARN msg="httplimit: requests come through a proxy, and all its clients are counted as one" code=WH105 remedy="set Header and TrustedProxies of ClientIPOptions"` + "\n"
	tests := []struct {
		name, peer, header string
		key                httplimit.Key
		want               string
	}{
		{"proxy next door", "10.0.0.1:9", "X-Forwarded-For: 203.0.113.7", httplimit.ClientIP(httplimit.ClientIPOptions{}), warning},
		{"standard header", "[::1]:9", "Forwarded: for=203.0.113.7", httplimit.First(httplimit.User(nobody), httplimit.ClientIP(httplimit.ClientIPOptions{})), warning},
		{"anybody's header", "198.51.100.1:9", "X-Forwarded-For: 203.0.113.7", httplimit.ClientIP(httplimit.ClientIPOptions{}), ""},
		{"no header", "10.0.0.1:9", "X-Other: 1", httplimit.ClientIP(httplimit.ClientIPOptions{}), ""},
		{"proxy that is known", "10.0.0.1:9", "X-Forwarded-For: 203.0.113.7",
			httplimit.ClientIP(httplimit.ClientIPOptions{Header: "X-Forwarded-For", TrustedProxies: prefixes("10.0.0.0/8")}), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			opts := policies(httplimit.Policy{Limiter: newLimiter(t, "10/m"), Key: tt.key})
			opts.Logger = logTo(&log)
			h := build(t, opts)
			for range 3 {
				r := request("GET", "/", tt.header)
				r.RemoteAddr = tt.peer
				send(h, r)
			}
			if got := log.String(); got != tt.want {
				t.Errorf("three requests logged\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

package proxy

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/weirhq/weir/memstore"
)

func hello(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("hello\n")) }

func TestAllowedAndRefused(t *testing.T) {
	g := serveTo(t, hello, Options{Limits: limits("3/h")})
	for i, want := range []int{200, 200, 200, 429, 429} {
		res := g.get("/")
		if res.StatusCode != want {
			t.Fatalf("request %d: status %d, want %d", i, res.StatusCode, want)
		}
		switch want {
		case 200:
			if got := bodyOf(res); got != "hello\n" {
				t.Errorf("request %d: body %q, want the upstream's", i, got)
			}
		case 429:
			if got := res.Header.Get("Retry-After"); got == "" || got == "0" {
				t.Errorf("request %d: Retry-After %q, want the wait", i, got)
			}
			if got := res.Header.Get("Content-Type"); got != "application/problem+json" {
				t.Errorf("request %d: Content-Type %q, want application/problem+json", i, got)
			}
		}
		if res.Header.Get("RateLimit") == "" || res.Header.Get("RateLimit-Policy") == "" {
			t.Errorf("request %d: RateLimit fields are missing: %v", i, res.Header)
		}
	}
	c := g.proxy.Counts()
	if c.Allowed != 3 || c.Refused != 2 || c.UpstreamErrors != 0 || c.Keys != 1 {
		t.Errorf("Counts() = %+v, want 3 allowed, 2 refused, 1 key", c)
	}
}

func TestSeveralLimitsAreOne(t *testing.T) {
	g := serveTo(t, hello, Options{Limits: limits("5/h", "2/h fixed-window anchored")})
	if got, want := g.statuses(4), "200 200 429 429"; got != want {
		t.Errorf("statuses %s, want %s", got, want)
	}
	if got := g.proxy.Counts().Keys; got != 1 {
		t.Errorf("Keys = %d, want 1 for one client under two limits", got)
	}
}

// TestStoreOfTheCaller: two proxies over one store share a limit, and leave the store open.
func TestStoreOfTheCaller(t *testing.T) {
	store := memstore.MustNew(memstore.Options{})
	defer store.Close()
	first := serveTo(t, hello, Options{Limits: limits("3/h"), Store: store})
	second := serveTo(t, hello, Options{Limits: limits("3/h"), Store: store})
	if got, want := first.statuses(2)+" "+second.statuses(2), "200 200 200 429"; got != want {
		t.Errorf("statuses %s, want %s", got, want)
	}
	if c := second.proxy.Counts(); c.Allowed != 1 || c.Refused != 1 || c.Keys != 0 {
		t.Errorf("Counts() = %+v, want 1 allowed, 1 refused, and no count of keys", c)
	}
	first.proxy.Close()
	if got := second.statuses(1); got != "429" {
		t.Errorf("after the first proxy is closed: status %s, want 429", got)
	}
}

func TestNoLimitForwardsEverything(t *testing.T) {
	g := serveTo(t, hello, Options{})
	res := g.get("/")
	if res.StatusCode != 200 || res.Header.Get("RateLimit") != "" {
		t.Errorf("status %d, header %v; want 200 without RateLimit", res.StatusCode, res.Header)
	}
	if c := g.proxy.Counts(); c.Allowed != 1 || c.Keys != 0 {
		t.Errorf("Counts() = %+v, want 1 allowed and no keys", c)
	}
}

func TestShadowCountsAndRefusesNothing(t *testing.T) {
	g := serveTo(t, hello, Options{Limits: limits("2/h"), Shadow: true})
	if got, want := g.statuses(5), "200 200 200 200 200"; got != want {
		t.Errorf("statuses %s, want %s", got, want)
	}
	if c := g.proxy.Counts(); c.Allowed != 2 || c.Refused != 3 {
		t.Errorf("Counts() = %+v, want 2 allowed, 3 that would be refused", c)
	}
}

func TestRefusalOfTheUpstreamPasses(t *testing.T) {
	g := serveTo(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "77")
		w.Header().Set("RateLimit", `"upstream";r=0;t=77`)
		w.WriteHeader(http.StatusTooManyRequests)
	}, Options{Limits: limits("3/h")})
	res := g.get("/")
	if res.StatusCode != 429 || res.Header.Get("Retry-After") != "77" {
		t.Errorf("status %d, Retry-After %q; want the upstream's 429 and 77", res.StatusCode, res.Header.Get("Retry-After"))
	}
	if got := strings.Join(res.Header.Values("RateLimit"), ", "); !strings.Contains(got, `"default"`) || !strings.Contains(got, `"upstream"`) {
		t.Errorf("RateLimit is %s, want members of both", got)
	}
	if c := g.proxy.Counts(); c.Allowed != 1 || c.Refused != 0 {
		t.Errorf("Counts() = %+v, want 1 allowed, none refused by the proxy", c)
	}
}

func TestForgedForwardedForIsNoKey(t *testing.T) {
	g := serveTo(t, hello, Options{Limits: limits("2/h")})
	var got []string
	for _, forged := range []string{"203.0.113.1", "203.0.113.2", "203.0.113.3"} {
		got = append(got, g.statuses(1, "X-Forwarded-For", forged, "X-Real-IP", forged, "Forwarded", "for="+forged))
	}
	if got, want := strings.Join(got, " "), "200 200 429"; got != want {
		t.Errorf("statuses %s, want %s: the header made a new key", got, want)
	}
}

func TestTrustedProxyNamesTheClient(t *testing.T) {
	g := serveTo(t, hello, Options{Limits: limits("1/h"), TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	for _, step := range []struct{ forwarded, want string }{
		{"203.0.113.1", "200"},
		{"203.0.113.1", "429"},
		{"203.0.113.2", "200"},
		{"198.51.100.9, 203.0.113.2", "429"}, // what stands left of the client is the client's invention
		{"203.0.113.2, 127.0.0.9", "429"},    // a second trusted proxy
	} {
		if got := g.statuses(1, "X-Forwarded-For", step.forwarded); got != step.want {
			t.Errorf("X-Forwarded-For %q: status %s, want %s", step.forwarded, got, step.want)
		}
	}
}

func TestTrustHeaderNamesTheClient(t *testing.T) {
	g := serveTo(t, hello, Options{Limits: limits("1/h"), TrustHeader: "CF-Connecting-IP", TrustedProxies: []netip.Prefix{netip.MustParsePrefix("::ffff:127.0.0.1/128")}})
	for _, step := range []struct{ ip, want string }{{"203.0.113.1", "200"}, {"203.0.113.2", "200"}, {"203.0.113.1", "429"}} {
		if got := g.statuses(1, "CF-Connecting-IP", step.ip, "X-Forwarded-For", "192.0.2.77"); got != step.want {
			t.Errorf("CF-Connecting-IP %q: status %s, want %s", step.ip, got, step.want)
		}
	}
}

func TestKeys(t *testing.T) {
	for _, c := range []struct {
		key   string
		steps [][]string // of header name, value; the last is the status
	}{
		{"global", [][]string{{"200"}, {"429"}}},
		{"header:X-Api-Key", [][]string{{"X-Api-Key", "a", "200"}, {"X-Api-Key", "a", "429"}, {"X-Api-Key", "b", "200"}, {"200"}, {"429"}}},
		{"cookie:sid", [][]string{{"Cookie", "sid=1", "200"}, {"Cookie", "sid=1; x=2", "429"}, {"Cookie", "sid=2", "200"}, {"Cookie", "x=1", "200"}, {"429"}}},
	} {
		t.Run(c.key, func(t *testing.T) {
			g := serveTo(t, hello, Options{Limits: limits("1/h"), Key: c.key})
			for i, s := range c.steps {
				last := len(s) - 1
				if got := g.statuses(1, s[:last]...); got != s[last] {
					t.Errorf("step %d %v: status %s, want %s", i, s[:last], got, s[last])
				}
			}
		})
	}
}

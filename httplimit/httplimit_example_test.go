package httplimit_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/httplimit"
	"github.com/weirhq/weir/memstore"
)

var hello = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "hello") })

// show sends a request and prints what matters of the response.
func show(h http.Handler, r *http.Request) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	fmt.Print(w.Code)
	for _, name := range []string{"RateLimit-Policy", "Retry-After", "Content-Type"} {
		if v := w.Header().Get(name); v != "" && !strings.HasPrefix(v, "text/") {
			fmt.Print(" ", name, ": ", v)
		}
	}
	fmt.Println()
}

func ExampleNew() {
	store := memstore.MustNew(memstore.Options{})
	defer store.Close()

	limit, err := httplimit.New(httplimit.Options{Policies: []httplimit.Policy{{
		Name:    "per-client",
		Limiter: weir.MustNew(store, weir.Options{Limits: weir.MustParseLimits("2/m")}),
		Key:     httplimit.ClientIP(httplimit.ClientIPOptions{}),
	}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	h := limit(hello)
	for range 3 {
		show(h, httptest.NewRequest("GET", "/", nil))
	}
	// Output:
	// 200 RateLimit-Policy: "per-client";q=2;w=60
	// 200 RateLimit-Policy: "per-client";q=2;w=60
	// 429 RateLimit-Policy: "per-client";q=2;w=60 Retry-After: 30 Content-Type: application/problem+json
}

func ExampleNew_misconfigured() {
	store := memstore.MustNew(memstore.Options{})
	defer store.Close()

	_, err := httplimit.New(httplimit.Options{Policies: []httplimit.Policy{{
		Limiter: weir.MustNew(store, weir.Options{Limits: weir.MustParseLimits("2/m")}),
		Key:     httplimit.ClientIP(httplimit.ClientIPOptions{Header: "X-Real-IP"}),
	}}})
	fmt.Println(err)
	// Output:
	// httplimit: WH021: Policies[0].Key.Header is believed from everybody, so that clients choose their own key; set TrustedProxies to your proxies' addresses, or TrustedHops to their number
}

func ExampleMustNew() {
	store := memstore.MustNew(memstore.Options{})
	defer store.Close()

	// Two policies: logins by address, strictly; and everything by API key, or by address where there is none.
	client := httplimit.ClientIP(httplimit.ClientIPOptions{Header: "X-Forwarded-For", TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}})
	limit := httplimit.MustNew(httplimit.Options{Policies: []httplimit.Policy{
		{
			Name:    "login",
			Limiter: weir.MustNew(store, weir.Options{Name: "login", Limits: weir.MustParseLimits("1/m")}),
			Key:     client,
			Skip:    func(r *http.Request) bool { return r.URL.Path != "/login" },
		},
		{
			Name:    "api",
			Limiter: weir.MustNew(store, weir.Options{Name: "api", Limits: weir.MustParseLimits("10/s burst 20", "1000/h")}),
			Key:     httplimit.First(httplimit.Header("X-API-Key"), client),
		},
	}})
	h := limit(hello)
	for _, path := range []string{"/", "/login", "/login"} {
		show(h, httptest.NewRequest("GET", path, nil))
	}
	// Output:
	// 200 RateLimit-Policy: "api.s";q=20;w=2, "api.h";q=1000;w=3600
	// 200 RateLimit-Policy: "login";q=1;w=60, "api.s";q=20;w=2, "api.h";q=1000;w=3600
	// 429 RateLimit-Policy: "login";q=1;w=60, "api.s";q=20;w=2, "api.h";q=1000;w=3600 Retry-After: 60 Content-Type: application/problem+json
}

// printKeys prints whom requests are counted for.
func printKeys(k httplimit.Key, requests ...*http.Request) {
	store := memstore.MustNew(memstore.Options{})
	defer store.Close()
	h := httplimit.MustNew(httplimit.Options{
		Policies: []httplimit.Policy{{Limiter: weir.MustNew(store, weir.Options{Limits: weir.MustParseLimits("10/s")}), Key: k}},
		Observe:  func(_ *http.Request, o httplimit.Outcome) { fmt.Printf("%q %v\n", o.Key, o.Err) },
		Logger:   slog.New(slog.DiscardHandler),
	})(hello)
	for _, r := range requests {
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
}

// from returns a request of that peer with an X-Forwarded-For.
func from(peer, forwarded string) *http.Request {
	r := httptest.NewRequest("GET", "/users/42", nil)
	r.RemoteAddr = peer
	r.Header.Set("X-Forwarded-For", forwarded)
	return r
}

func ExampleClientIP() {
	printKeys(httplimit.ClientIP(httplimit.ClientIPOptions{
		Header:         "X-Forwarded-For",
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
	}),
		from("10.0.0.1:4711", "6.6.6.6, 203.0.113.7"),     // the left entry is what the client claims
		from("10.0.0.1:4711", "[2001:db8:1:2:3::4]:5678"), // a subscriber's network
		from("198.51.100.9:4711", "203.0.113.7"),          // a stranger
		from("10.0.0.1:4711", "unknown"),
	)
	// Output:
	// "ip:203.0.113.7" <nil>
	// "ip:2001:db8:1:2::/64" <nil>
	// "ip:198.51.100.9" <nil>
	// "" httplimit: no key: the client's entry is no IP address
}

func ExampleClientIPOptions_Addr() {
	options := httplimit.ClientIPOptions{Header: "X-Forwarded-For", TrustedHops: 1}
	addr, err := options.Addr(from("10.0.0.1:4711", "::ffff:203.0.113.7"))
	fmt.Println(addr, err)
	// Output: 203.0.113.7 <nil>
}

func ExampleHeader() {
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("X-API-Key", "k-1")
	printKeys(httplimit.Header("X-API-Key"), r, httptest.NewRequest("GET", "/", nil))
	// Output:
	// "header:x-api-key:k-1" <nil>
	// "" httplimit: no key: header X-Api-Key is absent or empty
}

func ExampleCookie() {
	r := httptest.NewRequest("GET", "/", nil)
	r.AddCookie(&http.Cookie{Name: "session", Value: "s-1"})
	printKeys(httplimit.Cookie("session"), r)
	// Output: "cookie:session:s-1" <nil>
}

func ExamplePath() {
	printKeys(httplimit.Path("/users/{id}", "/login"),
		httptest.NewRequest("GET", "/users/1", nil), httptest.NewRequest("GET", "/users/2", nil), httptest.NewRequest("GET", "/else", nil))
	// Output:
	// "path:/users/{id}" <nil>
	// "path:/users/{id}" <nil>
	// "path:" <nil>
}

func ExampleUser() {
	type userID struct{}
	signedIn := func(ctx context.Context) (string, bool) {
		id, ok := ctx.Value(userID{}).(string)
		return id, ok
	}
	r := httptest.NewRequest("GET", "/", nil)
	printKeys(httplimit.User(signedIn), r.WithContext(context.WithValue(r.Context(), userID{}, "42")), r)
	// Output:
	// "user:42" <nil>
	// "" httplimit: no key: nobody is authenticated
}

func ExampleGlobal() {
	printKeys(httplimit.Global(), httptest.NewRequest("GET", "/", nil))
	// Output: "global" <nil>
}

func ExampleKeyFunc() {
	printKeys(httplimit.KeyFunc("tenant", func(r *http.Request) (string, error) { return r.URL.Query().Get("tenant"), nil }),
		httptest.NewRequest("GET", "/?tenant=acme", nil))
	// Output: "tenant:acme" <nil>
}

func ExampleJoin() {
	printKeys(httplimit.Join(httplimit.Path("/users/{id}"), httplimit.ClientIP(httplimit.ClientIPOptions{})), from("203.0.113.7:1", ""))
	// Output: "join:16:path:/users/{id},14:ip:203.0.113.7," <nil>
}

func ExampleFirst() {
	r := from("203.0.113.7:1", "")
	r.Header.Set("X-API-Key", "k-1")
	printKeys(httplimit.First(httplimit.Header("X-API-Key"), httplimit.ClientIP(httplimit.ClientIPOptions{})), r, from("203.0.113.7:1", ""))
	// Output:
	// "header:x-api-key:k-1" <nil>
	// "ip:203.0.113.7" <nil>
}

func ExampleFixedCost() {
	store := memstore.MustNew(memstore.Options{})
	defer store.Close()
	h := httplimit.MustNew(httplimit.Options{Policies: []httplimit.Policy{{
		Name:    "exports",
		Limiter: weir.MustNew(store, weir.Options{Limits: weir.MustParseLimits("10/m")}),
		Key:     httplimit.Global(),
		Cost:    httplimit.FixedCost(6),
	}}})(hello)
	show(h, httptest.NewRequest("GET", "/", nil))
	show(h, httptest.NewRequest("GET", "/", nil))
	// Output:
	// 200 RateLimit-Policy: "exports";q=10;w=60
	// 429 RateLimit-Policy: "exports";q=10;w=60 Retry-After: 12 Content-Type: application/problem+json
}

func ExampleCostFunc() {
	store := memstore.MustNew(memstore.Options{})
	defer store.Close()
	h := httplimit.MustNew(httplimit.Options{Policies: []httplimit.Policy{{
		Name:    "upload-bytes",
		Limiter: weir.MustNew(store, weir.Options{Limits: weir.MustParseLimits("1000/m")}),
		Key:     httplimit.Global(),
		Cost:    httplimit.CostFunc(func(r *http.Request) (int64, error) { return r.ContentLength, nil }),
	}}})(hello)
	show(h, httptest.NewRequest("POST", "/", strings.NewReader(strings.Repeat("x", 600))))
	show(h, httptest.NewRequest("POST", "/", strings.NewReader(strings.Repeat("x", 600))))
	show(h, httptest.NewRequest("POST", "/", strings.NewReader(strings.Repeat("x", 2000)))) // more than there ever is
	// Output:
	// 200 RateLimit-Policy: "upload-bytes";q=1000;w=60
	// 429 RateLimit-Policy: "upload-bytes";q=1000;w=60 Retry-After: 12 Content-Type: application/problem+json
	// 429 RateLimit-Policy: "upload-bytes";q=1000;w=60 Content-Type: application/problem+json
}

func ExampleFromContext() {
	store := memstore.MustNew(memstore.Options{})
	defer store.Close()
	limit := httplimit.MustNew(httplimit.Options{
		Policies: []httplimit.Policy{{
			Limiter: weir.MustNew(store, weir.Options{Limits: weir.MustParseLimits("10/m")}),
			Key:     httplimit.Global(),
		}},
		KeepOutcomes: true,
	})
	h := limit(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, o := range httplimit.FromContext(r.Context()) {
			fmt.Println(o.Policy, o.Key, o.Decision.Remaining)
		}
	}))
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	// Output: default global 9
}

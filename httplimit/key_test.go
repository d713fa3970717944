package httplimit_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir/httplimit"
)

type userKey struct{}

func user(ctx context.Context) (string, bool) {
	name, ok := ctx.Value(userKey{}).(string)
	return name, ok
}

func tenant(r *http.Request) (string, error) {
	switch t := r.URL.Query().Get("tenant"); t {
	case "bad":
		return "", errors.New("no such tenant")
	default:
		return t, nil
	}
}

// The keys of keyTests, and a value that is too long for one with its SHA-256.
var (
	long   = strings.Repeat("x", 257)
	hash   = "15eb95a462ee20bd91a415ae2d4aed341288186ddaa2b37908f7d592f0c3f85f"
	apiKey = httplimit.Header("X-API-Key")
	cookie = httplimit.Cookie("session")
	path   = httplimit.Path("/users/{id}", "POST /login", "files.example/", "/files/", "/tree/{leaf}/")
	who    = httplimit.User(user)
	byHost = httplimit.KeyFunc("tenant", tenant)
	client = httplimit.ClientIP(httplimit.ClientIPOptions{})
)

var keyTests = []struct {
	name    string
	key     httplimit.Key
	method  string // default GET
	target  string // default /
	user    string
	headers []string
	want    string // the key, or the error
}{
	{name: "global", key: httplimit.Global(), want: "global"},
	{name: "header", key: apiKey, headers: []string{"X-Api-Key: a:b c"}, want: "header:x-api-key:a:b c"},
	{name: "header of any spelling", key: httplimit.Header("x-aPI-key"), headers: []string{"X-API-KEY: v"}, want: "header:x-api-key:v"},
	{name: "header absent", key: apiKey, want: "httplimit: no key: header X-Api-Key is absent or empty"},
	{name: "header empty", key: apiKey, headers: []string{"X-API-Key: "}, want: "httplimit: no key: header X-Api-Key is absent or empty"},
	{name: "header twice", key: apiKey, headers: []string{"X-API-Key: a", "X-API-Key: b"}, want: "httplimit: no key: header X-Api-Key is there more than once"},
	{name: "header of 256 bytes", key: apiKey, headers: []string{"X-API-Key: " + long[1:]}, want: "header:x-api-key:" + long[1:]},
	{name: "longer header", key: apiKey, headers: []string{"X-API-Key: " + long}, want: "header#sha256:x-api-key:" + hash},
	{name: "header that looks like a hash", key: apiKey, headers: []string{"X-API-Key: #sha256:" + hash}, want: "header:x-api-key:#sha256:" + hash},
	{name: "host", key: httplimit.Header("Host"), headers: []string{"Host: a.example"}, want: "header:host:a.example"},
	{name: "cookie", key: cookie, headers: []string{"Cookie: a=1; session=s1; session=s2"}, want: "cookie:session:s1"},
	{name: "cookie absent", key: cookie, headers: []string{"Cookie: a=1"}, want: "httplimit: no key: cookie session is absent or empty"},
	{name: "cookie empty", key: cookie, headers: []string{"Cookie: session="}, want: "httplimit: no key: cookie session is absent or empty"},
	{name: "long cookie", key: cookie, headers: []string{"Cookie: session=" + long}, want: "cookie#sha256:session:" + hash},
	{name: "path", key: path, target: "/users/1", want: "path:/users/{id}"},
	{name: "another of the pattern", key: path, target: "/users/2?x=/", want: "path:/users/{id}"},
	{name: "path of a method", key: path, method: "POST", target: "/login", want: "path:POST /login"},
	{name: "path of another method", key: path, target: "/login", want: "path:"},
	{name: "path of a host", key: path, target: "/x", headers: []string{"Host: files.example"}, want: "path:files.example/"},
	{name: "path of another host", key: path, target: "/x", want: "path:"},
	{name: "path that is not clean", key: path, target: "//users/../users/3", want: "path:/users/{id}"},
	{name: "path below", key: path, target: "/files/a/b", want: "path:/files/"},
	{name: "path without its slash", key: path, target: "/files", want: "path:/files/"},
	{name: "made-up path", key: path, target: "/made/up/1", want: "path:"},
	{name: "made-up path of CONNECT", key: path, method: "CONNECT", target: "/tree/made-up", want: "path:"},
	{name: "user", key: who, user: "42", want: "user:42"},
	{name: "nobody", key: who, want: "httplimit: no key: nobody is authenticated"},
	{name: "long user", key: who, user: long, want: "user#sha256:" + hash},
	{name: "function", key: byHost, target: "/?tenant=acme", want: "tenant:acme"},
	{name: "function without an answer", key: byHost, want: "httplimit: no key: tenant is empty"},
	{name: "function that fails", key: byHost, target: "/?tenant=bad", want: "httplimit: no key: tenant: no such tenant"},
	{name: "long function", key: byHost, target: "/?tenant=" + long, want: "tenant#sha256:" + hash},
	{name: "join", key: httplimit.Join(path, client), target: "/users/1", want: "join:16:path:/users/{id},12:ip:192.0.2.1,"},
	{name: "join of a join", key: httplimit.Join(httplimit.Join(client), who), user: "7", want: "join:21:join:12:ip:192.0.2.1,,6:user:7,"},
	{name: "join without a part", key: httplimit.Join(client, who), want: "httplimit: no key: nobody is authenticated"},
	{name: "first", key: httplimit.First(who, client), user: "7", want: "user:7"},
	{name: "second", key: httplimit.First(who, client), want: "ip:192.0.2.1"},
	{name: "first of none", key: httplimit.First(apiKey, who), want: "httplimit: no key: nobody is authenticated"},
}

func TestKeys(t *testing.T) {
	for _, tt := range keyTests {
		t.Run(tt.name, func(t *testing.T) {
			method, target := "GET", "/"
			if tt.method != "" {
				method = tt.method
			}
			if tt.target != "" {
				target = tt.target
			}
			r := request(method, target, tt.headers...)
			if tt.user != "" {
				r = r.WithContext(context.WithValue(r.Context(), userKey{}, tt.user))
			}
			if got := keyOf(t, tt.key, r); got != tt.want {
				t.Errorf("key of %s %s %q = %q, want %q", method, target, tt.headers, got, tt.want)
			}
		})
	}
}

// Parts that look like each other's ends, or like the separators, do not make one key of two requests.
func TestJoinIsUnambiguous(t *testing.T) {
	k := httplimit.Join(httplimit.Header("A"), httplimit.Header("B"))
	pairs := [][2]string{
		{"a_b", "c"}, {"a", "b_c"}, {"a,", "b"}, {"a", ",b"}, {"a,11:header:b:x", "y"}, {"a", "x,11:header:b:y"},
		{"a:b", "c"}, {"a", "b:c"}, {"{a}", "b"}, {"a", "{b}"}, {"a\x00", "b"}, {"a", "\x00b"},
	}
	seen := make(map[string][2]string)
	for _, p := range pairs {
		r := request("GET", "/")
		r.Header["A"], r.Header["B"] = []string{p[0]}, []string{p[1]}
		key := keyOf(t, k, r)
		if q, ok := seen[key]; ok {
			t.Errorf("%q and %q have the same key %q", p, q, key)
		}
		seen[key] = p
	}
}

func TestMissing(t *testing.T) {
	apiKey := httplimit.Header("X-API-Key")
	limiter := newLimiter(t, "2/h")

	refuses := build(t, policies(httplimit.Policy{Limiter: limiter, Key: apiKey}))
	wantStatuses(t, "RefuseMissing", statuses(refuses, 2), 400, 400)
	want := "400\nCache-Control: no-store\nContent-Type: application/problem+json\n\n" +
		`{"title":"Bad Request","status":400,"detail":"The request lacks what its rate limit is counted by."}` + "\n"
	if got := text(get(refuses)); got != want {
		t.Errorf("RefuseMissing: got\n%s\nwant\n%s", got, want)
	}

	shares := build(t, policies(httplimit.Policy{Limiter: limiter, Key: apiKey, Missing: httplimit.ShareMissing}))
	wantStatuses(t, "ShareMissing", statuses(shares, 3), 200, 200, 429)
	wantStatuses(t, "a request with a key", statuses(shares, 3, "X-API-Key: a"), 200, 200, 429)
	wantStatuses(t, "a key that looks like none", statuses(shares, 1, "X-API-Key: missing:header"), 200)

	// Neither failing open nor a shadow elsewhere lets a request without a key pass.
	open := build(t, policies(
		httplimit.Policy{Limiter: limiter, Key: apiKey, OnFailure: httplimit.FailOpen},
		httplimit.Policy{Name: "trial", Limiter: newLimiter(t, "1/h"), Key: everybody, Shadow: true}))
	wantStatuses(t, "FailOpen", statuses(open, 1), 400)

	shadow := build(t, policies(
		httplimit.Policy{Limiter: limiter, Key: apiKey, Shadow: true},
		httplimit.Policy{Name: "all", Limiter: newLimiter(t, "1/h"), Key: everybody}))
	wantStatuses(t, "Shadow", statuses(shadow, 2), 200, 429)
}

// A request that one policy cannot place costs the others nothing, wherever they stand.
func TestMissingChargesNobody(t *testing.T) {
	first, last := newLimiter(t, "5/h"), newLimiter(t, "5/h")
	opts := policies(
		httplimit.Policy{Name: "first", Limiter: first, Key: everybody},
		httplimit.Policy{Name: "second", Limiter: newLimiter(t, "5/h"), Key: httplimit.Header("X-API-Key")},
		httplimit.Policy{Name: "last", Limiter: last, Key: everybody})
	opts.Observe = func(_ *http.Request, o httplimit.Outcome) {
		if o.Policy != "second" {
			t.Errorf("policy %s was evaluated, want it left alone", o.Policy)
		}
	}
	h := build(t, opts)
	wantStatuses(t, "without a key", statuses(h, 3), 400, 400, 400)
	if a, b := remaining(t, first, "global"), remaining(t, last, "global"); a != 5 || b != 5 {
		t.Errorf("remaining of the first and last policy: %d, %d; want 5, 5", a, b)
	}
}

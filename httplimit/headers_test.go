package httplimit_test

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/httplimit"
	"github.com/weirhq/weir/memstore"
)

// The bodies of responses.
const (
	served  = "\nserved\n"
	problem = "\n" + `{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Quota exceeded","status":429,"violated-policies":["default"]}` + "\n"
)

// A bubble starts on Saturday 2000-01-01 00:00:00 UTC, 946684800, where windows of minutes and days begin.
var headersTests = []struct {
	name    string
	limits  []string
	headers httplimit.Headers
	expose  bool
	cost    int64         // of each request; 0 means 1
	before  int           // requests sent before the one that is compared
	after   time.Duration // and the time that passes meanwhile
	want    string
}{
	{name: "draft 11 by default", limits: []string{"100/m fixed-window"}, before: 49, after: 30 * time.Second,
		want: "200\nRatelimit: \"default\";r=50;t=30\nRatelimit-Policy: \"default\";q=100;w=60\n" + served},
	{name: "seconds are rounded up", limits: []string{"100/m fixed-window"}, after: 100 * time.Millisecond,
		want: "200\nRatelimit: \"default\";r=99;t=60\nRatelimit-Policy: \"default\";q=100;w=60\n" + served},
	{name: "a bucket has the window of its burst", limits: []string{"10/s burst 25"}, before: 4,
		want: "200\nRatelimit: \"default\";r=20;t=1\nRatelimit-Policy: \"default\";q=25;w=3\n" + served},
	{name: "a window below a second is one", limits: []string{"1000/100ms sliding-window"},
		want: "200\nRatelimit: \"default\";r=999;t=1\nRatelimit-Policy: \"default\";q=1000;w=1\n" + served},
	{name: "a calendar window has no length", limits: []string{"10/month"},
		want: "200\nRatelimit: \"default\";r=9;t=2678400\nRatelimit-Policy: \"default\";q=10\n" + served},
	{name: "a stepwise bucket", limits: []string{"10/m burst 25 stepwise"},
		want: "200\nRatelimit: \"default\";r=24;t=60\nRatelimit-Policy: \"default\";q=25;w=180\n" + served},
	{name: "several limits", limits: []string{"10/s", "1000/h fixed-window", "50/h sliding-log", "30/15m fixed-window"},
		want: "200\n" + `Ratelimit: "default.s";r=9;t=1, "default.h";r=999;t=3600, "default.h-2";r=49;t=3600, "default.15m";r=29;t=900` + "\n" +
			`Ratelimit-Policy: "default.s";q=10;w=1, "default.h";q=1000;w=3600, "default.h-2";q=50;w=3600, "default.15m";q=30;w=900` + "\n" + served},
	{name: "numbers have 15 digits", limits: []string{"5000000000000000/s fixed-window"},
		want: "200\nRatelimit: \"default\";r=999999999999999;t=1\nRatelimit-Policy: \"default\";q=999999999999999;w=1\n" + served},
	{name: "a refusal", limits: []string{"2/m fixed-window"}, before: 2, after: 52500 * time.Millisecond,
		want: "429\nCache-Control: no-store\nContent-Type: application/problem+json\nRatelimit: \"default\";r=0;t=8\nRatelimit-Policy: \"default\";q=2;w=60\nRetry-After: 8\n" + problem},
	{name: "a wait below a second is one", limits: []string{"20/s burst 1"}, before: 1,
		want: "429\nCache-Control: no-store\nContent-Type: application/problem+json\nRatelimit: \"default\";r=0;t=1\nRatelimit-Policy: \"default\";q=1;w=1\nRetry-After: 1\n" + problem},
	{name: "no time passes Retry-After", limits: []string{"1/s", "100/h fixed-window"}, before: 1,
		want: "429\nCache-Control: no-store\nContent-Type: application/problem+json\n" +
			`Ratelimit: "default.s";r=0;t=1, "default.h";r=99;t=1` + "\n" + `Ratelimit-Policy: "default.s";q=1;w=1, "default.h";q=100;w=3600` + "\nRetry-After: 1\n" +
			strings.Replace(problem, `"default"]`, `"default.s"]`, 1)},
	{name: "remaining is what smaller costs can still have", limits: []string{"10/m fixed-window"}, cost: 4, before: 2,
		want: "429\nCache-Control: no-store\nContent-Type: application/problem+json\nRatelimit: \"default\";r=2;t=60\nRatelimit-Policy: \"default\";q=10;w=60\nRetry-After: 60\n" + problem},
	{name: "draft 7", limits: []string{"100/m fixed-window"}, headers: httplimit.HeadersDraft7, before: 49, after: 30 * time.Second,
		want: "200\nRatelimit: limit=100, remaining=50, reset=30\nRatelimit-Policy: 100;w=60\n" + served},
	{name: "draft 6", limits: []string{"100/m fixed-window"}, headers: httplimit.HeadersDraft6, before: 49, after: 30 * time.Second,
		want: "200\nRatelimit-Limit: 100\nRatelimit-Policy: 100;w=60\nRatelimit-Remaining: 50\nRatelimit-Reset: 30\n" + served},
	{name: "draft 6 of a calendar window", limits: []string{"10/month"}, headers: httplimit.HeadersDraft6,
		want: "200\nRatelimit-Limit: 10\nRatelimit-Remaining: 9\nRatelimit-Reset: 2678400\n" + served},
	{name: "epoch", limits: []string{"100/m fixed-window"}, headers: httplimit.HeadersXEpoch, before: 49, after: 29500 * time.Millisecond,
		want: "200\nX-Ratelimit-Limit: 100\nX-Ratelimit-Remaining: 50\nX-Ratelimit-Reset: 946684860\n" + served},
	{name: "epoch is rounded up", limits: []string{"20/s burst 10"}, headers: httplimit.HeadersXEpoch,
		want: "200\nX-Ratelimit-Limit: 10\nX-Ratelimit-Remaining: 9\nX-Ratelimit-Reset: 946684801\n" + served},
	{name: "delta", limits: []string{"100/m fixed-window"}, headers: httplimit.HeadersXDelta, before: 49, after: 29500 * time.Millisecond,
		want: "200\nX-Ratelimit-Limit: 100\nX-Ratelimit-Remaining: 50\nX-Ratelimit-Reset: 31\n" + served},
	{name: "one limit is told of: the tightest", limits: []string{"10/s", "3/h fixed-window"}, headers: httplimit.HeadersXDelta,
		want: "200\nX-Ratelimit-Limit: 3\nX-Ratelimit-Remaining: 2\nX-Ratelimit-Reset: 3600\n" + served},
	{name: "or the one that refuses", limits: []string{"2/s fixed-window", "20/m fixed-window"}, headers: httplimit.HeadersDraft7, before: 2,
		want: "429\nCache-Control: no-store\nContent-Type: application/problem+json\nRatelimit: limit=2, remaining=0, reset=1\nRatelimit-Policy: 2;w=1\nRetry-After: 1\n" +
			strings.Replace(problem, `"default"]`, `"default.s"]`, 1)},
	{name: "several shapes", limits: []string{"5/m fixed-window"}, headers: httplimit.HeadersDraft7 | httplimit.HeadersDraft6 | httplimit.HeadersXDelta,
		want: "200\nRatelimit: limit=5, remaining=4, reset=60\nRatelimit-Limit: 5\nRatelimit-Policy: 5;w=60\nRatelimit-Remaining: 4\nRatelimit-Reset: 60\nX-Ratelimit-Limit: 5\nX-Ratelimit-Remaining: 4\nX-Ratelimit-Reset: 60\n" + served},
	{name: "none", limits: []string{"5/m"}, headers: httplimit.HeadersNone, want: "200\n" + served},
	{name: "none of a refusal", limits: []string{"1/m"}, headers: httplimit.HeadersNone, before: 1,
		want: "429\nCache-Control: no-store\nContent-Type: application/problem+json\nRetry-After: 60\n" + problem},
	{name: "exposed", limits: []string{"5/m fixed-window"}, expose: true,
		want: "200\nAccess-Control-Expose-Headers: RateLimit, RateLimit-Policy, Retry-After\nRatelimit: \"default\";r=4;t=60\nRatelimit-Policy: \"default\";q=5;w=60\n" + served},
	{name: "exposed drafts", limits: []string{"5/m fixed-window"}, headers: httplimit.HeadersDraft6 | httplimit.HeadersXDelta, expose: true,
		want: "200\nAccess-Control-Expose-Headers: RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, RateLimit-Policy, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After\n" +
			"Ratelimit-Limit: 5\nRatelimit-Policy: 5;w=60\nRatelimit-Remaining: 4\nRatelimit-Reset: 60\nX-Ratelimit-Limit: 5\nX-Ratelimit-Remaining: 4\nX-Ratelimit-Reset: 60\n" + served},
}

func TestHeaders(t *testing.T) {
	for _, tt := range headersTests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := httplimit.Policy{Limiter: newLimiter(t, tt.limits...), Key: everybody}
				if tt.cost != 0 {
					p.Cost = httplimit.FixedCost(tt.cost)
				}
				opts := policies(p)
				opts.Headers, opts.ExposeHeaders = tt.headers, tt.expose
				h := build(t, opts)
				for range tt.before {
					get(h)
				}
				time.Sleep(tt.after)
				got := strings.Replace(text(get(h)), "Content-Type: text/plain; charset=utf-8\n", "", 1)
				if got != tt.want {
					t.Errorf("GET / after %d requests and %v:\ngot\n%s\nwant\n%s", tt.before, tt.after, got, tt.want)
				}
			})
		})
	}
}

// bubble runs body in a synctest bubble with a store in it.
func bubble(t *testing.T, body func(*testing.T, *memstore.Store)) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.MustNew(memstore.Options{})
		defer store.Close()
		body(t, store)
	})
}

func TestTwoMiddlewares(t *testing.T) {
	outer, inner := "100/m fixed-window", "10/h fixed-window"
	tests := []struct {
		name         string
		headers      httplimit.Headers
		outer, inner string
		n            int
		want         map[string]string
	}{
		{"lists grow", httplimit.HeadersDraft11, outer, inner, 1, map[string]string{
			"RateLimit": `"outer";r=99;t=60, "inner";r=9;t=3600`, "RateLimit-Policy": `"outer";q=100;w=60, "inner";q=10;w=3600`}},
		{"lists of a refusal", httplimit.HeadersDraft11, outer, inner, 11, map[string]string{
			"RateLimit": `"outer";r=89;t=60, "inner";r=0;t=3600`, "Retry-After": "3600"}},
		{"the inner is tighter", httplimit.HeadersXDelta | httplimit.HeadersDraft6, outer, inner, 1, map[string]string{
			"X-RateLimit-Limit": "10", "X-RateLimit-Remaining": "9", "X-RateLimit-Reset": "3600",
			"RateLimit-Limit": "10", "RateLimit-Remaining": "9", "RateLimit-Reset": "3600", "RateLimit-Policy": "10;w=3600"}},
		{"the outer is tighter", httplimit.HeadersXDelta | httplimit.HeadersDraft6, inner, outer, 1, map[string]string{
			"X-RateLimit-Limit": "10", "X-RateLimit-Remaining": "9", "X-RateLimit-Reset": "3600",
			"RateLimit-Limit": "10", "RateLimit-Remaining": "9", "RateLimit-Reset": "3600", "RateLimit-Policy": "10;w=3600"}},
		{"draft 7, inner", httplimit.HeadersDraft7, outer, inner, 1, map[string]string{
			"RateLimit": "limit=10, remaining=9, reset=3600", "RateLimit-Policy": "10;w=3600"}},
		{"draft 7, outer", httplimit.HeadersDraft7, inner, outer, 1, map[string]string{
			"RateLimit": "limit=10, remaining=9, reset=3600", "RateLimit-Policy": "10;w=3600"}},
		{"a refusal is told of, though the outer is as tight", httplimit.HeadersXDelta, "2/m fixed-window", "1/h fixed-window", 2, map[string]string{
			"X-RateLimit-Limit": "1", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "3600"}},
		{"a calendar window replaces the policy", httplimit.HeadersDraft6, outer, "2/month", 1, map[string]string{
			"RateLimit-Limit": "2", "RateLimit-Policy": ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *memstore.Store) {
				one := policies(httplimit.Policy{Name: "outer", Limiter: onStore(store, "outer", tt.outer), Key: everybody})
				two := policies(httplimit.Policy{Name: "inner", Limiter: onStore(store, "inner", tt.inner), Key: everybody})
				one.Headers, two.Headers = tt.headers, tt.headers
				h := httplimit.MustNew(one)(httplimit.MustNew(two)(http.HandlerFunc(serve)))
				statuses(h, tt.n-1)
				w := get(h)
				for name, want := range tt.want {
					if got := strings.Join(w.Header().Values(name), " | "); got != want {
						t.Errorf("%s of the request %d = %q, want %q", name, tt.n, got, want)
					}
				}
			})
		})
	}
}

func TestExposedOnce(t *testing.T) {
	opts := policies(httplimit.Policy{Limiter: newLimiter(t, "5/m"), Key: everybody})
	opts.ExposeHeaders = true
	limit := httplimit.MustNew(opts)
	h := limit(limit(http.HandlerFunc(serve)))
	want := "RateLimit, RateLimit-Policy, Retry-After"
	if got := get(h).Header().Values("Access-Control-Expose-Headers"); len(got) != 1 || got[0] != want {
		t.Errorf("Access-Control-Expose-Headers behind two middlewares = %q, want %q", got, want)
	}
	opts.Policies[0].Limiter = onStore(brokenStore{errors.New("down")}, "", "5/m")
	if got := get(build(t, opts)).Header().Get("Access-Control-Expose-Headers"); got != want {
		t.Errorf("Access-Control-Expose-Headers of a 503 = %q, want %q", got, want)
	}
}

// A policy that does not concern the request, or is a shadow, is not told of.
func TestHeadersOfSomePolicies(t *testing.T) {
	bubble(t, func(t *testing.T, store *memstore.Store) {
		reads := func(r *http.Request) bool { return r.Method == "GET" }
		h := build(t, policies(
			httplimit.Policy{Name: "all", Limiter: onStore(store, "all", "9/m fixed-window"), Key: everybody},
			httplimit.Policy{Name: "writes", Limiter: onStore(store, "writes", "2/m fixed-window"), Key: everybody, Skip: reads},
			httplimit.Policy{Name: "trial", Limiter: onStore(store, "trial", "1/m fixed-window"), Key: everybody, Shadow: true},
		))
		for _, tt := range []struct{ method, limit, policy string }{
			{"GET", `"all";r=8;t=60`, `"all";q=9;w=60`},
			{"POST", `"all";r=7;t=60, "writes";r=1;t=60`, `"all";q=9;w=60, "writes";q=2;w=60`},
		} {
			w := send(h, request(tt.method, "/"))
			if got := w.Header().Get("RateLimit"); got != tt.limit {
				t.Errorf("RateLimit of %s = %q, want %q", tt.method, got, tt.limit)
			}
			if got := w.Header().Get("RateLimit-Policy"); got != tt.policy {
				t.Errorf("RateLimit-Policy of %s = %q, want %q", tt.method, got, tt.policy)
			}
		}
	})
}

// A cost above the limit has no retry, so its time is that of the full quota. Of one limit the refusing one is told of,
// though another has less left.
func TestHeadersOfNever(t *testing.T) {
	bubble(t, func(t *testing.T, store *memstore.Store) {
		cost := httplimit.CostFunc(func(r *http.Request) (int64, error) { return strconv.ParseInt(r.Header.Get("Cost"), 10, 64) })
		opts := policies(
			httplimit.Policy{Name: "few", Limiter: onStore(store, "few", "2/m fixed-window"), Key: everybody},
			httplimit.Policy{Name: "units", Limiter: onStore(store, "units", "10/h fixed-window"), Key: everybody, Cost: cost})
		lists := build(t, opts)
		opts.Headers = httplimit.HeadersXDelta
		one := build(t, opts)
		for _, tt := range []struct {
			h                  http.Handler
			cost, header, want string
		}{
			{lists, "11", "RateLimit", `"few";r=2;t=0, "units";r=10;t=0`},
			{lists, "4", "RateLimit", `"few";r=1;t=60, "units";r=6;t=3600`},
			{lists, "11", "RateLimit", `"few";r=1;t=60, "units";r=6;t=3600`},
			{lists, "11", "Retry-After", ""},
			{lists, "7", "RateLimit", `"few";r=1;t=60, "units";r=6;t=3600`},
			{one, "7", "X-RateLimit-Remaining", "6"},
			{one, "7", "X-RateLimit-Reset", "3600"},
			{one, "11", "X-RateLimit-Reset", "3600"},
		} {
			if got := get(tt.h, "Cost: "+tt.cost).Header().Get(tt.header); got != tt.want {
				t.Errorf("%s of the cost %s = %q, want %q", tt.header, tt.cost, got, tt.want)
			}
		}
	})
}

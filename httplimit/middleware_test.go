package httplimit_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/httplimit"
	"github.com/weirhq/weir/memstore"
)

const unavailable = "503\nCache-Control: no-store\nContent-Type: application/problem+json\nRetry-After: 1\n\n" +
	`{"title":"Service Unavailable","status":503,"detail":"The rate limit could not be checked."}` + "\n"

func TestStoreFailure(t *testing.T) {
	down := onStore(brokenStore{errors.New("dial tcp 10.0.0.1:6379: secret detail")}, "", "5/h")
	closed := policies(httplimit.Policy{Limiter: down, Key: everybody})
	if got := text(get(build(t, closed))); got != unavailable {
		t.Errorf("FailClosed: got\n%s\nwant\n%s", got, unavailable)
	}

	var seen httplimit.Outcome
	closed.Failed = func(w http.ResponseWriter, r *http.Request, o httplimit.Outcome) {
		seen = o
		http.Error(w, "later", o.Status())
	}
	closed.Refused = func(http.ResponseWriter, *http.Request, httplimit.Outcome) { t.Error("an outage was called a refusal") }
	if got := get(build(t, closed)); got.Code != 503 || got.Body.String() != "later\n" || got.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("Failed: got\n%s\nwant 503, later, no-store", text(got))
	}
	var cause *weir.Error
	if !errors.As(seen.Err, &cause) || seen.Key != "global" || seen.Policy != "default" || seen.Cost != 1 {
		t.Errorf("Failed got the outcome %+v, want the key, policy, cost and a *weir.Error", seen)
	}

	up := newLimiter(t, "2/h anchored")
	open := policies(
		httplimit.Policy{Name: "down", Limiter: down, Key: everybody, OnFailure: httplimit.FailOpen},
		httplimit.Policy{Name: "up", Limiter: up, Key: everybody})
	var outcomes []string
	open.Observe = func(_ *http.Request, o httplimit.Outcome) {
		outcomes = append(outcomes, fmt.Sprint(o.Policy, " ", o.Status()))
	}
	h := build(t, open)
	wantStatuses(t, "FailOpen", statuses(h, 3), 200, 200, 429)
	if got, want := strings.Join(outcomes, ", "), "down 503, up 200, down 503, up 200, down 503, up 429"; got != want {
		t.Errorf("FailOpen observed %s, want %s", got, want)
	}
	if got := get(h).Header().Get("RateLimit"); !strings.HasPrefix(got, `"up";r=0;t=`) {
		t.Errorf("RateLimit while one policy is down = %q, want the other alone", got)
	}
}

// A failure after other policies have taken gives back what they took.
func TestFailureGivesBack(t *testing.T) {
	first := newLimiter(t, "5/h")
	h := build(t, policies(
		httplimit.Policy{Name: "first", Limiter: first, Key: everybody},
		httplimit.Policy{Name: "down", Limiter: onStore(brokenStore{errors.New("down")}, "", "5/h"), Key: everybody}))
	wantStatuses(t, "a store that is down", statuses(h, 2), 503, 503)
	if got := remaining(t, first, "global"); got != 5 {
		t.Errorf("remaining of the policy before it = %d, want 5", got)
	}
}

// leavingStore cancels the request while it decides, as a client that goes away does, and then fails.
type leavingStore struct{ cancel context.CancelFunc }

func (s leavingStore) Take(ctx context.Context, _ *weir.Scope, _ string, _ int64) (weir.Results, error) {
	s.cancel()
	return weir.Results{}, ctx.Err()
}

func TestClientGone(t *testing.T) {
	for _, onFailure := range []httplimit.OnFailure{httplimit.FailClosed, httplimit.FailOpen} {
		ctx, cancel := context.WithCancel(context.Background())
		first := newLimiter(t, "5/h")
		opts := policies(
			httplimit.Policy{Name: "first", Limiter: first, Key: everybody},
			httplimit.Policy{Name: "slow", Limiter: onStore(leavingStore{cancel}, "", "5/h"), Key: everybody, OnFailure: onFailure})
		opts.Failed = func(http.ResponseWriter, *http.Request, httplimit.Outcome) {
			t.Error("a client that left was called a failure")
		}
		opts.Observe = func(_ *http.Request, o httplimit.Outcome) {
			if o.Err != nil {
				t.Errorf("a client that left was observed as %v", o.Err)
			}
		}
		h := httplimit.MustNew(opts)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the handler ran for a client that left") }))
		w := send(h, request("GET", "/").WithContext(ctx))
		if got := text(w); got != unavailable {
			t.Errorf("a client that left was answered\n%s\nwant\n%s\nfor one that is still there: a server that shuts down cancels too", got, unavailable)
		}
		if got := remaining(t, first, "global"); got != 5 {
			t.Errorf("remaining of the policy before = %d, want 5: it was given back", got)
		}
	}
}

// A deadline that passes while the store decides is a store that is too slow: somebody waits for the answer.
func TestDeadlineIsAFailure(t *testing.T) {
	ctx, cancel := context.WithDeadline(context.Background(), time.Unix(1, 0))
	defer cancel()
	h := build(t, policies(httplimit.Policy{Limiter: newLimiter(t, "5/h"), Key: everybody}))
	if got := text(send(h, request("GET", "/").WithContext(ctx))); got != unavailable {
		t.Errorf("after its deadline: got\n%s\nwant\n%s", got, unavailable)
	}
}

func TestCost(t *testing.T) {
	limiter := newLimiter(t, "10/h anchored")
	opts := policies(httplimit.Policy{Limiter: limiter, Key: everybody, Cost: httplimit.CostFunc(func(r *http.Request) (int64, error) {
		return strconv.ParseInt(r.Header.Get("Cost"), 10, 64)
	})})
	h := build(t, opts)
	for _, tt := range []struct {
		cost    string
		status  int
		left    int64
		retries bool
	}{
		{"4", 200, 6, false},
		{"0", 200, 6, false},
		{"6", 200, 0, false},
		{"0", 200, 0, false},
		{"1", 429, 0, true},
		{"10", 429, 0, true},
		{"11", 429, 0, false},
		{"-1", 400, 0, false},
		{"x", 400, 0, false},
		{"9007199254740992", 400, 0, false},
	} {
		w := get(h, "Cost: "+tt.cost)
		if got := remaining(t, limiter, "global"); w.Code != tt.status || got != tt.left {
			t.Errorf("cost %s: status %d, remaining %d; want %d, %d", tt.cost, w.Code, got, tt.status, tt.left)
		}
		if got := w.Header().Get("Retry-After") != ""; got != tt.retries {
			t.Errorf("cost %s: Retry-After %q, want one: %t", tt.cost, w.Header().Get("Retry-After"), tt.retries)
		}
	}
	want := `{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Quota exceeded","status":429,` +
		`"detail":"The cost of this request is above the limit. Waiting does not help.","violated-policies":["default"]}` + "\n"
	if got := get(h, "Cost: 11").Body.String(); got != want {
		t.Errorf("cost 11: got %s, want %s", got, want)
	}
}

func TestHeadHasNoBody(t *testing.T) {
	h := build(t, policies(httplimit.Policy{Limiter: newLimiter(t, "1/h"), Key: everybody}))
	get(h)
	w := send(h, request("HEAD", "/"))
	if w.Code != 429 || w.Body.Len() != 0 || w.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("HEAD: got\n%s\nwant 429 with headers and no body", text(w))
	}
}

func TestShadow(t *testing.T) {
	var seen []string
	opts := policies(
		httplimit.Policy{Name: "trial", Limiter: newLimiter(t, "1/h"), Key: everybody, Shadow: true},
		httplimit.Policy{Name: "real", Limiter: newLimiter(t, "3/h"), Key: everybody})
	opts.Observe = func(_ *http.Request, o httplimit.Outcome) {
		seen = append(seen, fmt.Sprintf("%s shadow=%t %d", o.Policy, o.Shadow, o.Status()))
	}
	wantStatuses(t, "shadow", statuses(build(t, opts), 2), 200, 200)
	want := "trial shadow=true 200, real shadow=false 200, trial shadow=true 429, real shadow=false 200"
	if got := strings.Join(seen, ", "); got != want {
		t.Errorf("observed %s, want %s", got, want)
	}
	broken := policies(httplimit.Policy{Limiter: onStore(brokenStore{errors.New("down")}, "", "1/h"), Key: everybody, Shadow: true})
	wantStatuses(t, "shadow of a store that is down", statuses(build(t, broken), 1), 200)
}

func TestSkip(t *testing.T) {
	limiter := newLimiter(t, "1/h")
	h := build(t, policies(httplimit.Policy{Limiter: limiter, Key: httplimit.Header("X-API-Key"),
		Skip: func(r *http.Request) bool { return r.URL.Path == "/healthz" }}))
	for range 3 {
		if w := send(h, request("GET", "/healthz")); w.Code != 200 || w.Header().Get("RateLimit") != "" || w.Header().Get("RateLimit-Policy") != "" {
			t.Errorf("GET /healthz: got\n%s\nwant 200 without limits", text(w))
		}
	}
	wantStatuses(t, "GET /", statuses(h, 2, "X-API-Key: a"), 200, 429)
}

// A refusal gives back what the policies before it took, with their own keys and costs, shadows included.
func TestRefusalGivesBack(t *testing.T) {
	bubble(t, func(t *testing.T, store *memstore.Store) {
		wide, trial, narrow := onStore(store, "wide", "100/h anchored"), onStore(store, "trial", "100/h"), onStore(store, "narrow", "2/h anchored")
		h := build(t, policies(
			httplimit.Policy{Name: "wide", Limiter: wide, Key: httplimit.ClientIP(httplimit.ClientIPOptions{}), Cost: httplimit.FixedCost(10)},
			httplimit.Policy{Name: "trial", Limiter: trial, Key: everybody, Cost: httplimit.FixedCost(7), Shadow: true},
			httplimit.Policy{Name: "narrow", Limiter: narrow, Key: everybody},
			httplimit.Policy{Name: "last", Limiter: onStore(store, "last", "50/h anchored"), Key: everybody}))
		wantStatuses(t, "requests", statuses(h, 12), 200, 200, 429, 429, 429, 429, 429, 429, 429, 429, 429, 429)
		if a, b := remaining(t, wide, "ip:192.0.2.1"), remaining(t, trial, "global"); a != 80 || b != 86 {
			t.Errorf("remaining of wide and trial = %d, %d; want 80, 86", a, b)
		}
		w := get(h)
		if got, want := w.Header().Get("RateLimit"), `"wide";r=80;t=3600, "narrow";r=0;t=3600`; got != want {
			t.Errorf("RateLimit = %s, want %s", got, want)
		}
		if got, want := w.Header().Get("RateLimit-Policy"), `"wide";q=100;w=3600, "narrow";q=2;w=3600, "last";q=50;w=3600`; got != want {
			t.Errorf("RateLimit-Policy = %s, want %s", got, want)
		}
	})
}

func TestRefused(t *testing.T) {
	opts := policies(httplimit.Policy{Name: "api", Limiter: newLimiter(t, "1/s", "2/h anchored"), Key: everybody, Cost: httplimit.FixedCost(1)})
	opts.Refused = func(w http.ResponseWriter, r *http.Request, o httplimit.Outcome) {
		w.WriteHeader(o.Status())
		fmt.Fprint(w, o.Policy, " ", o.Violated(), " ", w.Header().Get("Retry-After"))
	}
	h := build(t, opts)
	get(h)
	if got := get(h); got.Code != 429 || got.Body.String() != "api [api.s] 1" || got.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("Refused: got\n%s\nwant 429, api [api.s] 1, no-store", text(got))
	}
}

func TestFromContext(t *testing.T) {
	var got []httplimit.Outcome
	var fresh context.Context
	handler := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got, fresh = httplimit.FromContext(r.Context()), r.Context()
	})
	for _, keep := range []bool{true, false} {
		outer := policies(httplimit.Policy{Name: "outer", Limiter: newLimiter(t, "5/h"), Key: everybody},
			httplimit.Policy{Name: "trial", Limiter: newLimiter(t, "5/h"), Key: everybody, Shadow: true})
		inner := policies(httplimit.Policy{Name: "inner", Limiter: newLimiter(t, "3/h"), Key: everybody, Cost: httplimit.FixedCost(2)})
		outer.KeepOutcomes, inner.KeepOutcomes = keep, keep
		r := request("GET", "/")
		send(httplimit.MustNew(outer)(httplimit.MustNew(inner)(handler)), r)
		if !keep {
			if got != nil || fresh != r.Context() {
				t.Errorf("FromContext without KeepOutcomes = %v, want nil and the request as it was", got)
			}
			continue
		}
		if len(got) != 3 || got[0].Policy != "outer" || got[1].Policy != "trial" || got[2].Policy != "inner" || got[2].Decision.Remaining != 1 || got[2].Violated() != nil {
			t.Errorf("FromContext = %+v, want outer, trial, inner with 1 remaining", got)
		}
	}
	if got := httplimit.FromContext(context.Background()); got != nil {
		t.Errorf("FromContext(Background) = %v, want nil", got)
	}
}

// The limit holds to the unit, however many requests arrive at once.
func TestParallelRequests(t *testing.T) {
	const limit, workers, each = 500, 32, 50
	h := build(t, policies(
		httplimit.Policy{Name: "wide", Limiter: newLimiter(t, "100000/h anchored"), Key: everybody},
		httplimit.Policy{Name: "narrow", Limiter: newLimiter(t, fmt.Sprint(limit, "/h sliding-log")), Key: httplimit.ClientIP(httplimit.ClientIPOptions{})}))
	var served, refused atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range each {
				switch w := get(h); w.Code {
				case 200:
					served.Add(1)
				case 429:
					refused.Add(1)
				default:
					t.Errorf("status %d, want 200 or 429", w.Code)
				}
			}
		})
	}
	wg.Wait()
	if served.Load() != limit || refused.Load() != workers*each-limit {
		t.Errorf("%d served, %d refused; want %d, %d", served.Load(), refused.Load(), limit, workers*each-limit)
	}
}

// The handler gets the very writer of the server, so that what it can do stays possible.
func TestWriterIsUntouched(t *testing.T) {
	w := httptest.NewRecorder()
	limit := httplimit.MustNew(policies(httplimit.Policy{Limiter: newLimiter(t, "5/h"), Key: everybody}))
	limit(http.HandlerFunc(func(got http.ResponseWriter, _ *http.Request) {
		if got != http.ResponseWriter(w) {
			t.Errorf("the handler's writer is %T %p, want the one that was given", got, got)
		}
	})).ServeHTTP(w, request("GET", "/"))
}

func TestNilNext(t *testing.T) {
	defer func() {
		if got := recover(); got != "httplimit: the next handler is nil" {
			t.Errorf("limit(nil) panicked with %v", got)
		}
	}()
	httplimit.MustNew(policies(httplimit.Policy{Limiter: newLimiter(t, "5/h"), Key: everybody}))(nil)
}

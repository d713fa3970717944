package httplimit_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/httplimit"
)

// outageStore decides without its state.
type outageStore struct{ result weir.Result }

func (s outageStore) Take(context.Context, *weir.Scope, string, int64) (weir.Results, error) {
	return weir.Results{}, &weir.Outage{Results: weir.Results{One: s.result}, Err: errors.New("away on purpose")}
}

// TestStoreAway is the table of docs/http.md: what clients get while the store is away, by its policy.
func TestStoreAway(t *testing.T) {
	away := errors.New("away on purpose")
	for _, tt := range []struct {
		name       string
		store      weir.Store
		onFailure  httplimit.OnFailure
		status     int
		retryAfter string
		outage     bool // Decision.Outage, as Observe sees it
	}{
		{"local, below the share", outageStore{weir.Result{Remaining: 4, ResetAfter: time.Minute}}, httplimit.FailClosed, 200, "", true},
		{"local, above the share", outageStore{weir.Result{RetryAfter: 6500 * time.Millisecond, ResetAfter: time.Minute}}, httplimit.FailClosed, 429, "7", true},
		{"allow", outageStore{weir.Result{Remaining: 5}}, httplimit.FailClosed, 200, "", true},
		{"deny", outageStore{weir.Result{RetryAfter: time.Second, ResetAfter: time.Second}}, httplimit.FailClosed, 429, "1", true},
		{"deny, failing open", outageStore{weir.Result{RetryAfter: time.Second, ResetAfter: time.Second}}, httplimit.FailOpen, 429, "1", true},
		{"error", brokenStore{away}, httplimit.FailClosed, 503, "1", false},
		{"error, failing open", brokenStore{away}, httplimit.FailOpen, 200, "", false},
	} {
		var seen httplimit.Outcome
		opts := policies(httplimit.Policy{Limiter: onStore(tt.store, "", "5/h"), Key: everybody, OnFailure: tt.onFailure})
		opts.Observe = func(_ *http.Request, o httplimit.Outcome) { seen = o }
		got := get(build(t, opts))
		if got.Code != tt.status || got.Header().Get("Retry-After") != tt.retryAfter {
			t.Errorf("%s: got\n%s\nwant %d and Retry-After %q", tt.name, text(got), tt.status, tt.retryAfter)
		}
		if told := got.Header().Get("RateLimit") != ""; told != tt.outage {
			t.Errorf("%s: RateLimit is there: %v, want %v", tt.name, told, tt.outage)
		}
		if (seen.Err == nil) != tt.outage || seen.Decision.Outage != tt.outage {
			t.Errorf("%s: observed %+v, want an outage: %v", tt.name, seen, tt.outage)
		}
	}
}

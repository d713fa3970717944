package httplimit_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/httplimit"
)

// outStore decides without its state: it admits everything, or nothing. It counts what is given back.
type outStore struct {
	refuses bool
	refunds int
}

func (s *outStore) Take(_ context.Context, scope *weir.Scope, _ string, _ int64) (weir.Results, error) {
	result := weir.Result{Remaining: scope.Specs[0].Quota}
	if s.refuses {
		result = weir.Result{RetryAfter: 1e9, ResetAfter: 1e9}
	}
	return weir.Results{}, &weir.Outage{Results: weir.Results{One: result}, Err: errors.New("away")}
}

func (s *outStore) Refund(context.Context, *weir.Scope, string, int64) (weir.Results, error) {
	s.refunds++
	return weir.Results{One: weir.Result{Remaining: 1}}, nil
}

func (s *outStore) Charge(context.Context, *weir.Scope, string, int64) (weir.Results, error) {
	return weir.Results{}, errors.New("away")
}

// TestOutageIsNotGivenBack: what a policy has admitted without its store, which may be back by now, was not charged there.
func TestOutageIsNotGivenBack(t *testing.T) {
	admits, refuses := &outStore{}, &outStore{refuses: true}
	limit := httplimit.MustNew(httplimit.Options{Policies: []httplimit.Policy{
		{Name: "a", Limiter: weir.MustNew(admits, weir.Options{Limits: weir.MustParseLimits("5/m")}), Key: httplimit.Global()},
		{Name: "b", Limiter: weir.MustNew(refuses, weir.Options{Limits: weir.MustParseLimits("5/m")}), Key: httplimit.Global()},
	}})
	w := httptest.NewRecorder()
	limit(http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if w.Code != http.StatusTooManyRequests || admits.refunds != 0 {
		t.Errorf("got status %d and %d refunds, want 429 and none", w.Code, admits.refunds)
	}
}

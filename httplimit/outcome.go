package httplimit

import (
	"context"
	"errors"
	"net/http"

	"github.com/weirhq/weir"
)

// Outcome is what came of one policy for one request. It is a plain value: keep it, share it.
type Outcome struct {
	// Policy is the policy's name.
	Policy string
	// Key is whom the request was counted for, such as "ip:203.0.113.7"; empty when that could not be told.
	Key string
	// Cost is the number of units that were asked for.
	Cost int64
	// Decision is the limiter's answer. It means nothing when Err is set.
	Decision weir.Decision
	// Shadow says that the policy does not refuse, whatever the decision.
	Shadow bool
	// Err says why there is no decision: it wraps [ErrMissingKey], [ErrNoCost], or is the limiter's error.
	Err error

	rule *rule
}

// Status returns the status that the outcome would have as an answer of its own: 429 for a refusal, 400 when the
// request had no key or no cost, 503 when the limiter could not decide, otherwise 200.
func (o *Outcome) Status() int {
	switch {
	case o.Err == nil && o.Decision.Allowed:
		return http.StatusOK
	case o.Err == nil:
		return http.StatusTooManyRequests
	case errors.Is(o.Err, ErrMissingKey), errors.Is(o.Err, ErrNoCost):
		return http.StatusBadRequest
	}
	return http.StatusServiceUnavailable
}

// Violated returns the names, as in headers, of the limits that refuse; nil when none does.
func (o *Outcome) Violated() []string {
	if o.Err != nil || o.Decision.Allowed || o.rule == nil {
		return nil
	}
	var names []string
	for i, f := range o.Decision.Figures() {
		if f.RetryAfter > 0 && i < len(o.rule.told.Names) {
			names = append(names, o.rule.told.Names[i])
		}
	}
	return names
}

// stops says whether the outcome keeps the request from going on.
func (o *Outcome) stops() bool {
	switch {
	case o.Shadow:
		return false
	case o.Err == nil:
		return !o.Decision.Allowed
	}
	return o.rule.OnFailure == FailClosed || o.Status() == http.StatusBadRequest
}

type outcomesKey struct{}

// FromContext returns the outcomes of the request that ctx belongs to, outermost middleware first, in the order of
// their policies. It is nil unless a middleware has Options.KeepOutcomes. The slice is shared: do not change it.
func FromContext(ctx context.Context) []Outcome {
	outcomes, _ := ctx.Value(outcomesKey{}).([]Outcome)
	return outcomes
}

// withOutcomes adds outcomes to those that ctx has.
func withOutcomes(ctx context.Context, outcomes []Outcome) context.Context {
	before := FromContext(ctx)
	all := make([]Outcome, 0, len(before)+len(outcomes))
	return context.WithValue(ctx, outcomesKey{}, append(append(all, before...), outcomes...))
}

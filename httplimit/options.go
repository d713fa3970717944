package httplimit

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/httplimit/internal/fields"
)

// Options say what a middleware does with each request. Only Policies is required.
type Options struct {
	// Policies are evaluated in their order, until one refuses; what those before it took is then given back, with
	// the best effort but not in one atomic step. For all-or-nothing put several limits on one [weir.Limiter].
	Policies []Policy
	// Headers chooses what clients are told. Zero is [HeadersDraft11]. Retry-After on refusals does not depend on it.
	Headers Headers
	// ExposeHeaders adds Access-Control-Expose-Headers with the names of the chosen headers and Retry-After, so that
	// scripts of other origins may read them.
	ExposeHeaders bool
	// Refused answers a request that a limit refuses, with the headers already set (Retry-After and Cache-Control:
	// no-store among them). It must write a status. Nil answers 429 with problem+json.
	Refused func(http.ResponseWriter, *http.Request, Outcome)
	// Failed answers a request that could not be decided, with Cache-Control: no-store already set; [Outcome.Status]
	// suggests the status, and it must write one. Nil answers with that status and problem+json. It is a field of its
	// own so that nobody tells clients that they sent too much when it is the store that is down.
	Failed func(http.ResponseWriter, *http.Request, Outcome)
	// Observe is called with what came of each policy that was evaluated, shadows included: for metrics and logs. The
	// policy during which a client goes away is not observed. It runs before the request goes on and must be safe for
	// concurrent use.
	Observe func(*http.Request, Outcome)
	// KeepOutcomes makes the outcomes of a passing request readable with [FromContext], at the price of an allocation.
	KeepOutcomes bool
	// Logger gets the warnings of New, each with its code. Nil is slog.Default().
	Logger *slog.Logger
}

// Policy is what one limiter means for a request. Limiter and Key are required.
type Policy struct {
	// Name stands in headers, problem documents and outcomes: a lower-case letter, then up to 63 of a-z 0-9 _ . and -.
	// Empty is "default". A limiter with several limits appears as Name.period, such as "api.s" and "api.h", and
	// "api.s-2" for a second one of the same period.
	Name string
	// Limiter decides.
	Limiter *weir.Limiter
	// Key says whom the request is counted for, such as ClientIP(ClientIPOptions{}).
	Key Key
	// Cost says how many units the request takes. Zero is FixedCost(1).
	Cost Cost
	// Skip returns true for requests that this policy does not concern: they are neither counted nor refused by it,
	// and its headers are left out. Nil skips none.
	Skip func(*http.Request) bool
	// Missing says what happens to a request whose key cannot be made. Zero is [RefuseMissing].
	Missing Missing
	// OnFailure says what happens when the limiter cannot decide. Zero is [FailClosed].
	OnFailure OnFailure
	// Shadow evaluates, counts and observes, but never refuses, and tells clients nothing.
	Shadow bool
}

// Missing says what happens to a request whose key cannot be made. There is no choice to let it pass: that takes a
// Skip function that says which ones, or [First] with another key to fall back to.
type Missing uint8

const (
	// RefuseMissing answers 400. The default.
	RefuseMissing Missing = iota
	// ShareMissing counts all such requests together, for one key of their own.
	ShareMissing
)

// OnFailure says what happens when the limiter cannot decide, as when its store is down. A client that goes away is
// no failure, and neither is a refusal.
type OnFailure uint8

const (
	// FailClosed answers 503. The default.
	FailClosed OnFailure = iota
	// FailOpen lets the request pass without this policy.
	FailOpen
)

// Cost says how many units a request takes. The zero value is FixedCost(1).
type Cost struct {
	set   bool
	fixed int64
	fn    func(*http.Request) (int64, error)
}

// FixedCost takes n units for every request. New refuses an n that is above any of the policy's limits: it could never be admitted.
func FixedCost(n int64) Cost { return Cost{set: true, fixed: n} }

// CostFunc asks fn. A cost of 0 passes and takes nothing; one above the limit is refused for good, without a
// Retry-After. An error or a negative cost is answered with 400: the request never passes for want of a price.
// fn must be safe for concurrent use.
func CostFunc(fn func(*http.Request) (int64, error)) Cost { return Cost{set: true, fn: fn, fixed: -1} }

func (c Cost) of(r *http.Request) (int64, error) {
	switch {
	case !c.set:
		return 1, nil
	case c.fn == nil:
		return c.fixed, nil
	}
	n, err := c.fn(r)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%w: %w", ErrNoCost, err)
	case n < 0 || n > weir.MaxQuota:
		return 0, fmt.Errorf("%w: %d is not within 0 to %d", ErrNoCost, n, int64(weir.MaxQuota))
	}
	return n, nil
}

// validate returns everything that is wrong with o or suspicious about it.
func (o *Options) validate() findings {
	var f findings
	if len(o.Policies) == 0 {
		f.add(CodeNoPolicies, "Policies", "is empty", "give at least one, or leave the middleware out")
	}
	o.Headers.validate(&f)
	names := make(map[string]int)
	shadows := 0
	for i := range o.Policies {
		p := &o.Policies[i]
		field := fmt.Sprintf("Policies[%d]", i)
		f = append(f, p.validate().under(field)...)
		for _, name := range fields.Names(p.name(), p.limits()) {
			if first, taken := names[name]; taken {
				f.add(CodeDuplicateName, field+".Name", fmt.Sprintf("gives the header name %q, which Policies[%d] has", name, first), "give each policy a name of its own")
				break
			}
			names[name] = i
		}
		if first, shared := o.sharedState(i); shared {
			f.add(CodeSharedState, field+".Limiter", fmt.Sprintf("counts the same keys under the same limiter name as Policies[%d]", first),
				"give each weir.Limiter a Name of its own, unless they are on different stores")
		}
		if p.Shadow {
			shadows++
		}
	}
	if shadows > 0 && shadows == len(o.Policies) {
		f.add(CodeAllShadow, "Policies", "are all shadow policies: nothing is ever refused", "clear Shadow when you have seen enough")
	}
	return f
}

// sharedState looks for an earlier policy whose limiter has the same name and whose key is of the same kind.
func (o *Options) sharedState(i int) (int, bool) {
	p := &o.Policies[i]
	for j := range o.Policies[:i] {
		q := &o.Policies[j]
		if p.Limiter != nil && q.Limiter != nil && p.Limiter.Name() == q.Limiter.Name() && p.Key.kind == q.Key.kind {
			return j, true
		}
	}
	return 0, false
}

func (p *Policy) validate() findings {
	var f findings
	if !validName(p.name(), 64, "_.-") {
		f.add(CodeBadName, "Name", fmt.Sprintf("is %q", p.Name), "use a lower-case letter and then at most 63 of a-z, 0-9, _, . and -")
	}
	if p.Limiter == nil {
		f.add(CodeNoLimiter, "Limiter", "is nil", `give one, such as weir.MustNew(store, weir.Options{Limits: weir.MustParseLimits("100/m")})`)
	}
	if p.Key.make == nil && len(p.Key.findings) == 0 {
		f.add(CodeNoKey, "Key", "is not set", "say who is limited, such as httplimit.ClientIP(httplimit.ClientIPOptions{}), or httplimit.Global() for everybody together")
	}
	f = append(f, p.Key.findings.under("Key")...)
	p.Cost.validate(&f, p.limits())
	if p.Missing > ShareMissing {
		f.add(CodeBadChoice, "Missing", fmt.Sprintf("is %d", p.Missing), "use httplimit.RefuseMissing or httplimit.ShareMissing")
	}
	if p.OnFailure > FailOpen {
		f.add(CodeBadChoice, "OnFailure", fmt.Sprintf("is %d", p.OnFailure), "use httplimit.FailClosed or httplimit.FailOpen")
	}
	return f
}

func (c Cost) validate(f *findings, limits []weir.Limit) {
	switch {
	case !c.set || c.fn != nil:
		return
	case c.fixed < 0:
		f.add(CodeBadCost, "Cost", "is negative or has a nil function", "use FixedCost(n) with n of at least 1, or CostFunc with a function")
	case c.fixed == 0:
		f.add(CodeFreeCost, "Cost", "is 0: no request ever uses anything up", "use a cost of at least 1, or leave the policy out")
	}
	for _, l := range limits {
		if quota, _ := fields.Shape(l); c.fixed > quota {
			f.add(CodeCostAboveMax, "Cost", fmt.Sprintf("is %d, above the %d of %q: every request would be refused", c.fixed, quota, l), "use a smaller cost or a larger limit")
		}
	}
}

func (p *Policy) name() string {
	if p.Name == "" {
		return "default"
	}
	return p.Name
}

func (p *Policy) limits() []weir.Limit {
	if p.Limiter == nil {
		return nil
	}
	return p.Limiter.Limits()
}

// validName says whether s is a lower-case letter and then letters, digits and what extra holds, at most most bytes.
func validName(s string, most int, extra string) bool {
	if s == "" || len(s) > most || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && strings.IndexByte(extra, c) < 0 {
			return false
		}
	}
	return true
}

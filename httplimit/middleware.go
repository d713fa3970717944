package httplimit

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/httplimit/internal/fields"
)

// New returns a middleware. It may wrap any number of handlers, which then share its policies. An error joins a
// [ConfigError] for each option that is wrong; what is merely suspicious is logged, and the middleware is returned.
func New(opts Options) (func(http.Handler) http.Handler, error) {
	found := opts.validate()
	if err := found.err(); err != nil {
		return nil, err
	}
	logger := opts.Logger
	if logger == nil {
		logger = slog.Default()
	}
	for _, e := range found {
		logger.Warn("httplimit: "+e.Field+" "+e.Problem, "code", string(e.Code), "remedy", e.Remedy)
	}
	m := newMiddleware(opts, logger)
	return func(next http.Handler) http.Handler {
		if next == nil {
			panic("httplimit: the next handler is nil")
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { m.serve(w, r, next) })
	}, nil
}

// MustNew is [New] for middleware that stands in the program; it panics on an error.
func MustNew(opts Options) func(http.Handler) http.Handler {
	limit, err := New(opts)
	if err != nil {
		panic(err)
	}
	return limit
}

// rule is a policy with what can be prepared for it.
type rule struct {
	Policy
	missing string         // the key of requests without one
	told    *fields.Policy // as clients see it
}

// middleware is immutable and safe for concurrent use.
type middleware struct {
	rules   []rule
	fields  fields.Writer
	refused func(http.ResponseWriter, *http.Request, Outcome)
	failed  func(http.ResponseWriter, *http.Request, Outcome)
	observe func(*http.Request, Outcome)
	keep    bool
	watch   *proxyWatch // nil when no key reads the connection's address alone
}

func newMiddleware(opts Options, logger *slog.Logger) *middleware {
	m := &middleware{refused: opts.Refused, failed: opts.Failed, observe: opts.Observe, keep: opts.KeepOutcomes}
	var told []*fields.Policy
	m.rules = make([]rule, len(opts.Policies))
	for i, p := range opts.Policies {
		p.Name = p.name()
		m.rules[i] = rule{Policy: p, missing: "missing:" + p.Key.kind, told: fields.NewPolicy(p.Name, p.limits())}
		if p.Key.peerOnly {
			m.watch = &proxyWatch{logger: logger}
		}
		if !p.Shadow {
			told = append(told, m.rules[i].told)
		}
	}
	mode := fields.Mode(opts.Headers)
	if mode == 0 {
		mode = fields.Draft11
	}
	m.fields = fields.New(mode, opts.ExposeHeaders, told)
	if m.refused == nil {
		m.refused = writeProblem
	}
	if m.failed == nil {
		m.failed = writeProblem
	}
	return m
}

// usualPolicies is how many outcomes fit on the stack.
const usualPolicies = 3

func (m *middleware) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	m.watch.look(r)
	var buf [usualPolicies]Outcome
	outcomes := m.prepare(r, buf[:0])
	stop, gone := m.decide(r, outcomes)
	if gone {
		m.cutOff(w, r, outcomes[stop])
		return
	}
	if stop >= 0 {
		m.stop(w, r, outcomes, stop)
		return
	}
	m.tell(w.Header(), outcomes, -1)
	if m.keep {
		r = r.WithContext(withOutcomes(r.Context(), outcomes))
	}
	next.ServeHTTP(w, r)
}

// prepare appends an outcome for each policy that concerns r, with its key and cost or the reason why there is none.
// Nothing is charged yet: a request that one policy cannot place costs the others nothing.
func (m *middleware) prepare(r *http.Request, outcomes []Outcome) []Outcome {
	for i := range m.rules {
		p := &m.rules[i]
		if p.Skip != nil && p.Skip(r) {
			continue
		}
		o := Outcome{Policy: p.Name, Shadow: p.Shadow, rule: p}
		o.Key, o.Err = p.Key.of(r)
		if o.Err != nil && p.Missing == ShareMissing {
			o.Key, o.Err = p.missing, nil
		}
		if o.Err == nil {
			o.Cost, o.Err = p.Cost.of(r)
		}
		outcomes = append(outcomes, o)
	}
	return outcomes
}

// decide fills in the decisions. It returns the index of the outcome that stops the request, or -1, and whether that
// was because the context was cancelled; if it stops, everything that was taken is given back.
func (m *middleware) decide(r *http.Request, outcomes []Outcome) (stop int, gone bool) {
	for i := range outcomes {
		if outcomes[i].Err != nil && outcomes[i].stops() {
			m.report(r, &outcomes[i])
			return i, false
		}
	}
	for i := range outcomes {
		o := &outcomes[i]
		if o.Err == nil {
			o.Decision, o.Err = o.rule.Limiter.AllowN(r.Context(), o.Key, o.Cost)
		}
		// A deadline that passed is a store that was too slow. Only a cancelled context is a client that left.
		if o.Err != nil && errors.Is(r.Context().Err(), context.Canceled) {
			giveBack(r.Context(), outcomes[:i])
			return i, true
		}
		m.report(r, o)
		if o.stops() {
			giveBack(r.Context(), outcomes[:i])
			return i, false
		}
	}
	return -1, false
}

func (m *middleware) report(r *http.Request, o *Outcome) {
	if m.observe != nil {
		m.observe(r, *o)
	}
}

// giveBack refunds what outcomes took, shadow policies included: they count what would have been served. The decisions
// become those after the refund, so that headers tell the truth. A refund that fails is left at that: the units come
// back with time, and the client is refused either way. What a store has decided without its state it has not charged there.
func giveBack(ctx context.Context, outcomes []Outcome) {
	ctx = context.WithoutCancel(ctx)
	for i := range outcomes {
		o := &outcomes[i]
		if o.Err != nil || !o.Decision.Allowed || o.Decision.Outage || o.Cost == 0 {
			continue
		}
		if d, err := o.rule.Limiter.Refund(ctx, o.Key, o.Cost); err == nil {
			o.Decision = d
		}
	}
}

// cutOff answers a request whose context was cancelled. Mostly the client left and nobody reads it. But a server that
// shuts down may cancel too, and without an answer net/http would tell its clients 200 for what was never done.
func (m *middleware) cutOff(w http.ResponseWriter, r *http.Request, o Outcome) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Retry-After", "1")
	writeProblem(w, r, o)
}

// stop answers the request with the outcome that stopped it.
func (m *middleware) stop(w http.ResponseWriter, r *http.Request, outcomes []Outcome, stop int) {
	h, o := w.Header(), outcomes[stop]
	h.Set("Cache-Control", "no-store")
	if o.Err != nil {
		if o.Status() == http.StatusServiceUnavailable {
			h.Set("Retry-After", "1")
		}
		m.fields.WriteExpose(h)
		m.failed(w, r, o)
		return
	}
	h.Del("Retry-After")
	if o.Decision.RetryAfter != weir.Never {
		h.Set("Retry-After", fields.RetryAfter(o.Decision.RetryAfter))
	}
	m.tell(h, outcomes, stop)
	m.refused(w, r, o)
}

// tell writes what clients are told: of all policies that concern the request and are no shadows. refused is the index
// of the one that refuses, or -1.
func (m *middleware) tell(h http.Header, outcomes []Outcome, refused int) {
	var buf [usualPolicies]fields.Told
	told, at := buf[:0], -1
	for i := range outcomes {
		o := &outcomes[i]
		if o.Shadow {
			continue
		}
		t := fields.Told{Policy: o.rule.told}
		if o.Err == nil && o.Decision.Limit > 0 { // otherwise it did not come to this policy
			t.Decision = o.Decision
			if i == refused {
				at = len(told)
			}
		}
		told = append(told, t)
	}
	m.fields.Write(h, told, at)
	m.fields.WriteExpose(h)
}

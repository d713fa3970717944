package weir

import (
	"math"
	"time"
)

// Never is the RetryAfter of a request that no wait can admit: its cost is above the limit.
const Never = time.Duration(math.MaxInt64)

// MaxLimits is how many limits one limiter can hold.
const MaxLimits = 8

// Figures are what one limit says of a key at the instant of a decision.
type Figures struct {
	// Limit is the capacity of a bucket, or the quota of a window or log.
	Limit int64
	// Remaining is how many more units this limit admits at this instant, exactly; never negative, never above Limit.
	Remaining int64
	// RetryAfter is the shortest wait after which this limit admits the same cost if nobody else comes, to the
	// microsecond; 0 when it admits it now, [Never] when no wait helps.
	RetryAfter time.Duration
	// ResetAfter is the time until this limit's full quota is back; 0 when it is.
	ResetAfter time.Duration
}

// Decision is the answer to a request. It is a plain value: copy it, keep it, share it.
type Decision struct {
	// Allowed says whether every limit admits the cost. If not, nothing was charged to any of them.
	Allowed bool
	// Outage says that the decision was made without the store, as its outage policy says.
	Outage bool
	// Deciding is the index, in the order of [Limiter.Limits], of the limit that decided: of a refusal the one with
	// the longest RetryAfter, otherwise the one with the least Remaining.
	Deciding int
	// Limit is the capacity or quota of the deciding limit.
	Limit int64
	// Remaining is how many more units are admitted at this instant: the least over all limits.
	Remaining int64
	// RetryAfter is the shortest wait after which the same cost is admitted by all limits if nobody else comes;
	// 0 when allowed, [Never] when no wait helps. At now + RetryAfter it is admitted, a microsecond earlier it is not.
	RetryAfter time.Duration
	// ResetAfter is the time until the deciding limit's full quota is back.
	ResetAfter time.Duration

	// Of several limits, what Figures needs; nil for one.
	scope *Scope
	all   []Result
}

// Figures returns what each limit says, in the order of [Limiter.Limits].
func (d *Decision) Figures() []Figures {
	if d.all == nil {
		return []Figures{{Limit: d.Limit, Remaining: d.Remaining, RetryAfter: d.RetryAfter, ResetAfter: d.ResetAfter}}
	}
	figures := make([]Figures, len(d.all))
	for i, r := range d.all {
		figures[i] = Figures{Limit: d.scope.Specs[i].Quota, Remaining: r.Remaining, RetryAfter: r.RetryAfter, ResetAfter: r.ResetAfter}
	}
	return figures
}

// decide fills d from what a store answered.
func (d *Decision) decide(scope *Scope, r Results) {
	if len(scope.Specs) > 1 {
		d.decideAll(scope, r.All[:len(scope.Specs)])
		return
	}
	d.Allowed = r.One.RetryAfter == 0
	d.Limit = scope.Specs[0].Quota
	d.Remaining = r.One.Remaining
	d.RetryAfter = r.One.RetryAfter
	d.ResetAfter = r.One.ResetAfter
}

// decideAll fills d from the results of several limits.
func (d *Decision) decideAll(scope *Scope, all []Result) {
	d.scope, d.all = scope, all
	least, longest := 0, 0
	for i, r := range all {
		if r.Remaining < all[least].Remaining {
			least = i
		}
		if r.RetryAfter > all[longest].RetryAfter {
			longest = i
		}
	}
	d.RetryAfter = all[longest].RetryAfter
	d.Allowed = d.RetryAfter == 0
	d.Deciding = longest
	if d.Allowed {
		d.Deciding = least
	}
	d.Limit = scope.Specs[d.Deciding].Quota
	d.Remaining = all[least].Remaining
	d.ResetAfter = all[d.Deciding].ResetAfter
}

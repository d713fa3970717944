package redisstore

import (
	"context"
	"errors"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/memstore"
	"github.com/weirhq/weir/redisstore/internal/script"
)

// askAgain is the wait that is told who is refused without Redis: by then it may be back.
const askAgain = time.Second

// decideWithout answers a take or look by the outage policy, if err is an outage, as a [weir.Outage]; otherwise err.
func (s *Store) decideWithout(ctx context.Context, op script.Op, scope *weir.Scope, key string, cost int64, err error) (weir.Results, error) {
	if errors.Is(err, ErrMisconfigured) {
		s.misconfigured.Add(1)
	}
	if !errors.Is(err, ErrOutage) {
		return weir.Results{}, err
	}
	s.outages.Add(1)
	if op != script.Take && op != script.Peek || s.options.Outage == OutageError {
		return weir.Results{}, err
	}
	answer := &weir.Outage{Err: err}
	switch s.options.Outage {
	case OutageAllow:
		answer.Results = eachLimit(scope, func(quota int64) weir.Result { return allowed(quota, cost) })
	case OutageDeny:
		answer.Results = eachLimit(scope, func(quota int64) weir.Result { return denied(quota, cost) })
	default:
		local, err := s.decideLocally(ctx, op, scope, key, cost)
		if err != nil {
			return weir.Results{}, err
		}
		answer.Results = local
	}
	return weir.Results{}, answer
}

func allowed(quota, cost int64) weir.Result {
	if cost > quota {
		return weir.Result{Remaining: quota, RetryAfter: weir.Never}
	}
	return weir.Result{Remaining: quota}
}

func denied(quota, cost int64) weir.Result {
	r := weir.Result{RetryAfter: askAgain, ResetAfter: askAgain}
	switch {
	case cost == 0:
		r.RetryAfter = 0
	case cost > quota:
		r.RetryAfter = weir.Never
	}
	return r
}

// eachLimit makes results of what the limits' quotas bring.
func eachLimit(scope *weir.Scope, result func(quota int64) weir.Result) weir.Results {
	if len(scope.Specs) == 1 {
		return weir.Results{One: result(scope.Specs[0].Quota)}
	}
	all := new([weir.MaxLimits]weir.Result)
	for i := range scope.Specs {
		all[i] = result(scope.Specs[i].Quota)
	}
	return weir.Results{All: all}
}

// decideLocally decides in memory, under this process's share of the limits.
func (s *Store) decideLocally(ctx context.Context, op script.Op, scope *weir.Scope, key string, cost int64) (weir.Results, error) {
	share := &s.prepare(scope).share
	var results weir.Results
	var err error
	if op == script.Peek {
		results, err = s.local.Peek(ctx, share, key, cost)
	} else {
		results, err = s.local.Take(ctx, share, key, cost)
	}
	switch {
	case errors.Is(err, memstore.ErrClosed):
		return results, ErrClosed
	case err != nil:
		return results, err
	case len(scope.Specs) == 1:
		results.One = notNever(results.One, scope.Specs[0].Quota, cost)
	default:
		for i := range scope.Specs {
			results.All[i] = notNever(results.All[i], scope.Specs[i].Quota, cost)
		}
	}
	return results, nil
}

// notNever corrects a refusal for ever: what is more than a share may be less than the limit that holds when Redis is
// back.
func notNever(r weir.Result, quota, cost int64) weir.Result {
	if r.RetryAfter == weir.Never && cost <= quota {
		r.RetryAfter = max(askAgain, r.ResetAfter)
	}
	return r
}

// shareOf returns one n-th of a limit, at least one unit. Where that is no valid limit, because it would take more than
// a hundred years to come back, it is the limit itself.
func shareOf(spec weir.Spec, n int64) weir.Spec {
	whole := spec
	spec.Quota = max(1, spec.Quota/n)
	switch spec.Algorithm {
	case weir.SmoothBucket, weir.StepwiseBucket:
		switch {
		case spec.Refill%n == 0:
			spec.Refill /= n
		case spec.Period <= int64(weir.MaxPeriod/time.Microsecond)/n:
			spec.Period *= n
		default:
			spec.Refill = max(1, spec.Refill/n)
		}
	}
	limit := spec.Limit()
	if limit == nil {
		return whole
	}
	valid, err := weir.SpecOf(limit)
	if err != nil {
		return whole
	}
	return valid
}

package script

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/storetest"
)

// store is the smallest store over the script: a batch for each request, and a time that is moved by hand.
type store struct {
	rig    *rig
	prefix string
	now    atomic.Int64
	guess  func(now int64) int64 // what the client takes for the time
}

var (
	_ weir.Store    = (*store)(nil)
	_ weir.Peeker   = (*store)(nil)
	_ weir.Adjuster = (*store)(nil)
	_ weir.Resetter = (*store)(nil)
)

func (s *store) do(op Op, scope *weir.Scope, key string, cost int64) (weir.Results, error) {
	now := s.now.Load()
	request := []request{{op, NewScope(scope.Specs), cost, fmt.Sprintf("%s%d:%s:%s", s.prefix, len(scope.Name), scope.Name, key)}}
	answers := make([]answer, 1)
	for range mostRounds {
		var err error
		answers, err = s.rig.ask(timed{at(now).now, s.guess(now)}, request, answers)
		if err != nil {
			return weir.Results{}, err
		}
		switch p := answers[0].problem; p.Kind {
		case None:
			return resultsOf(answers[0].row), nil
		case Foreign, Redis:
			return weir.Results{}, fmt.Errorf("problem %+v", p)
		}
	}
	return weir.Results{}, errors.New("the script asks for the same again and again")
}

func resultsOf(row []int64) weir.Results {
	all := new([weir.MaxLimits]weir.Result)
	for i := range len(row) / 3 {
		all[i] = weir.Result{Remaining: row[3*i], RetryAfter: weir.Never, ResetAfter: time.Duration(row[3*i+2]) * time.Microsecond}
		if wait := row[3*i+1]; wait >= 0 {
			all[i].RetryAfter = time.Duration(wait) * time.Microsecond
		}
	}
	if len(row) == 3 {
		return weir.Results{One: all[0]}
	}
	return weir.Results{All: all}
}

func (s *store) Take(_ context.Context, scope *weir.Scope, key string, cost int64) (weir.Results, error) {
	return s.do(Take, scope, key, cost)
}

func (s *store) Peek(_ context.Context, scope *weir.Scope, key string, cost int64) (weir.Results, error) {
	return s.do(Peek, scope, key, cost)
}

func (s *store) Refund(_ context.Context, scope *weir.Scope, key string, n int64) (weir.Results, error) {
	return s.do(Refund, scope, key, n)
}

func (s *store) Charge(_ context.Context, scope *weir.Scope, key string, n int64) (weir.Results, error) {
	return s.do(Charge, scope, key, n)
}

func (s *store) Reset(_ context.Context, scope *weir.Scope, key string) error {
	_, err := s.do(Reset, scope, key, 0)
	return err
}

var storeStart = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

// newStore returns a store whose keys are its own.
func newStore(r *rig, number int) *store {
	s := &store{rig: r, prefix: fmt.Sprintf("{%d}", number), guess: func(now int64) int64 { return now }}
	s.now.Store(storeStart.UnixMicro())
	return s
}

func (s *store) advance(d time.Duration) { s.now.Add(d.Microseconds()) }

// TestStoretest: the script is a store, whatever its client takes for the time.
func TestStoretest(t *testing.T) {
	for name, guess := range map[string]func(int64) int64{
		"clock right": func(now int64) int64 { return now },
		"clock wrong": func(int64) int64 { return 0 },
	} {
		t.Run(name, func(t *testing.T) {
			r := startRig(t)
			var number int
			storetest.Run(t, func(t *testing.T, body func(*testing.T, storetest.Rig)) {
				number++
				s := newStore(r, number)
				s.guess = guess
				body(t, storetest.Rig{Store: s, Advance: s.advance, Now: func() time.Time { return time.UnixMicro(s.now.Load()) }})
			})
		})
	}
}

// TestTraces tells the script all written stories, those too in which time goes back.
func TestTraces(t *testing.T) {
	traces, err := storetest.Traces()
	if err != nil {
		t.Fatal(err)
	}
	r := startRig(t)
	for i, trace := range traces {
		t.Run(trace.Name, func(t *testing.T) {
			s := newStore(r, i)
			s.now.Store(trace.Start.UnixMicro())
			limiter := weir.MustNew(s, weir.Options{Limits: trace.Limits})
			err := trace.Play(func(step storetest.Step) ([]weir.Figures, error) {
				s.advance(step.Advance)
				var d weir.Decision
				var err error
				switch ctx := t.Context(); step.Op {
				case storetest.Take:
					d, err = limiter.AllowN(ctx, "key", step.N)
				case storetest.Peek:
					d, err = limiter.PeekN(ctx, "key", step.N)
				case storetest.Refund:
					d, err = limiter.Refund(ctx, "key", step.N)
				case storetest.Charge:
					d, err = limiter.Charge(ctx, "key", step.N)
				case storetest.Reset:
					return nil, limiter.Reset(ctx, "key")
				case storetest.Limits:
					limiter, err = limiter.With(step.Limits...)
					return nil, err
				}
				return d.Figures(), err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

package redisstore

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/memstore"
	"github.com/weirhq/weir/redisstore/internal/canonical"
	"github.com/weirhq/weir/redisstore/internal/keyname"
	"github.com/weirhq/weir/redisstore/internal/script"
	"github.com/weirhq/weir/redisstore/internal/trip"
)

// Store keeps state in Redis or Valkey. It is safe for concurrent use; make one with [Open] or [New], and close it when
// it is no longer used.
type Store struct {
	options Options
	runner  Runner
	names   keyname.Namer
	engine  *trip.Engine
	// canonical is the way of [Canonical]'s script.
	canonical *trip.Single
	lanes     int // 1, or one for each hash tag
	local     *memstore.Store
	clock     func() (now string, guess int64) // see trip.Settings

	scopes   sync.Map // *weir.Scope -> *prepared
	prepared atomic.Int32

	decisions, outages, misconfigured atomic.Uint64
}

var (
	_ weir.Store    = (*Store)(nil)
	_ weir.Peeker   = (*Store)(nil)
	_ weir.Adjuster = (*Store)(nil)
	_ weir.Resetter = (*Store)(nil)
)

// maxLocalKeys bounds the memory of [OutageLocal], to some 45 MB.
const maxLocalKeys = 1 << 20

// New returns a store over a runner, which it closes in the end if it is an io.Closer. It does not ask Redis
// anything yet: see [Store.Check].
func New(runner Runner, opts Options) (*Store, error) {
	if runner == nil {
		return nil, fmt.Errorf("%w: runner is nil; use Open, Rueidis, or goredis.New", ErrInvalidOptions)
	}
	opts.setDefaults()
	if err := opts.validate(); err != nil {
		return nil, err
	}
	local, err := memstore.New(memstore.Options{MaxKeys: maxLocalKeys})
	if err != nil {
		return nil, err
	}
	s := &Store{
		options: opts,
		runner:  runner,
		names:   keyname.Namer{Prefix: opts.Prefix, Hashed: opts.HashKeys, Secret: slices.Clone(opts.HashSecret)},
		lanes:   1,
		local:   local,
		clock:   func() (string, int64) { return "", time.Now().UnixMicro() },
	}
	if c, ok := runner.(interface{ Clustered() bool }); opts.PerSlot || ok && c.Clustered() {
		s.lanes = keyname.Tags
	}
	s.engine = trip.New(trip.Settings{
		Runner: runner, Timeout: opts.Timeout, MaxWaiting: opts.MaxWaiting,
		Log:   opts.Log.With("policy", opts.Outage.String()),
		Lanes: s.lanes, ProbeKey: s.names.Head,
		Clock: func() (string, int64) { return s.clock() },
	})
	s.canonical = s.engine.Single(trip.Script{Source: canonical.Source, SHA: canonical.SHA})
	return s, nil
}

// Take implements [weir.Store].
func (s *Store) Take(ctx context.Context, scope *weir.Scope, key string, cost int64) (weir.Results, error) {
	return s.do(ctx, script.Take, scope, key, cost)
}

// Peek implements [weir.Peeker].
func (s *Store) Peek(ctx context.Context, scope *weir.Scope, key string, cost int64) (weir.Results, error) {
	return s.do(ctx, script.Peek, scope, key, cost)
}

// Refund implements [weir.Adjuster]. It is not part of the outage policy: while Redis is away it is an error.
func (s *Store) Refund(ctx context.Context, scope *weir.Scope, key string, n int64) (weir.Results, error) {
	return s.do(ctx, script.Refund, scope, key, n)
}

// Charge implements [weir.Adjuster]. It is not part of the outage policy: while Redis is away it is an error, and may
// have been charged if the reply is what was lost.
func (s *Store) Charge(ctx context.Context, scope *weir.Scope, key string, n int64) (weir.Results, error) {
	return s.do(ctx, script.Charge, scope, key, n)
}

// Reset implements [weir.Resetter]. It is not part of the outage policy: while Redis is away it is an error.
func (s *Store) Reset(ctx context.Context, scope *weir.Scope, key string) error {
	_, err := s.do(ctx, script.Reset, scope, key, 0)
	if err == nil {
		err = s.local.Reset(ctx, &s.prepare(scope).share, key)
	}
	return err
}

func (s *Store) do(ctx context.Context, op script.Op, scope *weir.Scope, key string, cost int64) (weir.Results, error) {
	name, tag := s.names.Name(scope.Name, key)
	results, err := s.engine.Ask(ctx, tag%s.lanes, trip.Request{Op: op, Scope: s.prepare(scope).script, Cost: cost, Key: name})
	if err != nil {
		return s.decideWithout(ctx, op, scope, key, cost, err)
	}
	s.decisions.Add(1)
	return results, nil
}

// prepared is what a scope is made into once.
type prepared struct {
	script *script.Scope
	share  weir.Scope // for the outage policy
}

// maxPrepared bounds the scopes that are remembered: programs that make limits on the fly have new ones for ever.
const maxPrepared = 4096

func (s *Store) prepare(scope *weir.Scope) *prepared {
	if p, ok := s.scopes.Load(scope); ok {
		return p.(*prepared)
	}
	p := &prepared{script: script.NewScope(scope.Specs), share: weir.Scope{Name: scope.Name}}
	for _, spec := range scope.Specs {
		p.share.Specs = append(p.share.Specs, shareOf(spec, int64(s.options.Processes)))
	}
	if s.prepared.Add(1) > maxPrepared {
		s.scopes.Clear()
		s.prepared.Store(1)
	}
	s.scopes.Store(scope, p)
	return p
}

// Check asks Redis once for a sign of life, on a cluster for each hash tag, and waits for it no longer than ctx. An error
// wraps [ErrOutage] or [ErrMisconfigured]. Nothing needs it; it tells at the start what the first decision would.
func (s *Store) Check(ctx context.Context) error { return s.engine.Check(ctx) }

// Stats count what a store has done since it was made.
type Stats struct {
	// Decisions are operations that Redis has answered.
	Decisions uint64
	// Trips are script calls sent; fewer than Decisions when operations travel together.
	Trips uint64
	// Outages are operations that Redis could not answer, whatever the policy then did.
	Outages uint64
	// Misconfigured are operations that ended with [ErrMisconfigured].
	Misconfigured uint64
	// Out says that Redis, or a part of a cluster, is given up for now.
	Out bool
}

// Stats returns the counts.
func (s *Store) Stats() Stats {
	return Stats{
		Decisions: s.decisions.Load(),
		Trips:     s.engine.Trips(),
		Outages:   s.outages.Load(),
		Out:       s.engine.Out(),

		Misconfigured: s.misconfigured.Load(),
	}
}

// Close ends calls under way with [ErrClosed] and closes the runner if it is an io.Closer. Calls after it answer
// ErrClosed. Closing twice is harmless.
func (s *Store) Close() (err error) {
	if !s.engine.Close() {
		return nil
	}
	if c, ok := s.runner.(io.Closer); ok {
		err = c.Close()
	}
	s.engine.Wait()
	s.local.Close()
	return err
}

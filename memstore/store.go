package memstore

import (
	"context"
	crand "crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/siphash"
	"github.com/weirhq/weir/memstore/internal/table"
)

// DefaultMaxKeys is the MaxKeys of a store whose options leave it at zero: 16,777,216 entries, at most about 700 MB.
const DefaultMaxKeys = 1 << 24

// ErrClosed says that the store was used after Close.
var ErrClosed = errors.New("memstore: store is closed")

// ErrInvalidOptions says that a store cannot be built from its [Options].
var ErrInvalidOptions = errors.New("memstore: invalid options")

// Options configure a [Store]. The zero value works.
type Options struct {
	// MaxKeys bounds the number of entries; a key under a limiter of n limits has up to n. When it is reached, the
	// entry closest to fresh of a small group makes room for a new one. 1 to 2^31-1; 0 means [DefaultMaxKeys].
	MaxKeys int
}

func (o Options) validate() error {
	if o.MaxKeys < 0 || o.MaxKeys > 1<<31-1 {
		return fmt.Errorf("%w: MaxKeys is %d; use 1 to %d, or 0 for %d", ErrInvalidOptions, o.MaxKeys, 1<<31-1, DefaultMaxKeys)
	}
	return nil
}

// Store keeps state in memory. It is safe for concurrent use; make one with [New]. Its clock is the wall clock of the
// moment it was made, carried on by the monotonic clock: steps of the system's clock change nothing.
type Store struct {
	options Options
	base    time.Time
	micros  int64 // base in microseconds of the epoch
	tables  atomic.Pointer[tables]
	life    sync.Mutex // serialises Close and Restore
}

// tables is the content of a store, which Restore replaces as a whole.
type tables struct {
	gone   bool // the store is closed; there is nothing here
	key    siphash.Key
	shift  uint8 // hash.Lo >> shift is the shard
	shards []shard
	now    func() int64

	armed     atomic.Bool
	closed    atomic.Bool
	timer     *time.Timer
	sweeping  sync.Mutex
	nextSwept int // guarded by sweeping
}

var (
	_ weir.Store    = (*Store)(nil)
	_ weir.Peeker   = (*Store)(nil)
	_ weir.Adjuster = (*Store)(nil)
	_ weir.Resetter = (*Store)(nil)
)

// New returns an empty store. Close it when it is no longer used; forgetting to costs its memory until its entries
// have expired, no goroutine.
func New(opts Options) (*Store, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	if opts.MaxKeys == 0 {
		opts.MaxKeys = DefaultMaxKeys
	}
	s := &Store{options: opts, base: time.Now()}
	s.micros = s.base.UnixMicro()
	var secret [16]byte
	crand.Read(secret[:])
	key := siphash.Key{K0: binary.LittleEndian.Uint64(secret[:8]), K1: binary.LittleEndian.Uint64(secret[8:])}
	s.tables.Store(newTables(opts.MaxKeys, key, s.now))
	return s, nil
}

// MustNew is [New] for options that stand in the program; it panics on an error.
func MustNew(opts Options) *Store {
	s, err := New(opts)
	if err != nil {
		panic(err)
	}
	return s
}

// maxShards bounds the number of locks; a shard should have room for a thousand entries before there is another.
const maxShards = 256

func newTables(maxKeys int, key siphash.Key, now func() int64) *tables {
	n := min(maxShards, 1<<(bits.Len(uint(maxKeys/1024+1))-1))
	t := &tables{key: key, shards: make([]shard, n), now: now}
	skip := bits.Len(uint(n)) - 1
	t.shift = uint8(64 - skip)
	q := newQuota(maxKeys, n)
	for i := range t.shards {
		t.shards[i].table.Skip = uint8(skip)
		t.shards[i].quota = q
		t.shards[i].spare = 1
	}
	t.timer = time.AfterFunc(sweepEvery, t.sweep)
	t.timer.Stop()
	return t
}

// now returns the store's time in microseconds of the epoch. It never goes back.
func (s *Store) now() int64 { return s.micros + int64(time.Since(s.base)/time.Microsecond) }

// Take implements [weir.Store].
func (s *Store) Take(_ context.Context, scope *weir.Scope, key string, cost int64) (weir.Results, error) {
	return s.do(take, scope, key, cost)
}

// Peek implements [weir.Peeker].
func (s *Store) Peek(_ context.Context, scope *weir.Scope, key string, cost int64) (weir.Results, error) {
	return s.do(peek, scope, key, cost)
}

// Refund implements [weir.Adjuster].
func (s *Store) Refund(_ context.Context, scope *weir.Scope, key string, n int64) (weir.Results, error) {
	return s.do(refund, scope, key, n)
}

// Charge implements [weir.Adjuster].
func (s *Store) Charge(_ context.Context, scope *weir.Scope, key string, n int64) (weir.Results, error) {
	return s.do(charge, scope, key, n)
}

// Reset implements [weir.Resetter].
func (s *Store) Reset(_ context.Context, scope *weir.Scope, key string) error {
	t := s.tables.Load()
	if t.gone {
		return ErrClosed
	}
	h := t.hash(scope, key)
	sh := &t.shards[h.Lo>>t.shift]
	sh.mu.Lock()
	sh.remove(h, len(scope.Specs))
	sh.mu.Unlock()
	return nil
}

func (s *Store) do(op operation, scope *weir.Scope, key string, cost int64) (weir.Results, error) {
	t := s.tables.Load()
	if t.gone {
		return weir.Results{}, ErrClosed
	}
	h := t.hash(scope, key)
	sh := &t.shards[h.Lo>>t.shift]
	sh.mu.Lock()
	results := sh.apply(op, h, scope.Specs, s, cost)
	held := sh.table.N
	sh.mu.Unlock()
	if held > 0 {
		t.arm()
	}
	return results, nil
}

func (t *tables) hash(scope *weir.Scope, key string) table.Hash {
	lo, hi := t.key.Sum(scope.Name, key)
	return table.Hash{Lo: lo, Hi: hi}
}

// Len returns the number of entries, with those that have expired and not yet left: a sweep takes a second, or up to
// a minute in a store of many millions.
func (s *Store) Len() int { return s.tables.Load().len() }

func (t *tables) len() int {
	n := 0
	for i := range t.shards {
		sh := &t.shards[i]
		sh.mu.Lock()
		n += sh.table.N
		sh.mu.Unlock()
	}
	return n
}

// Close stops the sweep and lets the entries go. Calls after it, and calls under way that have not decided, answer
// [ErrClosed]. Closing twice is harmless.
func (s *Store) Close() error {
	s.life.Lock()
	defer s.life.Unlock()
	if s.tables.Load().gone {
		return nil
	}
	// What replaces the tables says by itself that the store is closed: nobody can find it empty but open.
	empty := newTables(1, siphash.Key{}, s.now)
	empty.gone = true
	s.tables.Swap(empty).stop()
	return nil
}

// stop ends the sweep of tables that nobody uses any more.
func (t *tables) stop() {
	t.closed.Store(true)
	t.timer.Stop()
	t.sweeping.Lock() // a sweep under way ends first
	defer t.sweeping.Unlock()
}

package trip

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/redisstore/internal/script"
)

// fakeRedis answers what a test says, in a bubble's time. Without words of its own it admits everything.
type fakeRedis struct {
	prompt      bool
	now, most   atomic.Int64 // calls under way, and the most that were
	mu          sync.Mutex
	say         func(ctx context.Context, keys []string, into *script.Reply) error // nil: admit
	trips       [][]string                                                         // the keys of each call
	evals       int
	rediscovers int
}

func (f *fakeRedis) EvalSHA(ctx context.Context, _ string, keys, _ []string, into *script.Reply) error {
	n := f.now.Add(1)
	defer f.now.Add(-1)
	for most := f.most.Load(); n > most && !f.most.CompareAndSwap(most, n); most = f.most.Load() {
	}
	f.mu.Lock()
	f.trips = append(f.trips, slices.Clone(keys))
	say := f.say
	f.mu.Unlock()
	if say == nil {
		say = admit
	}
	if d, ok := ctx.(deadlineContext); ok { // as a prompt runner does, see to the deadline
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(d.Context, d.at)
		defer cancel()
	}
	return say(ctx, keys, into)
}

func (f *fakeRedis) Eval(ctx context.Context, _ string, keys, _ []string, into *script.Reply) error {
	f.mu.Lock()
	f.evals++
	f.mu.Unlock()
	return admit(ctx, keys, into)
}

func (f *fakeRedis) Prompt() bool { return f.prompt }

func (f *fakeRedis) Rediscover() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rediscovers++
}

// says changes what is answered.
func (f *fakeRedis) says(say func(context.Context, []string, *script.Reply) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.say = say
}

// count returns how many calls came.
func (f *fakeRedis) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.trips)
}

func admit(_ context.Context, keys []string, into *script.Reply) error {
	into.Clear()
	for range keys {
		into.Ints = append(into.Ints, 1, 0, 0)
	}
	return nil
}

// textError is an error as a client has it of Redis.
type textError string

func (e textError) Error() string { return string(e) }

func fails(text string) func(context.Context, []string, *script.Reply) error {
	return func(context.Context, []string, *script.Reply) error { return textError(text) }
}

const timeout = 50 * time.Millisecond

// inBubbles runs body with an engine of one lane, whose runner is prompt and then not.
func inBubbles(t *testing.T, body func(t *testing.T, e *Engine, redis *fakeRedis)) {
	for _, prompt := range []bool{true, false} {
		t.Run(fmt.Sprint("prompt ", prompt), func(t *testing.T) { inBubble(t, prompt, body) })
	}
}

func inBubble(t *testing.T, prompt bool, body func(t *testing.T, e *Engine, redis *fakeRedis)) {
	synctest.Test(t, func(t *testing.T) {
		redis := &fakeRedis{prompt: prompt}
		e := newEngine(redis, 500)
		defer func() { e.Close(); e.Wait() }()
		body(t, e, redis)
	})
}

func newEngine(redis *fakeRedis, maxWaiting int) *Engine {
	return New(Settings{
		Runner: redis, Timeout: timeout, MaxWaiting: maxWaiting, Lanes: 1, Log: slog.New(slog.DiscardHandler),
		ProbeKey: func(int) string { return "probe" },
		Clock:    func() (string, int64) { return "", 0 },
	})
}

var testScope = script.NewScope([]weir.Spec{{Algorithm: weir.SmoothBucket, Quota: 10, Refill: 1, Period: 1000}})

func take(key string) Request {
	return Request{Op: script.Take, Scope: testScope, Cost: 1, Key: key}
}

// asks calls Ask in a goroutine for each key and returns the errors when all are answered.
func asks(t *testing.T, e *Engine, keys ...string) []error {
	errs := make([]error, len(keys))
	var done sync.WaitGroup
	for i, key := range keys {
		done.Go(func() { _, errs[i] = e.Ask(t.Context(), 0, take(key)) })
	}
	done.Wait()
	return errs
}

package redisconn

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/weirhq/weir/internal/redistest"
	"github.com/weirhq/weir/redisstore/internal/redisurl"
	"github.com/weirhq/weir/redisstore/internal/script"
)

// The clusters and sentinels of this package's tests, started once: they take seconds.
var (
	startCluster  = onceFor(redistest.LaunchCluster)
	startSentinel = onceFor(redistest.LaunchSentinel)
	cleanUps      []func()
)

// onceFor makes a function that launches what launch does, once for all tests.
func onceFor[T interface{ Kill() }](launch func(dir string) (T, error)) func(*testing.T) T {
	var once sync.Once
	var launched T
	var err error
	return func(t *testing.T) T {
		t.Helper()
		redistest.Require(t)
		once.Do(func() {
			var dir string
			if dir, err = os.MkdirTemp("", "redisconn"); err != nil {
				return
			}
			if launched, err = launch(dir); err != nil {
				return
			}
			cleanUps = append(cleanUps, func() {
				launched.Kill()
				os.RemoveAll(dir)
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		return launched
	}
}

// TestMain looks for goroutines that are left when all tests have ended.
func TestMain(m *testing.M) {
	net.DefaultResolver = hangingResolver
	code := m.Run()
	for _, f := range cleanUps {
		f()
	}
	var err error
	for begun := time.Now(); time.Since(begun) < 8*time.Second; { // rueidis keeps some asleep for up to 5 s
		if err = goleak.Find(); err == nil {
			os.Exit(code)
		}
	}
	fmt.Fprintln(os.Stderr, "goroutines are left:", err)
	os.Exit(1)
}

// echo returns an integer, a text, an error and what it is given.
const echo = `return {1, 'two', redis.error_reply('ODD one'), -4, KEYS[1], ARGV[1], 9007199254740993}`

// count counts how often it is executed.
const count = `return {redis.call('INCR', KEYS[1])}`

func sum(source string) string {
	h := sha1.Sum([]byte(source))
	return hex.EncodeToString(h[:])
}

// parse reads a URL that must be right.
func parse(t testing.TB, text string) redisurl.Target {
	t.Helper()
	target, err := redisurl.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// open opens a runner until the test ends.
func open(t *testing.T, url string, settings Settings) *Conn {
	t.Helper()
	c := Open(parse(t, url), settings)
	t.Cleanup(func() {
		begun := time.Now()
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if took := time.Since(begun); took > grace+slack {
			t.Errorf("Close took %v", took)
		}
	})
	return c
}

// run runs a script as a store does: by its sum, and by its text where that is not known.
func run(ctx context.Context, r runner, source, key string, into *script.Reply) error {
	err := r.EvalSHA(ctx, sum(source), []string{key}, []string{"arg"}, into)
	if err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT ") {
		err = r.Eval(ctx, source, []string{key}, []string{"arg"}, into)
	}
	return err
}

// within runs a script with a deadline.
func within(d time.Duration, r runner, source, key string) (int64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	var reply script.Reply
	if err := run(ctx, r, source, key, &reply); err != nil {
		return 0, err
	}
	if len(reply.Ints) != 1 {
		return 0, fmt.Errorf("the script returned %+v", reply)
	}
	return reply.Ints[0], nil
}

// checkEcho runs both commands and compares everything that comes back.
func checkEcho(t *testing.T, r runner) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), redistest.Patience)
	defer cancel()
	reply := script.Reply{Ints: []int64{99}, Texts: []string{"old"}}
	want := script.Reply{Ints: []int64{1, -4, 9007199254740992}, Texts: []string{"two", "ODD one", "weir:{1}", "arg"}}
	for range 2 { // the first time by its text
		if err := run(ctx, r, echo, "weir:{1}", &reply); err != nil || !reflect.DeepEqual(reply, want) {
			t.Fatalf("got %+v, %v, want %+v", reply, err, want)
		}
	}
	err := r.EvalSHA(ctx, sum("return {'never'}"), []string{"weir:{1}"}, nil, &reply)
	if server, ok := errors.AsType[*ServerError](err); !ok || !strings.HasPrefix(server.Text, "NOSCRIPT ") || err.Error() != server.Text || len(reply.Ints)+len(reply.Texts) > 0 {
		t.Errorf("unknown script: got %+v, %T %v", reply, err, err)
	}
	err = r.Eval(ctx, "return redis.call('NONE')", []string{"weir:{1}"}, nil, &reply)
	if server, ok := errors.AsType[*ServerError](err); !ok || !strings.HasPrefix(server.Text, "ERR ") {
		t.Errorf("script that fails: got %T %v", err, err)
	}
	for _, source := range []string{"return 1", "return 'text'", "return {1, {2}}", "return {false}"} {
		err := r.Eval(ctx, source, []string{"weir:{1}"}, nil, &reply)
		if _, ok := errors.AsType[*ServerError](err); ok || err == nil || len(reply.Ints)+len(reply.Texts) > 0 {
			t.Errorf("%s: got %+v, %v", source, reply, err)
		}
	}
	if err := r.Eval(ctx, "return {}", []string{"weir:{1}"}, nil, &reply); err != nil || len(reply.Ints)+len(reply.Texts) > 0 {
		t.Errorf("empty array: got %+v, %v", reply, err)
	}
}

// eventually calls f until it returns nil, for d at most, and returns how long that took.
func eventually(t *testing.T, d time.Duration, f func() error) time.Duration {
	t.Helper()
	begun := time.Now()
	for {
		err := f()
		took := time.Since(begun)
		if err == nil {
			return took
		}
		if took > d {
			t.Fatalf("still not after %v: %v", d, err)
		}
	}
}

// crowd makes calls from n goroutines at once, each until its context ends, and tells how they ended.
func crowd(t *testing.T, r runner, n int, d time.Duration, check func(err error) error) {
	t.Helper()
	var callers sync.WaitGroup
	errs := make(chan error, n)
	for i := range n {
		callers.Go(func() {
			begun := time.Now()
			_, err := within(d, r, count, fmt.Sprintf("weir:{%d}", i))
			if took := time.Since(begun); took > d+slack {
				err = fmt.Errorf("took %v with a deadline of %v: %w", took, d, err)
			} else if bad := check(err); bad != nil {
				err = bad
			} else {
				return
			}
			errs <- err
		})
	}
	callers.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
		return
	}
}

// slack is how much later than its deadline a call may end, on a machine that does much else at the same time.
const slack = 250 * time.Millisecond

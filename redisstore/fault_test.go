package redisstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/redistest"
)

// quota is what the faults' limits admit in all: their periods do not end in a test.
const quota = 5000

func hot(int) string { return "hot" }

// TestScriptFlush: the script is gone again and again in mid-load, and nobody notices.
func TestScriptFlush(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	x := newLoad(t, limiterOf(open(t, server.URL(), nil), "5000/1000h sliding-log", "1/h burst 6000"), 32, hot)
	for range 50 {
		do(t, server, "SCRIPT", "FLUSH")
		x.awaitDecisions(100)
	}
	await(t, "the quota's end", func() bool { return x.admitted.Load() >= quota })
	x.awaitDecisions(100)
	x.stop()
	if x.admitted.Load() != quota || x.outages.Load() != 0 {
		t.Errorf("got %v, want %d admitted and no outage", x, quota)
	}
}

// TestRestart: a server that keeps its data restarts in mid-load. What it has counted stays counted.
func TestRestart(t *testing.T) {
	server := redistest.Start(t, redistest.Options{Persist: true})
	store := open(t, server.URL(), func(o *Options) { o.Timeout = 300 * time.Millisecond })
	x := newLoad(t, limiterOf(store, "5000/1000h fixed-window"), 16, hot)
	x.awaitDecisions(500)
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	await(t, "the quota's end", func() bool { return x.refused.Load() > 0 })
	x.awaitDecisions(500)
	x.stop()
	if got := x.admitted.Load(); got > quota {
		t.Errorf("got %v, want at most %d admitted", x, quota)
	}
	d, err := limiterOf(store, "5000/1000h fixed-window").AllowN(t.Context(), "hot", 0)
	if err != nil || d.Remaining != 0 {
		t.Errorf("after the load: got %+v, %v, want nothing to remain", d, err)
	}
}

// TestPaused: a server that stands still for three seconds. Every caller has an answer in time, from its own share of
// the limit, and Redis decides again soon after.
func TestPaused(t *testing.T) {
	const callers, processes, timeout = 1000, 5, 50 * time.Millisecond
	server := redistest.Start(t, redistest.Options{})
	store := open(t, server.URL(), func(o *Options) { o.Timeout, o.Outage, o.Processes = timeout, OutageLocal, processes })
	limiter := limiterOf(store, "5000/1000h fixed-window")
	before := runtime.NumGoroutine()
	x := newLoad(t, limiter, callers, hot)
	x.awaitDecisions(quota)
	if err := server.Pause(); err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(3 * time.Second)
	await(t, "the breaker", func() bool { return store.Stats().Out })
	var longest time.Duration
	most := 0
	for time.Now().Before(end) {
		start := time.Now()
		x.ask(limiter, "hot")
		longest = max(longest, time.Since(start))
		most = max(most, runtime.NumGoroutine())
	}
	if err := server.Resume(); err != nil {
		t.Fatal(err)
	}
	resumed := time.Now()
	x.awaitDecisions(1)
	t.Logf("longest answer %v, back %v after the pause, %d goroutines, %v", longest, time.Since(resumed), most-before, x)
	x.stop()
	if got, want := x.admitted.Load(), int64(quota); got > want {
		t.Errorf("got %v, want at most %d admitted by Redis", x, want)
	}
	if got, want := x.outAdmitted.Load(), int64(quota/processes); got != want {
		t.Errorf("got %v, want the share of %d admitted without Redis", x, want)
	}
	if most > before+callers+50 {
		t.Errorf("got %d goroutines, want at most a few more than %d callers", most-before, callers)
	}
	if longest > timeout+2*time.Second {
		t.Errorf("got an answer after %v, want one within about %v", longest, timeout)
	}
}

// TestFullMemory: a server that may not take more memory. What it holds stays in force; new subjects are an outage.
func TestFullMemory(t *testing.T) {
	server := redistest.Start(t, redistest.Options{Config: []string{"maxmemory-policy noeviction"}})
	for _, limits := range [][]string{{"3/1000h fixed-window"}, {"3/1000h sliding-log", "3/1000h burst 9"}} {
		store := open(t, server.URL(), nil)
		limiter := limiterOf(store, limits...)
		for i := range 4 {
			d, err := limiter.Allow(t.Context(), "full")
			if err != nil || d.Allowed != (i < 3) {
				t.Fatalf("take %d: got %+v, %v", i+1, d, err)
			}
			if d, err = limiter.AllowN(t.Context(), "part", int64(i%2)); err != nil || !d.Allowed {
				t.Fatalf("take of %d: got %+v, %v", i%2, d, err)
			}
		}
		do(t, server, "CONFIG", "SET", "maxmemory", "1")
		if d, err := limiter.Allow(t.Context(), "full"); err != nil || d.Allowed {
			t.Errorf("exhausted key, no memory: got %+v, %v, want a refusal", d, err)
		}
		for _, key := range []string{"part", "new"} {
			if d, err := limiter.Allow(t.Context(), key); !errors.Is(err, ErrOutage) || !strings.Contains(err.Error(), "OOM") {
				t.Errorf("key %s, no memory: got %+v, %v, want %v of OOM", key, d, err, ErrOutage)
			}
		}
		do(t, server, "CONFIG", "SET", "maxmemory", "0")
		if d, err := limiter.Allow(t.Context(), "part"); err != nil || !d.Allowed || d.Remaining != 0 {
			t.Errorf("after the fault: got %+v, %v, want the last unit", d, err)
		}
	}
}

// TestReplica: a replica cannot take; it can when it has become the master.
func TestReplica(t *testing.T) {
	master := redistest.Start(t, redistest.Options{})
	replica := redistest.Start(t, redistest.Options{ReplicaOf: master})
	limiter := limiterOf(open(t, replica.URL(), nil), "5/1000h fixed-window")
	for range 3 {
		if d, err := limiter.Allow(t.Context(), "key"); !errors.Is(err, ErrOutage) || !strings.Contains(err.Error(), "READONLY") {
			t.Fatalf("take on a replica: got %+v, %v, want %v of READONLY", d, err, ErrOutage)
		}
	}
	do(t, replica, "REPLICAOF", "NO", "ONE")
	d, err := limiter.Allow(t.Context(), "key")
	if err != nil || d.Remaining != 4 {
		t.Errorf("take on the new master: got %+v, %v, want the first unit of 5", d, err)
	}
}

// TestWrongPassword: loud, no outage, and not tried over and over.
func TestWrongPassword(t *testing.T) {
	server := redistest.Start(t, redistest.Options{Password: "right"})
	for _, user := range []string{":wrong", "nobody:right", ""} {
		url := "redis://" + user + "@" + server.Addr + "/0"
		store := open(t, strings.Replace(url, "//@", "//", 1), func(o *Options) { o.Outage, o.Timeout = OutageAllow, time.Second })
		limiter := limiterOf(store, "5/1000h fixed-window")
		var done sync.WaitGroup
		before := connections(t, server)
		for range 16 {
			done.Go(func() {
				for range 200 {
					d, err := limiter.Allow(t.Context(), "key")
					if !errors.Is(err, ErrMisconfigured) || errors.Is(err, ErrOutage) {
						t.Errorf("user %q: got %+v, %v, want %v", user, d, err, ErrMisconfigured)
						return
					}
					if strings.Contains(err.Error(), "right") || strings.Contains(err.Error(), "wrong") {
						t.Errorf("user %q: the error shows a password: %v", user, err)
					}
				}
			})
		}
		done.Wait()
		if got := store.Stats(); got.Misconfigured != 3200 || got.Outages != 0 {
			t.Errorf("user %q: got stats %+v, want 3200 misconfigured", user, got)
		}
		if n := connections(t, server) - before; n > 60 {
			t.Errorf("user %q: got %d connections for 3200 calls, want a few", user, n)
		}
	}
}

// connections is how many the server has taken since it started.
func connections(t *testing.T, server *redistest.Server) (n int) {
	_, rest, _ := strings.Cut(do(t, server, "INFO", "stats").(string), "total_connections_received:")
	fmt.Sscan(rest, &n)
	return n
}

// TestNoPermission: a user who may not run the script, or not write the keys.
func TestNoPermission(t *testing.T) {
	for _, rules := range []string{"+@all -eval -evalsha ~*", "+@all ~other:*", leastRules(t) + " -psetex -set", leastRules(t) + " -mget"} {
		server := redistest.Start(t, redistest.Options{User: redistest.User{Name: "weir", Password: "secret", Rules: rules}})
		limiter := limiterOf(open(t, server.URL(), nil), "5/1000h fixed-window")
		for range 3 {
			if d, err := limiter.Allow(t.Context(), "key"); !errors.Is(err, ErrMisconfigured) {
				t.Errorf("rules %q: got %+v, %v, want %v", rules, d, err, ErrMisconfigured)
			}
		}
	}
}

// TestWrongTLS: mistakes with certificates are no outage, and the error says what to do.
func TestWrongTLS(t *testing.T) {
	server := redistest.Start(t, redistest.Options{TLS: true, ClientCerts: true})
	files := "&tls_cert=" + server.CertFile + "&tls_key=" + server.KeyFile
	for parameters, remedy := range map[string]string{
		"?tls=true" + files: "tls_ca",
		"?tls_ca=" + server.CAFile + "&tls_server_name=other.example" + files: "tls_server_name",
	} {
		_, err := limiterOf(open(t, server.URL()+parameters, nil), "5/s").Allow(t.Context(), "key")
		if !errors.Is(err, ErrMisconfigured) || !strings.Contains(err.Error(), remedy) {
			t.Errorf("%s: got error %v, want %v that names %s", parameters, err, ErrMisconfigured, remedy)
		}
	}
}

// TestLog: the log hears of each change once, without the password.
func TestLog(t *testing.T) {
	server := redistest.Start(t, redistest.Options{Password: "secret"})
	var text bytes.Buffer
	store := open(t, server.URL(), func(o *Options) {
		o.Timeout, o.Outage, o.Log = 30*time.Millisecond, OutageAllow, slog.New(slog.NewTextHandler(&text, nil))
	})
	limiter := limiterOf(store, "1000/s")
	await(t, "Redis", func() bool { d, err := limiter.Allow(t.Context(), "key"); return err == nil && !d.Outage })
	if err := server.Pause(); err != nil {
		t.Fatal(err)
	}
	await(t, "an outage", func() bool { limiter.Allow(t.Context(), "key"); return store.Stats().Out })
	for range 100 {
		limiter.Allow(t.Context(), "key")
	}
	if err := server.Resume(); err != nil {
		t.Fatal(err)
	}
	await(t, "Redis", func() bool { d, err := limiter.Allow(t.Context(), "key"); return err == nil && !d.Outage })
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	got := text.String()
	for _, want := range []string{"given up for now", "policy=allow", server.Addr, "is back", "after="} {
		if !strings.Contains(got, want) {
			t.Errorf("the log lacks %q:\n%s", want, got)
		}
	}
	if n := strings.Count(got, "\n"); n > 4 || strings.Contains(got, "secret") {
		t.Errorf("the log has %d lines, want one for each change, and no password:\n%s", n, got)
	}
}

// TestClientClock: clients whose clocks are off, by hours or by months, share the limits of the server's clock.
func TestClientClock(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	limits := []string{"40/d fixed-window calendar UTC", "50/1000h", "60/1000h sliding-log", "70/month"}
	var admitted int
	prefix := func(o *Options) { o.Prefix = "clocks:" }
	for _, off := range []time.Duration{-time.Hour, 0, time.Hour, 40 * 24 * time.Hour, -400 * 24 * time.Hour} {
		store := open(t, server.URL(), prefix)
		store.clock = func() (string, int64) { return "", time.Now().Add(off).UnixMicro() }
		limiter := limiterOf(store, limits...)
		for range 10 {
			d, err := limiter.Allow(t.Context(), "key")
			if err != nil {
				t.Fatalf("clock off by %v: %v", off, err)
			}
			if d.Allowed {
				admitted++
			}
		}
	}
	if admitted != 40 && !nearMidnight() {
		t.Errorf("five clients whose clocks differ: got %d admitted, want 40", admitted)
	}
}

// nearMidnight says that a UTC day may have ended within the test.
func nearMidnight() bool { return time.Now().Add(-time.Minute).UTC().Day() != time.Now().UTC().Day() }

// TestKeyFlood: made-up keys leave by themselves.
func TestKeyFlood(t *testing.T) {
	server := redistest.Start(t, redistest.Options{Config: []string{"hz 100"}})
	limiter := limiterOf(open(t, server.URL(), nil), "2/200ms", "2/200ms sliding-log", "2/200ms fixed-window anchored")
	var made atomic.Int64
	x := newLoad(t, limiter, 32, func(int) string { return fmt.Sprint("key", made.Add(1)) })
	for range 5000 {
		x.ask(limiter, fmt.Sprint("key", made.Add(1)))
	}
	x.stop()
	if held := do(t, server, "DBSIZE").(int64); held == 0 {
		t.Error("nothing is held right after the flood: the test tests nothing")
	}
	await(t, "all keys to expire", func() bool { return do(t, server, "DBSIZE").(int64) == 0 })
}

// TestForeignValues: keys that hold something else are told, left alone, and disturb nobody.
func TestForeignValues(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	store := open(t, server.URL(), nil)
	limiter := limiterOf(store, "5/1000h fixed-window")
	for key, command := range map[string][]any{
		"list":   {"RPUSH", "", "x"},
		"text":   {"SET", "", "hello"},
		"empty":  {"SET", "", ""},
		"nearly": {"SET", "", "f,5,3600000000000;123"},
	} {
		name, _ := store.names.Name("test", key)
		command[1] = name
		do(t, server, command...)
		before := do(t, server, "DUMP", name)
		if d, err := limiter.Allow(t.Context(), key); !errors.Is(err, ErrForeignValue) {
			t.Errorf("%s: got %+v, %v, want %v", key, d, err, ErrForeignValue)
		}
		if after := do(t, server, "DUMP", name); after != before {
			t.Errorf("%s: the value has changed", key)
		}
	}
	if d, err := limiter.Allow(t.Context(), "own"); err != nil || d.Remaining != 4 {
		t.Errorf("own key: got %+v, %v", d, err)
	}
}

// TestLostReplies: on a line that hangs again and again, nothing is charged twice.
func TestLostReplies(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	link := redistest.Proxy(t, server.Addr)
	store := open(t, "redis://"+link.Addr+"/0", func(o *Options) { o.Timeout = 20 * time.Millisecond })
	limiter := limiterOf(store, "1000000/1000h fixed-window")
	var asked, admitted int64
	for range 10 {
		for range 30 {
			asked++
			if d, err := limiter.Allow(t.Context(), "key"); err == nil && d.Allowed {
				admitted++
			}
		}
		link.Hang()
		for range 4 {
			asked++
			if d, err := limiter.Allow(t.Context(), "key"); err == nil {
				t.Errorf("on a dead line: got %+v", d)
			}
		}
		link.Heal()
		await(t, "the line", func() bool { return store.Check(within(t, time.Second)) == nil })
	}
	direct := open(t, server.URL(), func(o *Options) { o.Prefix = store.options.Prefix })
	d, err := limiterOf(direct, "1000000/1000h fixed-window").Peek(t.Context(), "key")
	if err != nil {
		t.Fatal(err)
	}
	if charged := 1_000_000 - d.Remaining; charged < admitted || charged > asked {
		t.Errorf("got %d charged, want at least the %d admitted and at most the %d asked for", charged, admitted, asked)
	}
}

// TestLineIsCut: connections are cut, and closed so that the client learns of it late, in mid-load. No more is admitted
// than there is, and the store finds its way back.
func TestLineIsCut(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	link := redistest.Proxy(t, server.Addr)
	store := open(t, "redis://"+link.Addr+"/0", func(o *Options) { o.Timeout = 50 * time.Millisecond })
	x := newLoad(t, limiterOf(store, "5000/1000h sliding-log"), 16, hot)
	for range 3 {
		x.awaitDecisions(200)
		link.Cut()
		await(t, "an outage", func() bool { return store.Stats().Out })
		link.Heal()
		x.awaitDecisions(200)
		link.SlowClose(20 * time.Millisecond)
		do(t, server, "CLIENT", "KILL", "TYPE", "normal")
		x.awaitDecisions(200)
		link.Heal()
	}
	await(t, "the quota's end", func() bool { return x.refused.Load() > 0 })
	x.awaitDecisions(200)
	x.stop()
	if got := x.admitted.Load(); got > quota || got < quota*9/10 {
		t.Errorf("got %v, want %d admitted, but for replies that were lost", x, quota)
	}
}

// TestGivingUp: a caller whose context ends goes at once, and those whose calls travel with its are not disturbed.
func TestGivingUp(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	link := redistest.Proxy(t, server.Addr)
	limiter := limiterOf(open(t, "redis://"+link.Addr+"/0", nil), "1000/1000h fixed-window")
	if _, err := limiter.Allow(t.Context(), "key"); err != nil {
		t.Fatal(err)
	}
	link.Latency(300 * time.Millisecond)
	var done sync.WaitGroup
	for i := range 100 {
		done.Go(func() {
			ctx := t.Context()
			if i%2 == 0 {
				ctx = within(t, 30*time.Millisecond)
			}
			start := time.Now()
			d, err := limiter.Allow(ctx, "key")
			switch {
			case i%2 == 1 && (err != nil || !d.Allowed):
				t.Errorf("patient caller: got %+v, %v", d, err)
			case i%2 == 0 && !errors.Is(err, context.DeadlineExceeded):
				t.Errorf("impatient caller: got %+v, %v after %v", d, err, time.Since(start))
			}
		})
	}
	done.Wait()
}

// TestUnreachable: nobody listens; the store opens, and each policy answers.
func TestUnreachable(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "redis://" + listener.Addr().String()
	listener.Close()
	for _, c := range []struct {
		outage   Outage
		admitted int
	}{{OutageLocal, 5}, {OutageAllow, 40}, {OutageDeny, 0}} {
		store := open(t, url, func(o *Options) { o.Outage, o.Processes, o.Timeout = c.outage, 2, 100*time.Millisecond })
		for _, limits := range [][]string{{"10/1000h fixed-window"}, {"10/1000h fixed-window", "1000/1000h"}} {
			limiter := limiterOf(store, limits...)
			admitted := 0
			for range 40 {
				d, err := limiter.Allow(t.Context(), fmt.Sprint(len(limits)))
				switch {
				case err != nil || !d.Outage || d.Limit < 10:
					t.Fatalf("%v: got %+v, %v, want a decision that is marked", c.outage, d, err)
				case d.Allowed:
					admitted++
				case d.RetryAfter <= 0 || d.RetryAfter == weir.Never:
					t.Errorf("%v: got a refusal with %v to wait", c.outage, d.RetryAfter)
				}
			}
			if admitted != c.admitted {
				t.Errorf("%v of %v: got %d admitted, want %d", c.outage, limits, admitted, c.admitted)
			}
			if d, err := limiter.AllowN(t.Context(), "big", 5000); err != nil || d.RetryAfter != weir.Never {
				t.Errorf("%v: more than the limit: got %+v, %v, want never", c.outage, d, err)
			}
			if d, err := limiter.PeekN(t.Context(), "none", 0); err != nil || !d.Allowed {
				t.Errorf("%v: a cost of 0: got %+v, %v, want allowed", c.outage, d, err)
			}
			if _, err := limiter.Refund(t.Context(), "key", 1); !errors.Is(err, ErrOutage) {
				t.Errorf("%v: refund: got error %v, want %v", c.outage, err, ErrOutage)
			}
		}
		if got := store.Stats(); got.Outages < 80 || got.Decisions != 0 || !got.Out {
			t.Errorf("%v: got stats %+v", c.outage, got)
		}
	}
}

// TestClose: calls under way and calls afterwards end.
func TestClose(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	store := open(t, server.URL(), nil)
	limiter := limiterOf(store, "5/1000h fixed-window")
	if err := server.Pause(); err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	var begun atomic.Int64
	for range 300 {
		done.Go(func() {
			begun.Add(1)
			if _, err := limiter.Allow(context.Background(), "key"); !errors.Is(err, ErrClosed) {
				t.Errorf("under way: got error %v, want %v", err, ErrClosed)
			}
		})
	}
	await(t, "calls under way", func() bool { return begun.Load() == 300 })
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	done.Wait()
	if _, err := limiter.Allow(t.Context(), "key"); !errors.Is(err, ErrClosed) {
		t.Errorf("afterwards: got error %v, want %v", err, ErrClosed)
	}
	if err := store.Check(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("check: got error %v, want %v", err, ErrClosed)
	}
	if err := server.Resume(); err != nil {
		t.Error(err)
	}
}

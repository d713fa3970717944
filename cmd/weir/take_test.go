package main

import (
	"encoding/json"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/redistest"
)

// take runs weir take on a key of the server.
func take(server *redistest.Server, args ...string) outcome {
	return weirDoes(append([]string{"take", "--store", server.URL()}, args...)...)
}

// expect checks one outcome. want is the beginning of the output.
func (o outcome) expect(t *testing.T, what string, status int, want string) {
	t.Helper()
	out := o.stdout + o.stderr
	if o.status != status || !strings.HasPrefix(out, want) {
		t.Errorf("%s: got status %d and %q, want %d and %q", what, o.status, out, status, want)
	}
}

func TestTake(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	limit := []string{"--limit", "3/1000h fixed-window", "--limit", "1/1000h burst 10"}
	with := func(args ...string) []string { return append(args, limit...) }
	take(server, with("job")...).expect(t, "first", 0, "allowed: 2 of 3 left\n")
	take(server, with("job", "--cost", "2")...).expect(t, "second", 0, "allowed: 0 of 3 left\n")
	take(server, with("job")...).expect(t, "third", 1, `refused by "3/1000h fixed-window": come back in `)
	take(server, with("job", "--peek")...).expect(t, "look", 1, `refused by "3/1000h fixed-window": come back in `)
	take(server, with("job", "--refund")...).expect(t, "refund", 0, "given back: 1 of 3 left\n")
	take(server, with("job", "--peek")...).expect(t, "look", 0, "allowed: 1 of 3 left\n")
	take(server, with("job", "--cost", "4")...).expect(t, "too much", 1, `refused for ever: 4 is more than "3/1000h fixed-window" can ever give`)
	take(server, with("job", "--name", "other")...).expect(t, "another namespace", 0, "allowed: 2 of 3 left\n")
	take(server, with("job", "--prefix", "mine:")...).expect(t, "another prefix", 0, "allowed: 2 of 3 left\n")
	take(server, with("job", "--reset")...).expect(t, "reset", 0, "forgotten\n")
	take(server, with("job", "--cost", "3")...).expect(t, "after the reset", 0, "allowed: 0 of 3 left\n")
	take(server, with("job", "--wait=1ms")...).expect(t, "a wait that is too long", 1, "refused by")
}

func TestTakeWaits(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	for i := range 4 {
		start := time.Now()
		take(server, "job", "--limit", "1/300ms fixed-window anchored", "--wait").expect(t, "wait", 0, "allowed: 0 of 1 left\n")
		if i > 0 && time.Since(start) < 100*time.Millisecond {
			t.Errorf("take %d waited %v only", i, time.Since(start))
		}
	}
	take(server, "job", "--limit", "1/300ms fixed-window anchored", "--cost", "2", "--wait").expect(t, "in vain", 1, "refused for ever")
}

func TestTakeJSON(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	var body takeBody
	for _, c := range []struct {
		cost   string
		status int
	}{{"2", 0}, {"2", 1}, {"9", 1}} {
		got := take(server, "job", "--json", "--limit", "3/1000h fixed-window", "--cost", c.cost)
		if err := json.Unmarshal([]byte(got.stdout), &body); err != nil || got.status != c.status {
			t.Fatalf("got %+v, %v, want JSON and status %d", got, err, c.status)
		}
		if body.Key != "job" || body.Allowed != (c.status == 0) || body.Limit != 3 || body.Remaining != 1 || len(body.Limits) != 1 {
			t.Errorf("got %+v", body)
		}
		if never := body.RetryAfter == nil; never != (c.cost == "9") {
			t.Errorf("cost %s: got a retry of %v", c.cost, body.RetryAfter)
		}
	}
	if got := take(server, "job", "--json", "--limit", "3/h", "--reset"); got.stdout != `{"key":"job","reset":true}`+"\n" {
		t.Errorf("reset: got %+v", got)
	}
}

// TestTakeResets: a reset takes no limit, and forgets the key in all positions, lists too.
func TestTakeResets(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	for range 2 {
		args := []string{"job"}
		for range weir.MaxLimits - 1 {
			args = append(args, "--limit", "5/d")
		}
		take(server, append(args, "--limit", "1/d sliding-log")...).expect(t, "take from eight limits", 0, "allowed: 0 of 1 left\n")
		take(server, "job", "--reset").expect(t, "reset", 0, "forgotten\n")
		if keys, err := server.Do("KEYS", "*"); err != nil || len(keys.([]any)) > 0 {
			t.Errorf("after a reset there are the keys %q, %v; want none", keys, err)
		}
	}
	take(server, "job", "--reset", "--limit", "ignored").expect(t, "reset with a limit", 0, "forgotten\n")
}

// full is a device that has no room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestTakeCannotTell: who does not get the answer must not take it for a refusal.
func TestTakeCannotTell(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	for _, args := range [][]string{{}, {"--json"}, {"--peek"}, {"--refund"}, {"--reset"}, {"--reset", "--json"}, {"--cost", "9"}} {
		var stderr strings.Builder
		status := run(t.Context(), append([]string{"take", "job", "--limit", "5/m", "--store", server.URL()}, args...), full{}, &stderr)
		if want := "weir: take: done, but the answer cannot be written: no space left on device; see that standard output takes it\n"; status != 2 || stderr.String() != want {
			t.Errorf("take %q on a full device: got status %d and %q, want 2 and %q", args, status, &stderr, want)
		}
	}
}

// TestStoreFromEnvironment: WEIR_STORE stands in for --store, for take and race, unless it is empty.
func TestStoreFromEnvironment(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	t.Setenv("WEIR_STORE", server.URL())
	weirDoes("take", "job", "--limit", "5/d").expect(t, "take", 0, "allowed: 4 of 5 left\n")
	if got := weirDoes("race", "--workers", "2", "--requests", "10"); got.status != 0 || !strings.Contains(strings.ReplaceAll(got.stdout, "\n", " "), server.Addr) {
		t.Errorf("race: got %+v, want status 0 and %s", got, server.Addr)
	}
	t.Setenv("WEIR_STORE", "localhost")
	weirDoes("take", "job", "--limit", "5/d").expect(t, "take", 2, "weir: take: WEIR_STORE: redis URL: scheme is missing")
	weirDoes("race").expect(t, "race", 2, `weir: race: WEIR_STORE is "localhost", which does not do: `)
	t.Setenv("WEIR_STORE", "")
	if url, from := storeURL(nil); url != defaultStore || from != "--store" {
		t.Errorf("with an empty WEIR_STORE: got %s from %s, want %s from --store", url, from, defaultStore)
	}
}

// TestAdvice: how to start a Redis is told only where nothing listens.
func TestAdvice(t *testing.T) {
	server := redistest.Start(t, redistest.Options{Password: "secret"})
	line := redistest.Proxy(t, server.Addr)
	line.Hang()
	away := redistest.Start(t, redistest.Options{})
	away.Kill()
	for _, c := range []struct {
		what, store string
		advice      bool
		want        string
	}{
		{"nothing listens", away.URL(), true, "connection refused"},
		{"it hangs", "redis://" + line.Addr, false, "see that it names a Redis that runs and can be reached"},
		{"no such host", "redis://weir.invalid", false, "see that it names a Redis that runs and can be reached"},
		{"no TLS", "rediss://" + server.Addr, false, ""},
		{"no password", "redis://" + server.Addr, false, "misconfigured"},
	} {
		got := weirDoes("take", "job", "--limit", "5/d", "--timeout", "300ms", "--store", c.store)
		if got.status != 2 || !strings.HasPrefix(got.stderr, "weir: take: --store: ") || strings.Contains(got.stderr, howToStart) != c.advice || !strings.Contains(got.stderr, c.want) || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("%s: got %+v, want status 2, a line with %q, and how to start one: %v", c.what, got, c.want, c.advice)
		}
	}
}

func TestHosts(t *testing.T) {
	for url, want := range map[string]string{
		"redis://localhost":                       "localhost:6379",
		"redis://me:p%40ss@10.0.0.1:7301/3?tls=1": "10.0.0.1:7301",
		"rediss://:secret@[::1]/0":                "[::1]:6379",
		"redis://a:1?db=2":                        "a:1",
		"unix:///run/redis.sock?db=1":             "/run/redis.sock",
		"unix://me:secret@/run/redis.sock":        "/run/redis.sock",
		"redis-sentinel://a:1,b:2/main/0":         "a:1,b:2",
		"redis-cluster://me:secret@a,b:2":         "a,b:2",
	} {
		if got := hosts(url); got != want {
			t.Errorf("hosts(%s) = %s, want %s", url, got, want)
		}
	}
}

func TestTakeFails(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	away := "redis://" + listener.Addr().String()
	listener.Close()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"job", "--limit", "5/m", "--store", away, "--timeout", "1s"}, "weir: take: --store: redisstore: outage"},
		{[]string{"job", "--limit", "5/x"}, "weir: take: weir: limit \"5/x\""},
		{[]string{"job"}, "weir: take: --limit is missing; give one or more"},
		{[]string{"--limit", "5/m"}, "weir: expected \"<key>\""},
		{[]string{"job", "--limit", "5/m", "--peek", "--refund"}, "weir: --peek and --refund can't be used together"},
		{[]string{"job", "--limit", "5/m", "--wait=soon"}, "weir: --wait: --wait=soon is no duration"},
		{[]string{"job", "--peek"}, "weir: take: --limit is missing; give one or more"},
		{[]string{"job", "--limit", "5/m", "--wait", "2s"}, "weir: --wait: 2s is taken for a key; write --wait=2s, or put a key of that name before --wait"},
		{[]string{"job", "--limit", "5/m", "--cost=-1", "--store", away}, "weir: take: --cost is -1; use 0 to 9007199254740991\n"},
		{[]string{"job", "--limit", "5/m", "--cost=9007199254740992"}, "weir: take: --cost is 9007199254740992; use 0 to 9007199254740991\n"},
		{[]string{"job", "--limit", "5/m", "--store", "http://x"}, `weir: take: --store: redis URL: scheme "http" is not known`},
		{[]string{"job", "--limit", "5/m", "--store", ""}, `weir: take: --store: redis URL: scheme is missing`},
		{[]string{"job", "--limit", "5/m", "--prefix", "a{b}"}, `weir: take: --prefix is "a{b}"; leave the braces out`},
		{[]string{"job", "--limit", "5/m", "--timeout", "0s"}, "weir: take: --timeout is 0s"},
	} {
		weirDoes(append([]string{"take"}, c.args...)...).expect(t, strings.Join(c.args, " "), 2, c.want)
	}
}

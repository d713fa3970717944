package main

import (
	"encoding/json"
	"net"
	"strings"
	"testing"
	"time"

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
		{[]string{"job", "--limit", "5/m", "--store", away, "--timeout", "1s"}, "weir: take: redisstore: outage"},
		{[]string{"job", "--limit", "5/x"}, "weir: take: weir: limit \"5/x\""},
		{[]string{"job"}, "weir: missing flags: --limit"},
		{[]string{"--limit", "5/m"}, "weir: expected \"<key>\""},
		{[]string{"job", "--limit", "5/m", "--peek", "--refund"}, "weir: --peek and --refund can't be used together"},
		{[]string{"job", "--limit", "5/m", "--wait=soon"}, "weir: --wait: --wait=soon is no duration"},
		{[]string{"job", "--limit", "5/m", "--cost=-1", "--store", away}, "weir: take: "},
		{[]string{"job", "--limit", "5/m", "--store", "http://x"}, "weir: take: redisstore: invalid options"},
		{[]string{"job", "--limit", "5/m", "--timeout", "0s"}, "weir: take: --timeout is 0s"},
	} {
		weirDoes(append([]string{"take"}, c.args...)...).expect(t, strings.Join(c.args, " "), 2, c.want)
	}
}

package race

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/redistest"
)

func TestNoRedis(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	ln.Close()
	_, port, _ := net.SplitHostPort(addr)
	_, err = Run(t.Context(), defaults("redis://me:secret@"+addr+"/0"))
	for _, want := range []string{
		"race: no Redis answers at redis://me:xxxxx@" + addr + "/0: ", "connection refused",
		"`redis-server --port " + port + "`", "apt-get install redis-server", "`docker run -p " + port + ":6379 redis`", "--store",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Run: %v\nwant %q in it", err, want)
		}
	}
	if err != nil && strings.Contains(err.Error(), "secret") {
		t.Errorf("Run: %v, which tells the password", err)
	}
}

// TestRedisThatHangs: it is given up soon, and not said to be missing.
func TestRedisThatHangs(t *testing.T) {
	line := redistest.Proxy(t, redistest.Start(t, redistest.Options{}).Addr)
	line.Hang()
	start := time.Now()
	_, err := Run(t.Context(), defaults("redis://"+line.Addr))
	if took := time.Since(start); took > 8*time.Second {
		t.Errorf("a Redis that hangs is given up after %v, want about 4s", took)
	}
	if err == nil || !strings.Contains(err.Error(), "race: no Redis answers at redis://"+line.Addr) || strings.Contains(err.Error(), "redis-server") || errors.Is(err, ErrInterrupted) {
		t.Errorf("a Redis that hangs: %v; want that it does not answer, and no advice to start one", err)
	}
}

// TestRedisThatForbidsPing: PING is not needed.
func TestRedisThatForbidsPing(t *testing.T) {
	server := redistest.Start(t, redistest.Options{User: redistest.User{Name: "u", Password: "p", Rules: "~* +@all -ping"}})
	opts := defaults(server.URL())
	opts.Workers, opts.Requests = 4, 100
	if r, err := Run(t.Context(), opts); err != nil || len(r.Ways) != 4 {
		t.Errorf("without the right to PING: %v, %v; want a race", r, err)
	}
}

func TestRedisThatRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		server redistest.Options
		store  func(*redistest.Server) string
		want   []string
	}{
		{"without its password", redistest.Options{Password: "secret"}, func(s *redistest.Server) string { return "redis://" + s.Addr }, []string{"NOAUTH", "redis://NAME:PASSWORD@localhost:6379/0"}},
		{"with few places", redistest.Options{Config: []string{"maxclients 20"}}, (*redistest.Server).URL, []string{"does not take 64 connections", "use fewer --workers"}},
		{"with a database that is not there", redistest.Options{}, func(s *redistest.Server) string { return "redis://" + s.Addr + "/99" }, []string{"DB index is out of range; name another with --store"}},
		{"that runs no scripts", redistest.Options{User: redistest.User{Name: "u", Password: "p", Rules: "~* +@all -@scripting"}}, (*redistest.Server).URL, []string{"Lua script", "NOPERM", "run EVALSHA on keys weir:race:*"}},
		{"that may write no such keys", redistest.Options{User: redistest.User{Name: "u", Password: "p", Rules: "~other:* +@all"}}, (*redistest.Server).URL, []string{"GET, then INCR", "NOPERM", "keys weir:race:*"}},
	} {
		server := redistest.Start(t, c.server)
		r, err := Run(t.Context(), defaults(c.store(server)))
		if err == nil || errors.Is(err, ErrInterrupted) {
			t.Errorf("on a Redis %s: %v, %v; want an error", c.name, r, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("on a Redis %s: %v\nwant %q in it", c.name, err, want)
			}
		}
	}
}

package redistest

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/redistest/internal/wire"
)

// lineTo returns a server, a line to it, and a connection on the line that has had an answer.
func lineTo(t *testing.T) (*Server, *Link, *wire.Conn) {
	t.Helper()
	s := Start(t, Options{})
	l := Proxy(t, s.Addr)
	client := dial(t, l.Addr)
	answers(t, client)
	return s, l, client
}

// answers fails the test unless the connection works.
func answers(t *testing.T, client *wire.Conn) {
	t.Helper()
	if reply, err := client.Do("PING"); err != nil || reply != "PONG" {
		t.Fatalf("PING: got %v, %v", reply, err)
	}
}

// ended fails the test unless the connection is closed by the other side.
func ended(t *testing.T, client *wire.Conn) {
	t.Helper()
	if reply, err := client.Reply(); err == nil || isTimeout(err) {
		t.Fatalf("read %v, %v, want the connection's end", reply, err)
	}
}

// shortly is how long something is looked at that must not happen.
const shortly = 20 * time.Millisecond

func TestLatency(t *testing.T) {
	t.Parallel()
	_, l, client := lineTo(t)
	for _, d := range []time.Duration{30 * time.Millisecond, 60 * time.Millisecond} {
		l.Latency(d)
		for _, client := range []*wire.Conn{client, dial(t, l.Addr)} {
			begin := time.Now()
			answers(t, client)
			if took := time.Since(begin); took < d {
				t.Errorf("an answer took %v, want %v or more", took, d)
			}
		}
	}
	l.Latency(time.Hour)
	if reply, err := within(shortly, client, "ECHO", "late"); !isTimeout(err) {
		t.Errorf("an answer that is an hour away: got %v, %v, want a timeout", reply, err)
	}
	l.Heal()
	if reply, err := client.Reply(); err != nil || reply != "late" {
		t.Errorf("the answer that was on its way: got %v, %v", reply, err)
	}
	answers(t, client)
}

func TestHang(t *testing.T) {
	t.Parallel()
	s, l, old := lineTo(t)
	l.Hang()
	fresh := dial(t, l.Addr)
	for name, client := range map[string]*wire.Conn{"an old": old, "a new": fresh} {
		if reply, err := within(shortly, client, "SET", "hung", 1); !isTimeout(err) {
			t.Errorf("%s connection on a line that hangs: got %v, %v, want a timeout", name, reply, err)
		}
	}
	l.Heal()
	ended(t, old)
	ended(t, fresh)
	answers(t, dial(t, l.Addr))
	expect(t, s, nil, "GET", "hung")
}

func TestCut(t *testing.T) {
	t.Parallel()
	_, l, client := lineTo(t)
	for range 2 {
		l.Cut()
		l.Cut() // stays
		ended(t, client)
		if _, err := net.Dial("tcp", l.Addr); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("dial: %v, want %v", err, syscall.ECONNREFUSED)
		}
		l.Heal()
		client = dial(t, l.Addr)
		answers(t, client)
	}
}

func TestSlowClose(t *testing.T) {
	t.Parallel()
	s, l, client := lineTo(t)
	const d = 50 * time.Millisecond
	l.SlowClose(d)
	begin := time.Now()
	must(t, s.Kill())
	ended(t, client)
	if took := time.Since(begin); took < d {
		t.Errorf("a client saw its connection end after %v, want %v or more", took, d)
	}
	must(t, s.Restart())
	client = dial(t, l.Addr)
	answers(t, client)
	l.SlowClose(time.Hour)
	must(t, s.Kill())
	if reply, err := within(shortly, client, "PING"); !isTimeout(err) {
		t.Errorf("an end that is an hour away: got %v, %v, want a timeout", reply, err)
	}
	l.Cut() // must not take an hour
	ended(t, client)
}

// TestNoServer: what a client sees when the line is well and the server is not.
func TestNoServer(t *testing.T) {
	t.Parallel()
	s, l, client := lineTo(t)
	must(t, s.Kill())
	ended(t, client)
	ended(t, dial(t, l.Addr))
	must(t, s.Restart())
	answers(t, dial(t, l.Addr))
}

// bigAnswer is more than the system holds for a client that does not read.
const bigAnswer = 12 << 20

// TestClientDoesNotRead cuts the line, and lets the client go, while an answer is stuck on it. That nothing is left
// behind is seen by TestMain, here and below.
func TestClientDoesNotRead(t *testing.T) {
	t.Parallel()
	s, l, _ := lineTo(t)
	expect(t, s, "OK", "SET", "big", strings.Repeat("x", bigAnswer))
	for _, end := range []func(*wire.Conn){
		func(*wire.Conn) { l.Cut() },
		func(client *wire.Conn) { client.Close() },
	} {
		for _, trouble := range []func(){l.Heal, func() { l.Latency(time.Millisecond) }, func() { l.SlowClose(time.Hour) }} {
			trouble()
			client := dial(t, l.Addr)
			if reply, err := client.Do("STRLEN", "big"); err != nil || reply != int64(bigAnswer) {
				t.Fatalf("STRLEN: %v, %v", reply, err)
			}
			must(t, client.Send("GET", "big"))
			if _, err := client.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			end(client)
		}
	}
}

// TestTroubleUnderLoad changes conditions while clients come, go and do not wait for answers.
func TestTroubleUnderLoad(t *testing.T) {
	t.Parallel()
	_, l, _ := lineTo(t)
	ctx, stop := context.WithCancel(t.Context())
	var load sync.WaitGroup
	for range 8 {
		load.Go(func() {
			for ctx.Err() == nil {
				sendAndGo(l.Addr)
			}
		})
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for range 20 {
		for _, trouble := range []func(){
			func() { l.Latency(time.Millisecond) },
			l.Hang,
			l.Heal,
			func() { l.SlowClose(5 * time.Millisecond) },
			l.Cut,
			func() { l.Latency(2 * time.Millisecond) },
			func() { l.SlowClose(time.Millisecond) },
			l.Hang,
			l.Cut,
			l.Heal,
		} {
			trouble()
			<-tick.C
		}
	}
	stop()
	load.Wait()
	answers(t, dial(t, l.Addr))
}

// sendAndGo sends commands, reads what comes first, and goes while answers are on their way.
func sendAndGo(addr string) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return // the line is cut
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(10 * time.Millisecond))
	for range 100 {
		if _, err := conn.Write([]byte("ECHO 0123456789012345678901234567890123456789\r\n")); err != nil {
			return
		}
	}
	conn.Read(make([]byte, 64))
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/redistest"
)

func TestDemoRefuses(t *testing.T) {
	tests := []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"--redis-port", "x"}, 2, "--redis-port"},
		{[]string{"--redis-port", "65536"}, 2, "weir: demo: --redis-port 65536 is no port; use 1 to 65535\n"},
		{[]string{"--redis-host", "a", "--store", "redis://b"}, 2, "can't be used together"},
		{[]string{"--redis-port", "1", "--store", "redis://b"}, 2, "can't be used together"},
		{[]string{"--store", "http://localhost"}, 2, "weir: demo: --store: redis URL: scheme \"http\" is not known"},
		{[]string{"--redis-host", "127.0.0.1", "--redis-port", "1"}, 1, "start one with"},
		{[]string{"--redis-port", "0"}, 2, "weir: demo: --redis-port 0 is no port; use 1 to 65535\n"},
		{[]string{"--redis-host", "localhost:7301"}, 2, `weir: demo: --redis-host "localhost:7301" is no name or address alone; use --redis-port for the port, or --store for a URL` + "\n"},
		{[]string{"--redis-host", "redis://:secret@localhost"}, 2, "weir: demo: --redis-host is a URL; a URL goes into --store\n"},
		{[]string{"--redis-host", "::1", "--redis-port", "1"}, 1, "weir: demo: --redis-host, --redis-port: "},
		{[]string{"--port", "65536"}, 2, "weir: demo: --port 65536 is no port; use 1 to 65535, or 0 for any free one\n"},
		{[]string{"--port=-1"}, 2, "weir: demo: --port -1 is no port; use 1 to 65535, or 0 for any free one\n"},
		{[]string{"--port", "http"}, 2, "--port"},
		{[]string{"--host", ""}, 2, "weir: demo: --host is empty, which would be every address of this machine"},
	}
	for _, tt := range tests {
		var stdout, stderr bytes.Buffer
		status := run(t.Context(), append([]string{"demo"}, tt.args...), &stdout, &stderr)
		if status != tt.status || !strings.Contains(stderr.String(), tt.want) {
			t.Errorf("weir demo %q = %d, stderr %q; want %d, %q", tt.args, status, &stderr, tt.status, tt.want)
		}
	}
}

func TestDemoPortTaken(t *testing.T) {
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	_, port, _ := net.SplitHostPort(other.Addr().String())
	var stdout, stderr bytes.Buffer
	status := run(t.Context(), []string{"demo", "--port", port}, &stdout, &stderr)
	if want := "port " + port + " of 127.0.0.1 is taken by another program; choose another port, such as --port "; status != 1 || !strings.Contains(stderr.String(), want) {
		t.Errorf("weir demo on a port that is taken = %d, stderr %q; want 1, %q", status, &stderr, want)
	}
	if stdout.Len() > 0 {
		t.Errorf("weir demo greets on a port that is taken: %q", &stdout)
	}
}

func TestDemoServes(t *testing.T) { testDemo(t) }

// TestDemoInRedis: the bucket is in the Redis that the flags name, where weir take sees it.
func TestDemoInRedis(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	host, port, _ := net.SplitHostPort(server.Addr)
	testDemo(t, "--store", server.URL())
	if _, err := server.Do("FLUSHALL"); err != nil {
		t.Fatal(err)
	}
	testDemo(t, "--redis-host", host, "--redis-port", port)
	got := weirDoes("take", "global", "--name", "demo", "--limit", "1/s burst 10 stepwise", "--peek", "--store", server.URL())
	got.expect(t, "look at the bucket", 0, "allowed: ")
}

// aDemo is a demonstration that runs.
type aDemo struct {
	t        *testing.T
	url      string
	greeting string
	stderr   *lockedBuffer
	stop     func() (status int)
}

func startDemo(t *testing.T, args ...string) aDemo {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, stdout := io.Pipe()
	d := aDemo{t: t, stderr: &lockedBuffer{}}
	ended := make(chan int)
	go func() {
		status := run(ctx, append([]string{"demo", "--port", "0"}, args...), stdout, d.stderr)
		stdout.Close()
		ended <- status
		close(ended)
	}()
	d.stop = func() int { cancel(); return <-ended }
	t.Cleanup(func() { d.stop() })
	address := regexp.MustCompile(`^ +(http://localhost:[1-9][0-9]*/)$`)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		d.greeting += lines.Text() + "\n"
		if m := address.FindStringSubmatch(lines.Text()); m != nil {
			d.url = m[1]
		}
		if strings.HasPrefix(lines.Text(), "Ctrl-C") {
			break
		}
	}
	if d.url == "" {
		t.Fatalf("weir demo names no address; stderr %q", d.stderr)
	}
	return d
}

// test sends a request under the limit.
func (d aDemo) test() (status int, body string) {
	d.t.Helper()
	response, err := http.Post(d.url+"test", "", nil)
	if err != nil {
		d.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// testDemo runs a demonstration and takes its first token.
func testDemo(t *testing.T, args ...string) {
	t.Helper()
	d := startDemo(t, args...)
	const want = `{"allowed":true,"remaining":9.00,"config":{"capacity":10,"refill_rate":1,"refill_interval":1.0}}` + "\n"
	if status, body := d.test(); status != 200 || body != want {
		t.Errorf("POST %stest = %d %s, want 200 %s", d.url, status, body, want)
	}
	if got := d.stop(); got != 0 || d.stderr.String() != "" {
		t.Errorf("weir demo ends with %d and says %q, want 0 and nothing", got, d.stderr)
	}
}

// TestDemoTellsOfAnOutage: the terminal says once that Redis is away, and once that it is back.
func TestDemoTellsOfAnOutage(t *testing.T) {
	server := redistest.Start(t, redistest.Options{Password: "secret"})
	d := startDemo(t, "--store", server.URL())
	if want := "The bucket is in Redis at " + server.Addr + ", where other processes share it.\n"; !strings.Contains(d.greeting, want) {
		t.Errorf("the greeting is %q, want %q in it", d.greeting, want)
	}
	server.Kill()
	const away = `{"success":false,"error":"the store of the bucket does not answer; nothing was decided, try again"}` + "\n"
	for range 6 {
		if status, body := d.test(); status != 503 || body != away {
			t.Errorf("without Redis POST /test = %d %s, want 503 %s", status, body, away)
		}
	}
	eventually(t, "the terminal says that Redis is away", func() bool { return strings.Contains(d.stderr.String(), "given up") })
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "requests are allowed again", func() bool { status, _ := d.test(); return status == 200 })
	eventually(t, "the terminal says that Redis is back", func() bool { return strings.Contains(d.stderr.String(), "Redis is back") })
	if got := d.stderr.String(); strings.Count(got, "\n") != 2 {
		t.Errorf("the terminal says %q, want two lines", got)
	}
}

func TestDemoGreets(t *testing.T) {
	tests := []struct{ ip, url string }{
		{"127.0.0.1", "http://localhost:8080/"},
		{"::1", "http://localhost:8080/"},
		{"0.0.0.0", "http://localhost:8080/"},
		{"192.0.2.7", "http://192.0.2.7:8080/"},
		{"2001:db8::7", "http://[2001:db8::7]:8080/"},
	}
	for _, tt := range tests {
		var b strings.Builder
		(&demoCmd{}).greet(&b, &net.TCPAddr{IP: net.ParseIP(tt.ip), Port: 8080}, "in memory")
		for _, want := range []string{"\n    " + tt.url + "\n", "\n    curl -i -X POST " + tt.url + "test\n"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("on %s the greeting is %q, want %s in it", tt.ip, &b, strconv.Quote(want))
			}
		}
	}
}

package proxy

import (
	"errors"
	"io"
	"log/slog"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAccessLog(t *testing.T) {
	log := &lockedBuffer{}
	g := serveTo(t, hello, Options{Limits: limits("2/h"), AccessLog: log, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	for range 3 {
		g.get("/a?b=1", "X-Forwarded-For", "203.0.113.7", "Referer", "https://example.com/", "User-Agent", `evil" agent\`)
	}
	g.get("/", "X-Forwarded-For", "who knows") // has no key
	eventually(t, "four lines", func() bool { return strings.Count(log.String(), "\n") == 4 })
	begin := `\[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] `
	request := begin + `"GET /a\?b=1 HTTP/1\.1" `
	agent := ` "https://example\.com/" "evil\\" agent\\\\" `
	want := regexp.MustCompile(`^203\.0\.113\.7 - - ` + request + `200 6` + agent + `allowed 1
203\.0\.113\.7 - - ` + request + `200 6` + agent + `allowed 0
203\.0\.113\.7 - - ` + request + `429 \d+` + agent + `refused 0
- - - ` + begin + `"GET / HTTP/1\.1" 400 \d+ "-" "Go-http-client/1\.1" undecided -
$`)
	if got := log.String(); !want.MatchString(got) {
		t.Errorf("the log is\n%s", got)
	}
}

func TestAccessLogDecisions(t *testing.T) {
	for _, c := range []struct {
		opts Options
		want string // how each line ends
	}{
		{Options{}, "unlimited -\nunlimited -\n"},
		{Options{Limits: limits("1/h"), Shadow: true}, "allowed 0\nwould-refuse 0\n"},
	} {
		log := &lockedBuffer{}
		c.opts.AccessLog = log
		g := serveTo(t, hello, c.opts)
		g.statuses(2)
		eventually(t, "two lines", func() bool { return strings.Count(log.String(), "\n") == 2 })
		if got := regexp.MustCompile(`(?m)^.*" `).ReplaceAllString(log.String(), ""); got != c.want {
			t.Errorf("the lines end in %q, want %q", got, c.want)
		}
	}
}

func TestAccessLogEscapes(t *testing.T) {
	r := httptest.NewRequest("GET", "/", nil)
	r.RequestURI = "/\"\\\n\x00é"
	line := &logLine{rec: &recorder{}, request: r, begin: time.Date(2026, 11, 30, 12, 0, 1, 0, time.UTC), client: "192.0.2.1", decision: saidUndecided, remaining: -1}
	got := string(line.append(nil))
	want := `192.0.2.1 - - [30/Nov/2026:12:00:01 +0000] "GET /\"\\\x0a\x00\xc3\xa9 HTTP/1.1" 499 - "-" "-" undecided -` + "\n"
	if got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

// stuck is a reader of the log that has stopped reading.
type stuck struct{ wait chan struct{} }

func (s stuck) Write(p []byte) (int, error) { <-s.wait; return len(p), nil }

func TestStuckLogReaderStopsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := stuck{make(chan struct{})}
		a := newAccessLog(reader)
		r := httptest.NewRequest("GET", "/"+strings.Repeat("x", 1000), nil)
		line := &logLine{rec: &recorder{status: 200}, request: r, begin: time.Now(), client: "192.0.2.1", decision: saidAllowed}
		const n = 10000 // about 10 MB
		for range n {
			a.add(line)
		}
		if lost := a.lost.Load(); lost == 0 || lost >= n {
			t.Errorf("%d of %d lines are lost, want those that do not fit", lost, n)
		}
		if len(a.pending) > maxPending {
			t.Errorf("%d bytes are pending, want at most %d", len(a.pending), maxPending)
		}
		begin := time.Now()
		a.close()
		if waited := time.Since(begin); waited != closeWithin {
			t.Errorf("close took %s, want %s", waited, closeWithin)
		}
		close(reader.wait)
	})
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestLogThatFailsIsReported(t *testing.T) {
	a := newAccessLog(failing{})
	line := &logLine{rec: &recorder{status: 200}, request: httptest.NewRequest("GET", "/", nil), begin: time.Now(), client: "-", decision: saidAllowed}
	a.add(line)
	eventually(t, "the line is lost", func() bool { return a.lost.Load() == 1 })
	eventually(t, "lines are lost at once", func() bool { before := a.lost.Load(); a.add(line); return a.lost.Load() == before+1 })
	if err := a.close(); err == nil {
		t.Error("close returns nil, want the writer's error")
	}
}

func TestComplaintsAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logs := &lockedBuffer{}
		c := &complaints{logger: slog.New(slog.NewTextHandler(logs, nil))}
		for range 500 {
			c.complain("no answer", io.EOF)
			time.Sleep(10 * time.Millisecond)
		}
		io.WriteString(c, "http: something\n")
		if got := strings.Count(logs.String(), "\n"); got != 6 {
			t.Errorf("%d lines in 5 s, want 6:\n%s", got, logs)
		}
		if !strings.Contains(logs.String(), "more_since_last=99") {
			t.Errorf("the lines do not count what was held back:\n%s", logs)
		}
	})
}

package demo

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir"
)

func TestNewNeedsPeeker(t *testing.T) {
	if _, err := New(Options{Store: takeOnly{}}); err == nil || !strings.Contains(err.Error(), "demo.takeOnly cannot look without charging") {
		t.Errorf("New with a store that cannot peek: %v", err)
	}
}

type takeOnly struct{}

func (takeOnly) Take(context.Context, *weir.Scope, string, int64) (weir.Results, error) {
	return weir.Results{}, nil
}

func TestMethodsAndPaths(t *testing.T) {
	tests := []struct {
		path  string
		allow string // the methods of the Allow field; empty for a path that is not there
	}{
		{"/", "GET, HEAD"}, {"/app.js", "GET, HEAD"}, {"/style.css", "GET, HEAD"}, {"/icon.svg", "GET, HEAD"}, {"/state", "GET, HEAD"},
		{"/test", "POST"}, {"/config", "POST"},
		{"/index.html", ""}, {"/assets/app.js", ""}, {"/test/", ""}, {"/testing", ""}, {"/config/x", ""}, {"/favicon.ico", ""},
		{"/metrics", ""}, {"/debug/pprof/", ""}, {"/Test", ""}, {"/%2e%2e/etc/passwd", ""},
	}
	for _, tt := range tests {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"} {
			v := newVisitor(t)
			want := http.StatusNotFound
			switch {
			case tt.allow == "":
			case !strings.Contains(tt.allow, method):
				want = http.StatusMethodNotAllowed
			case tt.path == "/config":
				want = http.StatusBadRequest
			default:
				want = http.StatusOK
			}
			w := v.do(method, tt.path, "")
			if w.Code != want {
				t.Errorf("%s %s = %d, want %d", method, tt.path, w.Code, want)
			}
			if got := w.Header().Get("Allow"); want == http.StatusMethodNotAllowed && got != tt.allow {
				t.Errorf("%s %s has Allow %q, want %q", method, tt.path, got, tt.allow)
			}
			if got := w.Header().Get("Content-Security-Policy"); got != contentSecurityPolicy {
				t.Errorf("%s %s has Content-Security-Policy %q", method, tt.path, got)
			}
		}
	}
}

func TestOtherSitesAreRefused(t *testing.T) {
	tests := []struct {
		headers []string
		ok      bool
	}{
		{nil, true}, // a program
		{[]string{"Sec-Fetch-Site: same-origin"}, true},
		{[]string{"Origin: http://example.com"}, true}, // the host of httptest.NewRequest
		{[]string{"Sec-Fetch-Site: cross-site"}, false},
		{[]string{"Sec-Fetch-Site: same-site"}, false},
		{[]string{"Origin: https://evil.example"}, false},
		{[]string{"Origin: null"}, false},
	}
	for _, tt := range tests {
		v := newVisitor(t)
		test := v.do("POST", "/test", "", tt.headers...)
		config := v.do("POST", "/config", "capacity=5", append(tt.headers, formType)...)
		if tt.ok {
			if test.Code != 200 || config.Code != 200 {
				t.Errorf("%q: POST /test = %d, POST /config = %d, want 200", tt.headers, test.Code, config.Code)
			}
			continue
		}
		const body = `{"success":false,"error":"this request comes from a page of another site; open the demonstration itself"}`
		wantBody(t, fmt.Sprintf("POST /test %q", tt.headers), test, 403, body)
		wantBody(t, fmt.Sprintf("POST /config %q", tt.headers), config, 403, body)
		v.wantState("afterwards", "remaining=10", "config=map[capacity:10 refill_interval:1.0 refill_rate:1]")
	}
}

// Whatever happens at once, no more is admitted than the capacity.
func TestConcurrent(t *testing.T) {
	const capacity, workers, each = 100, 16, 40
	v := newVisitor(t)
	v.configure(fmt.Sprintf("capacity=%d&refill_interval=3600", capacity))
	var allowed, refused atomic.Int64
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			for j := range each {
				switch w := v.test(); w.Code {
				case 200:
					allowed.Add(1)
				case 429:
					refused.Add(1)
				default:
					t.Errorf("POST /test = %d %s", w.Code, w.Body)
				}
				switch (i + j) % 8 {
				case 0:
					v.do("GET", "/state", "")
				case 4: // changes that neither add a token nor take one away
					v.post(fmt.Sprintf("refill_interval=%d", 3600+j))
				}
			}
		})
	}
	wg.Wait()
	if allowed.Load() != capacity || refused.Load() != workers*each-capacity {
		t.Errorf("%d allowed and %d refused, want %d and %d", allowed.Load(), refused.Load(), capacity, workers*each-capacity)
	}
	v.wantState("in the end", "remaining=0", "allowed=100", "refused=540")
}

func TestConsumptionCarriesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVisitor(t)
		v.take(4)
		v.configure("capacity=20")
		v.wantState("a larger bucket", "remaining=16")
		v.configure("capacity=3")
		v.wantState("a smaller bucket", "remaining=0")
		if got := v.take(1); got != 0 {
			t.Errorf("a smaller bucket lets a request pass that was used up")
		}
		v.configure("capacity=10")
		v.wantState("the first bucket again", "remaining=7")
	})
}

// A new rate is in force from the moment of the change, not from the next request on.
func TestChangeTakesEffectAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVisitor(t)
		v.take(10)
		v.configure("refill_interval=1000")
		time.Sleep(10 * time.Second)
		v.wantState("10 s into an interval of 1000 s", "remaining=0", "next_refill=990.0")
		v.configure("refill_interval=0.5") // a hundredth of the step has passed, and stays passed
		v.wantState("the interval shortened", "remaining=0", "next_refill=0.495")
		time.Sleep(495 * time.Millisecond)
		if got := v.take(2); got != 1 {
			t.Errorf("after the step %d requests pass, want 1", got)
		}
	})
}

func TestTally(t *testing.T) {
	start := time.Unix(1000, 0)
	at := func(d time.Duration) time.Time { return start.Add(d) }
	tally := newTally(start)
	tally.count(at(0), true)
	tally.count(at(500*time.Millisecond), false)
	tally.count(at(58*time.Second), true)
	check := func(now time.Duration, want string) {
		t.Helper()
		allowed, refused, seconds := tally.read(at(now))
		got := fmt.Sprint(allowed, refused)
		for i, s := range seconds {
			if s != [2]int64{} {
				got += fmt.Sprint(" ", i-len(seconds)+1, s)
			}
		}
		if len(seconds) != 60 || got != want {
			t.Errorf("at %v: %d seconds, %s; want 60, %s", now, len(seconds), got, want)
		}
	}
	check(58*time.Second, "2 1 -58 [1 1] 0 [1 0]")
	check(59999*time.Millisecond, "2 1 -59 [1 1] -1 [1 0]")
	check(60*time.Second, "2 1 -2 [1 0]")
	check(30*time.Second, "2 1 -2 [1 0]") // a reader that was late
	tally.count(at(61*time.Second), false)
	check(61*time.Second, "2 2 -3 [1 0] 0 [0 1]")
	check(1000*time.Hour, "2 2")
}

package demo

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/memstore"
)

func TestTestAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVisitor(t)
		const config = `"config":{"capacity":10,"refill_rate":1,"refill_interval":1.0}}`
		w := v.test()
		wantBody(t, "first POST /test", w, 200, `{"allowed":true,"remaining":9.00,`+config)
		wantHeaders(t, w.Header(), `Ratelimit: "demo";r=9;t=1`, `Ratelimit-Policy: "demo";q=10;w=10`, "Retry-After: ")
		v.take(8)
		wantBody(t, "10th POST /test", v.test(), 200, `{"allowed":true,"remaining":0.00,`+config)
		time.Sleep(100 * time.Millisecond)
		w = v.test()
		wantBody(t, "11th POST /test", w, 429, `{"allowed":false,"remaining":0.00,`+config)
		wantHeaders(t, w.Header(), `Ratelimit: "demo";r=0;t=1`, `Ratelimit-Policy: "demo";q=10;w=10`, "Retry-After: 1")
		time.Sleep(900 * time.Millisecond)
		wantBody(t, "POST /test after Retry-After", v.test(), 200, `{"allowed":true,"remaining":0.00,`+config)
	})
}

func wantHeaders(t *testing.T, h http.Header, lines ...string) {
	t.Helper()
	lines = append(lines, "Cache-Control: no-store", "Content-Type: application/json", "X-Content-Type-Options: nosniff")
	for _, line := range lines {
		name, want, _ := strings.Cut(line, ": ")
		if got := h.Get(name); got != want {
			t.Errorf("header %s is %q, want %q", name, got, want)
		}
	}
}

func TestConfigAnswers(t *testing.T) {
	tests := []struct{ form, config string }{
		{"capacity=5", `{"capacity":5,"refill_rate":1,"refill_interval":1.0}`},
		{"refill_rate=3", `{"capacity":10,"refill_rate":3,"refill_interval":1.0}`},
		{"refill_interval=0.5", `{"capacity":10,"refill_rate":1,"refill_interval":0.5}`},
		{"refill_interval=2.25", `{"capacity":10,"refill_rate":1,"refill_interval":2.25}`},
		{"refill_interval=2", `{"capacity":10,"refill_rate":1,"refill_interval":2.0}`},
		{"refill_interval=60", `{"capacity":10,"refill_rate":1,"refill_interval":60.0}`},
		{"refill_interval=0.001", `{"capacity":10,"refill_rate":1,"refill_interval":0.001}`},
		{"refill_interval=1.234567", `{"capacity":10,"refill_rate":1,"refill_interval":1.234567}`},
		{"refill_interval=1.500000000", `{"capacity":10,"refill_rate":1,"refill_interval":1.5}`},
		{"refill=smooth", `{"capacity":10,"refill_rate":1,"refill_interval":1.0}`},
		{"capacity=100&refill_rate=20&refill_interval=0.25&refill=stepwise", `{"capacity":100,"refill_rate":20,"refill_interval":0.25}`},
		{"capacity=9007199254740991&refill_rate=9007199254740991", `{"capacity":9007199254740991,"refill_rate":9007199254740991,"refill_interval":1.0}`},
	}
	for _, tt := range tests {
		wantBody(t, "POST /config "+tt.form, newVisitor(t).post(tt.form), 200, `{"success":true,"config":`+tt.config+`}`)
	}
}

// failure is the body of an answer that says what is wrong.
func failure(text string) string { return `{"success":false,"error":` + strconv.Quote(text) + `}` }

func TestConfigRefuses(t *testing.T) {
	const count = ` is not a whole number from 1 to 9007199254740991; write one, such as 10`
	const decimal = ` is not a decimal number of seconds; write one from 0.001 to 3153600000, such as 1.0 or 0.25`
	tests := []struct{ form, error string }{
		{"", "no field is given; send at least one of capacity, refill_rate, refill_interval, refill"},
		{"capacity=", `capacity ""` + count},
		{"capacity=0", `capacity "0"` + count},
		{"capacity=-1", `capacity "-1"` + count},
		{"capacity=%2B5", `capacity "+5"` + count},
		{"capacity=NaN", `capacity "NaN"` + count},
		{"capacity=Inf", `capacity "Inf"` + count},
		{"capacity=1e3", `capacity "1e3"` + count},
		{"capacity=0x10", `capacity "0x10"` + count},
		{"capacity=5+", `capacity "5 "` + count},
		{"capacity=9007199254740992", `capacity "9007199254740992"` + count},
		{"capacity=99999999999999999999", `capacity "99999999999999999999"` + count},
		{"capacity=2.5", `capacity "2.5" is not a whole number; round it`},
		{"capacity=9007199254740991&refill=stepwise", "capacity 9007199254740991 takes more than 100 years to come back at this rate; use a smaller capacity or a faster rate"},
		{"refill_rate=0", `refill_rate "0"` + count},
		{"refill_rate=-0.5", `refill_rate "-0.5"` + count},
		{"refill_rate=0.5", `refill_rate "0.5" is not a whole number; for a fraction lengthen refill_interval: 1 token per 2.0 seconds instead of 0.5 per 1.0`},
		{"refill_interval=0", `refill_interval "0" is below 0.001; use a longer one with a larger refill_rate`},
		{"refill_interval=0.0009", `refill_interval "0.0009" is below 0.001; use a longer one with a larger refill_rate`},
		{"refill_interval=-1", `refill_interval "-1"` + decimal},
		{"refill_interval=NaN", `refill_interval "NaN"` + decimal},
		{"refill_interval=Infinity", `refill_interval "Infinity"` + decimal},
		{"refill_interval=", `refill_interval ""` + decimal},
		{"refill_interval=.5", `refill_interval ".5"` + decimal},
		{"refill_interval=1.", `refill_interval "1."` + decimal},
		{"refill_interval=1,5", `refill_interval "1,5"` + decimal},
		{"refill_interval=1.0.0", `refill_interval "1.0.0"` + decimal},
		{"refill_interval=1s", `refill_interval "1s"` + decimal},
		{"refill_interval=1.2345678", `refill_interval "1.2345678" has more than six decimals; round it, times are exact to the microsecond`},
		{"refill_interval=3153600000.5", `refill_interval "3153600000.5" is above 100 years; use at most 3153600000`},
		{"refill_interval=99999999999999999999", `refill_interval "99999999999999999999" is above 100 years; use at most 3153600000`},
		{"refill=sometimes", `refill "sometimes" is not known; use stepwise or smooth`},
		{"capacity=5&capacity=6", "capacity is given 2 times; keep one"},
		{"capcity=5", `field "capcity" is not known; use capacity, refill_rate, refill_interval, refill`},
		{"capacity=5&refill_rate=x", `refill_rate "x"` + count},
		{"capacity=" + strings.Repeat("9", 60), `capacity "` + strings.Repeat("9", 40) + `"...` + count},
		{"capacity=%zz", "the form cannot be read; send fields such as capacity=10&refill_rate=1"},
		{"refill=smooth&capacity=9007199254740991&refill_rate=9007199254740990&refill_interval=7",
			"capacity 9007199254740991 is above 12867427506, where arithmetic in 700000ths of a token stops being exact; " +
				"use a smaller burst, or a rounder refill, such as 1000000/d for 999983/d"},
	}
	v := newVisitor(t)
	v.configure("capacity=7&refill_rate=2&refill_interval=3.5&refill=smooth")
	for _, tt := range tests {
		w := v.post(tt.form)
		wantBody(t, "POST /config "+tt.form, w, 400, failure(tt.error))
		wantHeaders(t, w.Header())
		v.wantState("after "+tt.form, "config=map[capacity:7 refill_interval:3.5 refill_rate:2]", "refill=smooth")
	}
}

func TestConfigBodies(t *testing.T) {
	multi := func(value string) string {
		var b bytes.Buffer
		m := multipart.NewWriter(&b)
		m.SetBoundary("x")
		m.WriteField("capacity", value)
		m.Close()
		return b.String()
	}
	tests := []struct {
		name, kind, body string
		status           int
		error            string
	}{
		{"multipart", "multipart/form-data; boundary=x", multi("5"), 200, ""},
		{"charset", "application/x-www-form-urlencoded; charset=utf-8", "capacity=5", 200, ""},
		{"truncated multipart", "multipart/form-data; boundary=x", multi("5")[:60], 400, "the form cannot be read; send fields such as capacity=10&refill_rate=1"},
		{"no boundary", "multipart/form-data", multi("5"), 400, "the form cannot be read; send fields such as capacity=10&refill_rate=1"},
		{"no body", "", "", 400, "no field is given; send at least one of capacity, refill_rate, refill_interval, refill"},
		{"json", "application/json", `{"capacity":5}`, 415, `the content type "application/json" is not a form; send application/x-www-form-urlencoded, as curl -d does`},
		{"no type", "", "capacity=5", 415, `the content type "" is not a form; send application/x-www-form-urlencoded, as curl -d does`},
		{"bad type", "/;;", "capacity=5", 415, `the content type "/;;" is not a form; send application/x-www-form-urlencoded, as curl -d does`},
		{"too long", "application/x-www-form-urlencoded", "capacity=5&x=" + strings.Repeat("y", maxForm), 413, "the form is longer than 4096 bytes; send only the fields that change"},
		{"too long multipart", "multipart/form-data; boundary=x", multi(strings.Repeat("5", maxForm)), 413, "the form is longer than 4096 bytes; send only the fields that change"},
	}
	for _, tt := range tests {
		v := newVisitor(t)
		headers := []string{}
		if tt.kind != "" {
			headers = append(headers, "Content-Type: "+tt.kind)
		}
		w := v.do("POST", "/config", tt.body, headers...)
		want, capacity := failure(tt.error), 10
		if tt.status == 200 {
			want, capacity = `{"success":true,"config":{"capacity":5,"refill_rate":1,"refill_interval":1.0}}`, 5
		}
		wantBody(t, tt.name, w, tt.status, want)
		v.wantState(tt.name, fmt.Sprintf("config=map[capacity:%d refill_interval:1.0 refill_rate:1]", capacity))
	}
	if w := newVisitor(t).do("POST", "/config?capacity=5", "", formType); w.Code != 400 {
		t.Errorf("POST /config?capacity=5 without a body = %d, want 400: the fields belong into the body", w.Code)
	}
}

func TestState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVisitor(t)
		v.wantState("full", "remaining=10", "next_refill=0.0", "full_in=0.0", "refill=stepwise", "limit=1/s burst 10 stepwise", "allowed=0", "refused=0")
		v.configure("refill_rate=4&refill_interval=2.5")
		v.take(11)
		v.wantState("empty", "remaining=0", "next_refill=2.5", "full_in=7.5", "limit=4/2.5s burst 10 stepwise", "allowed=10", "refused=1")
		time.Sleep(2600 * time.Millisecond)
		v.wantState("after a step", "remaining=4", "next_refill=2.4", "full_in=4.9")
		v.configure("refill=smooth&refill_rate=1&refill_interval=2.0")
		v.wantState("smooth", "remaining=4", "next_refill=2.0", "full_in=12.0", "limit=1/2s burst 10")
		time.Sleep(2500 * time.Millisecond)
		v.wantState("smooth, later", "remaining=5", "next_refill=1.5", "full_in=9.5")
		if limit, err := weir.ParseLimit(v.state()["limit"].(string)); err != nil || limit != v.server.rules.config.limit() {
			t.Errorf("the limit of GET /state reads as %v, %v; want %v", limit, err, v.server.rules.config.limit())
		}
		for range 20 {
			v.state()
		}
		v.wantState("after many looks", "remaining=5", "allowed=10", "refused=1")
	})
}

func TestStoreFailure(t *testing.T) {
	store := memstore.MustNew(memstore.Options{})
	v := newVisitorOf(t, store)
	store.Close()
	wantBody(t, "POST /test", v.test(), 503, `{"success":false,"error":"the store of the bucket does not answer; nothing was decided, try again"}`)
	wantBody(t, "POST /config", v.post("capacity=5"), 503, `{"success":false,"error":"the store of the bucket does not answer; the limit stays as it is, try again"}`)
	wantBody(t, "GET /state", v.do("GET", "/state", ""), 503, `{"success":false,"error":"the store of the bucket does not answer; the terminal of weir demo may say why"}`)
	if got := v.server.rules.config; got != defaultConfig() {
		t.Errorf("after a change that failed the config is %+v, want %+v", got, defaultConfig())
	}
}

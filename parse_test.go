package weir_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
)

func TestParseLimit(t *testing.T) {
	const day = 24 * time.Hour
	bucket := func(n int64, period time.Duration) weir.Limit {
		return weir.TokenBucket{Capacity: n, Refill: n, Interval: period}
	}
	for _, c := range []struct {
		text string
		want weir.Limit
	}{
		{"10/s", bucket(10, time.Second)},
		{"10/sec", bucket(10, time.Second)},
		{"10/second", bucket(10, time.Second)},
		{"10/1s", bucket(10, time.Second)},
		{"10/m", bucket(10, time.Minute)},
		{"10/min", bucket(10, time.Minute)},
		{"10/minute", bucket(10, time.Minute)},
		{"10/h", bucket(10, time.Hour)},
		{"10/hour", bucket(10, time.Hour)},
		{"10/d", bucket(10, day)},
		{"10/day", bucket(10, day)},
		{"10/w", bucket(10, 7*day)},
		{"10/week", bucket(10, 7*day)},
		{"100/15m", bucket(100, 15*time.Minute)},
		{"10/1h30m", bucket(10, 90*time.Minute)},
		{"10/1.5h", bucket(10, 90*time.Minute)},
		{"10/500ms", bucket(10, 500*time.Millisecond)},
		{"10/1500us", bucket(10, 1500*time.Microsecond)},
		{"10/1500µs", bucket(10, 1500*time.Microsecond)},
		{"10/30d", bucket(10, 30*day)},
		{"10/2w", bucket(10, 14*day)},
		{"10/36500d", bucket(10, 36500*day)},
		{"  10/s\ttoken-bucket\n", bucket(10, time.Second)},
		{"0010/s", bucket(10, time.Second)},
		{"9007199254740991/1ms stepwise", weir.TokenBucket{Capacity: weir.MaxQuota, Refill: weir.MaxQuota, Interval: time.Millisecond, Stepwise: true}},
		{"10/s burst 20", weir.TokenBucket{Capacity: 20, Refill: 10, Interval: time.Second}},
		{"10/s burst 1", weir.TokenBucket{Capacity: 1, Refill: 10, Interval: time.Second}},
		{"10/s stepwise burst 20", weir.TokenBucket{Capacity: 20, Refill: 10, Interval: time.Second, Stepwise: true}},
		{"10/s token-bucket burst 20 stepwise", weir.TokenBucket{Capacity: 20, Refill: 10, Interval: time.Second, Stepwise: true}},
		{"10/s leaky-bucket", weir.LeakyBucket{Capacity: 10, Leak: 10, Interval: time.Second}},
		{"10/s burst 20 leaky-bucket", weir.LeakyBucket{Capacity: 20, Leak: 10, Interval: time.Second}},
		{"10/m fixed-window", weir.FixedWindow{Limit: 10, Window: time.Minute}},
		{"10/m anchored", weir.FixedWindow{Limit: 10, Window: time.Minute, Anchored: true}},
		{"10/m anchored fixed-window", weir.FixedWindow{Limit: 10, Window: time.Minute, Anchored: true}},
		{"10/d fixed-window", weir.FixedWindow{Limit: 10, Window: day}},
		{"10/d calendar Europe/Berlin", weir.FixedWindow{Limit: 10, Calendar: weir.Day, Zone: "Europe/Berlin"}},
		{"10/24h calendar UTC", weir.FixedWindow{Limit: 10, Calendar: weir.Day, Zone: "UTC"}},
		{"10/w calendar UTC fixed-window", weir.FixedWindow{Limit: 10, Calendar: weir.Week, Zone: "UTC"}},
		{"10/7d calendar UTC", weir.FixedWindow{Limit: 10, Calendar: weir.Week, Zone: "UTC"}},
		{"10/month", weir.FixedWindow{Limit: 10, Calendar: weir.Month, Zone: "UTC"}},
		{"10/month fixed-window", weir.FixedWindow{Limit: 10, Calendar: weir.Month, Zone: "UTC"}},
		{"10/year calendar Asia/Tokyo", weir.FixedWindow{Limit: 10, Calendar: weir.Year, Zone: "Asia/Tokyo"}},
		{"10/m sliding-window", weir.SlidingWindow{Limit: 10, Window: time.Minute}},
		{"10/m sliding-log", weir.SlidingLog{Limit: 10, Window: time.Minute}},
		{"20000/m large sliding-log", weir.SlidingLog{Limit: 20000, Window: time.Minute, Large: true}},
	} {
		if got, err := weir.ParseLimit(c.text); err != nil || got != c.want {
			t.Errorf("ParseLimit(%q) = %+v, %v, want %+v", c.text, got, err, c.want)
		}
	}
}

func TestLimitString(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"10/1s burst 10", "10/s"},
		{"10/60s", "10/m"},
		{"10/60m", "10/h"},
		{"10/24h", "10/d"},
		{"10/7d", "10/w"},
		{"10/2w", "10/14d"},
		{"10/90s", "10/1m30s"},
		{"10/900s", "10/15m"},
		{"10/90m", "10/1h30m"},
		{"10/120m", "10/2h"},
		{"10/36h", "10/36h"},
		{"10/3601s", "10/1h0m1s"},
		{"10/0.5s", "10/500ms"},
		{"10/s stepwise burst 3", "10/s burst 3 stepwise"},
		{"10/s leaky-bucket burst 3", "10/s burst 3 leaky-bucket"},
		{"10/m anchored", "10/m fixed-window anchored"},
		{"10/month", "10/month fixed-window calendar UTC"},
		{"10/7d calendar Europe/Berlin", "10/w fixed-window calendar Europe/Berlin"},
		{"10/m large sliding-log", "10/m sliding-log large"},
	} {
		l, err := weir.ParseLimit(c.text)
		if err != nil || l.String() != c.want {
			t.Errorf("ParseLimit(%q) = %v, %v, want %s", c.text, l, err, c.want)
		}
	}
}

// TestParseLimitMessages holds every message that the grammar has for a text.
func TestParseLimitMessages(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `weir: limit "": text "" is empty; write a limit, such as 10/s burst 20`},
		{" \t ", `weir: limit " \t ": text " \t " is empty; write a limit, such as 10/s burst 20`},
		{"10", `weir: limit "10": rate "10" has no period; write <n>/<period>, such as 10/s or 100/15m`},
		{"10 /s", `weir: limit "10 /s": rate "10" has no period; write <n>/<period>, such as 10/s or 100/15m`},
		{"/s", `weir: limit "/s": rate "" is not a whole number from 1 to 9007199254740991; write one, such as 10`},
		{"x/s", `weir: limit "x/s": rate "x" is not a whole number from 1 to 9007199254740991; write one, such as 10`},
		{"0/s", `weir: limit "0/s": rate "0" is not a whole number from 1 to 9007199254740991; write one, such as 10`},
		{"-1/s", `weir: limit "-1/s": rate "-1" is not a whole number from 1 to 9007199254740991; write one, such as 10`},
		{"+1/s", `weir: limit "+1/s": rate "+1" is not a whole number from 1 to 9007199254740991; write one, such as 10`},
		{"9007199254740992/s", `weir: limit "9007199254740992/s": rate "9007199254740992" is not a whole number from 1 to 9007199254740991; write one, such as 10`},
		{"99999999999999999999/s", `weir: limit "99999999999999999999/s": rate "99999999999999999999" is not a whole number from 1 to 9007199254740991; write one, such as 10`},
		{"1.5/s", `weir: limit "1.5/s": rate "1.5" is not a whole number; write a whole number, and a longer period for a fraction: 3/2s for 1.5 per second`},
		{"1,000/s", `weir: limit "1,000/s": rate "1,000" is not a whole number; write it without separators, such as 1000000`},
		{"1e3/s", `weir: limit "1e3/s": rate "1e3" is not a whole number from 1 to 9007199254740991; write one, such as 10`},
		{"10/", `weir: limit "10/": period "" is not known; use s, m, h, d, w, month, year, a number of days or weeks such as 30d, or a duration such as 500ms, 90s or 15m`},
		{"10/x", `weir: limit "10/x": period "x" is not known; use s, m, h, d, w, month, year, a number of days or weeks such as 30d, or a duration such as 500ms, 90s or 15m`},
		{"10/day2", `weir: limit "10/day2": period "day2" is not known; use s, m, h, d, w, month, year, a number of days or weeks such as 30d, or a duration such as 500ms, 90s or 15m`},
		{"10/0d", `weir: limit "10/0s": interval 0s is below 1ms; use a longer one with more units: 1000/s instead of 1 per 1ms or less`},
		{"10/36501d", `weir: limit "10/36501d": interval 876024h0m0s is above 100 years; use a shorter one`},
		{"10/µ", `weir: limit "10/µ": period "µ" is not known; use s, m, h, d, w, month, year, a number of days or weeks such as 30d, or a duration such as 500ms, 90s or 15m`},
		{"10/500us", `weir: limit "10/500µs": interval 500µs is below 1ms; use a longer one with more units: 1000/s instead of 1 per 1ms or less`},
		{"10/0s", `weir: limit "10/0s": interval 0s is below 1ms; use a longer one with more units: 1000/s instead of 1 per 1ms or less`},
		{"10/-1s", `weir: limit "10/-1s": interval -1s is below 1ms; use a longer one with more units: 1000/s instead of 1 per 1ms or less`},
		{"10/1500.5us", `weir: limit "10/1.5005ms": interval 1.5005ms is not a whole number of microseconds; round it, for instance to 1.501ms`},
		{"10/1ms500ns", `weir: limit "10/1.0005ms": interval 1.0005ms is not a whole number of microseconds; round it, for instance to 1.001ms`},
		{"10/900000h", `weir: limit "10/37500d": interval 900000h0m0s is above 100 years; use a shorter one`},
		{"10/s fast", `weir: limit "10/s fast": word "fast" is not known; use burst <b>, stepwise, token-bucket, leaky-bucket, fixed-window, sliding-window, sliding-log, calendar <zone>, anchored or large`},
		{"10/s burst", `weir: limit "10/s burst": burst "" is missing; write a number after it, such as burst 20`},
		{"10/s burst x", `weir: limit "10/s burst x": burst "x" is not a whole number from 1 to 9007199254740991; write one, such as 10`},
		{"10/s burst 0", `weir: limit "10/s burst 0": burst "0" is not a whole number from 1 to 9007199254740991; write one, such as 10`},
		{"10/s burst 2.5", `weir: limit "10/s burst 2.5": burst "2.5" is not a whole number; write a whole number, and a longer period for a fraction: 3/2s for 1.5 per second`},
		{"10/s burst 1 burst 2", `weir: limit "10/s burst 1 burst 2": burst "burst 2" comes after another burst; keep one of them`},
		{"10/s stepwise stepwise", `weir: limit "10/s stepwise stepwise": stepwise "stepwise" comes after another stepwise; keep one of them`},
		{"10/s sliding-log sliding-window", `weir: limit "10/s sliding-log sliding-window": algorithm "sliding-window" comes after another algorithm; keep one of them`},
		{"10/s calendar", `weir: limit "10/s calendar": calendar "" is missing; write a zone after it, such as calendar Europe/Berlin or calendar UTC`},
		{"10/d calendar UTC calendar UTC", `weir: limit "10/d calendar UTC calendar UTC": calendar "calendar UTC" comes after another calendar; keep one of them`},
		{"10/s leaky-bucket stepwise", `weir: limit "10/s leaky-bucket stepwise": word "stepwise" does not go with leaky-bucket; use it with token-bucket only`},
		{"10/s fixed-window burst 3", `weir: limit "10/s fixed-window burst 3": word "burst" does not go with fixed-window; use it with token-bucket or leaky-bucket only`},
		{"10/s sliding-window burst 3", `weir: limit "10/s sliding-window burst 3": word "burst" does not go with sliding-window; use it with token-bucket or leaky-bucket only`},
		{"10/s token-bucket anchored", `weir: limit "10/s token-bucket anchored": word "anchored" does not go with token-bucket; use it with fixed-window only`},
		{"10/s large", `weir: limit "10/s large": word "large" does not go with token-bucket; use it with sliding-log only`},
		{"10/s sliding-window large", `weir: limit "10/s sliding-window large": word "large" does not go with sliding-window; use it with sliding-log only`},
		{"10/d sliding-window calendar UTC", `weir: limit "10/d sliding-window calendar UTC": word "calendar" does not go with sliding-window; use it with fixed-window only`},
		{"10/month token-bucket", `weir: limit "10/month token-bucket": period "month" is a calendar window, which token-bucket does not have; use fixed-window, or a period of a fixed length such as 30d`},
		{"10/year sliding-log", `weir: limit "10/year sliding-log": period "year" is a calendar window, which sliding-log does not have; use fixed-window, or a period of a fixed length such as 30d`},
		{"10/s calendar UTC", `weir: limit "10/s calendar UTC": period "s" is no calendar window; use d, w, month or year with calendar`},
		{"10/2d calendar UTC", `weir: limit "10/2d calendar UTC": period "2d" is no calendar window; use d, w, month or year with calendar`},
		{"10/d calendar Mars/Base", `weir: limit "10/d fixed-window calendar Mars/Base": zone "Mars/Base" is not known here; use an IANA name such as Europe/Berlin or UTC, and import time/tzdata where the system has no zone files`},
		{"10/d calendar Local", `weir: limit "10/d fixed-window calendar Local": zone "Local" is not known here; use an IANA name such as Europe/Berlin or UTC, and import time/tzdata where the system has no zone files`},
		{"10/d calendar ../etc", `weir: limit "10/d fixed-window calendar ../etc": zone "../etc" is not known here; use an IANA name such as Europe/Berlin or UTC, and import time/tzdata where the system has no zone files`},
		{"10/month anchored", `weir: limit "10/month fixed-window calendar UTC": anchored true contradicts the calendar; drop one of them: a calendar window starts with the calendar, an anchored one with the first request`},
		{"10/month calendar UTC anchored", `weir: limit "10/month fixed-window calendar UTC": anchored true contradicts the calendar; drop one of them: a calendar window starts with the calendar, an anchored one with the first request`},
		{"10001/s sliding-log", `weir: limit "10001/s sliding-log": limit 10001 is above 10000, and a log keeps an entry for each request; use the sliding window, which needs two numbers per key, or accept the cost with Large (the word large) up to 1000000`},
		{"1000001/s sliding-log large", `weir: limit "1000001/s sliding-log large": limit 1000001 is above 1000000; use 1 to 1000000`},
		{"4398046511104/s sliding-window", `weir: limit "4398046511104/s sliding-window": limit 4398046511104 is above 4398046511103; use 1 to 4398046511103`},
		{"7/s burst 9007199255", `weir: limit "7/s burst 9007199255": capacity 9007199255 is above 9007199254, where arithmetic in 1000000ths of a token stops being exact; use a smaller burst, or a rounder refill, such as 1000000/d for 999983/d`},
		{"1/36500d burst 2", `weir: limit "1/36500d burst 2": capacity 2 takes more than 100 years to come back at this rate; use a smaller capacity or a faster rate`},
		{"1/365d burst 101 stepwise", `weir: limit "1/365d burst 101 stepwise": capacity 101 takes more than 100 years to come back at this rate; use a smaller capacity or a faster rate`},
		{strings.Repeat("x", 201), `weir: limit "` + strings.Repeat("x", 200) + `...": text "xxxxxxxxxxxxxxxx..." is longer than 200 bytes; write one limit, such as 10/s burst 20`},
	} {
		_, err := weir.ParseLimit(c.text)
		if err == nil || err.Error() != c.want {
			t.Errorf("ParseLimit(%q):\n got %v\nwant %s", c.text, err, c.want)
		}
		var limitError *weir.LimitError
		if !errors.Is(err, weir.ErrInvalidLimit) || !errors.As(err, &limitError) || limitError.Field == "" || limitError.Remedy == "" {
			t.Errorf("ParseLimit(%q): got error %#v, want a *LimitError with a field and a remedy", c.text, err)
		}
	}
}

func TestParseLimits(t *testing.T) {
	got, err := weir.ParseLimits("10/s", "5/m fixed-window")
	if err != nil || len(got) != 2 || got[0].String() != "10/s" || got[1].String() != "5/m fixed-window" {
		t.Errorf("ParseLimits: got %v, %v", got, err)
	}
	if got, err := weir.ParseLimits(); err != nil || len(got) != 0 {
		t.Errorf("ParseLimits of nothing: got %v, %v, want none", got, err)
	}
	if got, err := weir.ParseLimits("10/s", "x"); err == nil || got != nil {
		t.Errorf("ParseLimits of a wrong one: got %v, %v, want an error alone", got, err)
	}
}

func TestMustParsePanics(t *testing.T) {
	for name, parse := range map[string]func(){
		"MustParseLimit":  func() { weir.MustParseLimit("10") },
		"MustParseLimits": func() { weir.MustParseLimits("10/s", "10") },
	} {
		func() {
			defer func() {
				if err, ok := recover().(error); !ok || !errors.Is(err, weir.ErrInvalidLimit) {
					t.Errorf("%s of a wrong limit: panicked with %v, want a LimitError", name, err)
				}
			}()
			parse()
		}()
	}
}

// FuzzParseLimit: whatever the text, it is refused with a reason, or it is a valid limit whose own text means the same.
func FuzzParseLimit(f *testing.F) {
	for _, text := range []string{
		"10/s burst 20", "3/1500us stepwise", "1/1h30m leaky-bucket", "5/m fixed-window anchored", "7/month calendar Europe/Berlin",
		"9/w calendar UTC", "100/15m sliding-window", "20000/d sliding-log large", "10/", "/s", "10/s burst", "10/0d", "10/+5s", "10/s \x00",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		limit, err := weir.ParseLimit(text)
		if err != nil {
			var limitError *weir.LimitError
			if limit != nil || !errors.As(err, &limitError) || limitError.Problem == "" || limitError.Remedy == "" {
				t.Fatalf("ParseLimit(%q) = %v, %#v, want no limit and a reason", text, limit, err)
			}
			return
		}
		spec, err := weir.SpecOf(limit)
		if err != nil || spec.Quota < 1 {
			t.Fatalf("ParseLimit(%q) = %+v, whose spec is %+v, %v", text, limit, spec, err)
		}
		if again, err := weir.ParseLimit(limit.String()); err != nil || again != limit {
			t.Fatalf("ParseLimit(%q) = %+v; its text %q reads back as %+v, %v", text, limit, limit.String(), again, err)
		}
	})
}

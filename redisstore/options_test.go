package redisstore

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestOptionsAreValidated(t *testing.T) {
	for _, c := range []struct {
		opts Options
		want string
	}{
		{Options{Prefix: "a{b}"}, `Prefix is "a{b}"; leave the braces out`},
		{Options{Prefix: strings.Repeat("x", 129)}, "Prefix has 129 bytes; use at most 128"},
		{Options{HashSecret: []byte("s")}, "HashSecret is set but HashKeys is not"},
		{Options{Timeout: time.Microsecond}, "Timeout is 1µs; use 1ms to 1m0s, or 0 for 50ms"},
		{Options{Timeout: time.Hour}, "Timeout is 1h0m0s"},
		{Options{Timeout: -1}, "Timeout is -1ns"},
		{Options{MaxWaiting: -1}, "MaxWaiting is -1; use 1 or more"},
		{Options{Outage: 9}, "Outage is Outage(9); use OutageLocal"},
		{Options{Processes: -2}, "Processes is -2; use 1 to 1048576"},
		{Options{Processes: 1 << 21}, "Processes is 2097152"},
	} {
		_, err := Open("redis://localhost:1", c.opts)
		if !errors.Is(err, ErrInvalidOptions) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Open with %+v: got error %v, want %q", c.opts, err, c.want)
		}
	}
	if _, err := New(nil, Options{}); !errors.Is(err, ErrInvalidOptions) {
		t.Errorf("New(nil): got error %v, want %v", err, ErrInvalidOptions)
	}
	if _, err := Open("http://localhost", Options{}); !errors.Is(err, ErrInvalidOptions) {
		t.Errorf("Open(http:): got error %v, want %v", err, ErrInvalidOptions)
	}
}

func TestOutageText(t *testing.T) {
	for _, o := range []Outage{OutageLocal, OutageAllow, OutageDeny, OutageError} {
		if got, err := ParseOutage(o.String()); got != o || err != nil {
			t.Errorf("ParseOutage(%q): got %v, %v", o, got, err)
		}
	}
	if _, err := ParseOutage("maybe"); !errors.Is(err, ErrInvalidOptions) || !strings.Contains(err.Error(), "local, allow, deny or error") {
		t.Errorf("ParseOutage(maybe): got error %v", err)
	}
}

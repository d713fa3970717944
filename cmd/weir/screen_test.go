package main

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/term"

	"github.com/weirhq/weir/httplimit"
)

func TestScreenRewritesTheLineInPlace(t *testing.T) {
	var out bytes.Buffer
	s := &screen{out: &out, terminal: true, width: func() int { return 12 }}
	s.show("one")
	s.show("two")
	io.WriteString(s, "news\n")
	s.show("this is too long for the terminal")
	s.show("")
	io.WriteString(s, "end\n")
	const clear = "\r\x1b[K"
	want := clear + "one" + clear + "two" + clear + "news\n" + "two" + clear + "this is too" + clear + "end\n"
	if got := out.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestScreenThatIsNoTerminal(t *testing.T) {
	var out bytes.Buffer
	s := newScreen(&out)
	s.show("a summary")
	io.WriteString(s, "news\n")
	if got := out.String(); got != "news\n" {
		t.Errorf("got %q, want the news alone", got)
	}
	if s.through(&out) != io.Writer(&out) {
		t.Error("an output that is no terminal does not go through the screen")
	}
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if newScreen(f).terminal {
		t.Error("the null device is no terminal")
	}
}

// TestDumbTerminal: a terminal that can rewrite no line is none.
func TestDumbTerminal(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil || !term.IsTerminal(int(terminal.Fd())) {
		if os.Getenv("CI") != "" {
			t.Fatal("this machine makes no terminals, and in CI nothing is skipped: ", err)
		}
		t.Skip("this machine makes no terminals: ", err)
	}
	defer terminal.Close()
	for name, want := range map[string]bool{"xterm": true, "": true, "dumb": false} {
		t.Setenv("TERM", name)
		if got := newScreen(terminal).terminal; got != want {
			t.Errorf("TERM=%s: is it a terminal: %v, want %v", name, got, want)
		}
	}
}

func TestTerse(t *testing.T) {
	for _, c := range []struct {
		log  func(*slog.Logger)
		want string // after the time
	}{
		{func(l *slog.Logger) { l.Error("no answer from the upstream", "error", errors.New("refused")) }, "error: no answer from the upstream (error: refused)\n"},
		{func(l *slog.Logger) { l.With("a", 1).WithGroup("g").Warn("well", "b", 2) }, "warn: well (a: 1, b: 2)\n"},
		{func(l *slog.Logger) { l.Debug("nothing") }, ""},
		{func(l *slog.Logger) { l.Warn("x", "code", string(httplimit.CodeAllShadow)) }, ""},
		{func(l *slog.Logger) { l.Warn("x", "code", string(httplimit.CodeProxySeen)) }, "warn: requests come through a proxy, and all its clients are counted as one; name the proxy with --trust-proxy\n"},
		{func(l *slog.Logger) { l.Warn("x", "code", string(httplimit.CodeWideTrust)) }, "warn: --trust-proxy trusts a very large part of all addresses; list those of your proxies\n"},
	} {
		var out bytes.Buffer
		c.log(slog.New(&terse{out: &out}))
		_, got, _ := strings.Cut(out.String(), "  ")
		if got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

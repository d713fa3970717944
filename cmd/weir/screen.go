package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/weirhq/weir/httplimit"
)

// screen is an output, usually standard error, with a line at its bottom that is rewritten in place when it is a
// terminal. What else is written to it goes above that line. It is safe for concurrent use.
type screen struct {
	out      io.Writer
	terminal bool
	width    func() int

	mu   sync.Mutex
	line string // shown now; guarded by mu
}

// newScreen returns a screen over out. A terminal of the type dumb counts as none: it cannot rewrite a line.
func newScreen(out io.Writer) *screen {
	s := &screen{out: out, width: func() int { return 0 }}
	if f, ok := out.(*os.File); ok && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd())) {
		s.terminal = true
		s.width = func() int {
			w, _, err := term.GetSize(int(f.Fd()))
			if err != nil {
				return 0
			}
			return w
		}
	}
	return s
}

// clearLine goes to the begin of the line and erases it.
const clearLine = "\r\x1b[K"

// show replaces the line at the bottom; "" removes it. A line wider than the terminal is cut: it could not be
// rewritten in place.
func (s *screen) show(line string) {
	if !s.terminal {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.width(); w > 1 && utf8.RuneCountInString(line) >= w {
		line = string([]rune(line)[:w-1])
	}
	s.line = line
	io.WriteString(s.out, clearLine+line)
}

// Write writes p, whole lines, above the line at the bottom.
func (s *screen) Write(p []byte) (int, error) { return s.writeTo(s.out, p) }

func (s *screen) writeTo(w io.Writer, p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.line != "" {
		io.WriteString(s.out, clearLine)
		defer func() { io.WriteString(s.out, s.line) }()
	}
	return w.Write(p)
}

// through returns a writer to out that keeps the bottom line intact where both are terminals.
func (s *screen) through(out io.Writer) io.Writer {
	f, ok := out.(*os.File)
	if !s.terminal || !ok || !term.IsTerminal(int(f.Fd())) {
		return out
	}
	return writerFunc(func(p []byte) (int, error) { return s.writeTo(out, p) })
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// terse is a [slog.Handler] for people: the level, the message, and what else is known in brackets.
type terse struct {
	out   io.Writer
	attrs []slog.Attr
}

// Enabled implements [slog.Handler].
func (h *terse) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

// Handle implements [slog.Handler]. Warnings about options are given in the words of flags.
func (h *terse) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString(r.Time.Format("15:04:05") + "  " + strings.ToLower(r.Level.String()) + ": ")
	code, details := "", []string(nil)
	collect := func(a slog.Attr) bool {
		if a.Key == "code" {
			code = a.Value.String()
		}
		details = append(details, a.Key+": "+a.Value.String())
		return true
	}
	for _, a := range h.attrs {
		collect(a)
	}
	r.Attrs(collect)
	switch httplimit.Code(code) {
	case httplimit.CodeAllShadow:
		return nil // it was asked for, and the start message says it
	case httplimit.CodeProxySeen:
		b.WriteString("requests come through a proxy, and all its clients are counted as one; name the proxy with --trust-proxy\n")
	case httplimit.CodeWideTrust:
		b.WriteString("--trust-proxy trusts a very large part of all addresses; list those of your proxies\n")
	default:
		b.WriteString(r.Message)
		if len(details) > 0 {
			fmt.Fprintf(&b, " (%s)", strings.Join(details, ", "))
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(h.out, b.String())
	return err
}

// WithAttrs implements [slog.Handler].
func (h *terse) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &terse{out: h.out, attrs: append(h.attrs[:len(h.attrs):len(h.attrs)], attrs...)}
}

// WithGroup implements [slog.Handler]; groups are not shown.
func (h *terse) WithGroup(string) slog.Handler { return h }

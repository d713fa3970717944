package proxy

import (
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/httplimit"
)

// logLine is what the access log tells of a request.
type logLine struct {
	rec       *recorder
	request   *http.Request
	begin     time.Time
	client    string
	decision  string
	remaining int64 // -1 when nothing was decided
}

// lineKey finds a request's logLine in its context.
type lineKey struct{}

// The words for what the limits said.
const (
	saidAllowed     = "allowed"
	saidRefused     = "refused"
	saidWouldRefuse = "would-refuse" // in shadow mode
	saidUndecided   = "undecided"    // there was no key, or the client left before
	saidUnlimited   = "unlimited"    // there are no limits
)

func (p *Proxy) begin(rec *recorder, r *http.Request) *logLine {
	line := &logLine{rec: rec, request: r, begin: time.Now(), client: "-", decision: saidUndecided, remaining: -1}
	clientIP := p.options.clientIP()
	if a, err := clientIP.Addr(r); err == nil {
		line.client = a.String()
	}
	if len(p.options.Limits) == 0 {
		line.decision = saidUnlimited
	}
	return line
}

func (l *logLine) decided(o httplimit.Outcome) {
	switch {
	case o.Err != nil:
		return
	case o.Decision.Allowed:
		l.decision = saidAllowed
	case o.Shadow:
		l.decision = saidWouldRefuse
	default:
		l.decision = saidRefused
	}
	l.remaining = o.Decision.Remaining
}

// append writes the line in the Combined Log Format, followed by the decision and what remains.
func (l *logLine) append(b []byte) []byte {
	r, status := l.request, l.rec.status
	if status == 0 {
		status = statusClientGone // it ended without an answer
	}
	b = append(append(b, l.client...), " - - ["...)
	b = l.begin.AppendFormat(b, "02/Jan/2006:15:04:05 -0700")
	b = append(b, "] \""...)
	b = appendEscaped(b, r.Method)
	b = append(b, ' ')
	b = appendEscaped(b, r.RequestURI)
	b = append(b, ' ')
	b = append(b, r.Proto...)
	b = append(b, "\" "...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, ' ')
	if l.rec.bytes > 0 {
		b = strconv.AppendInt(b, l.rec.bytes, 10)
	} else {
		b = append(b, '-')
	}
	b = appendField(b, r.Referer())
	b = appendField(b, r.UserAgent())
	b = append(append(append(b, ' '), l.decision...), ' ')
	if l.remaining >= 0 {
		b = strconv.AppendInt(b, l.remaining, 10)
	} else {
		b = append(b, '-')
	}
	return append(b, '\n')
}

func appendField(b []byte, s string) []byte {
	if s == "" {
		s = "-"
	}
	return append(appendEscaped(append(b, " \""...), s), '"')
}

// appendEscaped writes s so that it cannot end its field or line, as Apache does: \" and \\ and \xhh.
func appendEscaped(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ' || c >= 0x7f:
			b = append(b, '\\', 'x', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return b
}

// accessLog writes lines from a goroutine of its own. Requests never wait for it: lines that come while maxPending bytes
// are waiting are dropped and counted.
type accessLog struct {
	out  io.Writer
	lost atomic.Uint64
	wake chan struct{}
	done chan struct{}

	mu      sync.Mutex
	pending []byte // guarded by mu
	lines   uint64 // in pending; guarded by mu
	closed  bool   // guarded by mu
	err     error  // of the first write that failed; guarded by mu
}

const (
	// maxPending is about ten thousand lines.
	maxPending = 2 << 20
	// closeWithin is how long the end waits for the reader of the log.
	closeWithin = 2 * time.Second
)

func newAccessLog(out io.Writer) *accessLog {
	a := &accessLog{out: out, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go a.run()
	return a
}

func (a *accessLog) add(line *logLine) {
	var buf [512]byte
	text := line.append(buf[:0])
	a.mu.Lock()
	if a.closed || a.err != nil || len(a.pending)+len(text) > maxPending {
		a.mu.Unlock()
		a.lost.Add(1)
		return
	}
	a.pending = append(a.pending, text...)
	a.lines++
	a.mu.Unlock()
	select {
	case a.wake <- struct{}{}:
	default: // it has not woken yet from the last time
	}
}

func (a *accessLog) run() {
	defer close(a.done)
	var spare []byte
	for range a.wake {
		a.mu.Lock()
		text, lines, closed := a.pending, a.lines, a.closed
		a.pending, a.lines = spare[:0], 0
		a.mu.Unlock()
		if len(text) > 0 {
			if _, err := a.out.Write(text); err != nil {
				a.lost.Add(lines)
				a.mu.Lock()
				a.err = err
				a.mu.Unlock()
			}
		}
		spare = text
		if closed {
			return
		}
	}
}

// close writes what is pending, unless the reader takes too long, and returns the error of the writer.
func (a *accessLog) close() error {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	select {
	case a.wake <- struct{}{}:
	default:
	}
	timeout := time.NewTimer(closeWithin)
	defer timeout.Stop()
	select {
	case <-a.done:
	case <-timeout.C:
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

package proxy

import (
	"bufio"
	"net"
	"net/http"
	"time"
)

// recorder is the response on its way to the client. It notes what the access log tells, and keeps three things as they
// should be that net/http would change: the limit's header fields when the upstream sends 1xx responses, a response
// without a Content-Type, and the ability to flush and to hijack.
//
// It is used by one goroutine at a time, as any ResponseWriter.
type recorder struct {
	http.ResponseWriter
	status int          // 0 until the final header is written
	bytes  int64        // of the body
	body   *requestBody // nil when the request has none

	kept     [4]field // what the limits set; never more
	nkept    int
	informed bool // a 1xx was sent
}

type field struct {
	name   string
	values []string
}

// keepHeader remembers the header fields set so far.
func (rec *recorder) keepHeader() {
	for name, values := range rec.Header() {
		if rec.nkept < len(rec.kept) {
			rec.kept[rec.nkept] = field{name, values}
			rec.nkept++
		}
	}
}

// WriteHeader implements [http.ResponseWriter].
func (rec *recorder) WriteHeader(status int) {
	h := rec.Header()
	if status < 200 && status != http.StatusSwitchingProtocols {
		// The reverse proxy clears all of the header after this.
		rec.informed = true
		for _, f := range rec.kept[:rec.nkept] {
			delete(h, f.name)
		}
		rec.ResponseWriter.WriteHeader(status)
		return
	}
	if rec.informed {
		for _, f := range rec.kept[:rec.nkept] {
			h[f.name] = append(f.values[:len(f.values):len(f.values)], h[f.name]...)
		}
	}
	if rec.body != nil && !rec.body.skim() {
		h.Set("Connection", "close")
	}
	if _, typed := h["Content-Type"]; !typed {
		h["Content-Type"] = nil // no guess where the upstream said nothing
	}
	rec.status = status
	rec.ResponseWriter.WriteHeader(status)
}

// finishBody is called when there is nothing more to do. A client whose body has not ended has grace to see the answer
// before its connection is cut.
func (rec *recorder) finishBody(grace time.Duration) {
	switch rec.status {
	case http.StatusSwitchingProtocols: // the connection is no longer ours
		return
	case 0, statusClientGone: // net/http is about to write a header in its own way
		rec.Header().Set("Connection", "close")
	}
	rec.body.finish(grace)
}

// Write implements [http.ResponseWriter].
func (rec *recorder) Write(p []byte) (int, error) {
	n, err := rec.ResponseWriter.Write(p)
	rec.bytes += int64(n)
	return n, err
}

// Hijack implements [http.Hijacker]. Only upgrades do it.
func (rec *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(rec.ResponseWriter).Hijack()
	if err == nil {
		rec.status = http.StatusSwitchingProtocols
	}
	return conn, rw, err
}

// Unwrap lets [http.ResponseController] find the rest.
func (rec *recorder) Unwrap() http.ResponseWriter { return rec.ResponseWriter }

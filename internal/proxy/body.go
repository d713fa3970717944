package proxy

import (
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// requestBody is the body of a request on its way to the upstream. The response may begin before it has ended, as HTTP
// permits: otherwise net/http would first take up to 256 KiB of it, which belong to the upstream, or which a refused
// client sends as slowly as it likes. Such a response is the last on its connection, so that what is left of the body
// can never be taken for the next request.
type requestBody struct {
	io.ReadCloser
	control *http.ResponseController
	// skimmable says that nobody has begun to read, and that reading invites nobody to send.
	skimmable bool
	// ended and failed are set by the goroutine that reads: the transport's, when it is forwarded.
	ended, failed atomic.Bool

	reading sync.Mutex // held during Read
	over    bool       // guarded by reading
}

// newRequestBody returns the body of r, or nil when it has none.
func newRequestBody(w http.ResponseWriter, r *http.Request) *requestBody {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	b := &requestBody{ReadCloser: r.Body, control: http.NewResponseController(w), skimmable: r.Header.Get("Expect") == ""}
	b.control.EnableFullDuplex() // not supported, and not needed, elsewhere than in HTTP/1
	return b
}

// Read implements [io.Reader].
func (b *requestBody) Read(p []byte) (int, error) {
	b.reading.Lock()
	defer b.reading.Unlock()
	if b.over {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := b.ReadCloser.Read(p)
	switch err {
	case nil:
	case io.EOF:
		b.ended.Store(true)
	default:
		b.failed.Store(true)
	}
	return n, err
}

const (
	// skimTime and skimBytes bound what is read of a refused request's body, to keep its connection: what has arrived
	// with the header, in most cases.
	skimTime  = 10 * time.Millisecond
	skimBytes = 64 << 10
)

// skim returns whether the body has ended, after a short look at one that nobody has begun to read.
func (b *requestBody) skim() bool {
	if b.skimmable && !b.ended.Load() {
		b.control.SetReadDeadline(time.Now().Add(skimTime))
		io.CopyN(io.Discard, b, skimBytes)
		b.control.SetReadDeadline(time.Time{})
	}
	return b.ended.Load()
}

// finish ends the reading of a body that has not ended by itself, so that net/http can give its client grace to see the
// answer. The transport's goroutine may be waiting in Read: net/http would interrupt it too, but take the deadline away.
func (b *requestBody) finish(grace time.Duration) {
	if b.ended.Load() {
		return
	}
	b.control.SetReadDeadline(time.Unix(1, 0))
	b.reading.Lock()
	b.over = true
	b.reading.Unlock()
	b.control.SetReadDeadline(time.Now().Add(grace))
}

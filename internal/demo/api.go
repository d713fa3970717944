package demo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"mime"
	"net/http"
	"net/url"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/httplimit"
)

// wholeTokens is a number of tokens that stands in JSON with two decimals.
type wholeTokens int64

// MarshalJSON writes n as 9.00.
func (n wholeTokens) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "%d.00", int64(n)), nil }

type testBody struct {
	Allowed   bool        `json:"allowed"`
	Remaining wholeTokens `json:"remaining"`
	Config    config      `json:"config"`
}

type configBody struct {
	Success bool   `json:"success"`
	Config  config `json:"config"`
}

type failureBody struct {
	Success bool   `json:"success"`
	Error   string `json:"error"`
}

// stateBody is what the page draws. Times are as of the answer.
type stateBody struct {
	Remaining  int64      `json:"remaining"`
	NextRefill seconds    `json:"next_refill"` // until the next whole token or step; 0.0 when full
	FullIn     seconds    `json:"full_in"`
	Refill     string     `json:"refill"`
	Limit      string     `json:"limit"`
	Config     config     `json:"config"`
	Allowed    int64      `json:"allowed"`
	Refused    int64      `json:"refused"`
	Seconds    [][2]int64 `json:"seconds"`
}

// test answers POST /test: one request under the limit.
func (s *Server) test(w http.ResponseWriter, r *http.Request) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	s.rules.test.ServeHTTP(w, r)
}

// answer tells what was decided. The headers are already set. s.mu is held for reading.
func (s *Server) answer(w http.ResponseWriter, _ *http.Request, o httplimit.Outcome) {
	s.tally.count(time.Now(), o.Decision.Allowed)
	writeJSON(w, o.Status(), testBody{o.Decision.Allowed, wholeTokens(o.Decision.Remaining), s.rules.config})
}

// storeAway begins what is said when nothing could be decided. The page shows it too.
const storeAway = "the store of the bucket does not answer; "

func (s *Server) fail(w http.ResponseWriter, _ *http.Request, o httplimit.Outcome) {
	writeFailure(w, o.Status(), storeAway+"nothing was decided, try again")
}

// state answers GET /state: what the bucket holds now. It charges nothing.
func (s *Server) state(w http.ResponseWriter, r *http.Request) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	c := s.rules.config
	d, err := s.rules.limiter.Peek(r.Context(), bucketKey)
	if err != nil {
		writeFailure(w, http.StatusServiceUnavailable, storeAway+"the terminal of weir demo may say why")
		return
	}
	body := stateBody{
		Remaining: d.Remaining, NextRefill: seconds(untilNext(c, d)), FullIn: seconds(d.ResetAfter),
		Refill: c.refillWord(), Limit: c.limit().String(), Config: c,
	}
	body.Allowed, body.Refused, body.Seconds = s.tally.read(time.Now())
	writeJSON(w, http.StatusOK, body)
}

// untilNext returns the time until the next token or step comes back: the time until the bucket is full less that of
// the tokens or steps after the next.
func untilNext(c config, d weir.Decision) time.Duration {
	missing := c.Capacity - d.Remaining
	if missing <= 0 {
		return 0
	}
	if !c.Smooth {
		return d.ResetAfter - time.Duration((missing-1)/c.Refill)*time.Duration(c.Interval)
	}
	return d.ResetAfter - time.Duration(mulDiv(missing-1, int64(c.Interval), c.Refill))
}

// mulDiv returns a x b / c rounded down. All are non-negative, c is positive, the result must fit.
func mulDiv(a, b, c int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	q, _ := bits.Div64(hi, lo, uint64(c))
	return int64(q)
}

// maxForm bounds the body of POST /config; the four fields need a tenth of it.
const maxForm = 4096

// configure answers POST /config.
func (s *Server) configure(w http.ResponseWriter, r *http.Request) {
	form, status, err := readForm(w, r)
	if err != nil {
		writeFailure(w, status, err.Error())
		return
	}
	c, err := s.change(r.Context(), func(old config) (config, error) { return old.edit(form) })
	var bad inputError
	switch {
	case errors.As(err, &bad):
		writeFailure(w, http.StatusBadRequest, bad.Error())
	case err != nil:
		writeFailure(w, http.StatusServiceUnavailable, storeAway+"the limit stays as it is, try again")
	default:
		writeJSON(w, http.StatusOK, configBody{true, c})
	}
}

// readForm returns the fields of the body, or the status that says what is wrong with it.
func readForm(w http.ResponseWriter, r *http.Request) (url.Values, int, error) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	kind := r.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(kind)
	switch {
	case kind == "" && r.ContentLength == 0: // no field at all, which edit has a message for
	case err == nil && media == "application/x-www-form-urlencoded":
		err = r.ParseForm()
	case err == nil && media == "multipart/form-data":
		err = r.ParseMultipartForm(maxForm)
	default:
		return nil, http.StatusUnsupportedMediaType, badInput("the content type %s is not a form; send application/x-www-form-urlencoded, as curl -d does", quote(kind))
	}
	var tooLong *http.MaxBytesError
	switch {
	case kind == "":
		return nil, 0, nil
	case errors.As(err, &tooLong):
		return nil, http.StatusRequestEntityTooLarge, badInput("the form is longer than %d bytes; send only the fields that change", maxForm)
	case err != nil:
		return nil, http.StatusBadRequest, badInput("the form cannot be read; send fields such as capacity=10&refill_rate=1")
	}
	return r.PostForm, 0, nil
}

func writeFailure(w http.ResponseWriter, status int, text string) {
	writeJSON(w, status, failureBody{Error: text})
}

// writeJSON writes body as one line. Its text is for terminals too: nothing is escaped for HTML, which it is not.
func writeJSON(w http.ResponseWriter, status int, body any) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(text.Bytes()) // the client is gone if this fails
}

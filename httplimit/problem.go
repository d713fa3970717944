package httplimit

import (
	"net/http"
	"strconv"

	"github.com/weirhq/weir"
)

// quotaExceeded is the problem type of draft-ietf-httpapi-ratelimit-headers for a policy that is used up.
const quotaExceeded = "https://iana.org/assignments/http-problem-types#quota-exceeded"

// writeProblem answers with o as application/problem+json (RFC 9457). It tells no key and no address, and the cause of
// a failure stays in the outcome: it is nothing for clients. Every string in it is free of what JSON would escape.
func writeProblem(w http.ResponseWriter, r *http.Request, o Outcome) {
	status := o.Status()
	var b []byte
	switch {
	case o.Err == nil:
		b = append(b, `{"type":"`+quotaExceeded+`","title":"Quota exceeded","status":429`...)
		if o.Decision.RetryAfter == weir.Never {
			b = append(b, `,"detail":"The cost of this request is above the limit. Waiting does not help."`...)
		}
		b = append(b, `,"violated-policies":[`...)
		for i, name := range o.Violated() {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(append(b, '"'), name...), '"')
		}
		b = append(b, ']')
	default:
		b = append(b, `{"title":"`...)
		b = append(b, http.StatusText(status)...)
		b = append(b, `","status":`...)
		b = strconv.AppendInt(b, int64(status), 10)
		if status == http.StatusBadRequest {
			b = append(b, `,"detail":"The request lacks what its rate limit is counted by."`...)
		} else {
			b = append(b, `,"detail":"The rate limit could not be checked."`...)
		}
	}
	b = append(b, "}\n"...)
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		w.Write(b) // the client is gone if this fails
	}
}

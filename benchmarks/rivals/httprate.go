package rivals

import (
	"net/http"
	"time"

	"github.com/go-chi/httprate"
)

// httpRate is the middleware's decision without the middleware: OnLimit, with the names of all headers empty, so that
// it writes none and needs no ResponseWriter. It still renders two of their values.
type httpRate struct {
	limiter *httprate.RateLimiter
	request *http.Request
}

func newHTTPRate(n int) Limiter {
	request, err := http.NewRequest(http.MethodGet, "http://example.com/", nil)
	if err != nil {
		panic(err)
	}
	headers := httprate.WithResponseHeaders(httprate.ResponseHeaders{})
	return httpRate{httprate.NewRateLimiter(n, time.Hour, headers), request}
}

func (l httpRate) Allow(key string) bool { return !l.limiter.OnLimit(nil, l.request, key) }

func (l httpRate) Close() {}

package httplimit_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir/httplimit"
)

// discard is a response that keeps its headers for one request and nothing else.
type discard struct{ header http.Header }

func (w discard) Header() http.Header         { return w.header }
func (w discard) Write(b []byte) (int, error) { return len(b), nil }
func (w discard) WriteHeader(int)             {}

var benchmarks = []struct {
	name   string
	limits []string // one policy for each
	edit   func(*httplimit.Options)
}{
	{"allowed", []string{"9000000000/s"}, func(o *httplimit.Options) {}},
	{"allowed/no headers", []string{"9000000000/s"}, func(o *httplimit.Options) { o.Headers = httplimit.HeadersNone }},
	{"allowed/epoch headers", []string{"9000000000/s"}, func(o *httplimit.Options) { o.Headers = httplimit.HeadersXEpoch }},
	{"allowed/x-forwarded-for", []string{"9000000000/s"}, func(o *httplimit.Options) {
		o.Policies[0].Key = httplimit.ClientIP(httplimit.ClientIPOptions{Header: "X-Forwarded-For", TrustedProxies: prefixes("192.0.2.0/24")})
	}},
	{"allowed/kept", []string{"9000000000/s"}, func(o *httplimit.Options) { o.KeepOutcomes = true }},
	{"allowed/two policies", []string{"9000000000/s", "900000000/s"}, func(o *httplimit.Options) {}},
	{"refused", []string{"1/d fixed-window"}, func(o *httplimit.Options) {}},
}

func BenchmarkMiddleware(b *testing.B) {
	for _, bb := range benchmarks {
		b.Run(bb.name, func(b *testing.B) {
			var ps []httplimit.Policy
			for i, limit := range bb.limits {
				ps = append(ps, httplimit.Policy{Name: string(rune('a' + i)), Limiter: newLimiter(b, limit), Key: httplimit.ClientIP(httplimit.ClientIPOptions{})})
			}
			opts := policies(ps...)
			bb.edit(&opts)
			h := httplimit.MustNew(opts)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			r := request("GET", "/")
			if strings.HasSuffix(bb.name, "x-forwarded-for") {
				r.Header.Set("X-Forwarded-For", "203.0.113.7")
			}
			r.RemoteAddr = "192.0.2.1:4711"
			r = r.WithContext(context.Background())
			w := discard{http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				h.ServeHTTP(w, r)
			}
		})
	}
}

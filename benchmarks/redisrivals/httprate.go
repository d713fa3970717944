package redisrivals

import (
	"net/http"

	"github.com/go-chi/httprate"
	httprateredis "github.com/go-chi/httprate-redis"
	"github.com/redis/go-redis/v9"
)

// httpRate is the middleware's decision without the middleware: OnLimit, with the names of all headers empty, so that
// it writes none and needs no ResponseWriter. It holds one lock over all keys while it asks Redis twice. Its counter in
// memory, to which it falls back when Redis is slow, is off: it would be measured instead of Redis.
type httpRate struct {
	client  *redis.Client
	limiter *httprate.RateLimiter
	request *http.Request
}

func newHTTPRate(address string, callers int, limits []Limit) (Limiter, error) {
	request, err := http.NewRequest(http.MethodGet, "http://example.com/", nil)
	if err != nil {
		return nil, err
	}
	client := newGoRedis(address, callers)
	limiter := httprate.NewRateLimiter(limits[0].Count, limits[0].Period,
		httprateredis.WithRedisLimitCounter(&httprateredis.Config{Client: client, FallbackDisabled: true}),
		httprate.WithResponseHeaders(httprate.ResponseHeaders{}),
		httprate.WithErrorHandler(func(w http.ResponseWriter, _ *http.Request, err error) { w.(*failure).err = err }))
	return httpRate{client, limiter, request}, nil
}

// failure is where OnLimit leaves its error.
type failure struct {
	http.ResponseWriter
	err error
}

func (l httpRate) Allow(key string) (bool, error) {
	var f failure
	limited := l.limiter.OnLimit(&f, l.request, key)
	return !limited, f.err
}

func (l httpRate) Close() { l.client.Close() }

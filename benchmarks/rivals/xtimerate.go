package rivals

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// oneRate is a bare limiter for everybody: the price of a decision without a key.
type oneRate struct{ limiter *rate.Limiter }

func newRate(n int) Limiter { return oneRate{rate.NewLimiter(perHour(n), n)} }

func (l oneRate) Allow(string) bool { return l.limiter.Allow() }

func (l oneRate) Close() {}

// rateMap is what programs write around x/time/rate. It never forgets a key.
type rateMap struct {
	limiters sync.Map // string to *rate.Limiter
	n        int
}

func newRateMap(n int) Limiter { return &rateMap{n: n} }

func (l *rateMap) Allow(key string) bool {
	limiter, ok := l.limiters.Load(key) // LoadOrStore alone would make a limiter for every request
	if !ok {
		limiter, _ = l.limiters.LoadOrStore(key, rate.NewLimiter(perHour(l.n), l.n))
	}
	return limiter.(*rate.Limiter).Allow()
}

func (l *rateMap) Close() {}

func perHour(n int) rate.Limit { return rate.Every(time.Hour / time.Duration(n)) }

package race

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// window is how long an admission counts, and so how long a key lives at most when it could not be deleted. It is far
// longer than a run, so that limit is the number of admissions in all.
const window = 24 * time.Hour

// Report is what the four ways did, as one JSON document.
type Report struct {
	Store    string   `json:"store"` // without the password
	Limit    int      `json:"limit"`
	Workers  int      `json:"workers"`
	Requests int      `json:"requests"`
	Ways     []Result `json:"ways"`
}

// Result is what one way did.
type Result struct {
	Way      string `json:"way"`      // unsafe, watch, watch_retry or script
	Title    string `json:"title"`    // its name for people
	Commands string `json:"commands"` // what it sends to Redis for a request that is admitted

	// Admitted, Refused and Errors are together the requests. Errors were not decided; FirstError is one of them.
	Admitted   int    `json:"admitted"`
	Refused    int    `json:"refused"`
	Errors     int    `json:"errors"`
	FirstError string `json:"first_error"`

	OverLimit      int `json:"over_limit"`      // admitted beyond the limit
	WronglyRefused int `json:"wrongly_refused"` // refused while there was room, as far as that is certain
	Retries        int `json:"retries"`         // transactions tried again after a lost race

	// Half, and 99 of 100, of the decided requests took at most that long.
	LatencyP50 int64 `json:"latency_p50_us"`
	LatencyP99 int64 `json:"latency_p99_us"`

	Elapsed           int64 `json:"elapsed_us"` // from the common start to the last answer
	RequestsPerSecond int64 `json:"requests_per_second"`

	Verdict     Verdict `json:"verdict"`
	Explanation string  `json:"explanation"` // the verdict in a sentence, with the numbers
}

// Run lets the four ways race, one after the other. It leaves no key behind, and when ctx ends it stops early with
// [ErrInterrupted]. Requests that fail are counted, not returned; an error means that there is nothing to compare.
func Run(ctx context.Context, opts Options) (*Report, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	client, name, err := open(opts.Store, opts.Workers)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	if err := connect(ctx, client, name, opts.Workers); err != nil {
		return nil, err
	}
	report := &Report{Store: name, Limit: opts.Limit, Workers: opts.Workers, Requests: opts.Requests}
	id := rand.Text()
	for _, w := range ways(client, opts.Limit) {
		if opts.Begin != nil {
			opts.Begin(w.title)
		}
		result, err := compete(ctx, client, fmt.Sprintf("weir:race:{%s}:%s", id, w.id), w, opts)
		if err != nil {
			return nil, err
		}
		report.Ways = append(report.Ways, result)
	}
	for i := range report.Ways {
		report.judge(&report.Ways[i])
	}
	return report, nil
}

// compete runs one way on keys of its own, and deletes them.
func compete(ctx context.Context, client *redis.Client, key string, w way, opts Options) (_ Result, err error) {
	warm := key + ":warm"
	defer func() {
		if forgetErr := forget(ctx, client, key, warm); forgetErr != nil && err == nil {
			err = fmt.Errorf("race: cannot delete %s: %w; it expires within 24 hours", key, forgetErr)
		} else if forgetErr != nil {
			err = fmt.Errorf("%w; %s could not be deleted, and expires within 24 hours", err, key)
		}
	}()
	// One decision beforehand, on another key, finds out whether the way works here, and lets Redis compile the script.
	if _, err := w.allow(ctx, warm); err != nil {
		if ctx.Err() != nil {
			return Result{}, interrupted(w)
		}
		return Result{}, fmt.Errorf("race: %s: %w; give a Redis that lets its user run %s on keys weir:race:*", w.title, err, w.commands)
	}
	c := contest{allow: w.allow, key: key, limit: opts.Limit, workers: opts.Workers, requests: opts.Requests}
	t, err := c.run(ctx)
	switch {
	case err == nil:
		return newResult(w, t, opts.Requests), nil
	case ctx.Err() != nil:
		return Result{}, interrupted(w)
	}
	return Result{}, fmt.Errorf("race: %s: %w; see that the Redis stays up, and run it again", w.title, err)
}

func interrupted(w way) error { return fmt.Errorf("%w during %q", ErrInterrupted, w.title) }

func newResult(w way, t *tally, requests int) Result {
	r := Result{
		Way:               w.id,
		Title:             w.title,
		Commands:          w.commands,
		Admitted:          t.admitted,
		Refused:           t.refused,
		Errors:            t.errors,
		OverLimit:         t.overLimit(),
		WronglyRefused:    t.wronglyRefused(),
		LatencyP50:        t.percentile(50).Microseconds(),
		LatencyP99:        t.percentile(99).Microseconds(),
		Elapsed:           t.elapsed.Microseconds(),
		RequestsPerSecond: int64(float64(requests) / t.elapsed.Seconds()),
	}
	if t.firstErr != nil {
		r.FirstError = t.firstErr.Error()
	}
	if w.retries != nil {
		r.Retries = int(w.retries.Load())
	}
	return r
}

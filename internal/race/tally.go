package race

import (
	"slices"
	"time"
)

// outcome is one request and its answer. The times are since the start of its way, on the monotonic clock.
type outcome struct {
	begin, end time.Duration
	allowed    bool
	err        error
}

// tally is what one worker saw, or all of them. It is not safe for concurrent use: each worker has its own.
type tally struct {
	limit    int
	elapsed  time.Duration // from the start to the last answer, of all of them
	admitted int
	refused  int
	errors   int
	firstErr error
	failing  int // errors in a row, up to now

	latencies []time.Duration // of the requests that were answered
	claims    []time.Duration // begins of the requests that took room, or may have
	doubtful  []time.Duration // ends of the refusals that may have been wrong
}

// add counts o. taken is how many admissions had been answered, to any worker, at some time before o ended.
func (t *tally) add(o outcome, taken int) {
	switch {
	case o.err != nil:
		t.errors++
		t.failing++
		if t.firstErr == nil {
			t.firstErr = o.err
		}
		t.claims = append(t.claims, o.begin)
		return
	case o.allowed:
		t.admitted++
		t.claims = append(t.claims, o.begin)
	default:
		t.refused++
		if taken < t.limit {
			t.doubtful = append(t.doubtful, o.end)
		}
	}
	t.failing = 0
	t.latencies = append(t.latencies, o.end-o.begin)
}

// merge adds what other saw.
func (t *tally) merge(other *tally) {
	t.admitted += other.admitted
	t.refused += other.refused
	t.errors += other.errors
	if t.firstErr == nil {
		t.firstErr = other.firstErr
	}
	t.latencies = append(t.latencies, other.latencies...)
	t.claims = append(t.claims, other.claims...)
	t.doubtful = append(t.doubtful, other.doubtful...)
}

// overLimit returns how many were admitted beyond the limit.
func (t *tally) overLimit() int { return max(0, t.admitted-t.limit) }

// wronglyRefused returns how many refusals were certainly wrong: there was room for them. A refusal is right when limit
// requests had been admitted before it was decided, and nobody is admitted before asking. So it was wrong if, when it
// had ended, fewer than limit of all those that were ever admitted had begun.
//
// This needs to know nothing of a way but when requests begin and end. It never counts a right refusal; for that a
// request that failed stands among the admitted ones, since it may have been counted in Redis. It can miss a wrong
// one, if it ended after the last of the admitted requests had begun, but was decided before that one was. When fewer
// than limit were admitted in all, every refusal was wrong.
func (t *tally) wronglyRefused() int {
	if len(t.claims) < t.limit {
		return t.refused
	}
	slices.Sort(t.claims)
	filled := t.claims[t.limit-1]
	wrong := 0
	for _, end := range t.doubtful {
		if end < filled {
			wrong++
		}
	}
	return wrong
}

// percentile returns the latency that percent of the answered requests did not exceed (nearest rank), 0 without any.
func (t *tally) percentile(percent int) time.Duration {
	n := len(t.latencies)
	if n == 0 {
		return 0
	}
	slices.Sort(t.latencies)
	return t.latencies[max(1, (n*percent+99)/100)-1]
}

package race

import "fmt"

// Verdict says how a way did.
type Verdict string

const (
	// Right is a way that made no mistake, and could not have made one.
	Right Verdict = "right"
	// Lucky is a way that made no mistake in this run, but can make them.
	Lucky Verdict = "lucky"
	// Wrong is a way that admitted too many, or refused while there was room.
	Wrong Verdict = "wrong"
)

// judge sets the verdict on w and its explanation.
func (r *Report) judge(w *Result) {
	switch {
	case w.OverLimit > 0 || w.WronglyRefused > 0:
		w.Verdict, w.Explanation = Wrong, r.fault(w)
	case w.sound():
		w.Verdict, w.Explanation = Right, r.merit(w)
	default:
		w.Verdict, w.Explanation = Lucky, r.luck(w)
	}
	if w.Errors > 0 {
		w.Explanation += fmt.Sprintf(" %s of %s requests failed, one with: %s.", thousands(w.Errors), thousands(r.Requests), w.FirstError)
	}
}

// sound reports whether no interleaving makes w decide wrongly.
func (w *Result) sound() bool { return w.Way == wayRetry || w.Way == wayScript }

func (r *Report) fault(w *Result) string {
	switch {
	case w.Way == wayUnsafe && w.OverLimit > 0 && w.WronglyRefused == 0:
		return fmt.Sprintf("%s got in where %s may: %s of the %s workers had read a count below %s, and added one after others had filled it.",
			thousands(w.Admitted), thousands(r.Limit), thousands(w.OverLimit), thousands(r.Workers), thousands(r.Limit))
	case w.Way == wayWatch && w.OverLimit == 0 && w.Admitted < min(r.Limit, r.Requests):
		return fmt.Sprintf("Only %s of %s got in, and %s refused while there was room: a race lost to another request was taken for a refusal.",
			thousands(w.Admitted), thousands(min(r.Limit, r.Requests)), count(w.WronglyRefused, "was", "were"))
	case w.Way == wayWatch && w.OverLimit == 0:
		return fmt.Sprintf("%s refused while there was room: a race lost to another request was taken for a refusal.",
			count(w.WronglyRefused, "was", "were"))
	}
	return fmt.Sprintf("%s got in where %s may, and %s refused while there was room. This way does not do that by itself: something else may write to its key.",
		thousands(w.Admitted), thousands(r.Limit), count(w.WronglyRefused, "was", "were"))
}

func (r *Report) merit(w *Result) string {
	switch {
	case w.Way == wayScript:
		return fmt.Sprintf("%s got in, with one trip for each request: Redis runs the script as a whole, so nothing comes between its read and its write.", r.exactly(w))
	case w.Retries == 0:
		return fmt.Sprintf("%s got in. No race was lost in this run; a lost one is tried again.", r.exactly(w))
	}
	return fmt.Sprintf("%s got in, at the price of %s: each admission makes those start over that had read the count before it.", r.exactly(w), count(w.Retries, "retry", "retries"))
}

func (r *Report) luck(w *Result) string {
	switch {
	case r.Workers == 1:
		return fmt.Sprintf("%s got in, since one worker has nobody to race with; use more --workers.", r.exactly(w))
	case w.Way == wayWatch && r.Limit == 1:
		return fmt.Sprintf("%s got in. With a limit of 1 a lost race means that the one place is taken; use a larger --limit.", r.exactly(w))
	case w.Way == wayUnsafe && r.Requests <= r.Limit:
		return fmt.Sprintf("%s got in, and may; ask for more --requests than --limit.", r.exactly(w))
	case w.Way == wayUnsafe:
		return fmt.Sprintf("%s got in, by chance: near the limit no worker wrote between the read and the write of another. Run it again, or with more --workers.", r.exactly(w))
	}
	return fmt.Sprintf("%s got in, by chance: no worker is seen to have lost a race while there was room. Run it again, or with more --workers.", r.exactly(w))
}

// exactly returns how many got in, for a way without a mistake.
func (r *Report) exactly(w *Result) string {
	switch {
	case w.Admitted == r.Requests:
		return fmt.Sprintf("All %s", thousands(w.Admitted))
	case w.Admitted == r.Limit:
		return fmt.Sprintf("Exactly %s", thousands(w.Admitted))
	}
	return thousands(w.Admitted)
}

// advice says which of the ways to use.
func (r *Report) advice() string {
	var script, retry *Result
	for i := range r.Ways {
		switch w := &r.Ways[i]; {
		case w.Verdict == Right && w.Way == wayScript:
			script = w
		case w.Verdict == Right && w.Way == wayRetry:
			retry = w
		}
	}
	switch {
	case script != nil && retry != nil && retry.RequestsPerSecond > 0 && script.RequestsPerSecond > retry.RequestsPerSecond:
		return fmt.Sprintf("Use the script: it is right in every run. So is WATCH with retries, but here the script made %.1f times as many requests per second.",
			float64(script.RequestsPerSecond)/float64(retry.RequestsPerSecond))
	case script != nil:
		return "Use the script: it is right in every run, and takes one trip."
	}
	return "Something other than the workers disturbed this run; use a Redis that nobody else writes to, and run it again."
}

// count writes n and the word that goes with it.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many
}

// thousands writes n with commas.
func thousands[N int | int64](n N) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

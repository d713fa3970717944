package weir

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxLimitText bounds the text that ParseLimit looks at; the longest limit that means something is shorter.
const maxLimitText = 200

// ParseLimit reads a limit:
//
//	<n>/<period> [burst <b>] [stepwise] [token-bucket|leaky-bucket|fixed-window|sliding-window|sliding-log]
//	             [calendar <zone>] [anchored] [large]
//
// The period is s, m, h, d or w (or sec, second, min, minute, hour, day, week), a number of days or weeks such as 30d, a Go duration
// such as 500ms, 15m or 90s, or month or year, which are calendar windows, of UTC unless a zone is named. The algorithm is the smooth token bucket
// unless another is named, or implied: calendar and anchored by themselves mean fixed-window. The words after the
// rate may come in any order. A burst that is left out is n.
//
// An error is a [LimitError]. The text that the limit's String returns reads back as the same limit.
func ParseLimit(text string) (Limit, error) {
	p := limitParser{text: text}
	l, err := p.parse()
	if err != nil {
		return nil, err
	}
	if _, err := SpecOf(l); err != nil {
		return nil, err
	}
	return l, nil
}

// MustParseLimit is [ParseLimit] for limits that stand in the program; it panics on an error.
func MustParseLimit(text string) Limit {
	l, err := ParseLimit(text)
	if err != nil {
		panic(err)
	}
	return l
}

// ParseLimits reads several limits, each as [ParseLimit] does.
func ParseLimits(texts ...string) ([]Limit, error) {
	limits := make([]Limit, 0, len(texts))
	for _, text := range texts {
		l, err := ParseLimit(text)
		if err != nil {
			return nil, err
		}
		limits = append(limits, l)
	}
	return limits, nil
}

// MustParseLimits is [ParseLimits] for limits that stand in the program; it panics on an error.
func MustParseLimits(texts ...string) []Limit {
	limits, err := ParseLimits(texts...)
	if err != nil {
		panic(err)
	}
	return limits
}

// limitParser holds what the words of one limit said.
type limitParser struct {
	text      string
	n         int64
	period    time.Duration
	calendar  Calendar
	burst     int64
	algorithm string
	zone      string
	seen      map[string]bool
}

func (p *limitParser) fail(field, value, problem, remedy string) error {
	text := p.text
	if len(text) > maxLimitText {
		text = text[:maxLimitText] + "..."
	}
	return &LimitError{Limit: text, Field: field, Value: strconv.Quote(value), Problem: problem, Remedy: remedy}
}

func (p *limitParser) parse() (Limit, error) {
	if len(p.text) > maxLimitText {
		return nil, p.fail("text", p.text[:16]+"...", fmt.Sprintf("is longer than %d bytes", maxLimitText), "write one limit, such as 10/s burst 20")
	}
	words := strings.Fields(p.text)
	if len(words) == 0 {
		return nil, p.fail("text", p.text, "is empty", "write a limit, such as 10/s burst 20")
	}
	if err := p.parseRate(words[0]); err != nil {
		return nil, err
	}
	p.seen = make(map[string]bool)
	for i := 1; i < len(words); i++ {
		took, err := p.parseWord(words[i], words[i+1:])
		if err != nil {
			return nil, err
		}
		i += took
	}
	return p.build()
}

func (p *limitParser) parseRate(word string) error {
	count, period, ok := strings.Cut(word, "/")
	if !ok {
		return p.fail("rate", word, "has no period", "write <n>/<period>, such as 10/s or 100/15m")
	}
	n, err := p.parseCount("rate", count)
	if err != nil {
		return err
	}
	p.n = n
	p.period, p.calendar, err = p.parsePeriod(period)
	return err
}

func (p *limitParser) parseCount(field, word string) (int64, error) {
	n, err := strconv.ParseInt(word, 10, 64)
	switch {
	case err == nil && n >= 1 && n <= MaxQuota && word[0] != '+':
		return n, nil
	case strings.ContainsAny(word, ",_'"):
		return 0, p.fail(field, word, "is not a whole number", "write it without separators, such as 1000000")
	case strings.Contains(word, "."):
		return 0, p.fail(field, word, "is not a whole number", "write a whole number, and a longer period for a fraction: 3/2s for 1.5 per second")
	}
	return 0, p.fail(field, word, fmt.Sprintf("is not a whole number from 1 to %d", int64(MaxQuota)), "write one, such as 10")
}

func (p *limitParser) parsePeriod(word string) (time.Duration, Calendar, error) {
	const day = 24 * time.Hour
	switch word {
	case "s", "sec", "second":
		return time.Second, NoCalendar, nil
	case "m", "min", "minute":
		return time.Minute, NoCalendar, nil
	case "h", "hour":
		return time.Hour, NoCalendar, nil
	case "d", "day":
		return day, NoCalendar, nil
	case "w", "week":
		return 7 * day, NoCalendar, nil
	case "month":
		return 0, Month, nil
	case "year":
		return 0, Year, nil
	}
	if word != "" && (strings.HasSuffix(word, "d") || strings.HasSuffix(word, "w")) {
		unit := day
		if word[len(word)-1] == 'w' {
			unit = 7 * day
		}
		n, err := strconv.ParseInt(word[:len(word)-1], 10, 64)
		if err == nil && n >= 0 && n <= int64(1<<63-1)/int64(unit) {
			return time.Duration(n) * unit, NoCalendar, nil
		}
	}
	d, err := time.ParseDuration(word)
	if err != nil {
		return 0, NoCalendar, p.fail("period", word, "is not known", "use s, m, h, d, w, month, year, a number of days or weeks such as 30d, or a duration such as 500ms, 90s or 15m")
	}
	return d, NoCalendar, nil
}

// parseWord reads the word and says how many of those that follow belong to it.
func (p *limitParser) parseWord(word string, rest []string) (int, error) {
	kind := word
	switch word {
	case "token-bucket", "leaky-bucket", "fixed-window", "sliding-window", "sliding-log":
		kind, p.algorithm = "algorithm", word
	case "burst", "stepwise", "calendar", "anchored", "large":
	default:
		return 0, p.fail("word", word, "is not known",
			"use burst <b>, stepwise, token-bucket, leaky-bucket, fixed-window, sliding-window, sliding-log, calendar <zone>, anchored or large")
	}
	if p.seen[kind] {
		return 0, p.fail(kind, strings.Join(append([]string{word}, rest...), " "), "comes after another "+kind, "keep one of them")
	}
	p.seen[kind] = true
	if word != "burst" && word != "calendar" {
		return 0, nil
	}
	if len(rest) == 0 {
		return 0, p.fail(word, "", "is missing", map[string]string{"burst": "write a number after it, such as burst 20", "calendar": "write a zone after it, such as calendar Europe/Berlin or calendar UTC"}[word])
	}
	if word == "calendar" {
		p.zone = rest[0]
		return 1, nil
	}
	n, err := p.parseCount("burst", rest[0])
	p.burst = n
	return 1, err
}

// limitWords says which algorithms each word goes with.
var limitWords = []struct{ word, owners string }{
	{"burst", "token-bucket or leaky-bucket"},
	{"stepwise", "token-bucket"},
	{"calendar", "fixed-window"},
	{"anchored", "fixed-window"},
	{"large", "sliding-log"},
}

func (p *limitParser) build() (Limit, error) {
	algorithm := p.algorithm
	if algorithm == "" {
		algorithm = "token-bucket"
		if p.calendar != NoCalendar || p.seen["calendar"] || p.seen["anchored"] {
			algorithm = "fixed-window"
		}
	}
	for _, w := range limitWords {
		if p.seen[w.word] && !strings.Contains(w.owners, algorithm) {
			return nil, p.fail("word", w.word, "does not go with "+algorithm, "use it with "+w.owners+" only")
		}
	}
	if p.calendar != NoCalendar && algorithm != "fixed-window" {
		return nil, p.fail("period", p.calendar.String(), "is a calendar window, which "+algorithm+" does not have",
			"use fixed-window, or a period of a fixed length such as 30d")
	}
	burst := p.n
	if p.seen["burst"] {
		burst = p.burst
	}
	switch algorithm {
	case "leaky-bucket":
		return LeakyBucket{Capacity: burst, Leak: p.n, Interval: p.period}, nil
	case "fixed-window":
		return p.buildFixed()
	case "sliding-window":
		return SlidingWindow{Limit: p.n, Window: p.period}, nil
	case "sliding-log":
		return SlidingLog{Limit: p.n, Window: p.period, Large: p.seen["large"]}, nil
	}
	return TokenBucket{Capacity: burst, Refill: p.n, Interval: p.period, Stepwise: p.seen["stepwise"]}, nil
}

func (p *limitParser) buildFixed() (Limit, error) {
	const day = 24 * time.Hour
	l := FixedWindow{Limit: p.n, Window: p.period, Calendar: p.calendar, Zone: p.zone, Anchored: p.seen["anchored"]}
	if p.seen["calendar"] && p.calendar == NoCalendar {
		switch p.period {
		case day:
			l.Calendar = Day
		case 7 * day:
			l.Calendar = Week
		default:
			return nil, p.fail("period", periodText(p.period), "is no calendar window", "use d, w, month or year with calendar")
		}
		l.Window = 0
	}
	if l.Calendar != NoCalendar && l.Zone == "" {
		l.Zone = "UTC"
	}
	return l, nil
}

// periodText writes a period as short as the grammar allows: "s" rather than "1s", "15m" rather than "15m0s".
func periodText(d time.Duration) string {
	const day = 24 * time.Hour
	switch d {
	case time.Second:
		return "s"
	case time.Minute:
		return "m"
	case time.Hour:
		return "h"
	case day:
		return "d"
	case 7 * day:
		return "w"
	}
	if d > 0 && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

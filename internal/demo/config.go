package demo

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir"
)

// config is what a visitor can set. Its JSON is the three numbers of the documented bucket.
type config struct {
	Capacity int64   `json:"capacity"`
	Refill   int64   `json:"refill_rate"`
	Interval seconds `json:"refill_interval"`
	Smooth   bool    `json:"-"`
}

func defaultConfig() config { return config{Capacity: 10, Refill: 1, Interval: seconds(time.Second)} }

func (c config) limit() weir.Limit {
	return weir.TokenBucket{Capacity: c.Capacity, Refill: c.Refill, Interval: time.Duration(c.Interval), Stepwise: !c.Smooth}
}

// refillWord returns the word for how tokens come back.
func (c config) refillWord() string {
	if c.Smooth {
		return "smooth"
	}
	return "stepwise"
}

// The form fields of POST /config.
const (
	fieldCapacity = "capacity"
	fieldRefill   = "refill_rate"
	fieldInterval = "refill_interval"
	fieldMode     = "refill"
)

var fieldNames = []string{fieldCapacity, fieldRefill, fieldInterval, fieldMode}

// edit returns c with the fields of form, which must hold at least one and each at most once.
func (c config) edit(form url.Values) (config, error) {
	if len(form) == 0 {
		return c, badInput("no field is given; send at least one of %s", strings.Join(fieldNames, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(form)) {
		switch values := form[name]; {
		case !slices.Contains(fieldNames, name):
			return c, badInput("field %s is not known; use %s", quote(name), strings.Join(fieldNames, ", "))
		case len(values) > 1:
			return c, badInput("%s is given %d times; keep one", name, len(values))
		}
	}
	for _, name := range fieldNames {
		if !form.Has(name) {
			continue
		}
		if err := c.set(name, form.Get(name)); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (c *config) set(name, text string) (err error) {
	switch name {
	case fieldCapacity:
		c.Capacity, err = parseCount(name, text)
	case fieldRefill:
		c.Refill, err = parseCount(name, text)
	case fieldInterval:
		c.Interval, err = parseSeconds(name, text)
	case fieldMode:
		if text != "stepwise" && text != "smooth" {
			return badInput("%s %s is not known; use stepwise or smooth", name, quote(text))
		}
		c.Smooth = text == "smooth"
	}
	return err
}

func parseCount(name, text string) (int64, error) {
	if whole, fraction, ok := strings.Cut(text, "."); ok && isDigits(whole) && isDigits(fraction) {
		remedy := "round it"
		if name == fieldRefill {
			remedy = "for a fraction lengthen refill_interval: 1 token per 2.0 seconds instead of 0.5 per 1.0"
		}
		return 0, badInput("%s %s is not a whole number; %s", name, quote(text), remedy)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || !isDigits(text) || n < 1 || n > weir.MaxQuota {
		return 0, badInput("%s %s is not a whole number from 1 to %d; write one, such as 10", name, quote(text), int64(weir.MaxQuota))
	}
	return n, nil
}

// seconds is a duration that stands in JSON as a decimal number of seconds, always with a point.
type seconds time.Duration

// parseSeconds reads a decimal number of seconds, exactly: no exponent, no sign, at most six decimals.
func parseSeconds(name, text string) (seconds, error) {
	const maxSeconds = int64(weir.MaxPeriod / time.Second)
	whole, fraction, hasPoint := strings.Cut(text, ".")
	if !isDigits(whole) || hasPoint && !isDigits(fraction) {
		return 0, badInput("%s %s is not a decimal number of seconds; write one from 0.001 to %d, such as 1.0 or 0.25", name, quote(text), maxSeconds)
	}
	fraction = strings.TrimRight(fraction, "0")
	if len(fraction) > 6 {
		return 0, badInput("%s %s has more than six decimals; round it, times are exact to the microsecond", name, quote(text))
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n > maxSeconds {
		return 0, badInput("%s %s is above 100 years; use at most %d", name, quote(text), maxSeconds)
	}
	micros, _ := strconv.ParseInt((fraction + "000000")[:6], 10, 64)
	d := time.Duration(n)*time.Second + time.Duration(micros)*time.Microsecond
	switch {
	case d < weir.MinPeriod:
		return 0, badInput("%s %s is below 0.001; use a longer one with a larger refill_rate", name, quote(text))
	case d > weir.MaxPeriod:
		return 0, badInput("%s %s is above 100 years; use at most %d", name, quote(text), maxSeconds)
	}
	return seconds(d), nil
}

// MarshalJSON writes s to the microsecond, rounded up: 1.0, 0.5, 2.25.
func (s seconds) MarshalJSON() ([]byte, error) {
	micros := (int64(s) + 999) / 1000
	text := fmt.Sprintf("%d.%06d", micros/1_000_000, micros%1_000_000)
	text = strings.TrimRight(text, "0")
	if strings.HasSuffix(text, ".") {
		text += "0"
	}
	return []byte(text), nil
}

// inputError is what a visitor sent that cannot be used: what is wrong and what to send instead.
type inputError string

// Error implements the error interface.
func (e inputError) Error() string { return string(e) }

func badInput(format string, args ...any) error { return inputError(fmt.Sprintf(format, args...)) }

// limitError tells in the words of the form why a limit is refused.
func limitError(err error) error {
	var l *weir.LimitError
	if !errors.As(err, &l) {
		return err
	}
	name, ok := map[string]string{"capacity": fieldCapacity, "refill": fieldRefill, "interval": fieldInterval}[l.Field]
	if !ok {
		name = l.Field
	}
	return badInput("%s %s %s; %s", name, l.Value, l.Problem, l.Remedy)
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// quote returns s in quotes for an error message, cut to what helps to recognise it.
func quote(s string) string {
	const most = 40
	if len(s) > most {
		return strconv.Quote(strings.ToValidUTF8(s[:most], "")) + "..."
	}
	return strconv.Quote(s)
}

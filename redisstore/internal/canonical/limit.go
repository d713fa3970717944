package canonical

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/weirhq/weir"
)

// The least refill, absolute and as a part of the capacity: below either, adding it to a double would lose it.
const (
	minRefill = 1e-6
	maxSteps  = 1e12
)

// Limit has the numbers of the bucket. Every service that shares it must be given the same ones: each side applies its
// own to what it finds.
type Limit struct {
	// Capacity is the most that can be taken at once, 1 to [weir.MaxQuota]. It may have a fraction. Required.
	Capacity float64
	// Refill is how many tokens come back at the end of each Interval, the refill_rate of the documentation. From
	// 0.000001 and a 10^12th of Capacity to [weir.MaxQuota]; it may have a fraction. Required.
	Refill float64
	// Interval is the time between two steps, the refill_interval of the documentation: whole microseconds from
	// [weir.MinPeriod] to [weir.MaxPeriod], within which the bucket must also be full again. Required.
	Interval time.Duration
}

// String returns the limit in the manner of [weir.TokenBucket], with decimals.
func (l Limit) String() string {
	return fmt.Sprintf("%s/%s burst %s stepwise canonical", decimal(l.Refill), l.Interval, decimal(l.Capacity))
}

// decimal is x in as few digits as say it exactly, without an exponent.
func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// validate returns a [weir.LimitError] for the first number that is out of bounds.
func (l Limit) validate() error {
	wrong := func(field, value, problem, remedy string) error {
		return &weir.LimitError{Limit: l.String(), Field: field, Value: value, Problem: problem, Remedy: remedy}
	}
	capacity, refill := decimal(l.Capacity), decimal(l.Refill)
	// The comparisons are written so that NaN fails them.
	switch {
	case !(l.Capacity >= 1):
		return wrong("capacity", capacity, "is not 1 or more", "use at least 1: requests take whole tokens")
	case l.Capacity > weir.MaxQuota:
		return wrong("capacity", capacity, fmt.Sprintf("is above %d", int64(weir.MaxQuota)), "use a smaller one")
	case !(l.Refill >= minRefill):
		return wrong("refill", refill, "is not 0.000001 or more", "use more tokens in a longer interval")
	case l.Refill > weir.MaxQuota:
		return wrong("refill", refill, fmt.Sprintf("is above %d", int64(weir.MaxQuota)), "use the capacity, which fills the bucket in one step")
	case l.Capacity/l.Refill > maxSteps:
		return wrong("refill", refill, "is less than a 10^12th of the capacity", "use more tokens in a longer interval")
	case l.Interval < weir.MinPeriod:
		return wrong("interval", l.Interval.String(), "is below "+weir.MinPeriod.String(), "use a longer one with more tokens")
	case l.Interval > weir.MaxPeriod:
		return wrong("interval", l.Interval.String(), "is above 100 years", "use a shorter one")
	case l.Interval%time.Microsecond != 0:
		return wrong("interval", l.Interval.String(), "is not a whole number of microseconds",
			"use "+l.Interval.Round(time.Microsecond).String()+" in all services")
	case math.Ceil(l.Capacity/l.Refill)*float64(l.Interval) > float64(weir.MaxPeriod):
		return wrong("capacity", capacity, "takes more than 100 years to come back", "use a smaller capacity or a faster rate")
	}
	return nil
}

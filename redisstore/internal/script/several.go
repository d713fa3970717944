package script

import (
	_ "embed"
	"strconv"

	"github.com/weirhq/weir"
)

//go:embed several.lua
var severalSource string

// short is what the short ways of the script want to know of a scope of smooth buckets alone.
type short struct {
	most   int64  // the highest cost that may go this way; 0 if none may
	format string // of a record
	limits string // the numbers of each bucket
}

func shortOf(specs []weir.Spec, head string) short {
	way := short{most: weir.MaxQuota}
	format := strconv.AppendInt([]byte("<c"), int64(len(head)), 10)
	var limits []byte
	for i := range specs {
		s := &specs[i]
		if s.Algorithm != weir.SmoothBucket {
			return short{}
		}
		mostUsed := int64(maxExact)
		if s.Refill <= maxExact/horizon {
			mostUsed = horizon * s.Refill
		}
		way.most = min(way.most, s.Quota)
		format = append(format, 'd', 'd')
		limits = appendDoubles(limits, s.Refill, s.Period, s.Quota*s.Period, mostUsed)
	}
	way.format, way.limits = string(format), string(limits)
	return way
}

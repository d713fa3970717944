package script

import (
	_ "embed"
	"encoding/binary"
	"math"
	"strconv"
)

//go:embed arithmetic.lua
var arithmeticSource string

const (
	maxExact = 1<<53 - 1
	// horizon is the longest time, in microseconds, that a state may need to become fresh, as in internal/algo.
	horizon = 100 * 365 * 24 * 3600 * 1_000_000
)

// appendLimit appends the text of a limit, such as f,10,60000000.
func appendLimit(text []byte, kind byte, numbers ...int64) []byte {
	text = append(text, kind)
	for _, n := range numbers {
		text = strconv.AppendInt(append(text, ','), n, 10)
	}
	return text
}

// appendDoubles appends numbers as the script and its records have them.
func appendDoubles(data []byte, numbers ...int64) []byte {
	for _, n := range numbers {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(float64(n)))
	}
	return data
}

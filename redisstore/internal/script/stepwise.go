package script

import (
	_ "embed"

	"github.com/weirhq/weir"
)

//go:embed stepwise.lua
var stepwiseSource string

// appendStepwise appends the text of a stepwise bucket. Its state is two numbers.
func appendStepwise(text []byte, s *weir.Spec) []byte {
	return appendLimit(text, 's', s.Quota, s.Refill, s.Period)
}

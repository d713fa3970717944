package script

import (
	_ "embed"

	"github.com/weirhq/weir"
)

//go:embed sliding.lua
var slidingSource string

// appendSliding appends the text of a sliding window. Its state is three numbers.
func appendSliding(text []byte, s *weir.Spec) []byte {
	return appendLimit(text, 'w', s.Quota, s.Period)
}

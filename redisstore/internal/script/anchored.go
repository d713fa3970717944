package script

import (
	_ "embed"

	"github.com/weirhq/weir"
)

//go:embed anchored.lua
var anchoredSource string

// appendAnchored appends the text of an anchored window. Its state is two numbers.
func appendAnchored(text []byte, s *weir.Spec) []byte {
	return appendLimit(text, 'a', s.Quota, s.Period)
}

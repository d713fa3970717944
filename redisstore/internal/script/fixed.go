package script

import (
	_ "embed"

	"github.com/weirhq/weir"
)

//go:embed fixed.lua
var fixedSource string

// appendFixed appends the text of an aligned window. Its state is two numbers.
func appendFixed(text []byte, s *weir.Spec) []byte {
	return appendLimit(text, 'f', s.Quota, s.Period)
}

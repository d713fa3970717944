package script

import (
	_ "embed"

	"github.com/weirhq/weir"
)

//go:embed bucket.lua
var bucketSource string

// appendBucket appends the text of a smooth bucket. Its state is two numbers.
func appendBucket(text []byte, s *weir.Spec) []byte {
	return appendLimit(text, 'b', s.Quota, s.Refill, s.Period)
}

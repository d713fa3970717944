package script

import (
	_ "embed"

	"github.com/weirhq/weir"
)

//go:embed log.lua
var logSource string

// appendLog appends the text of a sliding log. Its state is three numbers, and a list.
func appendLog(text []byte, s *weir.Spec) []byte {
	return appendLimit(text, 'l', s.Quota, s.Period)
}

// listKey returns the key of the list that the limit at a position has, if it is a log.
func listKey(subject string, position int) string {
	return subject + listSuffixes[position]
}

var listSuffixes = [weir.MaxLimits]string{":0", ":1", ":2", ":3", ":4", ":5", ":6", ":7"}

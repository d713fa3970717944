package script

import (
	"crypto/sha1" // Redis knows scripts by it
	_ "embed"
	"encoding/hex"
)

//go:embed prelude.lua
var preludeSource string

var (
	// Source is the script, which is the same for all requests. What not every run needs is the body of one function: see
	// prelude.lua. That body is nested, since Lua is quick to hand on to a function what its parent has from its own parent,
	// and slow to find among many locals of the parent what it uses itself.
	Source = preludeSource +
		"local function general(now, grace, out, texts)\n" + arithmeticSource +
		"return (function()\n" +
		bucketSource + stepwiseSource + fixedSource + calendarSource + anchoredSource + slidingSource + logSource + scopeSource +
		"return (function()\n" + decideSource +
		"end)() end)() end\n" +
		severalSource +
		batchSource
	// SHA is the name by which Redis knows [Source].
	SHA = hash(Source)
)

func hash(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

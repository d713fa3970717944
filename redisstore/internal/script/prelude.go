package script

import (
	"crypto/sha1" // Redis knows scripts by it
	_ "embed"
	"encoding/hex"
)

//go:embed prelude.lua
var preludeSource string

var (
	// Source is the script, which is the same for all requests. The files that not every run needs are the body of one
	// function: see prelude.lua.
	Source = preludeSource +
		"local function general(now, grace, out, texts)\n" +
		arithmeticSource +
		bucketSource + stepwiseSource + fixedSource + calendarSource + anchoredSource + slidingSource + logSource +
		decideSource +
		"end\n" +
		severalSource +
		batchSource
	// SHA is the name by which Redis knows [Source].
	SHA = hash(Source)
)

func hash(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

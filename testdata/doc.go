// Package testdata holds the golden traces, so that the suite of package storetest has them wherever it runs. Package
// storetest says how a trace is written.
package testdata

import "embed"

// Traces holds the files *.trace.
//
//go:embed *.trace
var Traces embed.FS

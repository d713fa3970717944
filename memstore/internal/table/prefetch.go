//go:build amd64 || arm64

package table

// prefetch has the processor fetch e, and does not wait for it.
//
//go:noescape
func prefetch(e *Entry)

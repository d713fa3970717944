// Package demo serves the interactive demonstration of the token bucket: a page that shows one live bucket, and the
// small API that the page and scripts use. docs/demo.md describes both.
//
// # Reading the source
//
// [Server] (who answers), api.go (what POST /test, POST /config and GET /state do), config.go (what can be set),
// tally.go (the last minute), assets.go and assets/ (the page: one ES module for each part of it, no build step).
package demo

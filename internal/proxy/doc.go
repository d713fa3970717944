// Package proxy is a reverse proxy that limits: it listens, decides, forwards and drains.
//
// What passes, passes untouched: bodies, trailers, streams and protocol upgrades, query strings as they were written.
// Only what HTTP asks a proxy to change is changed: hop-by-hop headers, and those that say who the client is.
//
// # Reading the source
//
// [Options] (what can be said), proxy.go (the path of a request), forward.go (to the upstream), forwarded.go (what
// the upstream is told of the client), body.go and recorder.go (a request's body and its response), serve.go (from the
// listener to the drain), accesslog.go and summary.go (what is told of it all).
package proxy

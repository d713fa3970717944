// Package link is a line to a server that can be slow, hang or be cut.
//
// Toxiproxy does to the bytes what a test wants. Connections are accepted, dialled and ended here, since Toxiproxy's own
// Proxy does not wait for what it has started, and leaves goroutines behind when a client goes while an answer comes.
package link

// Package script is the store's Lua script and the wire between it and Go: how a batch of requests becomes keys and
// arguments, and how the reply becomes decisions. Each algorithm is a .lua file beside the .go file that writes its
// numbers; the arithmetic's twin is the file of the same name in internal/algo.
package script

// Package poll waits for what other processes do, of which nobody tells when it is done.
package poll

// Package fields writes the header fields that tell clients of their limits.
package fields

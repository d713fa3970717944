// Package specs numbers the limits under which the entries of a shard were written.
package specs

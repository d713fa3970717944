package siphash

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Key is the secret of the hashes. Who does not know it cannot make two subjects meet.
type Key struct{ K0, K1 uint64 }

// Sum is SipHash-1-3 with 128 bits of output (Aumasson and Bernstein, 2012) over the words: the length of name, name
// padded to whole words, key padded with its length in the last byte. The first word and the number of words tell where
// name ends and how long key is, so that no two pairs of name and key give the same words.
//
// The hash is our own code because hash/maphash cannot be carried to another process, as a snapshot must be.
func (k Key) Sum(name, key string) (lo, hi uint64) {
	v0 := k.K0 ^ 0x736f6d6570736575
	v1 := k.K1 ^ 0x646f72616e646f6d ^ 0xee
	v2 := k.K0 ^ 0x6c7967656e657261
	v3 := k.K1 ^ 0x7465646279746573

	m := uint64(len(name))
	v0, v1, v2, v3 = round(v0, v1, v2, v3^m)
	v0 ^= m
	b := bytesOf(name)
	for len(b) > 0 {
		m, b = word(b)
		v0, v1, v2, v3 = round(v0, v1, v2, v3^m)
		v0 ^= m
	}
	b = bytesOf(key)
	for len(b) >= 8 {
		m, b = binary.LittleEndian.Uint64(b), b[8:]
		v0, v1, v2, v3 = round(v0, v1, v2, v3^m)
		v0 ^= m
	}
	m, _ = word(b)
	m |= uint64(len(key)) << 56
	v0, v1, v2, v3 = round(v0, v1, v2, v3^m)
	v0 ^= m

	v0, v1, v2, v3 = round(v0, v1, v2^0xee, v3)
	v0, v1, v2, v3 = round(v0, v1, v2, v3)
	v0, v1, v2, v3 = round(v0, v1, v2, v3)
	lo = v0 ^ v1 ^ v2 ^ v3
	v0, v1, v2, v3 = round(v0, v1^0xdd, v2, v3)
	v0, v1, v2, v3 = round(v0, v1, v2, v3)
	v0, v1, v2, v3 = round(v0, v1, v2, v3)
	return lo, v0 ^ v1 ^ v2 ^ v3
}

func round(v0, v1, v2, v3 uint64) (uint64, uint64, uint64, uint64) {
	v0 += v1
	v1 = bits.RotateLeft64(v1, 13) ^ v0
	v0 = bits.RotateLeft64(v0, 32)
	v2 += v3
	v3 = bits.RotateLeft64(v3, 16) ^ v2
	v0 += v3
	v3 = bits.RotateLeft64(v3, 21) ^ v0
	v2 += v1
	v1 = bits.RotateLeft64(v1, 17) ^ v2
	v2 = bits.RotateLeft64(v2, 32)
	return v0, v1, v2, v3
}

// word returns the first up to eight bytes of b as a little-endian word, padded with zeros, and the rest.
func word(b []byte) (uint64, []byte) {
	if len(b) >= 8 {
		return binary.LittleEndian.Uint64(b), b[8:]
	}
	var m uint64
	for i, c := range b {
		m |= uint64(c) << (8 * i)
	}
	return m, nil
}

// bytesOf returns the bytes of s without a copy. They are read, never written.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

package siphash

import (
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"strings"
	"testing"
)

// reference is SipHash-c-d with 128 bits of output, byte by byte as the paper describes it, but for the last byte,
// which it is given: the paper has the length of the whole message there.
func reference(k Key, c, d int, message []byte, last byte) (lo, hi uint64) {
	v := [4]uint64{k.K0 ^ 0x736f6d6570736575, k.K1 ^ 0x646f72616e646f6d ^ 0xee, k.K0 ^ 0x6c7967656e657261, k.K1 ^ 0x7465646279746573}
	rounds := func(n int) {
		for range n {
			v[0] += v[1]
			v[1] = bits.RotateLeft64(v[1], 13)
			v[1] ^= v[0]
			v[0] = bits.RotateLeft64(v[0], 32)
			v[2] += v[3]
			v[3] = bits.RotateLeft64(v[3], 16)
			v[3] ^= v[2]
			v[0] += v[3]
			v[3] = bits.RotateLeft64(v[3], 21)
			v[3] ^= v[0]
			v[2] += v[1]
			v[1] = bits.RotateLeft64(v[1], 17)
			v[1] ^= v[2]
			v[2] = bits.RotateLeft64(v[2], 32)
		}
	}
	padded := append([]byte{}, message...)
	for len(padded)%8 != 7 {
		padded = append(padded, 0)
	}
	padded = append(padded, last)
	for ; len(padded) > 0; padded = padded[8:] {
		m := binary.LittleEndian.Uint64(padded)
		v[3] ^= m
		rounds(c)
		v[0] ^= m
	}
	v[2] ^= 0xee
	rounds(d)
	lo = v[0] ^ v[1] ^ v[2] ^ v[3]
	v[1] ^= 0xdd
	rounds(d)
	return lo, v[0] ^ v[1] ^ v[2] ^ v[3]
}

var vectorKey = Key{K0: 0x0706050403020100, K1: 0x0f0e0d0c0b0a0908}

// TestReferenceVectors ties the reference to the vectors that its authors publish for SipHash-2-4-128.
func TestReferenceVectors(t *testing.T) {
	for message, want := range map[string]string{
		"":     "a3817f04ba25a8e66df67214c7550293",
		"\x00": "da87c1d86b99af44347659119b22fc45",
	} {
		lo, hi := reference(vectorKey, 2, 4, []byte(message), byte(len(message)))
		got := hex.EncodeToString(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, lo), hi))
		if got != want {
			t.Errorf("reference(2, 4, %q) = %s, want %s", message, got, want)
		}
	}
}

// TestSum compares Sum with the reference over the words that its comment promises.
func TestSum(t *testing.T) {
	text := strings.Repeat("The quick brown fox jumps over the lazy dog. ", 8)
	for name := range 20 {
		for key := range 300 {
			words := binary.LittleEndian.AppendUint64(nil, uint64(name))
			words = append(words, text[:name]...)
			for len(words)%8 != 0 {
				words = append(words, 0)
			}
			wantLo, wantHi := reference(vectorKey, 1, 3, append(words, text[:key]...), byte(key))
			if lo, hi := vectorKey.Sum(text[:name], text[:key]); lo != wantLo || hi != wantHi {
				t.Fatalf("Sum(%d bytes, %d bytes) = %x %x, want %x %x", name, key, lo, hi, wantLo, wantHi)
			}
		}
	}
}

package topology

import "strings"

// Slots is the number of slots of a cluster.
const Slots = 16384

// KeySlot is the slot of a key: by what is between the first brace and the next closing one if that is anything, else
// by all of it.
func KeySlot(key string) int {
	if _, after, ok := strings.Cut(key, "{"); ok {
		if tag, _, ok := strings.Cut(after, "}"); ok && tag != "" {
			key = tag
		}
	}
	return int(crc16(key) % Slots)
}

// crc16 is the checksum CRC-16/XMODEM, bit by bit: polynomial 0x1021, start 0, nothing reflected.
func crc16(text string) uint16 {
	var sum uint16
	for _, b := range []byte(text) {
		sum ^= uint16(b) << 8
		for range 8 {
			carry := sum >> 15
			sum = sum<<1 ^ carry*0x1021
		}
	}
	return sum
}

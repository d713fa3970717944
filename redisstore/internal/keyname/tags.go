package keyname

import "strings"

// tagTexts are the hash tags: numbers whose slots, CRC16 mod 16384, are spread evenly, one in the middle of each 128
// slots, so that masters with equal shares of the slots get equal shares of the subjects.
var tagTexts = [Tags]string{
	"108", "639", "100", "104", "267", "263", "346", "342", "131", "135", "139", "608", "3", "7", "256", "252",
	"69", "205", "61", "65", "772", "776", "166", "162", "50", "54", "58", "234", "157", "153", "743", "747",
	"15", "11", "275", "19", "112", "116", "706", "702", "244", "28", "24", "20", "737", "733", "123", "127",
	"174", "170", "649", "178", "73", "77", "213", "217", "678", "149", "145", "141", "222", "226", "42", "46",
	"16", "12", "276", "272", "111", "115", "119", "628", "247", "243", "27", "23", "128", "619", "120", "124",
	"177", "173", "763", "767", "70", "74", "78", "214", "752", "756", "146", "142", "49", "225", "41", "45",
	"717", "713", "103", "107", "264", "260", "345", "268", "132", "136", "726", "722", "0", "4", "8", "39",
	"202", "206", "62", "66", "658", "169", "165", "161", "53", "57", "233", "237", "154", "150", "669", "158",
}

// Slots is the number of a cluster's slots.
const Slots = 16384

// Slot returns a key's slot: the CRC16 (XMODEM) of what is between its first brace and the next closing one, if that is
// anything, else of all of it, mod [Slots].
func Slot(key string) int {
	if _, rest, ok := strings.Cut(key, "{"); ok {
		if tag, _, ok := strings.Cut(rest, "}"); ok && tag != "" {
			key = tag
		}
	}
	crc := uint16(0)
	for i := range len(key) {
		crc ^= uint16(key[i]) << 8
		for range 8 {
			carry := crc & 0x8000
			crc <<= 1
			if carry != 0 {
				crc ^= 0x1021
			}
		}
	}
	return int(crc) % Slots
}

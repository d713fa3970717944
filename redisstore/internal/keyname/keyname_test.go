package keyname

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/redistest"
)

// TestTagsAreSpread: the tags' slots lie one in each part of the slots, so that every master has its share.
func TestTagsAreSpread(t *testing.T) {
	const part = redistest.Slots / Tags
	for i, text := range tagTexts {
		if slot := redistest.KeySlot("{" + text + "}"); slot/part != i {
			t.Errorf("tag %d, %q, has slot %d, which is in part %d", i, text, slot, slot/part)
		}
	}
}

func TestSlot(t *testing.T) {
	for _, key := range []string{"", "123456789", "a", "user:{42}:x", "{}x", "{a", "a}b{c}", "{{a}}", "}{", "\xff\x00{\x00}"} {
		if got, want := Slot(key), redistest.KeySlot(key); got != want {
			t.Errorf("Slot(%q) = %d, want %d", key, got, want)
		}
	}
	if got := Slot("123456789"); got != 0x31c3 {
		t.Errorf("Slot of the check value of CRC16 = %#x, want 0x31c3", got)
	}
}

// TestTagsAreUsed: keys as people make them spread over all tags, evenly enough.
func TestTagsAreUsed(t *testing.T) {
	const keys, most = 128_000, 1200
	for _, format := range []string{"user:%d", "%d", "ip:10.0.0.%d", "%08x", "tenant-%d:GET /v1/items"} {
		var count [Tags]int
		for i := range keys {
			count[TagOf("api", fmt.Sprintf(format, i))]++
		}
		for tag, n := range count {
			if n < keys/Tags*8/10 || n > most {
				t.Errorf("%s: tag %d has %d of %d keys", format, tag, n, keys)
			}
		}
	}
}

// TestNames: no two subjects share a name, none is the beginning of another, as those of lists are of theirs, and the
// tag is the first thing in braces.
func TestNames(t *testing.T) {
	parts := []string{"a", "b", "ab", "a:", ":a", "1", "1.1:a", "{a}", "{", "}", "}{a", "\x00", "a:1", "0", "", strings.Repeat("x", 128), strings.Repeat("x", 129)}
	for _, hashed := range []bool{false, true} {
		n := Namer{Prefix: "weir:", Hashed: hashed}
		seen := make(map[string]string)
		for _, name := range parts {
			for _, key := range parts[:len(parts)-1] {
				subject := fmt.Sprintf("%.10q %.10q", name, key)
				got, tag := n.Name(name, key)
				if other, ok := seen[got]; ok {
					t.Errorf("%s and %s have the same name %q", subject, other, got)
				}
				seen[got] = subject
				if want := "weir:{" + tagTexts[tag] + "}"; !strings.HasPrefix(got, want) {
					t.Errorf("%s: name %q does not begin with %q", subject, got, want)
				}
				if redistest.KeySlot(got) != redistest.KeySlot("{"+tagTexts[tag]+"}") {
					t.Errorf("%s: name %q does not have the slot of its tag", subject, got)
				}
			}
		}
		for a := range seen {
			for b := range seen {
				if a != b && strings.HasPrefix(a, b) {
					t.Errorf("%q begins with %q, the name of another", a, b)
				}
			}
		}
	}
}

// TestNamesAreStable: what is in Redis must be found again by the next version, and by other languages.
func TestNamesAreStable(t *testing.T) {
	long := strings.Repeat("k", 300)
	for _, c := range []struct {
		n                Namer
		name, key, wants string
	}{
		{Namer{Prefix: "weir:"}, "api", "user:42", stableName},
		{Namer{Prefix: "weir:"}, "", long, stableLong},
		{Namer{Prefix: "p:", Hashed: true}, "api", "user:42", stableHashed},
		{Namer{Prefix: "p:", Hashed: true, Secret: []byte("s")}, "api", "user:42", stableSecret},
	} {
		if got, _ := c.n.Name(c.name, c.key); got != c.wants {
			t.Errorf("name of %q %.20q: got %q, want %q", c.name, c.key, got, c.wants)
		}
	}
}

// The names that another program computed from the description of this package.
const (
	stableName   = "weir:{267}3.7:apiuser:42"
	stableLong   = "weir:{726}#cJ7qBQuoByIZRIibzsbLi-A6jg1HzWJaUWU2l2EOEiI"
	stableHashed = "p:{267}#JKYzGSVEsU9rRycAXFYqX5NKNOyAebDRnkYEjX810tc"
	stableSecret = "p:{267}#ZhiIQx7amYYq3vYcLbGmBYZyc_cAHzjaoEhL8gbDoFY"
)

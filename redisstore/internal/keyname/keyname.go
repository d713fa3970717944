package keyname

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash"
	"strconv"
)

// longKey is from how many bytes of name and key on they are hashed.
const longKey = 256

// Tags is the number of hash tags, and so of the slots of a cluster that hold keys. All processes that share state
// must have the same.
const Tags = 128

// Namer makes the names. It is immutable and safe for concurrent use.
type Namer struct {
	// Prefix begins all names. Without braces.
	Prefix string
	// Hashed replaces name and key always, not only when they are long.
	Hashed bool
	// Secret makes the hash an HMAC.
	Secret []byte
}

// Name returns the name of a subject, any name and key, and the number of its tag.
func (n *Namer) Name(name, key string) (string, int) {
	tag := TagOf(name, key)
	head := n.Head(tag)
	if n.Hashed || len(name)+len(key) > longKey {
		return head + "#" + n.digest(name, key), tag
	}
	return head + strconv.Itoa(len(name)) + "." + strconv.Itoa(len(key)) + ":" + name + key, tag
}

// Head returns what the names of all subjects with this tag begin with. It is itself nobody's name.
func (n *Namer) Head(tag int) string { return n.Prefix + "{" + tagTexts[tag] + "}" }

// digest returns 256 bits in place of name and key.
func (n *Namer) digest(name, key string) string {
	var h hash.Hash
	if len(n.Secret) > 0 {
		h = hmac.New(sha256.New, n.Secret)
	} else {
		h = sha256.New()
	}
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(len(name)))
	h.Write(length[:])
	h.Write([]byte(name))
	h.Write([]byte(key))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// TagOf spreads subjects over the tags: FNV-1a over name, a zero byte and key, then the finalizer of MurmurHash3,
// because FNV alone leaves the last bytes out of the upper bits.
func TagOf(name, key string) int {
	const prime = 0x100000001b3
	h := uint64(0xcbf29ce484222325)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * prime
	}
	h *= prime
	for i := range len(key) {
		h = (h ^ uint64(key[i])) * prime
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	return int(h % Tags)
}

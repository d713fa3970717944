package httplimit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/weirhq/weir/httplimit/internal/clientaddr"
)

// Key says whom a request is counted for. It is an opaque value, made by one of the constructors and safe for
// concurrent use; the zero value is none, which [New] refuses.
//
// Every key starts with its kind ("ip:", "user:"), so that no two kinds meet. A value from outside of more than 256
// bytes is replaced by its SHA-256, never cut: two values do not become one, and nobody stores megabytes.
type Key struct {
	kind     string
	make     func(*http.Request) (string, error)
	findings findings
	peerOnly bool // holds a ClientIP that reads no header
}

func (k *Key) of(r *http.Request) (string, error) {
	s, err := k.make(r)
	if err == nil && s == "" {
		err = ErrMissingKey
	}
	return s, err
}

// maxValue is how many bytes of a value from outside a key holds as they are.
const maxValue = 256

// value returns kind:detail:value, or kind#sha256:detail:hash for long values. No kind holds a #: no short value can
// look like a long one.
func value(kind, detail, v string) string {
	if len(v) <= maxValue {
		return kind + ":" + detail + v
	}
	sum := sha256.Sum256([]byte(v))
	return kind + "#sha256:" + detail + hex.EncodeToString(sum[:])
}

// badKey returns a key that New refuses.
func badKey(kind, problem, remedy string) Key {
	k := Key{kind: kind}
	k.findings.add(CodeBadKey, "", problem, remedy)
	return k
}

// Header counts by the value of a request header, such as an API key: "header:x-api-key:value". A request without it,
// or with several lines of it, has no key: which line counts is no question to leave to the sender. The value is
// the store's key as it is; for secrets use a [KeyFunc] that hashes.
//
// Whoever can send any value gets a fresh quota with each: check the value before this middleware.
func Header(name string) Key {
	if !clientaddr.IsToken(name) {
		return badKey("header", fmt.Sprintf("reads a header named %q", name), "use a header's name, such as X-API-Key")
	}
	canonical, detail := http.CanonicalHeaderKey(name), strings.ToLower(name)+":"
	absent := fmt.Errorf("%w: header %s is absent or empty", ErrMissingKey, canonical)
	repeated := fmt.Errorf("%w: header %s is there more than once", ErrMissingKey, canonical)
	return Key{kind: "header", make: func(r *http.Request) (string, error) {
		v := r.Header.Get(canonical)
		if canonical == "Host" {
			v = r.Host // where net/http moves it
		}
		switch {
		case len(r.Header[canonical]) > 1:
			return "", repeated
		case v == "":
			return "", absent
		}
		return value("header", detail, v), nil
	}}
}

// Cookie counts by the value of a cookie: "cookie:name:value". Of several with the name the first counts, as for
// [http.Request.Cookie]. What [Header] says of invented values is true of cookies too.
func Cookie(name string) Key {
	if !clientaddr.IsToken(name) {
		return badKey("cookie", fmt.Sprintf("reads a cookie named %q", name), "use a cookie's name, such as session")
	}
	absent := fmt.Errorf("%w: cookie %s is absent or empty", ErrMissingKey, name)
	return Key{kind: "cookie", make: func(r *http.Request) (string, error) {
		c, err := r.Cookie(name)
		if err != nil || c.Value == "" {
			return "", absent
		}
		return value("cookie", name+":", c.Value), nil
	}}
}

// Path counts by the pattern, of [http.ServeMux], that the request matches: "path:/users/{id}" for /users/1 and
// /users/2 alike, so that clients cannot invent keys. All requests that match none are counted together, as "path:".
func Path(patterns ...string) Key {
	if len(patterns) == 0 {
		return badKey("path", "has no patterns", `list those of your routes, such as "/users/{id}" and "/"`)
	}
	mux, keys := http.NewServeMux(), make(map[string]string, len(patterns))
	for _, p := range patterns {
		if err := register(mux, p); err != nil {
			return badKey("path", fmt.Sprintf("has the pattern %q: %v", p, err), "write patterns as for http.ServeMux, each once")
		}
		keys[p] = "path:" + p
	}
	return Key{kind: "path", make: func(r *http.Request) (string, error) {
		_, pattern := mux.Handler(r)
		if key, ok := keys[pattern]; ok {
			return key, nil
		}
		return "path:", nil
	}}
}

// register adds a pattern to mux, which panics where it does not like it.
func register(mux *http.ServeMux, pattern string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	mux.Handle(pattern, http.NotFoundHandler())
	return nil
}

// User counts by who is authenticated: "user:id". fn reads it from the request's context, where the authentication
// that runs before this middleware has put it; false or an empty id is nobody, and a request without a key.
func User(fn func(context.Context) (id string, ok bool)) Key {
	if fn == nil {
		return badKey("user", "has a nil function", "give one that reads the user from the context")
	}
	nobody := fmt.Errorf("%w: nobody is authenticated", ErrMissingKey)
	return Key{kind: "user", make: func(r *http.Request) (string, error) {
		id, ok := fn(r.Context())
		if !ok || id == "" {
			return "", nobody
		}
		return value("user", "", id), nil
	}}
}

// Global counts everybody together: "global".
func Global() Key {
	return Key{kind: "global", make: func(*http.Request) (string, error) { return "global", nil }}
}

// ownKinds are the kinds that a KeyFunc cannot take as its name.
var ownKinds = []string{"cookie", "first", "global", "header", "ip", "join", "missing", "path", "user"}

// KeyFunc counts by what fn returns: "name:value". The name is a lower-case letter and then at most 31 of a-z, 0-9, _
// and -, and none of the kinds of this package. An error or an empty value is a request without a key.
func KeyFunc(name string, fn func(*http.Request) (string, error)) Key {
	switch {
	case !validName(name, 32, "_-") || slices.Contains(ownKinds, name):
		return badKey("func", fmt.Sprintf("has the name %q", name), "use lower-case letters, digits, _ and -, and none of "+strings.Join(ownKinds, ", "))
	case fn == nil:
		return badKey(name, "has a nil function", "give one that returns whom the request is counted for")
	}
	return Key{kind: name, make: func(r *http.Request) (string, error) {
		v, err := fn(r)
		switch {
		case err != nil:
			return "", fmt.Errorf("%w: %s: %w", ErrMissingKey, name, err)
		case v == "":
			return "", fmt.Errorf("%w: %s is empty", ErrMissingKey, name)
		}
		return value(name, "", v), nil
	}}
}

// Join counts by all of keys together, such as Join(Path("/login"), ClientIP(o)) for each client at each path. Every
// part is written with its length, "join:" and then "11:path:/login," for each, so that no two lists are the same
// key, whatever bytes they hold. A request that lacks one part has no key.
func Join(keys ...Key) Key {
	k, ok := combine("join", keys)
	if !ok {
		return k
	}
	keys = slices.Clone(keys)
	k.make = func(r *http.Request) (string, error) {
		b := make([]byte, 0, 96)
		b = append(b, "join:"...)
		for i := range keys {
			part, err := keys[i].of(r)
			if err != nil {
				return "", err
			}
			b = strconv.AppendInt(b, int64(len(part)), 10)
			b = append(append(append(b, ':'), part...), ',')
		}
		return string(b), nil
	}
	return k
}

// First counts by the first of keys that the request has, such as First(User(fn), ClientIP(o)): users by their
// name, everybody else by address. A request that has none has no key.
func First(keys ...Key) Key {
	k, ok := combine("first", keys)
	if !ok {
		return k
	}
	keys = slices.Clone(keys)
	k.make = func(r *http.Request) (s string, err error) {
		for i := range keys {
			if s, err = keys[i].of(r); err == nil {
				return s, nil
			}
		}
		return "", err
	}
	return k
}

// combine returns a key with the findings of its parts, and whether all of them can be used.
func combine(kind string, keys []Key) (Key, bool) {
	if len(keys) == 0 {
		return badKey(kind, "combines no keys", "give at least one"), false
	}
	k, ok := Key{kind: kind}, true
	for i := range keys {
		k.peerOnly = k.peerOnly || keys[i].peerOnly
		field := fmt.Sprintf("%s[%d]", kind, i)
		k.kind += "," + keys[i].kind
		k.findings = append(k.findings, keys[i].findings.under(field)...)
		if keys[i].make == nil {
			ok = false
			if len(keys[i].findings) == 0 {
				k.findings.add(CodeNoKey, field, "is not set", "use one of the constructors of httplimit.Key")
			}
		}
	}
	return k, ok
}

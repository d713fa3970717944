package trip

import (
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// fault is what an answer of Redis, or its absence, means for the requests that it concerns.
type fault uint8

const (
	faultOutage    fault = iota // it cannot decide now
	faultReadOnly               // a replica was asked: look for the master, ask once more
	faultTryAgain               // a slot is on its way between nodes: ask once more, each key alone
	faultNoScript               // it does not know the script: send the text
	faultConfig                 // waiting does not help
	faultWrongType              // the key holds another type
	faultMoved                  // another node of a cluster has the key, and the client did not follow, or in vain
)

// faults tells what the code means with which Redis begins an error.
var faults = map[string]fault{
	"NOSCRIPT":   faultNoScript,
	"READONLY":   faultReadOnly,
	"MASTERDOWN": faultReadOnly,
	"TRYAGAIN":   faultTryAgain,
	"MOVED":      faultMoved,
	"ASK":        faultMoved,
	"NOAUTH":     faultConfig,
	"WRONGPASS":  faultConfig,
	"NOPERM":     faultConfig,
	"CROSSSLOT":  faultConfig,
	"ERR":        faultConfig,
	"DENIED":     faultConfig,
	"NOPROTO":    faultConfig,
	"EXECABORT":  faultConfig,
	"UNBLOCKED":  faultConfig,
	"WRONGTYPE":  faultWrongType,
}

// remedies are what helps against what waiting does not, by what its text contains. The first that fits is meant.
var remedies = []struct{ text, remedy string }{
	{"NOAUTH", "give a user and a password"},
	{"WRONGPASS", "check the user and the password"},
	{"NOPERM", permission},
	{"can't run this command", permission},
	{"MOVED", "this is a node of a cluster: use redis-cluster://, or a cluster client"},
	{"CROSSSLOT", "this is a cluster: use redis-cluster://, a cluster client, or Options.PerSlot behind a proxy"},
	{"unknown command 'SENTINEL'", "this is no sentinel: use redis:// for a server"},
	{"DB index is out of range", "name a database that the server has, such as 0"},
	{"unknown authority", "name the authority's certificate with tls_ca"},
	{"certificate is valid for", "name one of these with tls_server_name, if it is the right server"},
	{"certificate required", "give the client's certificate with tls_cert and tls_key"},
	{"first record does not look like a TLS handshake", "the server speaks no TLS: use redis://"},
}

const permission = "allow the user the commands and keys that docs/redis.md lists"

// faultOfError classifies an error of a runner.
func faultOfError(err error) fault {
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, plain := errors.AsType[tls.RecordHeaderError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	if untrusted || plain || alert {
		return faultConfig
	}
	return faultOf(err.Error())
}

// faultOf classifies the text of an error that Redis sent, or that of a client.
func faultOf(text string) fault {
	code, rest, _ := strings.Cut(text, " ")
	f, known := faults[code]
	switch {
	case !known:
		return faultOutage
	case code == "ERR" && !isLasting(rest):
		return faultOutage
	}
	return f
}

// lasting are what the errors without a code of their own contain that waiting does not help against. The others, which
// proxies have many of, may pass.
var lasting = []string{
	"unknown command", "Unknown Redis command", "can't run this command", "wrong number of arguments", "syntax error",
	"Error compiling script", "Error running script", "user_script", "non local key", "DB index is out of range",
	"cluster support disabled", "not part of a cluster", "do not know a master", "No such master", "AUTH", "password",
}

func isLasting(text string) bool {
	contains := func(part string) bool { return strings.Contains(text, part) }
	return slices.ContainsFunc(lasting, contains) && !contains("not enough memory")
}

// errorOf makes what callers get of the text of an error about key, which is empty if it is about all.
func errorOf(f fault, text, key string) error {
	switch f {
	case faultConfig:
		for _, r := range remedies {
			if strings.Contains(text, r.text) {
				return fmt.Errorf("%w: %s; %s", ErrMisconfigured, strings.TrimRight(text, ". "), r.remedy)
			}
		}
		return fmt.Errorf("%w: %s", ErrMisconfigured, text)
	case faultWrongType:
		return errForeign(key)
	}
	return fmt.Errorf("%w: %s", ErrOutage, text)
}

// errForeign names the key, which is no secret: whoever reads it has the caller's key, and Redis.
func errForeign(key string) error {
	return fmt.Errorf("%w: key %q; delete the key, or give the store a Prefix of its own", ErrForeignValue, key)
}

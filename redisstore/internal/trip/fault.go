package trip

import (
	"crypto/tls"
	"errors"
	"fmt"
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

// remedies are what helps against some of them.
var remedies = map[string]string{
	"NOAUTH":    "give a user and a password",
	"WRONGPASS": "check the user and the password",
	"NOPERM":    "allow the user eval, evalsha, the commands of the script and the keys of the prefix; see docs/redis.md",
	"MOVED":     "this is a node of a cluster: use redis-cluster://, or a cluster client",
	"CROSSSLOT": "this is a cluster: use redis-cluster://, a cluster client, or Options.PerSlot behind a proxy",
}

// faultOfError classifies an error of a runner.
func faultOfError(err error) fault {
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, plain := errors.AsType[tls.RecordHeaderError](err)
	if untrusted || plain {
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
	case code == "ERR" && isPassing(rest):
		return faultOutage
	}
	return f
}

// isPassing picks out the conditions that pass by themselves of the errors without a code of their own.
func isPassing(text string) bool {
	return strings.Contains(text, "max number of clients") || strings.Contains(text, "Error compiling script") && strings.Contains(text, "memory")
}

// errorOf makes what callers get of the text of an error.
func errorOf(f fault, text string) error {
	code, _, _ := strings.Cut(text, " ")
	switch f {
	case faultConfig:
		if remedy, ok := remedies[code]; ok {
			return fmt.Errorf("%w: %s; %s", ErrMisconfigured, text, remedy)
		}
		return fmt.Errorf("%w: %s", ErrMisconfigured, text)
	case faultWrongType:
		return fmt.Errorf("%w: %s; delete the key, or give the store a Prefix of its own", ErrForeignValue, text)
	}
	return fmt.Errorf("%w: %s", ErrOutage, text)
}

// errForeign names the key, which is no secret: whoever reads it has the caller's key, and Redis.
func errForeign(key string) error {
	return fmt.Errorf("%w: key %q; delete the key, or give the store a Prefix of its own", ErrForeignValue, key)
}

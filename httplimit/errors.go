package httplimit

import (
	"errors"
	"fmt"
)

// ErrMissingKey is wrapped by the Err of an [Outcome] whose request has nothing to make the key of: the header is
// absent, nobody is authenticated, the client's address cannot be told.
var ErrMissingKey = errors.New("httplimit: no key")

// ErrNoCost is wrapped by the Err of an [Outcome] whose cost function failed or returned what is no cost.
var ErrNoCost = errors.New("httplimit: no cost")

// ErrConfig is wrapped by every [ConfigError].
var ErrConfig = errors.New("httplimit: invalid options")

// Code names a kind of misconfiguration. Codes are stable: they never change their meaning. docs/http.md explains each.
type Code string

// The codes of what [New] refuses.
const (
	CodeNoPolicies    Code = "WH001" // there is no policy
	CodeNoLimiter     Code = "WH002" // a policy has no limiter
	CodeNoKey         Code = "WH003" // a policy has no key
	CodeBadName       Code = "WH004" // a policy's name cannot stand in a header
	CodeDuplicateName Code = "WH005" // two policies, or their limits, have the same name in headers
	CodeCostAboveMax  Code = "WH006" // a fixed cost is above a limit, so that every request would be refused
	CodeBadCost       Code = "WH007" // a fixed cost is negative or a cost function nil
	CodeBadHeaders    Code = "WH008" // the chosen headers contradict each other
	CodeBadChoice     Code = "WH009" // Missing or OnFailure has no known value
	CodeBadKey        Code = "WH010" // a key's constructor got an argument that it cannot work with
	CodeTrustsAll     Code = "WH020" // every address is a trusted proxy, so that clients choose their own key
	CodeNoTrust       Code = "WH021" // a header is believed from everybody
	CodeNoHeader      Code = "WH022" // proxies are trusted but no header is read
	CodeTwoTrusts     Code = "WH023" // both TrustedProxies and TrustedHops are set
	CodeBadHops       Code = "WH024" // TrustedHops is out of range
	CodeBadPrefix     Code = "WH025" // IPv4Prefix or IPv6Prefix is out of range
	CodeBadProxy      Code = "WH026" // a trusted prefix is not valid
)

// The codes of what [New] warns of.
const (
	CodeWideTrust   Code = "WH101" // a trusted prefix is very wide
	CodeSharedState Code = "WH102" // two policies may count in the same place
	CodeAllShadow   Code = "WH103" // no policy can refuse
	CodeFreeCost    Code = "WH104" // a fixed cost of 0 never uses anything up
	CodeProxySeen   Code = "WH105" // requests come through a proxy but no header is read; warned of when one does
)

// ConfigError says which option is refused, or warned of, why, and what to do instead. It wraps [ErrConfig].
type ConfigError struct {
	Code    Code
	Field   string // the option, such as "Policies[0].Key.TrustedProxies"
	Problem string // what is wrong with it
	Remedy  string // what to write instead
}

// Error implements the error interface.
func (e *ConfigError) Error() string {
	return fmt.Sprintf("httplimit: %s: %s %s; %s", e.Code, e.Field, e.Problem, e.Remedy)
}

// Unwrap returns [ErrConfig].
func (e *ConfigError) Unwrap() error { return ErrConfig }

// warning says that e does not keep the middleware from being built.
func (e *ConfigError) warning() bool { return e.Code >= CodeWideTrust }

// findings collects what is wrong with a value, and where in it.
type findings []*ConfigError

func (f *findings) add(code Code, field, problem, remedy string) {
	*f = append(*f, &ConfigError{Code: code, Field: field, Problem: problem, Remedy: remedy})
}

// under returns f as it looks from the value that holds this one in its field.
func (f findings) under(field string) findings {
	moved := make(findings, len(f))
	for i, e := range f {
		c := *e
		if c.Field != "" {
			c.Field = "." + c.Field
		}
		c.Field = field + c.Field
		moved[i] = &c
	}
	return moved
}

// err joins those that are not warnings.
func (f findings) err() error {
	var errs []error
	for _, e := range f {
		if !e.warning() {
			errs = append(errs, e)
		}
	}
	return errors.Join(errs...)
}

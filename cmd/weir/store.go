package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/weirhq/weir/redisstore"
)

// defaultStore is where redis-server listens when nothing is configured.
const defaultStore = "redis://localhost:6379/0"

// storeVariable is the environment variable that stands in for --store. Empty it counts as unset.
const storeVariable = "WEIR_STORE"

// storeURL returns the URL of the Redis, and what named it: the flag, the environment or neither.
func storeURL(flag *string) (url, from string) {
	switch url := os.Getenv(storeVariable); {
	case flag != nil:
		return *flag, "--store"
	case url != "":
		return url, storeVariable
	}
	return defaultStore, "--store"
}

// howToStart helps who has no Redis running.
const howToStart = "start one with `redis-server` (apt-get install redis-server, brew install redis) or `docker run -p 6379:6379 redis`, or name another with --store"

// newStore makes a store over the Redis at url, which from names. It does not connect yet.
func newStore(url, from string, opts redisstore.Options) (*redisstore.Store, error) {
	store, err := redisstore.Open(url, opts)
	if err == nil {
		return store, nil
	}
	text := strings.TrimPrefix(err.Error(), redisstore.ErrInvalidOptions.Error()+": ")
	if option, problem, _ := strings.Cut(text, " "); option == "Prefix" || option == "Processes" {
		return nil, usageError{fmt.Errorf("--%s %s", strings.ToLower(option), problem)}
	}
	return nil, usageError{fmt.Errorf("%s: %s", from, text)}
}

// openStore is newStore for those who want to know at once whether it answers within opts.Timeout. Decisions without it
// are errors.
func openStore(ctx context.Context, url, from string, opts redisstore.Options) (*redisstore.Store, error) {
	opts.Outage = redisstore.OutageError
	store, err := newStore(url, from, opts)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	if err := store.Check(ctx); err != nil {
		store.Close()
		return nil, checkError(from, err)
	}
	return store, nil
}

// checkError says what to do about a store that does not answer, or not as it should.
func checkError(from string, err error) error {
	switch {
	case strings.Contains(err.Error(), "connection refused"):
		return fmt.Errorf("%s: %w; %s", from, err, howToStart)
	case errors.Is(err, redisstore.ErrOutage):
		return fmt.Errorf("%s: %w; see that it names a Redis that runs and can be reached, with rediss:// if it speaks TLS", from, err)
	}
	return fmt.Errorf("%s: %w", from, err)
}

// hosts returns where the Redis at url is: hosts with their ports, or a socket, and neither name nor password.
func hosts(url string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	rest, _, _ = strings.Cut(rest, "?")
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	if strings.EqualFold(scheme, "unix") {
		return rest
	}
	rest, _, _ = strings.Cut(rest, "/")
	if _, _, err := net.SplitHostPort(rest); err == nil || strings.Contains(scheme, "-") {
		return rest
	}
	return net.JoinHostPort(strings.Trim(rest, "[]"), "6379")
}

package race

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	dialTimeout   = 3 * time.Second
	helloTimeout  = 4 * time.Second // for the first connection, until Redis has answered
	forgetTimeout = 3 * time.Second
)

// open returns a client with as many connections as there are workers, none of them opened yet, and the URL of its
// Redis without the password.
func open(store string, workers int) (*redis.Client, string, error) {
	const remedy = "give a URL such as redis://localhost:6379/0"
	u, err := url.Parse(store)
	if err != nil {
		// The text of err holds the URL, and with it a password.
		return nil, "", &OptionError{"Store", "is no URL", remedy}
	}
	opts, err := redis.ParseURL(store)
	if err != nil {
		return nil, "", &OptionError{"Store", fmt.Sprintf("is %q, which does not do: %s", u.Redacted(), strings.TrimPrefix(err.Error(), "redis: ")), remedy}
	}
	opts.PoolSize, opts.MaxActiveConns, opts.MinIdleConns, opts.MaxIdleConns = workers, workers, 0, 0
	opts.PipelinePoolSize = -1 // transactions go through the same connections
	opts.MaxRetries = -1       // a command sent again could count twice
	opts.DialerRetries = 1
	opts.DialTimeout = dialTimeout
	opts.ContextTimeoutEnabled = true
	opts.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	logging.Disable() // what it logs, its calls return too
	return redis.NewClient(opts), u.Redacted(), nil
}

// connect opens the connections, so that no worker does it during the race.
func connect(ctx context.Context, client *redis.Client, name string, workers int) error {
	if err := hello(ctx, client); err != nil {
		return connectError(ctx, err, name)
	}
	conns, errs := make([]*redis.Conn, workers), make([]error, workers)
	var pinged sync.WaitGroup
	for i := range conns {
		conns[i] = client.Conn() // held until all are open: otherwise two workers may get the same
		pinged.Go(func() { errs[i] = unlessForbidden(conns[i].Ping(ctx).Err()) })
	}
	pinged.Wait()
	for _, conn := range conns {
		conn.Close()
	}
	failed := slices.IndexFunc(errs, func(err error) bool { return err != nil })
	switch {
	case failed < 0:
		return nil
	case ctx.Err() != nil:
		return ErrInterrupted
	}
	// Redis closes connections that are too many, often before it is heard to say why.
	return fmt.Errorf("race: the Redis at %s does not take %d connections: %w; use fewer --workers, or raise its maxclients", name, workers, errs[failed])
}

// hello makes sure that Redis answers, soon.
func hello(ctx context.Context, client *redis.Client) error {
	ctx, cancel := context.WithTimeout(ctx, helloTimeout)
	defer cancel()
	return unlessForbidden(client.Ping(ctx).Err())
}

// unlessForbidden returns the error of a PING. That it is not permitted is a sign of life too.
func unlessForbidden(err error) error {
	if redis.HasErrorPrefix(err, "NOPERM") {
		return nil
	}
	return err
}

// connectError says what to do about a Redis that does not answer, or not as it should.
func connectError(ctx context.Context, err error, name string) error {
	var answer redis.Error
	switch {
	case ctx.Err() != nil:
		return ErrInterrupted
	case !errors.As(err, &answer) && !strings.Contains(err.Error(), "connection refused"):
		return fmt.Errorf("race: no Redis answers at %s: %w; see that one runs there and can be reached, or name another with --store", name, err)
	case !errors.As(err, &answer):
		return fmt.Errorf("race: no Redis answers at %s: %w; start one with `redis-server --port %s` (to install it: apt-get install redis-server), or with `docker run -p %s:6379 redis`, or name another with --store", name, err, portOf(name), portOf(name))
	}
	remedy := "name another with --store"
	if redis.HasErrorPrefix(err, "NOAUTH") || redis.HasErrorPrefix(err, "WRONGPASS") {
		remedy = "name and password go into --store, such as redis://NAME:PASSWORD@localhost:6379/0"
	}
	return fmt.Errorf("race: the Redis at %s answers: %w; %s", name, err, remedy)
}

// portOf returns the port of a store's URL.
func portOf(name string) string {
	if u, err := url.Parse(name); err == nil {
		if _, port, err := net.SplitHostPort(u.Host); err == nil {
			return port
		}
	}
	return "6379"
}

// forget deletes keys, also when ctx has ended.
func forget(ctx context.Context, client *redis.Client, keys ...string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), forgetTimeout)
	defer cancel()
	return client.Del(ctx, keys...).Err()
}

package redisstore

import (
	"fmt"

	"github.com/redis/rueidis"

	"github.com/weirhq/weir/redisstore/internal/redisconn"
	"github.com/weirhq/weir/redisstore/internal/redisurl"
)

// Open returns a store over connections of its own. It connects when it is first asked, so that a service can start while
// Redis is away; [Store.Check] tells. An error says what is wrong with the URL or opts.
//
//	redis://user:password@host:6379/0                      rediss:// with TLS
//	redis-sentinel://host:26379,host:26379/mymaster/0      rediss-sentinel://
//	redis-cluster://host:6379,host:6379                    rediss-cluster://
//
// docs/redis.md lists the parameters.
func Open(url string, opts Options) (*Store, error) {
	target, err := redisurl.Parse(url)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidOptions, err)
	}
	opts.setDefaults()
	if err := opts.validate(); err != nil {
		return nil, err
	}
	opts.Log = opts.Log.With("server", target.String())
	settings := redisconn.Settings{Timeout: opts.Timeout, ConnectTimeout: max(redisconn.DefaultConnectTimeout, opts.Timeout)}
	return New(redisconn.Open(target, settings), opts)
}

// Rueidis returns a runner over a client that stays the caller's. On a single server it is fastest with
// DisableAutoPipelining: calls already travel together.
// It panics if client is nil.
func Rueidis(client rueidis.Client) Runner {
	if client == nil {
		panic("redisstore: client is nil")
	}
	return redisconn.Wrap(client)
}

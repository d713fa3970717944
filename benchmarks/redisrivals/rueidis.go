package redisrivals

import (
	"context"
	"fmt"

	"github.com/redis/rueidis"
)

// rueidisScript runs the plain bucket once for each limit, one after the other, over a client with the defaults: it sends
// what concurrent callers ask together, over a few connections.
type rueidisScript struct {
	client   rueidis.Client
	script   *rueidis.Lua
	args     [][]string // by limit
	suffixes []string
}

func newRueidisScript(address string, _ int, limits []Limit) (Limiter, error) {
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{address}})
	if err != nil {
		return nil, err
	}
	l := &rueidisScript{client: client, script: rueidis.NewLuaScript(bucketScript), suffixes: keySuffixes(len(limits))}
	for _, limit := range limits {
		b := newBucket(limit)
		l.args = append(l.args, []string{b.emissionMicros, b.burst})
	}
	return l, nil
}

func (l *rueidisScript) Allow(key string) (bool, error) {
	for i, args := range l.args {
		reply, err := l.script.Exec(context.Background(), l.client, []string{key + l.suffixes[i]}, args).AsIntSlice()
		if err == nil && len(reply) != 3 {
			err = fmt.Errorf("the script replied %d", reply)
		}
		if err != nil || reply[0] == 0 {
			return false, err
		}
	}
	return true, nil
}

func (l *rueidisScript) Close() { l.client.Close() }

package redisrivals

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// mostConnections bounds the pools of go-redis. With 512 callers on two cores its default of 20 connections and this one
// do alike, and 512 connections make it slower.
const mostConnections = 64

// newGoRedis returns the client of every rival that needs go-redis: up to mostConnections a connection for each
// caller, all else as it is by default.
func newGoRedis(address string, callers int) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: address, PoolSize: min(callers, mostConnections)})
}

// goRedisScript runs the plain bucket once for each limit, one after the other. What the first ones took is not given
// back when a later one refuses.
type goRedisScript struct {
	client   *redis.Client
	runner   redis.Scripter
	script   *redis.Script
	buckets  []bucket
	suffixes []string
}

func newGoRedisScript(address string, callers int, limits []Limit) (Limiter, error) {
	return goRedisScriptOver(newGoRedis(address, callers), limits), nil
}

// newAutoPipelineScript lets go-redis gather the scripts of concurrent callers, which is marked as experimental.
func newAutoPipelineScript(address string, callers int, limits []Limit) (Limiter, error) {
	l := goRedisScriptOver(newGoRedis(address, callers), limits)
	var err error
	l.runner, err = l.client.AutoPipeline()
	return l, err
}

func goRedisScriptOver(client *redis.Client, limits []Limit) *goRedisScript {
	l := &goRedisScript{client: client, runner: client, script: redis.NewScript(bucketScript), suffixes: keySuffixes(len(limits))}
	for _, limit := range limits {
		l.buckets = append(l.buckets, newBucket(limit))
	}
	return l
}

func (l *goRedisScript) Allow(key string) (bool, error) {
	for i, b := range l.buckets {
		keys := []string{key + l.suffixes[i]}
		reply, err := l.script.Run(context.Background(), l.runner, keys, b.emissionMicros, b.burst).Int64Slice()
		if err == nil && len(reply) != 3 {
			err = fmt.Errorf("the script replied %d", reply)
		}
		if err != nil || reply[0] == 0 {
			return false, err
		}
	}
	return true, nil
}

func (l *goRedisScript) Close() { l.client.Close() }

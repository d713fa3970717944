package redisconn

import (
	"net"
	"slices"
	"time"

	"github.com/redis/rueidis"

	"github.com/weirhq/weir/redisstore/internal/redisurl"
)

// The values of settings that are left at zero.
const (
	DefaultConnectTimeout = time.Second
	DefaultConnections    = 8
)

// MinTimeout is the least [Settings.Timeout]: servers have other things to answer, too.
const MinTimeout = time.Second

// Settings are how a [Conn] connects. The zero value works.
type Settings struct {
	// ConnectTimeout is how long connecting may take, with the lookup of the name and TLS, and then once more for the
	// first exchange. 0 means [DefaultConnectTimeout]. It does not depend on calls, nor they on it.
	ConnectTimeout time.Duration
	// Timeout is the longest that a call takes, for calls whose contexts would wait longer, and how long servers have
	// for what rueidis asks them by itself, such as a sign of life. Less than [MinTimeout] means that.
	Timeout time.Duration
	// Connections bounds the connections to one server, and so the calls under way; others wait. 0 means
	// [DefaultConnections]. A cluster's node has one connection, which calls share, and no such bound.
	Connections int
}

func (s *Settings) setDefaults() {
	if s.ConnectTimeout <= 0 {
		s.ConnectTimeout = DefaultConnectTimeout
	}
	s.Timeout = max(s.Timeout, MinTimeout)
	if s.Connections <= 0 {
		s.Connections = DefaultConnections
	}
}

const (
	clientName = "weir"
	// bufferSize is that of a connection, in each direction. Longer requests are sent in pieces.
	bufferSize = 32 << 10
	// maxRedirects is how often a call follows a cluster's MOVED and ASK.
	maxRedirects = 5
	// refreshEvery is how often sentinels and clusters are asked who has which part, besides on signs of change.
	refreshEvery = 5 * time.Second
	// pingEvery is how often a connection is tried that rueidis keeps for itself, or that calls share.
	pingEvery = time.Second
	// pingNever is for a connection that nobody uses: rueidis makes it, but calls have their own.
	pingNever = 24 * time.Hour
)

// options are those of rueidis.
func (g *generation) options() rueidis.ClientOption {
	t, s := g.target, g.settings
	o := rueidis.ClientOption{
		InitAddress:         slices.Clone(t.Addrs),
		Username:            t.Username,
		Password:            t.Password,
		SelectDB:            t.Database,
		TLSConfig:           t.TLS,
		DialCtxFn:           g.dial,
		Dialer:              net.Dialer{Timeout: s.ConnectTimeout, KeepAlive: pingEvery},
		ConnWriteTimeout:    s.Timeout,
		ReadBufferEachConn:  bufferSize,
		WriteBufferEachConn: bufferSize,
		DisableRetry:        true,
		DisableCache:        true,
		// As a part of HELLO the name needs no permission; what CLIENT SETINFO says does.
		ClientName:    clientName,
		ClientSetInfo: rueidis.DisableClientSetInfo,
	}
	switch t.Kind {
	case redisurl.Cluster:
		o.AlwaysPipelining = true
		o.ClusterOption = rueidis.ClusterOption{ShardsRefreshInterval: refreshEvery, MaxMovedRedirections: maxRedirects}
		return o
	case redisurl.Sentinel:
		o.Sentinel = rueidis.SentinelOption{
			Dialer:                  o.Dialer,
			TLSConfig:               t.TLS,
			MasterSet:               t.MasterName,
			Username:                t.SentinelUsername,
			Password:                t.SentinelPassword,
			ClientName:              clientName,
			TopologyRefreshInterval: refreshEvery,
		}
	default:
		o.ForceSingleClient = true
		o.Dialer.KeepAlive = pingNever
	}
	o.DisableAutoPipelining = true
	o.BlockingPoolSize = s.Connections + 1 // an attempt holds one, too
	o.PipelineMultiplex = -1
	o.RingScaleEachConn = 4
	return o
}

package redisurl

import (
	"crypto/tls"
	"net/url"
	"strconv"
	"strings"
)

// Kind is what answers at the addresses of a [Target].
type Kind uint8

const (
	// Standalone is one server.
	Standalone Kind = iota
	// Sentinel is sentinels that know where the master is.
	Sentinel
	// Cluster is some of the nodes of a cluster.
	Cluster
)

// String returns "standalone", "sentinel" or "cluster".
func (k Kind) String() string {
	switch k {
	case Standalone:
		return "standalone"
	case Sentinel:
		return "sentinel"
	case Cluster:
		return "cluster"
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

// Target is what a URL says.
type Target struct {
	Kind Kind
	// Addrs are host:port, with brackets around IPv6 addresses, of the server, the sentinels or nodes of the cluster; or
	// the path of a socket.
	Addrs []string
	// Socket says that the address is a path.
	Socket bool

	// Username is empty for the default user. Password is that of the servers, not of sentinels.
	Username, Password string
	// Database is 0 for clusters.
	Database int
	// TLS is nil without TLS. ServerName in it is empty unless the URL gives one: it is then the host of each address.
	TLS *tls.Config

	// MasterName is what the sentinels call the master; SentinelUsername and SentinelPassword are for them.
	MasterName, SentinelUsername, SentinelPassword string

	files tlsFiles // what TLS was made of
}

// redacted stands for a password.
const redacted = "xxxxx"

// String returns a URL for t with xxxxx in the place of passwords.
func (t Target) String() string {
	var b strings.Builder
	query := make(url.Values)
	b.WriteString(t.scheme())
	b.WriteString("://")
	switch {
	case t.Password != "":
		b.WriteString(url.UserPassword(t.Username, redacted).String() + "@")
	case t.Username != "":
		b.WriteString(url.UserPassword(t.Username, "").String() + "@")
	}
	if t.Socket {
		b.WriteString(escapePath(t.Addrs[0], "/"))
	} else {
		b.WriteString(strings.ReplaceAll(strings.Join(t.Addrs, ","), "%", "%25"))
	}
	if t.Kind == Sentinel {
		b.WriteString("/" + escapePath(t.MasterName, ""))
	}
	switch {
	case t.Database != 0 && t.Socket:
		query.Set("db", strconv.Itoa(t.Database))
	case t.Database != 0:
		b.WriteString("/" + strconv.Itoa(t.Database))
	}
	t.files.into(query)
	if t.SentinelUsername != "" {
		query.Set("sentinel_user", t.SentinelUsername)
	}
	if t.SentinelPassword != "" {
		query.Set("sentinel_password", redacted)
	}
	if len(query) > 0 {
		b.WriteString("?" + query.Encode())
	}
	return b.String()
}

func (t Target) scheme() string {
	for name, s := range schemes {
		if s.kind == t.Kind && s.socket == t.Socket && s.tls == (t.TLS != nil) {
			return name
		}
	}
	return "redis"
}

// escapePath escapes what has a meaning in a URL, but for the characters in keep.
func escapePath(s, keep string) string {
	var b strings.Builder
	for part := range strings.SplitAfterSeq(s, "/") {
		rest, slash := strings.CutSuffix(part, "/")
		b.WriteString(strings.ReplaceAll(url.PathEscape(rest), "@", "%40"))
		switch {
		case slash && keep == "/":
			b.WriteByte('/')
		case slash:
			b.WriteString("%2F")
		}
	}
	return b.String()
}

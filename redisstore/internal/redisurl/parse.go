package redisurl

import (
	"fmt"
	"math"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// scheme is what the beginning of a URL means.
type scheme struct {
	kind   Kind
	port   string // where it listens by default
	tls    bool
	socket bool
}

var schemes = map[string]scheme{
	"redis":           {kind: Standalone, port: "6379"},
	"rediss":          {kind: Standalone, port: "6379", tls: true},
	"redis-sentinel":  {kind: Sentinel, port: "26379"},
	"rediss-sentinel": {kind: Sentinel, port: "26379", tls: true},
	"redis-cluster":   {kind: Cluster, port: "6379"},
	"rediss-cluster":  {kind: Cluster, port: "6379", tls: true},
	"unix":            {kind: Standalone, socket: true},
}

const knownSchemes = "use redis, rediss, redis-sentinel, rediss-sentinel, redis-cluster, rediss-cluster or unix, as in redis://host:6379"

// Parse reads a URL and the files that it names. In schemes valkey means redis. Its errors are of type *[Error].
//
// It does not use [url.Parse], which refuses several hosts, and whose errors show the whole URL.
func Parse(text string) (Target, error) {
	name, rest, found := strings.Cut(text, "://")
	if !found {
		return Target{}, &Error{Part: "scheme", Problem: "is missing", Remedy: knownSchemes}
	}
	s, known := schemes[strings.Replace(strings.ToLower(name), "valkey", "redis", 1)]
	if !known {
		return Target{}, &Error{Part: "scheme", Problem: describe(name), Remedy: knownSchemes}
	}
	t := Target{Kind: s.kind, Socket: s.socket}
	p := parser{target: &t, scheme: s}
	if err := p.parse(rest); err != nil {
		return Target{}, err
	}
	return t, nil
}

// describe shows an unknown scheme if it looks like one: what else stands there may be a password.
func describe(name string) string {
	odd := func(r rune) bool { return (r < 'a' || r > 'z') && r != '-' && r != '+' }
	if name == "" || len(name) > 20 || strings.IndexFunc(name, odd) >= 0 {
		return "is not known"
	}
	return fmt.Sprintf("%q is not known", name)
}

// parser reads one URL.
type parser struct {
	target *Target
	scheme scheme
	query  map[string]string
}

// parse reads what follows the scheme.
func (p *parser) parse(rest string) error {
	if i := strings.IndexFunc(rest, func(r rune) bool { return r < ' ' || r == 0x7f }); i >= 0 {
		return &Error{Part: "text", Problem: "has a line break or another control character", Remedy: "leave it out, or percent-encode it"}
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, tail := rest[:end], rest[end:]
	if strings.Contains(tail, "@") {
		return &Error{Part: "text", Problem: "has an @ behind the host",
			Remedy: "in the user and the password write / as %2F, ? as %3F and # as %23; elsewhere write @ as %40"}
	}
	if strings.Contains(tail, "#") {
		return &Error{Part: "text", Problem: "has a #", Remedy: "write it as %23"}
	}
	path, query, _ := strings.Cut(tail, "?")
	for _, read := range []func() error{
		func() error { return p.readAuthority(authority) },
		func() error { return p.readQuery(query) },
		func() error { return p.readPath(path) },
		p.readDatabase,
		p.readTLS,
		p.readSentinelUser,
	} {
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

const knownParameters = "use db, tls, tls_ca, tls_cert, tls_key, tls_server_name, sentinel_user or sentinel_password"

func (p *parser) readQuery(text string) error {
	p.query = make(map[string]string)
	for pair := range strings.SplitSeq(text, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		switch name {
		case "db", "tls", "tls_ca", "tls_cert", "tls_key", "tls_server_name", "sentinel_user", "sentinel_password":
		default:
			return &Error{Part: "parameter", Problem: fmt.Sprintf("%.40q is not known", name), Remedy: knownParameters}
		}
		if _, twice := p.query[name]; twice {
			return &Error{Part: name, Problem: "is given twice", Remedy: "give it once"}
		}
		value, err := url.QueryUnescape(value)
		if err != nil {
			return &Error{Part: name, Problem: "has a % that begins no escape", Remedy: "write % as %25"}
		}
		if value == "" {
			return &Error{Part: name, Problem: "is empty", Remedy: "give it a value, or leave it out"}
		}
		p.query[name] = value
	}
	return nil
}

func (p *parser) readAuthority(text string) error {
	hosts := text
	if at := strings.LastIndex(text, "@"); at >= 0 {
		hosts = text[at+1:]
		if err := p.readUser(text[:at]); err != nil {
			return err
		}
	}
	if p.scheme.socket {
		if hosts != "" {
			return &Error{Part: "host", Problem: "stands where a path should begin", Remedy: "write unix:///path/to/socket, with three slashes"}
		}
		return nil
	}
	list := strings.Split(hosts, ",")
	if len(list) > 1 && p.scheme.kind == Standalone {
		return &Error{Part: "host", Problem: fmt.Sprintf("is given %d times", len(list)), Remedy: "give one, or use redis-cluster:// or redis-sentinel://"}
	}
	for _, host := range list {
		addr, err := p.readHost(host)
		if err != nil {
			return err
		}
		p.target.Addrs = append(p.target.Addrs, addr)
	}
	return nil
}

func (p *parser) readUser(text string) error {
	user, password, found := strings.Cut(text, ":")
	if !found {
		return &Error{Part: "user", Problem: "has no password",
			Remedy: "write user:password@host, :password@host for the default user, or user:@host for a user without a password"}
	}
	var err error
	if p.target.Username, err = url.PathUnescape(user); err != nil {
		return &Error{Part: "user", Problem: "has a % that begins no escape", Remedy: "write % as %25"}
	}
	if p.target.Password, err = url.PathUnescape(password); err != nil {
		return &Error{Part: "password", Problem: "has a % that begins no escape", Remedy: "write % as %25"}
	}
	return nil
}

// readHost returns host:port. It shows nothing that may be a password whose @ and host were forgotten.
func (p *parser) readHost(text string) (string, error) {
	host, port, bracketed := text, "", false
	if strings.HasPrefix(text, "[") {
		end := strings.Index(text, "]")
		if end < 0 {
			return "", &Error{Part: "host", Problem: "has a bracket that is not closed", Remedy: "write IPv6 addresses as [::1]"}
		}
		host, port, bracketed = text[1:end], text[end+1:], true
		if port != "" && port[0] != ':' {
			return "", &Error{Part: "host", Problem: "has something between ] and the port", Remedy: "write [::1]:" + p.scheme.port}
		}
		port = strings.TrimPrefix(port, ":")
	} else if before, after, found := strings.Cut(text, ":"); found {
		host, port = before, after
	}
	if host == "" {
		return "", &Error{Part: "host", Problem: "is missing", Remedy: "write host:" + p.scheme.port + ", and a password as :password@host"}
	}
	if strings.Contains(port, ":") {
		return "", &Error{Part: "host", Problem: "has several colons", Remedy: "write IPv6 addresses as [::1], : as %3A in a user, and an @ behind the password"}
	}
	if port == "" {
		port = p.scheme.port
	}
	if n, err := strconv.ParseUint(port, 10, 64); err != nil || n == 0 || n > 65535 {
		problem := "is not a number from 1 to 65535"
		if err == nil && len(port) <= 5 {
			problem = fmt.Sprintf("%d is out of range", n)
		}
		return "", &Error{Part: "port", Problem: problem, Remedy: "use 1 to 65535, or leave it out for " + p.scheme.port + "; a password stands in front of an @"}
	}
	host, err := readName(host, bracketed)
	if err != nil {
		return "", err
	}
	return net.JoinHostPort(host, strings.TrimLeft(port, "0")), nil
}

func readName(host string, bracketed bool) (string, error) {
	if bracketed {
		host, err := url.PathUnescape(host) // of a zone: fe80::1%25eth0
		if addr, bad := netip.ParseAddr(host); err != nil || bad != nil || !addr.Is6() || strings.ContainsAny(addr.Zone(), "/?#@,[]%: ") {
			return "", &Error{Part: "host", Problem: "is no IPv6 address though it has brackets", Remedy: "write it as [::1], or without brackets if it is a name"}
		}
		return host, nil
	}
	for i := range len(host) {
		c := host[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune(".-_", rune(c)) {
			return "", &Error{Part: "host", Problem: "has a character that is not one of a-z, 0-9, dot, - and _", Remedy: "check it; in a password write % as %25"}
		}
	}
	return host, nil
}

func (p *parser) readPath(path string) error {
	if p.scheme.socket {
		file, err := url.PathUnescape(path)
		if err != nil || file == "" || file == "/" {
			return &Error{Part: "path", Problem: "is missing or has a % that begins no escape", Remedy: "write unix:///path/to/socket, and % as %25"}
		}
		p.target.Addrs = []string{file}
		return nil
	}
	database := strings.TrimPrefix(path, "/")
	if p.scheme.kind == Sentinel {
		master, rest, _ := strings.Cut(database, "/")
		name, err := url.PathUnescape(master)
		if err != nil {
			return &Error{Part: "master", Problem: "has a % that begins no escape", Remedy: "write % as %25"}
		}
		if name == "" {
			return &Error{Part: "master", Problem: "is missing", Remedy: "write redis-sentinel://host:26379/mymaster with the name that the sentinels know"}
		}
		p.target.MasterName, database = name, rest
	}
	if database == "" {
		return nil
	}
	if _, twice := p.query["db"]; twice {
		return &Error{Part: "database", Problem: "is given in the path and as db", Remedy: "give it once"}
	}
	p.query["db"] = database
	return nil
}

func (p *parser) readDatabase() error {
	text, given := p.query["db"]
	if !given {
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		return &Error{Part: "database", Problem: "is not a number", Remedy: "use 0 or more, as in redis://host:6379/0"}
	case n < 0 || n > math.MaxInt32:
		return &Error{Part: "database", Problem: fmt.Sprintf("%d is out of range", n), Remedy: "use 0 or more, as in redis://host:6379/0"}
	}
	if p.scheme.kind == Cluster && n != 0 {
		return &Error{Part: "database", Problem: fmt.Sprintf("is %d, but clusters have only 0", n), Remedy: "leave it out"}
	}
	p.target.Database = int(n)
	return nil
}

func (p *parser) readSentinelUser() error {
	user, password := p.query["sentinel_user"], p.query["sentinel_password"]
	if p.scheme.kind != Sentinel && user+password != "" {
		return &Error{Part: "sentinel_user", Problem: "or sentinel_password is given without sentinels", Remedy: "use redis-sentinel://, or leave them out"}
	}
	if user != "" && password == "" {
		return &Error{Part: "sentinel_user", Problem: fmt.Sprintf("is %.40q, but sentinel_password is not given", user), Remedy: "give both, or only the password"}
	}
	p.target.SentinelUsername, p.target.SentinelPassword = user, password
	return nil
}

package redistest

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// URL names the server and the user for a client: redis://user:password@host:port/0, or rediss:// for TLS. The user is
// Options.User if there is one. Certificates are no part of it.
func (s *Server) URL() string {
	u := url.URL{Scheme: "redis", Host: s.Addr, Path: "/0"}
	if s.opts.TLS {
		u.Scheme = "rediss"
	}
	if user := s.opts.User; user.Name != "" {
		u.User = url.UserPassword(user.Name, user.Password)
	} else if s.opts.Password != "" {
		u.User = url.UserPassword("", s.opts.Password)
	}
	return u.String()
}

// Do sends a command as the default user, on a connection of its own, and returns the reply: a string, an int64, nil, or
// a []any of these. What the server refuses is an [Error].
func (s *Server) Do(args ...any) (any, error) { return s.client.Do(args...) }

// field sends a command whose reply is lines of "field:value" and returns the value of a field.
func (s *Server) field(name string, args ...any) (string, error) {
	reply, err := s.Do(args...)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(fmt.Sprint(reply)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+":"); ok {
			return value, nil
		}
	}
	return "", fmt.Errorf("redistest: %s: %v: no %s in %q", s.Addr, args, name, reply)
}

// follows tells why the server is not a replica of master that has all its data.
func (s *Server) follows(master *Server) error {
	if master == nil {
		return fmt.Errorf("%s follows nobody that is known", s.Addr)
	}
	reply, err := s.Do("INFO", "replication")
	if err != nil {
		return err
	}
	for _, want := range []string{"role:slave", "master_port:" + strconv.Itoa(master.port), "master_link_status:up"} {
		if !strings.Contains(fmt.Sprint(reply), want+"\r\n") {
			return fmt.Errorf("%s does not follow %s: no %s", s.Addr, master.Addr, want)
		}
	}
	return nil
}

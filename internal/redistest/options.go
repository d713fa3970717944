package redistest

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/weirhq/weir/internal/redistest/internal/authority"
	"github.com/weirhq/weir/internal/redistest/internal/ports"
)

// Options say what a server is like. The zero value is a server on its own that keeps nothing and lets everybody in.
type Options struct {
	// Config holds lines of redis.conf, such as "maxmemory 10mb". They come last and so win.
	Config []string
	// Password is what the default user gives. Empty lets everybody in, unless User is set: then the password is made
	// up, so that only User can come in.
	Password string
	// User, if it has a name, is one more user, and the one that [Server.URL] names.
	User User
	// TLS makes the server speak nothing else. The files of its own authority are in [Server.CAFile] and its neighbours.
	TLS bool
	// ClientCerts makes the server refuse clients without a certificate of its authority. Only with TLS.
	ClientCerts bool
	// Persist writes every command to disk before it is answered, so that the data is there after [Server.Restart].
	Persist bool
	// ReplicaOf is the server to copy. Not with TLS.
	ReplicaOf *Server
}

// User is a user of the server's access list.
type User struct {
	Name, Password string
	// Rules is what the user may do, as in ACL SETUSER. Empty is everything: "~* &* +@all".
	Rules string
}

// hiddenPassword guards the default user where only another user is to come in.
const hiddenPassword = "redistest-default-user"

// validate refuses what contradicts itself.
func (o *Options) validate() error {
	switch {
	case o.ClientCerts && !o.TLS:
		return fmt.Errorf("%w: ClientCerts without TLS", ErrOptions)
	case o.ReplicaOf != nil && (o.TLS || o.ReplicaOf.opts.TLS):
		return fmt.Errorf("%w: ReplicaOf with TLS", ErrOptions)
	case o.User.Name == "" && o.User != User{}:
		return fmt.Errorf("%w: User without Name", ErrOptions)
	case o.User.Name != "" && o.User.Password == "":
		return fmt.Errorf("%w: User without Password", ErrOptions)
	case o.User.Name == "default":
		return fmt.Errorf("%w: the default user has Password", ErrOptions)
	case strings.ContainsAny(o.Password+o.User.Name+o.User.Password, " \t\r\n\"'"):
		return fmt.Errorf("%w: a name or password with a blank or a quote", ErrOptions)
	}
	return nil
}

func (o *Options) setDefaults() {
	if o.User.Name != "" {
		o.Password = cmp.Or(o.Password, hiddenPassword)
		o.User.Rules = cmp.Or(o.User.Rules, "~* &* +@all")
	}
}

// lines is the redis.conf for a server that listens on port.
func (o *Options) lines(port int, files authority.Files) []string {
	lines := []string{"save \"\"", "repl-diskless-sync-delay 0"}
	if o.TLS {
		lines = append(lines, "port 0", "tls-port "+strconv.Itoa(port),
			"tls-ca-cert-file "+strconv.Quote(files.CA),
			"tls-cert-file "+strconv.Quote(files.ServerCert),
			"tls-key-file "+strconv.Quote(files.ServerKey),
			"tls-auth-clients "+yesNo(o.ClientCerts))
	} else {
		lines = append(lines, "port "+strconv.Itoa(port))
	}
	lines = append(lines, "appendonly "+yesNo(o.Persist))
	if o.Persist {
		lines = append(lines, "appendfsync always")
	}
	if o.Password != "" {
		lines = append(lines, "requirepass "+o.Password)
	}
	if o.User.Name != "" {
		lines = append(lines, fmt.Sprintf("user %s on >%s %s", o.User.Name, o.User.Password, o.User.Rules))
	}
	if master := o.ReplicaOf; master != nil {
		lines = append(lines, fmt.Sprintf("replicaof %s %d", ports.Loopback, master.port))
		if master.opts.Password != "" {
			lines = append(lines, "masterauth "+master.opts.Password)
		}
	}
	return append(lines, o.Config...)
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

package redisconn

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/weirhq/weir/internal/redistest"
)

func TestStandalone(t *testing.T) {
	s := redistest.Start(t, redistest.Options{Password: "p/w"})
	c := open(t, s.URL(), Settings{})
	checkEcho(t, c)
	if c.Clustered() {
		t.Error("a server is clustered")
	}
}

func TestDatabase(t *testing.T) {
	s := redistest.Start(t, redistest.Options{})
	c := open(t, "redis://"+s.Addr+"/7", Settings{})
	if _, err := within(redistest.Patience, c, count, "k"); err != nil {
		t.Fatal(err)
	}
	if info, err := s.Do("INFO", "keyspace"); err != nil || !strings.Contains(info.(string), "db7:keys=1") {
		t.Errorf("keyspace: %v, %v", info, err)
	}
	far := open(t, "redis://"+s.Addr+"/99", Settings{})
	if _, err := within(redistest.Patience, far, count, "k"); err == nil || err.Error() != "ERR DB index is out of range" {
		t.Errorf("database 99: %v", err)
	}
}

func TestSocket(t *testing.T) {
	socket := t.TempDir() + "/redis.sock"
	redistest.Start(t, redistest.Options{Config: []string{"unixsocket " + socket}})
	checkEcho(t, open(t, "unix://"+socket+"?db=3", Settings{}))
}

func TestTLS(t *testing.T) {
	s := redistest.Start(t, redistest.Options{TLS: true, ClientCerts: true})
	query := "?tls_ca=" + url.QueryEscape(s.CAFile) + "&tls_cert=" + url.QueryEscape(s.CertFile) + "&tls_key=" + url.QueryEscape(s.KeyFile)
	checkEcho(t, open(t, s.URL()+query, Settings{}))

	stranger := open(t, s.URL(), Settings{})
	_, err := within(redistest.Patience, stranger, count, "k")
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); !ok {
		t.Errorf("a server with an unknown authority: %v", err)
	}
	if _, ok := errors.AsType[*ConnectError](err); !ok {
		t.Errorf("a server with an unknown authority: %T is not a ConnectError", err)
	}
	other := open(t, s.URL()+query+"&tls_server_name=other.example", Settings{})
	_, err = within(redistest.Patience, other, count, "k")
	if _, ok := errors.AsType[x509.HostnameError](err); !ok {
		t.Errorf("a server with another name: %v", err)
	}
	anonymous := open(t, s.URL()+"?tls_ca="+url.QueryEscape(s.CAFile), Settings{})
	if _, err := within(redistest.Patience, anonymous, count, "k"); wantUnsent(err) != nil { // "certificate required", or a reset
		t.Errorf("without a certificate of our own: %v", err)
	}
	plain := open(t, "redis://"+s.Addr, Settings{})
	if _, err := within(redistest.Patience, plain, count, "k"); err == nil {
		t.Error("without TLS, the script ran")
	}
	noTLS := open(t, "rediss://"+redistest.Start(t, redistest.Options{}).Addr, Settings{})
	// Redis waits for the end of what it takes for a command.
	if _, err = within(redistest.Patience, noTLS, count, "k"); err == nil || !strings.Contains(err.Error(), "no connection to Redis: TLS with 127.0.0.1:") {
		t.Errorf("a server without TLS: %v", err)
	}
}

func TestSentinel(t *testing.T) {
	s := startSentinel(t)
	c := open(t, s.URL(), Settings{})
	checkEcho(t, c)
	if c.Clustered() {
		t.Error("a master with sentinels is clustered")
	}
	nobody := open(t, strings.Replace(s.URL(), "/mymaster", "/nobody", 1), Settings{})
	want := `ERR the sentinels do not know a master "nobody"; check the name in the URL`
	if _, err := within(redistest.Patience, nobody, count, "k"); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestCluster(t *testing.T) {
	cluster := startCluster(t)
	c := open(t, cluster.URL(), Settings{})
	checkEcho(t, c)
	if !c.Clustered() {
		t.Error("a cluster is not clustered")
	}
	crowd(t, c, 100, redistest.Patience, func(err error) error { return err })

	// One address is enough, and a dead one does no harm.
	checkEcho(t, open(t, "redis-cluster://127.0.0.1:1,"+cluster.Addrs()[0], Settings{}))
	lonely := open(t, "redis-cluster://"+redistest.Start(t, redistest.Options{}).Addr, Settings{})
	want := "ERR the server is not part of a cluster; use redis:// instead of redis-cluster://"
	if _, err := within(redistest.Patience, lonely, count, "k"); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	// A node that is spoken to like a server on its own says where to go instead.
	single := open(t, "redis://"+cluster.Addrs()[0], Settings{})
	moved := 0
	for _, key := range []string{"a", "b", "c", "d", "e", "f"} {
		if _, err := within(redistest.Patience, single, count, key); err != nil && strings.HasPrefix(err.Error(), "MOVED ") {
			moved++
		}
	}
	if moved == 0 {
		t.Error("one node of the cluster has all keys")
	}
}

func TestWrap(t *testing.T) {
	s := redistest.Start(t, redistest.Options{})
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{s.Addr}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	w := Wrap(client)
	checkEcho(t, w)
	if w.Clustered() {
		t.Error("a server is clustered")
	}
	if err := s.Pause(); err != nil {
		t.Fatal(err)
	}
	crowd(t, w, 20, 50*time.Millisecond, wantOverdue)
	if err := s.Resume(); err != nil {
		t.Fatal(err)
	}

	cluster, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: startCluster(t).Addrs()})
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	checkEcho(t, Wrap(cluster))
	if !Wrap(cluster).Clustered() {
		t.Error("a cluster is not clustered")
	}
}

func TestWrongPassword(t *testing.T) {
	s := redistest.Start(t, redistest.Options{Password: "right"})
	for url, want := range map[string]string{
		"redis://:hunter2@" + s.Addr:     "WRONGPASS ",
		"redis://weir:hunter2@" + s.Addr: "WRONGPASS ",
		"redis://" + s.Addr:              "NOAUTH ",
	} {
		c := open(t, url, Settings{})
		_, err := within(redistest.Patience, c, count, "k")
		if _, ok := errors.AsType[*ServerError](err); !ok || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v, want %s", url, err, want)
		}
	}
	// It is right from now on: nobody has to restart.
	c := open(t, "redis://:later@"+s.Addr, Settings{})
	if _, err := within(redistest.Patience, c, count, "k"); err == nil {
		t.Error("the wrong password is right")
	}
	if _, err := s.Do("CONFIG", "SET", "requirepass", "later"); err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Second, func() error { _, err := within(redistest.Patience, c, count, "k"); return err })
}

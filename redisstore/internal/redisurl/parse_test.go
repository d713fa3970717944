package redisurl

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io/fs"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for _, test := range []struct {
		url  string
		want Target
		text string // what String returns, if it is not url
	}{
		{url: "redis://localhost", want: Target{Addrs: []string{"localhost:6379"}}, text: "redis://localhost:6379"},
		{url: "valkey://localhost", want: Target{Addrs: []string{"localhost:6379"}}, text: "redis://localhost:6379"},
		{url: "valkey-cluster://a", want: Target{Kind: Cluster, Addrs: []string{"a:6379"}}, text: "redis-cluster://a:6379"},
		{url: "REDIS://localhost/", want: Target{Addrs: []string{"localhost:6379"}}, text: "redis://localhost:6379"},
		{url: "redis://10.0.0.1:6380/3", want: Target{Addrs: []string{"10.0.0.1:6380"}, Database: 3}},
		{url: "redis://my_host.example:1?db=2", want: Target{Addrs: []string{"my_host.example:1"}, Database: 2}, text: "redis://my_host.example:1/2"},
		{url: "redis://h:65535/0", want: Target{Addrs: []string{"h:65535"}}, text: "redis://h:65535"},
		{url: "redis://h:006379", want: Target{Addrs: []string{"h:6379"}}, text: "redis://h:6379"},
		{url: "redis://[::1]", want: Target{Addrs: []string{"[::1]:6379"}}, text: "redis://[::1]:6379"},
		{url: "redis://[fe80::1%25eth0]:7000", want: Target{Addrs: []string{"[fe80::1%eth0]:7000"}}},
		{url: "redis://:hunter2@h:6379", want: Target{Addrs: []string{"h:6379"}, Password: "hunter2"}, text: "redis://:xxxxx@h:6379"},
		{url: "redis://weir:hunter2@h:6379", want: Target{Addrs: []string{"h:6379"}, Username: "weir", Password: "hunter2"}, text: "redis://weir:xxxxx@h:6379"},
		{url: "redis://weir:@h:6379", want: Target{Addrs: []string{"h:6379"}, Username: "weir"}},
		{url: "redis://u%3A%40%2F:p%25%2F%3F%23:@@h", want: Target{Addrs: []string{"h:6379"}, Username: "u:@/", Password: "p%/?#:@"}, text: "redis://u%3A%40%2F:xxxxx@h:6379"},
		{url: "redis://a+b:c+d@h", want: Target{Addrs: []string{"h:6379"}, Username: "a+b", Password: "c+d"}, text: "redis://a+b:xxxxx@h:6379"},
		{url: "redis-sentinel://h1,h2:26380/mymaster", want: Target{Kind: Sentinel, Addrs: []string{"h1:26379", "h2:26380"}, MasterName: "mymaster"}, text: "redis-sentinel://h1:26379,h2:26380/mymaster"},
		{url: "redis-sentinel://u:p@h1:1,[::1]:2/my%2Fmaster/4?sentinel_user=s&sentinel_password=%40+x", want: Target{Kind: Sentinel,
			Addrs: []string{"h1:1", "[::1]:2"}, Username: "u", Password: "p", MasterName: "my/master", Database: 4,
			SentinelUsername: "s", SentinelPassword: "@ x"}, text: "redis-sentinel://u:xxxxx@h1:1,[::1]:2/my%2Fmaster/4?sentinel_password=xxxxx&sentinel_user=s"},
		{url: "redis-sentinel://h:1/m?db=4&sentinel_password=s", want: Target{Kind: Sentinel, Addrs: []string{"h:1"}, MasterName: "m", Database: 4, SentinelPassword: "s"},
			text: "redis-sentinel://h:1/m/4?sentinel_password=xxxxx"},
		{url: "redis-cluster://u:p@h1,h2:7000,h3:7001/0", want: Target{Kind: Cluster, Addrs: []string{"h1:6379", "h2:7000", "h3:7001"}, Username: "u", Password: "p"},
			text: "redis-cluster://u:xxxxx@h1:6379,h2:7000,h3:7001"},
		{url: "unix:///run/redis.sock", want: Target{Socket: true, Addrs: []string{"/run/redis.sock"}}},
		{url: "unix://u:p@/run/my%3Fredis%40.sock?db=1", want: Target{Socket: true, Addrs: []string{"/run/my?redis@.sock"}, Username: "u", Password: "p", Database: 1},
			text: "unix://u:xxxxx@/run/my%3Fredis%40.sock?db=1"},
		{url: "redis://h:6379?tls=false", want: Target{Addrs: []string{"h:6379"}}, text: "redis://h:6379"},
	} {
		got, err := Parse(test.url)
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", test.url, got, err, test.want)
			continue
		}
		if test.text == "" {
			test.text = test.url
		}
		if text := got.String(); text != test.text {
			t.Errorf("Parse(%q).String() = %q, want %q", test.url, text, test.text)
		}
	}
}

// TestParseTLS: every kind can have TLS, by its scheme or by a parameter.
func TestParseTLS(t *testing.T) {
	ca, cert, key := writeCertificate(t)
	for _, test := range []struct {
		url, text  string
		ca, cert   bool
		serverName string
	}{
		{url: "rediss://h:6379", text: "rediss://h:6379"},
		{url: "redis://h:6379?tls=true", text: "rediss://h:6379"},
		{url: "rediss://h:6379?tls=true", text: "rediss://h:6379"},
		{url: "rediss-sentinel://h:1/m", text: "rediss-sentinel://h:1/m"},
		{url: "redis-sentinel://h:1/m?tls=true", text: "rediss-sentinel://h:1/m"},
		{url: "rediss-cluster://h:1", text: "rediss-cluster://h:1"},
		{url: "redis-cluster://h:1?tls=1&tls_server_name=redis.example", text: "rediss-cluster://h:1?tls_server_name=redis.example", serverName: "redis.example"},
		{url: "rediss://h:1?tls_ca=" + url.QueryEscape(ca), text: "rediss://h:1?tls_ca=" + url.QueryEscape(ca), ca: true},
		{url: "rediss://h:1?tls_cert=" + url.QueryEscape(cert) + "&tls_key=" + url.QueryEscape(key), cert: true,
			text: "rediss://h:1?tls_cert=" + url.QueryEscape(cert) + "&tls_key=" + url.QueryEscape(key)},
	} {
		got, err := Parse(test.url)
		if err != nil {
			t.Errorf("Parse(%q): %v", test.url, err)
			continue
		}
		if got.TLS == nil || (got.TLS.RootCAs != nil) != test.ca || (len(got.TLS.Certificates) == 1) != test.cert || got.TLS.ServerName != test.serverName {
			t.Errorf("Parse(%q).TLS = %+v", test.url, got.TLS)
		}
		if got.String() != test.text {
			t.Errorf("Parse(%q).String() = %q, want %q", test.url, got, test.text)
		}
	}
}

// TestErrors is the table of what is refused, with the whole message. The password is secret, and so may be what stands
// where a password could.
func TestErrors(t *testing.T) {
	dir := t.TempDir()
	_, cert, _ := writeCertificate(t)
	_, _, other := writeCertificate(t)
	text := filepath.Join(dir, "text.pem")
	if err := os.WriteFile(text, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	files := strings.NewReplacer("<dir>", dir, "<text>", text, "<cert>", cert, "<other>", other)
	for _, test := range []struct{ url, want string }{
		{"", "scheme is missing; " + knownSchemes},
		{"localhost:6379", "scheme is missing; " + knownSchemes},
		{"user:secret@host", "scheme is missing; " + knownSchemes},
		{"http://host", `scheme "http" is not known; ` + knownSchemes},
		{"se:cret@host://", "scheme is not known; " + knownSchemes},

		{"redis://", "host is missing; write host:6379, and a password as :password@host"},
		{"redis://:6379", "host is missing; write host:6379, and a password as :password@host"},
		{"redis://:secret@", "host is missing; write host:6379, and a password as :password@host"},
		{"redis://:secret", "host is missing; write host:6379, and a password as :password@host"},
		{"redis-cluster://h1,,h2", "host is missing; write host:6379, and a password as :password@host"},
		{"redis-sentinel:///mymaster", "host is missing; write host:26379, and a password as :password@host"},
		{"redis://h1,h2", "host is given 2 times; give one, or use redis-cluster:// or redis-sentinel://"},
		{"redis://::1", "host is missing; write host:6379, and a password as :password@host"},
		{"redis://fe80::1", "host has several colons; write IPv6 addresses as [::1], : as %3A in a user, and an @ behind the password"},
		{"redis://[::1", "host has a bracket that is not closed; write IPv6 addresses as [::1]"},
		{"redis://[::1]6379", "host has something between ] and the port; write [::1]:6379"},
		{"redis://[host]", "host is no IPv6 address though it has brackets; write it as [::1], or without brackets if it is a name"},
		{"redis://sec%ret", "host has a character that is not one of a-z, 0-9, dot, - and _; check it; in a password write % as %25"},
		{"redis://h:0", "port 0 is out of range; use 1 to 65535, or leave it out for 6379; a password stands in front of an @"},
		{"redis://h:65536", "port 65536 is out of range; use 1 to 65535, or leave it out for 6379; a password stands in front of an @"},
		{"redis://user:secret", "port is not a number from 1 to 65535; use 1 to 65535, or leave it out for 6379; a password stands in front of an @"},
		{"redis://h:123456", "port is not a number from 1 to 65535; use 1 to 65535, or leave it out for 6379; a password stands in front of an @"},

		{"redis://secret@h", "user has no password; write user:password@host, :password@host for the default user, or user:@host for a user without a password"},
		{"redis://secret%:x@h", "user has a % that begins no escape; write % as %25"},
		{"redis://:secret%zz@h", "password has a % that begins no escape; write % as %25"},
		{"redis://:sec/ret@h", "text has an @ behind the host; in the user and the password write / as %2F, ? as %3F and # as %23; elsewhere write @ as %40"},
		{"redis://:sec?ret@h", "text has an @ behind the host; in the user and the password write / as %2F, ? as %3F and # as %23; elsewhere write @ as %40"},
		{"redis://:sec#ret@h", "text has an @ behind the host; in the user and the password write / as %2F, ? as %3F and # as %23; elsewhere write @ as %40"},
		{"redis://h#secret", "text has a #; write it as %23"},
		{"redis://:secret@h\n", "text has a line break or another control character; leave it out, or percent-encode it"},

		{"redis://h/secret", "database is not a number; use 0 or more, as in redis://host:6379/0"},
		{"redis://h/1/2", "database is not a number; use 0 or more, as in redis://host:6379/0"},
		{"redis://h/-1", "database -1 is out of range; use 0 or more, as in redis://host:6379/0"},
		{"redis://h?db=2147483648", "database 2147483648 is out of range; use 0 or more, as in redis://host:6379/0"},
		{"redis://h/1?db=1", "database is given in the path and as db; give it once"},
		{"redis-cluster://h/1", "database is 1, but clusters have only 0; leave it out"},
		{"redis-cluster://h?db=1", "database is 1, but clusters have only 0; leave it out"},

		{"redis-sentinel://h", "master is missing; write redis-sentinel://host:26379/mymaster with the name that the sentinels know"},
		{"redis-sentinel://h//1", "master is missing; write redis-sentinel://host:26379/mymaster with the name that the sentinels know"},
		{"redis-sentinel://h/%", "master has a % that begins no escape; write % as %25"},
		{"redis-sentinel://h/m?sentinel_user=u", `sentinel_user is "u", but sentinel_password is not given; give both, or only the password`},
		{"redis://h?sentinel_password=secret", "sentinel_user or sentinel_password is given without sentinels; use redis-sentinel://, or leave them out"},

		{"redis://h?timeout=1s", `parameter "timeout" is not known; ` + knownParameters},
		{"redis://h?db=1&db=2", "db is given twice; give it once"},
		{"redis://h?db=", "db is empty; give it a value, or leave it out"},
		{"redis-sentinel://h/m?sentinel_password=%zz", "sentinel_password has a % that begins no escape; write % as %25"},

		{"unix://", "path is missing or has a % that begins no escape; write unix:///path/to/socket, and % as %25"},
		{"unix:///", "path is missing or has a % that begins no escape; write unix:///path/to/socket, and % as %25"},
		{"unix://run/redis.sock", "host stands where a path should begin; write unix:///path/to/socket, with three slashes"},
		{"unix:///run/redis.sock?tls=true", "tls is true, but a socket of this machine has no TLS; leave it out"},

		{"redis://h?tls=yes", `tls is "yes"; use true or false`},
		{"rediss://h?tls=false", "tls is false, but the scheme turns TLS on; leave it out, or take the s off the scheme"},
		{"redis://h?tls_ca=/ca.pem", `tls_ca is "/ca.pem", but TLS is off; use rediss:// or tls=true, or leave it out`},
		{"redis://h?tls_server_name=x", `tls_server_name is "x", but TLS is off; use rediss:// or tls=true, or leave it out`},
		{"rediss://h?tls_cert=/c.pem", `tls_cert is "/c.pem", but tls_key is not given; give both`},
		{"rediss://h?tls_key=/k.pem", `tls_key is "/k.pem", but tls_cert is not given; give both`},
		{"rediss://h?tls_ca=<dir>/none", `tls_ca "<dir>/none" cannot be read: open <dir>/none: no such file or directory; check the name and the permissions`},
		{"rediss://h?tls_cert=<dir>/none&tls_key=<dir>/none", `tls_cert "<dir>/none" cannot be read: open <dir>/none: no such file or directory; check the name and the permissions`},
		{"rediss://h?tls_cert=<cert>&tls_key=<dir>/none", `tls_key "<dir>/none" cannot be read: open <dir>/none: no such file or directory; check the name and the permissions`},
		{"rediss://h?tls_ca=<text>", `tls_ca "<text>" holds no certificate in PEM; name the file that begins with -----BEGIN CERTIFICATE-----`},
		{"rediss://h?tls_cert=<cert>&tls_key=<other>", `tls_cert "<cert>" and tls_key "<other>" do not work: tls: private key does not match public key; name a certificate in PEM and its own key`},
	} {
		_, err := Parse(files.Replace(test.url))
		if want := "redis URL: " + files.Replace(test.want); err == nil || err.Error() != want {
			t.Errorf("Parse(%q):\n got %v\nwant %s", test.url, err, want)
		}
		var typed *Error
		if !errors.As(err, &typed) {
			t.Errorf("Parse(%q): error of type %T", test.url, err)
		}
	}
	if _, err := Parse("rediss://h?tls_ca=" + dir + "/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v does not wrap fs.ErrNotExist", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"redis://u:p@h:6379/1", "rediss://[fe80::1%25eth0]:1?tls_server_name=x", "redis-sentinel://u:p@h1:1,h2/m/3?sentinel_user=a&sentinel_password=b",
		"redis-cluster://h1,h2:7000", "unix://u:p@/a%2Fb?db=1", "redis://%zz@h", "redis://:@:@", "redis://h?tls_ca=/nonexistent",
	} {
		f.Add(text, "correct horse/battery?staple#")
	}
	f.Fuzz(func(t *testing.T, text, password string) {
		if target, err := Parse(text); err == nil {
			printed := target.String()
			again, err := Parse(printed)
			if err != nil || again.String() != printed {
				t.Fatalf("%q prints as %q, which parses as %q, %v", text, printed, again, err)
			}
			for _, secret := range []*string{&target.Password, &target.SentinelPassword} {
				if *secret != "" {
					*secret = redacted
				}
			}
			target.TLS, again.TLS = nil, nil
			if !reflect.DeepEqual(again, target) {
				t.Fatalf("%q prints as %q, which parses as %+v instead of %+v", text, printed, again, target)
			}
		}
		// Whatever stands around a password, escaped or not, nothing shows it.
		const mark = "hunter2hunter2"
		for _, written := range []string{mark + password, password + mark, url.PathEscape(mark + password)} {
			target, err := Parse("redis://user:" + written + "@" + strings.ReplaceAll(text, mark, ""))
			if err != nil && strings.Contains(err.Error(), mark) || err == nil && strings.Contains(target.String(), mark) {
				t.Fatalf("the password %q is shown: %v, %v", written, err, target)
			}
		}
	})
}

// writeCertificate makes a certificate that signs itself, and its key. The certificate is its own authority's.
func writeCertificate(t *testing.T) (ca, cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "redis"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, kind string, bytes []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	return write("ca.pem", "CERTIFICATE", der), write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", encoded)
}

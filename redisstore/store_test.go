package redisstore

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/redistest"
	"github.com/weirhq/weir/storetest"
)

// runOn tests all that a store must do, against the Redis at url.
func runOn(t *testing.T, url string, change func(*Options)) {
	storetest.Run(t, func(t *testing.T, body func(*testing.T, storetest.Rig)) {
		body(t, virtual(open(t, url, change)))
	})
}

func TestStore(t *testing.T) {
	runOn(t, redistest.Start(t, redistest.Options{}).URL(), nil)
}

// TestStoreHashed: hashing the keys changes nothing.
func TestStoreHashed(t *testing.T) {
	runOn(t, redistest.Start(t, redistest.Options{}).URL(), func(o *Options) { o.HashKeys, o.HashSecret = true, []byte("secret") })
}

// TestStorePerSlot: neither does it to send each hash tag's keys apart.
func TestStorePerSlot(t *testing.T) {
	runOn(t, redistest.Start(t, redistest.Options{}).URL(), func(o *Options) { o.PerSlot = true })
}

func TestStoreTLS(t *testing.T) {
	server := redistest.Start(t, redistest.Options{TLS: true, ClientCerts: true})
	runOn(t, server.URL()+"?tls_ca="+server.CAFile+"&tls_cert="+server.CertFile+"&tls_key="+server.KeyFile, nil)
}

// leastRules returns what the documentation says a user needs, for the prefixes of the tests.
func leastRules(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../docs/redis.md")
	if err != nil {
		t.Fatal(err)
	}
	rules := regexp.MustCompile(`ACL SETUSER weir on >password (~weir:\* .*)\n`).FindSubmatch(text)
	if rules == nil {
		t.Fatal("docs/redis.md has no rules for a user")
	}
	return strings.Replace(string(rules[1]), "~weir:*", "~test*", 1)
}

func TestStoreLeastUser(t *testing.T) {
	server := redistest.Start(t, redistest.Options{User: redistest.User{Name: "weir", Password: "p@ss:w/rd", Rules: leastRules(t)}})
	runOn(t, server.URL(), nil)
}

func TestStoreSentinel(t *testing.T) {
	runOn(t, redistest.StartSentinel(t).URL(), nil)
}

func TestStoreCluster(t *testing.T) {
	runOn(t, redistest.StartCluster(t).URL(), nil)
}

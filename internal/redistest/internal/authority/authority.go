package authority

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Files are the certificates and keys, in PEM.
type Files struct {
	CA                    string
	ServerCert, ServerKey string
	ClientCert, ClientKey string
}

// New writes the files into dir. The server is localhost.
func New(dir string) (Files, error) {
	file := func(name string) string { return filepath.Join(dir, name) }
	files := Files{
		CA:         file("ca.crt"),
		ServerCert: file("server.crt"), ServerKey: file("server.key"),
		ClientCert: file("client.crt"), ClientKey: file("client.key"),
	}
	authority := template("redistest authority")
	authority.IsCA, authority.BasicConstraintsValid = true, true
	authority.KeyUsage = x509.KeyUsageCertSign
	caKey, err := sign(authority, authority, nil, files.CA, "")
	if err != nil {
		return Files{}, err
	}
	server := template("redistest server")
	server.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	server.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	server.DNSNames = []string{"localhost"}
	if _, err := sign(server, authority, caKey, files.ServerCert, files.ServerKey); err != nil {
		return Files{}, err
	}
	client := template("redistest client")
	client.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if _, err := sign(client, authority, caKey, files.ClientCert, files.ClientKey); err != nil {
		return Files{}, err
	}
	return files, nil
}

// Client trusts the authority, shows the client's certificate, and expects the server at localhost.
func (f Files) Client() (*tls.Config, error) {
	shown, err := tls.LoadX509KeyPair(f.ClientCert, f.ClientKey)
	if err != nil {
		return nil, err
	}
	ca, err := os.ReadFile(f.CA)
	if err != nil {
		return nil, err
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(ca)
	return &tls.Config{
		RootCAs:      trusted,
		Certificates: []tls.Certificate{shown},
		ServerName:   "localhost",
		MinVersion:   tls.VersionTLS12,
	}, nil
}

func template(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
}

// sign makes a key for cert, has it signed with the authority's key, or by itself if that is nil, and writes both.
func sign(cert, authority *x509.Certificate, signer *ecdsa.PrivateKey, certFile, keyFile string) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if signer == nil {
		signer = key
	}
	signed, err := x509.CreateCertificate(rand.Reader, cert, authority, key.Public(), signer)
	if err != nil {
		return nil, err
	}
	if err := writePEM(certFile, "CERTIFICATE", signed); err != nil || keyFile == "" {
		return key, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return key, writePEM(keyFile, "PRIVATE KEY", secret)
}

func writePEM(file, kind string, content []byte) error {
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600)
}

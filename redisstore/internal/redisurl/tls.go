package redisurl

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/url"
	"os"
	"strconv"
)

// tlsFiles are the parameters that TLS is made of.
type tlsFiles struct{ ca, cert, key, serverName string }

// into sets the parameters of a URL.
func (f tlsFiles) into(query url.Values) {
	for name, value := range map[string]string{"tls_ca": f.ca, "tls_cert": f.cert, "tls_key": f.key, "tls_server_name": f.serverName} {
		if value != "" {
			query.Set(name, value)
		}
	}
}

func (p *parser) readTLS() error {
	on := p.scheme.tls
	if text, given := p.query["tls"]; given {
		wanted, err := strconv.ParseBool(text)
		switch {
		case err != nil:
			return &Error{Part: "tls", Problem: fmt.Sprintf("is %.40q", text), Remedy: "use true or false"}
		case p.scheme.tls && !wanted:
			return &Error{Part: "tls", Problem: "is false, but the scheme turns TLS on", Remedy: "leave it out, or take the s off the scheme"}
		case p.scheme.socket && wanted:
			return &Error{Part: "tls", Problem: "is true, but a socket of this machine has no TLS", Remedy: "leave it out"}
		}
		on = wanted
	}
	files := tlsFiles{ca: p.query["tls_ca"], cert: p.query["tls_cert"], key: p.query["tls_key"], serverName: p.query["tls_server_name"]}
	if !on {
		for _, name := range []string{"tls_ca", "tls_cert", "tls_key", "tls_server_name"} {
			if value, given := p.query[name]; given {
				return &Error{Part: name, Problem: fmt.Sprintf("is %q, but TLS is off", value), Remedy: "use rediss:// or tls=true, or leave it out"}
			}
		}
		return nil
	}
	config, err := files.load()
	p.target.TLS, p.target.files = config, files
	return err
}

// load reads the files.
func (f tlsFiles) load() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: f.serverName}
	switch {
	case f.cert != "" && f.key == "":
		return nil, &Error{Part: "tls_cert", Problem: fmt.Sprintf("is %q, but tls_key is not given", f.cert), Remedy: "give both"}
	case f.cert == "" && f.key != "":
		return nil, &Error{Part: "tls_key", Problem: fmt.Sprintf("is %q, but tls_cert is not given", f.key), Remedy: "give both"}
	}
	if f.ca != "" {
		text, err := os.ReadFile(f.ca)
		if err != nil {
			return nil, unreadable("tls_ca", f.ca, err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, &Error{Part: "tls_ca", Problem: fmt.Sprintf("%q holds no certificate in PEM", f.ca), Remedy: "name the file that begins with -----BEGIN CERTIFICATE-----"}
		}
	}
	if f.cert == "" {
		return config, nil
	}
	cert, err := os.ReadFile(f.cert)
	if err != nil {
		return nil, unreadable("tls_cert", f.cert, err)
	}
	key, err := os.ReadFile(f.key)
	if err != nil {
		return nil, unreadable("tls_key", f.key, err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, &Error{Part: "tls_cert", Problem: fmt.Sprintf("%q and tls_key %q do not work: %v", f.cert, f.key, err), Remedy: "name a certificate in PEM and its own key", Err: err}
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}

func unreadable(part, file string, err error) *Error {
	return &Error{Part: part, Problem: fmt.Sprintf("%q cannot be read: %v", file, err), Remedy: "check the name and the permissions", Err: err}
}

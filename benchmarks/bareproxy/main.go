// Command bareproxy is what weir proxy is compared with: a net/http/httputil.ReverseProxy and nothing else.
//
//	bareproxy -to http://127.0.0.1:8090 -listen 127.0.0.1:8091 [-tuned]
//
// It uses the default transport. With -tuned it gets the transport, and the buffers, of weir proxy, so that what the
// limits and the rest cost by themselves can be seen. docs/proxy.md says how to measure.
package main

import (
	"flag"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"
)

func main() {
	to := flag.String("to", "http://127.0.0.1:8090", "where requests go")
	listen := flag.String("listen", "127.0.0.1:8091", "where to listen")
	tuned := flag.Bool("tuned", false, "use the transport of weir proxy")
	flag.Parse()
	upstream, err := url.Parse(*to)
	if err != nil {
		log.Fatal(err)
	}
	bare := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(upstream)
		r.SetXForwarded()
	}}
	if *tuned {
		bare.BufferPool = &buffers{sync.Pool{New: func() any { return new([32 << 10]byte) }}}
		bare.Transport = &http.Transport{
			DisableCompression:    true,
			MaxIdleConnsPerHost:   1024,
			IdleConnTimeout:       4 * time.Second,
			ExpectContinueTimeout: time.Second,
		}
	}
	log.Fatal(http.ListenAndServe(*listen, bare))
}

type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte  { return b.pool.Get().(*[32 << 10]byte)[:] }
func (b *buffers) Put(p []byte) { b.pool.Put((*[32 << 10]byte)(p)) }

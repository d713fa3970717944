package demo

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"time"
)

//go:embed assets
var assets embed.FS

// contentTypes are those of the page's files, which must not depend on what the system knows of extensions.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// addAssets serves each file at its own path, and the page at / alone. It panics on a file of an unknown type: that
// is a mistake in the program.
func addAssets(mux *http.ServeMux) {
	entries, err := assets.ReadDir("assets")
	if err != nil {
		panic("demo: " + err.Error())
	}
	for _, entry := range entries {
		name := entry.Name()
		content, err := assets.ReadFile("assets/" + name)
		kind, known := contentTypes[path.Ext(name)]
		if err != nil || !known {
			panic(fmt.Sprintf("demo: asset %s cannot be served: error %v, content type %q", name, err, kind))
		}
		pattern := "GET /" + name
		if name == "index.html" {
			pattern = "GET /{$}"
		}
		mux.Handle(pattern, asset(kind, content))
	}
}

// asset serves content. Browsers ask each time whether it has changed, so that a new version of the program is seen
// at once.
func asset(kind string, content []byte) http.Handler {
	sum := sha256.Sum256(content)
	tag := `"` + hex.EncodeToString(sum[:8]) + `"`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", kind)
		h.Set("Cache-Control", "no-cache")
		h.Set("ETag", tag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	})
}

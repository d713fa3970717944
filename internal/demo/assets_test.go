package demo

import (
	"net/http"
	"path"
	"regexp"
	"strings"
	"testing"
)

// files returns the page's files by the path that they are served at.
func files(t *testing.T) map[string]string {
	t.Helper()
	entries, err := assets.ReadDir("assets")
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for _, e := range entries {
		content, err := assets.ReadFile("assets/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		all["/"+e.Name()] = string(content)
	}
	all["/"] = all["/index.html"]
	delete(all, "/index.html")
	return all
}

func TestAssetsAreServed(t *testing.T) {
	v := newVisitor(t)
	for name, content := range files(t) {
		w := v.do("GET", name, "")
		kind := contentTypes[path.Ext(name)]
		if name == "/" {
			kind = contentTypes[".html"]
		}
		if w.Code != 200 || w.Body.String() != content || w.Header().Get("Content-Type") != kind {
			t.Errorf("GET %s = %d, %d bytes of %q; want the file as %q", name, w.Code, w.Body.Len(), w.Header().Get("Content-Type"), kind)
		}
		again := v.do("GET", name, "", "If-None-Match: "+w.Header().Get("ETag"))
		if again.Code != http.StatusNotModified || w.Header().Get("ETag") == "" {
			t.Errorf("GET %s with its ETag %q = %d, want 304", name, w.Header().Get("ETag"), again.Code)
		}
	}
}

// Every file that another names exists, and every file is named.
func TestAssetsAreComplete(t *testing.T) {
	all := files(t)
	named := map[string]bool{"/": true}
	reference := regexp.MustCompile(`(?:src|href|from|import)[=\s(]*"(/[^"]*)"`)
	for name, content := range all {
		for _, m := range reference.FindAllStringSubmatch(content, -1) {
			named[m[1]] = true
			if _, ok := all[m[1]]; !ok {
				t.Errorf("%s names %s, which does not exist", name, m[1])
			}
		}
	}
	for name := range all {
		if !named[name] {
			t.Errorf("no file names %s", name)
		}
	}
	id := regexp.MustCompile(`\$\("([a-z_-]+)"\)`)
	for name, content := range all {
		for _, m := range id.FindAllStringSubmatch(content, -1) {
			if !strings.Contains(all["/"], `id="`+m[1]+`"`) {
				t.Errorf("%s looks for #%s, which the page does not have", name, m[1])
			}
		}
	}
}

// The page comes from this server alone, and the Content-Security-Policy would block anything inline.
func TestAssetsKeepToThemselves(t *testing.T) {
	const namespace = "http://www.w3.org/2000/svg" // a name, never fetched
	foreign := regexp.MustCompile(`(?i)https?://|["'(]//|@import|eval\(|innerHTML|document\.write`)
	inline := regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+=|<script[^>]*>[^<]|javascript:`)
	for name, content := range files(t) {
		for _, line := range strings.Split(strings.ReplaceAll(content, namespace, ""), "\n") {
			if foreign.MatchString(line) {
				t.Errorf("%s reaches beyond its server or writes markup: %s", name, strings.TrimSpace(line))
			}
			if (name == "/" || path.Ext(name) == ".svg") && inline.MatchString(line) {
				t.Errorf("%s has an inline script or style: %s", name, strings.TrimSpace(line))
			}
		}
		if lines := strings.Count(content, "\n"); lines > 400 {
			t.Errorf("%s has %d lines; at most 400", name, lines)
		}
	}
}

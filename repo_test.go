package weir_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/weirhq/weir"

// goPackage is what this file needs of `go list -json`.
type goPackage struct {
	ImportPath string
	Name       string
	Dir        string
	Standard   bool
	Imports    []string
	Deps       []string
	GoFiles    []string
}

func listPackages(t *testing.T, args ...string) []goPackage {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list", "-json=ImportPath,Name,Dir,Standard,Imports,Deps,GoFiles"}, args...)...).Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	var packages []goPackage
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := decoder.Decode(&p); err == io.EOF {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

// short cuts the module off an import path; the root is ".".
func short(path string) string {
	if path == module {
		return "."
	}
	return strings.TrimPrefix(path, module+"/")
}

// arrows says which of our packages each package may import, itself and what is below it apart. A package that is not
// named may be imported by nobody but those who name it.
var arrows = map[string][]string{
	".":                  {},
	"internal/algo":      {"."},
	"internal/model":     {"."},
	"internal/siphash":   {},
	"memstore":           {".", "internal/algo", "internal/siphash"},
	"redisstore":         {".", "internal/algo", "memstore"},
	"storetest":          {".", "internal/model", "testdata"},
	"httplimit":          {"."},
	"internal/proxy":     {".", "memstore", "httplimit"},
	"internal/demo":      {".", "memstore", "httplimit"},
	"internal/race":      {".", "redisstore"},
	"internal/redistest": {},
	"cmd/weir":           {".", "memstore", "redisstore", "httplimit", "internal/proxy", "internal/demo", "internal/race"},
}

// standardOnly are the packages that need nothing but the standard library.
var standardOnly = []string{".", "internal/algo", "internal/siphash", "memstore", "httplimit", "storetest"}

func TestArrows(t *testing.T) {
	for _, p := range listPackages(t, "./...") {
		name := short(p.ImportPath)
		owner := name
		for arrows[owner] == nil && strings.Contains(owner, "/") {
			owner = filepath.Dir(owner)
		}
		allowed, ok := arrows[owner]
		if !ok {
			t.Errorf("%s has no place in the arrows of this test", name)
			continue
		}
		for _, imported := range p.Imports {
			if imported != module && !strings.HasPrefix(imported, module+"/") {
				continue
			}
			to := short(imported)
			if to != owner && !strings.HasPrefix(to, owner+"/") && !slices.Contains(allowed, to) {
				t.Errorf("%s imports %s, which the arrows do not allow", name, to)
			}
		}
	}
}

func TestStandardLibraryOnly(t *testing.T) {
	standard := make(map[string]bool)
	for _, p := range listPackages(t, "std") {
		standard[p.ImportPath] = true
	}
	for _, name := range standardOnly {
		for _, p := range listPackages(t, "./"+name+"/...") {
			if name == "." && p.ImportPath != module {
				continue
			}
			for _, dep := range p.Deps {
				ours := dep == module || strings.HasPrefix(dep, module+"/")
				if !ours && !standard[dep] && !strings.HasPrefix(dep, "vendor/") {
					t.Errorf("%s depends on %s", short(p.ImportPath), dep)
				}
			}
		}
	}
}

// Size budgets; more needs an ADR that is named here.
const (
	maxFileLines     = 400
	maxFunctionLines = 60
	maxPackageLines  = 1200
)

func TestSizes(t *testing.T) {
	perPackage := make(map[string]int)
	eachFile(t, ".go", func(path string, text []byte) {
		lines := bytes.Count(text, []byte("\n"))
		if lines > maxFileLines && !strings.HasSuffix(path, "_test.go") {
			t.Errorf("%s has %d lines, more than %d", path, lines, maxFileLines)
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || strings.HasSuffix(path, "_test.go") {
				continue
			}
			if n := files.Position(f.End()).Line - files.Position(f.Pos()).Line + 1; n > maxFunctionLines {
				t.Errorf("%s: %s has %d lines, more than %d", path, f.Name.Name, n, maxFunctionLines)
			}
		}
		if !strings.HasSuffix(path, "_test.go") {
			perPackage[filepath.Dir(path)] += lines
		}
	})
	for dir, lines := range perPackage {
		if lines > maxPackageLines {
			t.Errorf("package %s has %d lines, more than %d", dir, lines, maxPackageLines)
		}
	}
}

// eachFile calls f for every file of the tree with the ending.
func eachFile(t *testing.T, ending string, f func(path string, text []byte)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && (d.Name() == ".git" || d.Name() == "bin") {
				return filepath.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(path, ending) {
			return nil
		}
		text, err := os.ReadFile(path)
		f(path, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPackagesAreNamedAndDocumented(t *testing.T) {
	banned := []string{"util", "utils", "common", "base", "types", "helper", "helpers", "manager", "impl", "src"}
	for _, p := range listPackages(t, "./...") {
		for part := range strings.SplitSeq(short(p.ImportPath), "/") {
			if slices.Contains(banned, part) {
				t.Errorf("%s: a package says what it is, not %q", p.ImportPath, part)
			}
		}
		if p.Name != "main" && !slices.Contains(p.GoFiles, "doc.go") {
			t.Errorf("%s has no doc.go", short(p.ImportPath))
		}
	}
}

// luaHeader is how a script begins.
var luaHeader = regexp.MustCompile(`^-- \S+\.lua: .+\. Twin of \S+ in \S+\.go\.\n` +
	`-- KEYS.+ARGV.+\n(--  .+\n)*-- returns .+\n(--  .+\n)*`)

func TestLuaHeaders(t *testing.T) {
	sample := "-- bucket.lua: one key, one decision. Twin of algo.Bucket in internal/algo/bucket.go.\n" +
		"-- KEYS[1]  bucket            ARGV  cost, now_us (\"\" = ask Redis TIME)\n" +
		"-- returns  {allowed 0|1, wait_us}      writes  KEYS[1], expires when the bucket is full again\n"
	if !luaHeader.MatchString(sample) || luaHeader.MatchString("-- a script\n"+sample) {
		t.Fatal("the expression for the header does not tell a good one from a bad one")
	}
	eachFile(t, ".lua", func(path string, text []byte) {
		if !luaHeader.Match(text) || !strings.HasPrefix(string(text), "-- "+filepath.Base(path)+": ") {
			t.Errorf("%s does not begin with the header that STYLE wants:\n%s", path, sample)
		}
		if twin := strings.TrimSuffix(path, ".lua") + ".go"; !exists(twin) {
			t.Errorf("%s has no Go file beside it", path)
		}
	})
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestReadme(t *testing.T) {
	lines := strings.Split(read(t, "README.md"), "\n")
	if len(lines) > 200 {
		t.Errorf("README.md has %d lines, more than 200", len(lines))
	}
	head := strings.Join(lines[:40], "\n")
	for _, command := range []string{"go run ./cmd/weir demo", "make test"} {
		if !strings.Contains(head, command) {
			t.Errorf("%q is not in the first 40 lines of README.md", command)
		}
	}
}

// TestReadmeCode: the Go programs of the README are those of examples/, which are compiled and tested.
func TestReadmeCode(t *testing.T) {
	readme := read(t, "README.md")
	programs := regexp.MustCompile("(?s)<!-- (examples/\\S+\\.go) -->\n```go\n(.*?)```").FindAllStringSubmatch(readme, -1)
	if len(programs) == 0 {
		t.Error("README.md shows no program of examples/")
	}
	if got := strings.Count(readme, "```go\n"); got != len(programs) {
		t.Errorf("README.md has %d Go programs, %d of them from examples/", got, len(programs))
	}
	for _, p := range programs {
		if shown := read(t, p[1]); !strings.Contains(shown, p[2]) {
			t.Errorf("README.md shows of %s what does not stand there:\n%s", p[1], p[2])
		}
	}
}

func TestMarkdownLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#: ]+)(#[^)]*)?\)`)
	eachFile(t, ".md", func(path string, text []byte) {
		for _, m := range link.FindAllSubmatch(text, -1) {
			if target := filepath.Join(filepath.Dir(path), string(m[1])); !exists(target) {
				t.Errorf("%s links to %s, which is not there", path, m[1])
			}
		}
	})
}

func TestDecisionRecords(t *testing.T) {
	name := regexp.MustCompile(`^docs/adr/\d{4}-[a-z0-9-]+\.md$`)
	eachFile(t, ".md", func(path string, text []byte) {
		if filepath.Dir(path) != "docs/adr" {
			return
		}
		if !name.MatchString(path) {
			t.Errorf("%s is not named NNNN-title.md", path)
		}
		if n := bytes.Count(text, []byte("\n")); n > 60 {
			t.Errorf("%s has %d lines, more than 60", path, n)
		}
		for _, heading := range []string{"## Context", "## Decision", "## Rejected", "## Cost"} {
			if !bytes.Contains(text, []byte(heading)) {
				t.Errorf("%s has no %q", path, heading)
			}
		}
	})
}

func TestMakefile(t *testing.T) {
	targets := regexp.MustCompile(`(?m)^([a-z-]+):.*?(## .+)?$`).FindAllStringSubmatch(read(t, "Makefile"), -1)
	if len(targets) > 12 {
		t.Errorf("the Makefile has %d targets, more than 12", len(targets))
	}
	for _, target := range targets {
		if target[2] == "" {
			t.Errorf("the Makefile does not say what %s does", target[1])
		}
	}
}

// TestVersion ties the changelog to the version that the tool prints.
func TestVersion(t *testing.T) {
	m := regexp.MustCompile(`(?m)^const [vV]ersion = "(.+)"$`).FindStringSubmatch(read(t, "cmd/weir/version.go"))
	if m == nil {
		t.Fatal("cmd/weir/version.go has no constant with the version")
	}
	changelog := read(t, "CHANGELOG.md")
	if !strings.Contains(changelog, "## Unreleased") && !strings.Contains(changelog, fmt.Sprintf("## %s ", m[1])) {
		t.Errorf("CHANGELOG.md has neither %q nor a section for %s", "## Unreleased", m[1])
	}
}

// TestTodosHaveIssues: what is left to do has a number under which it is talked about.
func TestTodosHaveIssues(t *testing.T) {
	todo := regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|X` + `XX)\b[^#\n]*$`)
	eachFile(t, ".go", func(path string, text []byte) {
		for i, line := range strings.Split(string(text), "\n") {
			if todo.MatchString(line) {
				t.Errorf("%s:%d: %s", path, i+1, strings.TrimSpace(line))
			}
		}
	})
}

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRun: two limiters go through all workloads, and the document has their tables.
func TestRun(t *testing.T) {
	for _, program := range []string{"redis-server", "redis-benchmark"} {
		if _, err := exec.LookPath(program); err == nil {
			continue
		} else if os.Getenv("CI") != "" {
			t.Fatalf("%v: CI must install it", err)
		} else {
			t.Skipf("%v: install redis-server and redis-tools", err)
		}
	}
	document := filepath.Join(t.TempDir(), "document.md")
	if err := os.WriteFile(document, []byte("head\n<!-- redis:begin -->\nold\n<!-- redis:end -->\ntail\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	o := options{rounds: 1, duration: 10 * time.Millisecond, only: "^rueidis script$|redis-benchmark", seed: 7, update: document, keys: 1000}
	if err := run(t.Context(), o, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"**1000 keys, 512 callers**", "**one hot key, 1 caller**", "| rueidis script | ", "| redis-benchmark -P 16 | ", "Versions: Redis ",
		"`go run ./redis -rounds 1 -duration 10ms -seed 7 -only '^rueidis script$|redis-benchmark'`",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("run printed no %q:\n%s", want, out.String())
		}
	}
	text, err := os.ReadFile(document)
	if want := "head\n<!-- redis:begin -->\n" + out.String() + "<!-- redis:end -->\ntail\n"; err != nil || string(text) != want {
		t.Errorf("the document is\n%s, %v; want\n%s", text, err, want)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []options{
		{rounds: 0, duration: time.Second},
		{rounds: 1, duration: time.Millisecond},
		{rounds: 1, duration: time.Second, only: "("},
		{rounds: 1, duration: time.Second, only: "nobody has this name"},
	} {
		if got, err := o.contestants(); err == nil {
			t.Errorf("contestants() of %+v = %d, want an error", o, len(got))
		}
	}
}

package report

import (
	"os"
	"path/filepath"
	"testing"
)

func TestUpdate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "document.md")
	const document = "head\n<!-- a:begin -->\nold\n<!-- a:end -->\n<!-- b:begin --><!-- b:end -->\n"
	if err := os.WriteFile(path, []byte(document), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"b", "a"} {
		if err := Update(path, name, "\n| new |\n\n"); err != nil {
			t.Fatalf("Update(%s) = %v", name, err)
		}
	}
	if err := Update(path, "c", "new"); err == nil {
		t.Error("Update(c) = nil, want an error: there are no such markers")
	}
	const want = "head\n<!-- a:begin -->\n| new |\n<!-- a:end -->\n<!-- b:begin -->\n| new |\n<!-- b:end -->\n"
	if got, _ := os.ReadFile(path); string(got) != want {
		t.Errorf("the document is\n%s, want\n%s", got, want)
	}
}

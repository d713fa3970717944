package main

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"--version"}} {
		got := weirDoes(args...)
		if got.status != 0 || !strings.HasPrefix(got.stdout, "weir "+Version+" ") || strings.Count(got.stdout, "\n") != 1 {
			t.Errorf("weir %q: %+v; want a line with %s", args, got, Version)
		}
	}
}

func TestCommitText(t *testing.T) {
	setting := func(key, value string) debug.BuildSetting { return debug.BuildSetting{Key: key, Value: value} }
	for _, c := range []struct {
		settings []debug.BuildSetting
		want     string
	}{
		{nil, ""},
		{[]debug.BuildSetting{setting("vcs.modified", "true")}, ""},
		{[]debug.BuildSetting{setting("vcs.revision", "0123456789abcdef"), setting("vcs.modified", "false")}, " (commit 0123456789ab)"},
		{[]debug.BuildSetting{setting("vcs.revision", "0123"), setting("vcs.modified", "true")}, " (commit 0123, modified)"},
	} {
		if got := commitText(c.settings); got != c.want {
			t.Errorf("commitText(%v) = %q, want %q", c.settings, got, c.want)
		}
	}
}

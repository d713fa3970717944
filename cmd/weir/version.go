package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Version is the version of this tree: a release of CHANGELOG.md, or the one that "Unreleased" will be, with -dev.
const Version = "0.1.0-dev"

// versionCmd is weir version.
type versionCmd struct{}

// Run prints what weir --version does.
func (*versionCmd) Run(a *app) error {
	_, err := fmt.Fprintln(a.stdout, versionText())
	return err
}

// versionText returns the version, the commit where the build knows it, and what it was built with and for.
func versionText() string {
	commit := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		commit = commitText(info.Settings)
	}
	return fmt.Sprintf("weir %s%s %s %s/%s", Version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// commitText returns " (commit 0123456789ab, modified)", or nothing when settings hold no commit.
func commitText(settings []debug.BuildSetting) string {
	revision, modified := "", ""
	for _, s := range settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case "vcs.modified":
			if s.Value == "true" {
				modified = ", modified"
			}
		}
	}
	if revision == "" {
		return ""
	}
	return " (commit " + revision + modified + ")"
}

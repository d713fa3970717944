package report

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// Provenance returns the line that goes with every table: machine, command and date.
func Provenance(command string) string {
	machine := fmt.Sprintf("%s, %d cores, GOMAXPROCS %d", cpuModel(), runtime.NumCPU(), runtime.GOMAXPROCS(0))
	system := fmt.Sprintf("%s %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return fmt.Sprintf("%s, %s; `%s`; %s", machine, system, command, time.Now().UTC().Format(time.DateOnly))
}

// cpuModel returns the processor's name as Linux knows it, with what tells apart those that share it.
func cpuModel() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	fields := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok {
			fields[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	name := fields["model name"]
	if name == "" {
		return "unknown processor"
	}
	if fields["model"] != "" {
		name += fmt.Sprintf(" (family %s, model %s)", fields["cpu family"], fields["model"])
	}
	return name
}

// Update replaces what stands between the markers <!-- name:begin --> and <!-- name:end --> of the document at path.
func Update(path, name, text string) error {
	document, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	begin, end := fmt.Sprintf("<!-- %s:begin -->", name), fmt.Sprintf("<!-- %s:end -->", name)
	before, rest, found := strings.Cut(string(document), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return fmt.Errorf("report: %s has no %s ... %s", path, begin, end)
	}
	updated := before + begin + "\n" + strings.TrimSpace(text) + "\n" + end + after
	return os.WriteFile(path, []byte(updated), 0o644)
}

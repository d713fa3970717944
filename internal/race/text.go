package race

import (
	"fmt"
	"io"
	"strings"
)

// nameWidth is the columns of a way's title and the space after it.
const nameWidth = 17

// fullWidth is the columns that bars and table need.
const fullWidth = 68

// WriteText writes r for people: bars of what was decided, what it took, and a sentence on each way.
func (r *Report) WriteText(w io.Writer, s Style) error {
	width := min(max(s.Width, 40), 120)
	var b strings.Builder
	r.writeHead(&b, width)
	if width < fullWidth {
		r.writeList(&b)
	} else {
		r.writeBars(&b, s, width)
		r.writeTable(&b)
	}
	for i := range r.Ways {
		r.Ways[i].writeVerdict(&b, s, width)
	}
	b.WriteString("\n" + wrap(r.advice(), width, 0, "") + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) writeHead(b *strings.Builder, width int) {
	workers := thousands(r.Workers) + " workers, each with its own connection, make"
	if r.Workers == 1 {
		workers = "One worker makes"
	}
	head := fmt.Sprintf("%s may be admitted on one key of %s. %s %s, in each of four ways.",
		count(r.Limit, "request", "requests"), r.Store, workers, thousands(r.Requests))
	b.WriteString(wrap(head, width, 0, "") + "\n\n")
}

// writeList writes the numbers one below the other, where there is no room for bars and table.
func (r *Report) writeList(b *strings.Builder) {
	for _, w := range r.Ways {
		fmt.Fprintf(b, "%s\n", w.Title)
		for _, line := range [][2]string{
			{"admitted", thousands(w.Admitted)}, {"over", thousands(w.OverLimit)}, {wronglyRefused, thousands(w.WronglyRefused)},
			{"retries", thousands(w.Retries)}, {"errors", thousands(w.Errors)},
			{"p50 ms", millis(w.LatencyP50)}, {"p99 ms", millis(w.LatencyP99)}, {"requests/s", thousands(w.RequestsPerSecond)},
		} {
			fmt.Fprintf(b, "  %-16s %10s\n", line[0], line[1])
		}
		b.WriteByte('\n')
	}
}

// writeBars writes what each way decided.
func (r *Report) writeBars(b *strings.Builder, s Style, width int) {
	chart := newChart(r, s, width-nameWidth)
	fmt.Fprintf(b, "%*s%s\n", nameWidth, "", chart.head())
	for i := range r.Ways {
		b.WriteString(pad(r.Ways[i].Title, nameWidth) + chart.row(&r.Ways[i]) + "\n")
	}
}

// writeTable writes what each way took.
func (r *Report) writeTable(b *strings.Builder) {
	const row = "%-16s %6s %9s %7s %7s %7s %10s\n"
	fmt.Fprintf(b, "\n"+row, "", "over", "retries", "errors", "p50 ms", "p99 ms", "requests/s")
	for _, w := range r.Ways {
		fmt.Fprintf(b, row, w.Title, thousands(w.OverLimit), thousands(w.Retries), thousands(w.Errors),
			millis(w.LatencyP50), millis(w.LatencyP99), thousands(w.RequestsPerSecond))
	}
	b.WriteByte('\n')
}

// writeVerdict writes the sentence on w.
func (w *Result) writeVerdict(b *strings.Builder, s Style, width int) {
	color := map[Verdict]string{Right: green, Lucky: yellow, Wrong: red}[w.Verdict]
	verdict := string(w.Verdict)
	if w.Verdict == Lucky {
		verdict = "right, by luck"
	}
	plain := w.Title + ": " + verdict + "."
	text := wrap(w.Explanation, width, len(plain)+1, "  ")
	fmt.Fprintf(b, "%s: %s. %s\n", w.Title, s.paint(color, verdict), text)
}

// millis writes a number of microseconds as milliseconds, with three digits that count.
func millis(micros int64) string {
	ms := float64(micros) / 1000
	switch {
	case ms < 10:
		return fmt.Sprintf("%.2f", ms)
	case ms < 100:
		return fmt.Sprintf("%.1f", ms)
	}
	return fmt.Sprintf("%.0f", ms)
}

// wrap breaks text into lines of at most width columns. The first one has used columns already, the others begin with
// indent.
func wrap(text string, width, used int, indent string) string {
	var b strings.Builder
	column, fresh := used, true
	for word := range strings.FieldsSeq(text) {
		n := len([]rune(word))
		switch {
		case fresh:
		case column+1+n > width:
			b.WriteString("\n" + indent)
			column = len(indent)
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column, fresh = column+n, false
	}
	return b.String()
}

package race

import (
	"math"
	"strings"
	"unicode/utf8"
)

// Style says how a [Report] is written for people.
type Style struct {
	Width  int  // columns of a line; it is written for 40 to 120 of them, below 68 without bars
	Blocks bool // bars of Unicode blocks; otherwise of # and |
	Color  bool // colors, as ANSI escapes
}

// The colors of what was right, in doubt and wrong.
const (
	green  = "32"
	yellow = "33"
	red    = "31"
)

func (s Style) paint(color, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

func (s Style) mark() string {
	if s.Blocks {
		return "│"
	}
	return "|"
}

// bar returns a bar of share, 0 to 1, of width columns. What is more than nothing is seen.
func (s Style) bar(share float64, width int) string {
	if share <= 0 || width < 1 {
		return ""
	}
	if !s.Blocks {
		return strings.Repeat("#", max(1, int(math.Round(share*float64(width)))))
	}
	eighths := max(1, int(math.Round(share*float64(width*8))))
	bar := strings.Repeat("█", eighths/8)
	if part := eighths % 8; part > 0 {
		bar += string([]rune("▏▎▍▌▋▊▉")[part-1])
	}
	return bar
}

// wronglyRefused is above the bars of refusals.
const wronglyRefused = "wrongly refused"

// chart draws how many were admitted, with a mark at the limit, and how many were wrongly refused.
type chart struct {
	Style
	report *Report

	mostOver              int // of all ways
	within, over, refused int // columns of the bars up to the limit, beyond it, and of all requests refused
	admitted              int // columns of a cell with the first two, the mark and a number
	number                int // columns of a number of refusals, and the space before it
}

func newChart(r *Report, s Style, width int) *chart {
	c := &chart{Style: s, report: r}
	labels, refused := 0, 0
	for _, w := range r.Ways {
		c.mostOver = max(c.mostOver, w.OverLimit)
		labels = max(labels, len(thousands(w.Admitted)))
		refused = max(refused, len(thousands(w.WronglyRefused)))
	}
	const mark, spaces = 1, 4 // before each number, and between the two cells
	bars := width - mark - labels - refused - spaces
	c.number = 1 + refused
	c.refused = max(bars*2/5, len(wronglyRefused)-c.number)
	first := bars - c.refused
	c.within = first
	if c.mostOver > 0 {
		share := float64(r.Limit) / (float64(r.Limit) + float64(c.mostOver))
		c.within = min(max(int(math.Round(share*float64(first))), 1), first-1)
	}
	c.over = first - c.within
	c.admitted = first + mark + 1 + labels
	return c
}

// head returns the line above the bars.
func (c *chart) head() string {
	refused := wronglyRefused
	if of := refused + ", of " + thousands(c.report.Requests); len(of) <= c.refused+c.number {
		refused = of
	}
	return pad("admitted, "+c.mark()+" limit "+thousands(c.report.Limit), c.admitted) + "  " + refused
}

// row returns the bars of w.
func (c *chart) row(w *Result) string {
	inside := c.bar(float64(w.Admitted-w.OverLimit)/float64(c.report.Limit), c.within)
	outside := ""
	if w.OverLimit > 0 {
		outside = c.bar(float64(w.OverLimit)/float64(c.mostOver), c.over)
	}
	number := " " + thousands(w.Admitted)
	rest := max(0, c.admitted-c.within-1-utf8.RuneCountInString(outside)-len(number))
	line := c.paint(green, inside) + strings.Repeat(" ", max(0, c.within-utf8.RuneCountInString(inside))) + c.mark() +
		c.paint(red, outside) + number + strings.Repeat(" ", rest) + "  "
	if w.WronglyRefused > 0 {
		line += c.paint(red, c.bar(float64(w.WronglyRefused)/float64(c.report.Requests), c.refused)) + " "
	}
	return line + thousands(w.WronglyRefused)
}

// pad fills text with spaces up to width columns.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

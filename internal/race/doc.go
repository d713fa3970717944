// Package race enforces one limit on one key of a real Redis in four ways, one after the other, while many workers ask
// at once, and counts what each way decides wrongly. docs/race.md shows it.
//
// # Reading the source
//
// race.go ([Run], from the options to the [Report]), way.go (the four ways; unsafe.go, watch.go and counter.go are how
// they are written), contest.go (the workers), tally.go (what is counted, and why that is fair), verdict.go (what a
// [Result] means, in a sentence), text.go and bars.go (the report for people), open.go (to Redis and back).
package race

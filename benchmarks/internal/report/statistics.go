package report

import "slices"

// Median returns the middle of the values, of which there must be one.
func Median(values []float64) float64 { return Quantile(values, 0.5) }

// Spread returns half the distance between the quartiles, as a part of the median.
func Spread(values []float64) float64 {
	return (Quantile(values, 0.75) - Quantile(values, 0.25)) / 2 / Median(values)
}

// Quantile interpolates between the values, of which there must be one.
func Quantile(values []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	at := q * float64(len(sorted)-1)
	i := min(int(at), max(0, len(sorted)-2))
	next := min(i+1, len(sorted)-1)
	return sorted[i] + (at-float64(i))*(sorted[next]-sorted[i])
}

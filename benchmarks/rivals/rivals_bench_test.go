package rivals

import "testing"

// BenchmarkAllow is for benchstat; the comparison with its own clock is ../compare, which interleaves the rivals.
func BenchmarkAllow(b *testing.B) {
	keys := Keys()
	workloads := Workloads(keys)
	for _, r := range contestants() {
		if err := r.Check(keys); err != nil {
			b.Fatal(err)
		}
		b.Run(r.Name, func(b *testing.B) {
			for _, w := range workloads {
				if r.Keyed || w.Hot {
					b.Run(w.Name, func(b *testing.B) { benchmark(b, r, &w) })
				}
			}
		})
	}
}

// benchmark takes a fresh limiter after every Decisions, so that however many the clock allows, they are alike.
func benchmark(b *testing.B, r Rival, w *Workload) {
	b.ReportAllocs()
	b.StopTimer()
	for left := b.N; left > 0; left -= Decisions {
		l := r.New(PerHour)
		w.Fill(l)
		n := min(left, Decisions)
		b.StartTimer()
		admitted := w.Run(l, n)
		b.StopTimer()
		l.Close()
		if n < PerHour {
			continue // the first probe of the framework
		}
		if err := w.CheckAdmitted(admitted, n); err != nil {
			b.Fatal(err)
		}
	}
}

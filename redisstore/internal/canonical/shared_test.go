package canonical

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir"
)

// crowd asks from eight goroutines, every other one of the other side, each until ask returns false, and returns how
// many were admitted.
func (r *rig) crowd(ask func(ours bool) (admitted, again bool, err error)) int64 {
	r.Helper()
	var admitted atomic.Int64
	var everybody sync.WaitGroup
	for i := range 8 {
		everybody.Go(func() {
			for {
				yes, again, err := ask(i%2 == 0)
				if err != nil {
					r.Error(err)
					return
				}
				if yes {
					admitted.Add(1)
				}
				if !again {
					return
				}
			}
		})
	}
	everybody.Wait()
	return admitted.Load()
}

// TestCrowdAtOneInstant: everybody together gets what is there, and after three steps what they gave.
func TestCrowdAtOneInstant(t *testing.T) {
	r := newRig(t, newClient(t), Limit{Capacity: 100, Refill: 7, Interval: 250 * time.Millisecond})
	for _, c := range []struct{ after, want int64 }{{0, 100}, {0, 0}, {250e3 - 1, 0}, {250e3, 7}, {1000e3 - tick, 14}, {60e6, 100}} {
		now := epoch + c.after
		got := r.crowd(func(ours bool) (bool, bool, error) {
			if !ours {
				yes, err := r.tryTheirs(seconds(now))
				return yes, yes, err
			}
			out, err := r.try(Take, 1, now)
			return out.RetryAfter == 0, out.RetryAfter == 0, err
		})
		if got != c.want {
			t.Errorf("%d us on: admitted %d, want %d", c.after, got, c.want)
		}
	}
}

// TestCrowdInRealTime: ours by the server's clock, theirs by their own, which is the same here.
func TestCrowdInRealTime(t *testing.T) {
	client := newClient(t)
	for _, l := range []Limit{
		{Capacity: 1000, Refill: 3, Interval: 20 * time.Millisecond},
		{Capacity: 1000, Refill: 0.7, Interval: 3300 * time.Microsecond},
	} {
		t.Run(l.String(), func(t *testing.T) {
			r := newRig(t, client, l)
			before := time.Now()
			if !r.takes(1000, ServerClock) {
				t.Fatal("a new bucket is not full")
			}
			after := time.Now()
			got := r.crowd(func(ours bool) (bool, bool, error) {
				again := time.Since(before) < 300*time.Millisecond
				if !ours {
					yes, err := r.tryTheirs(seconds(time.Now().UnixMicro()))
					return yes, again, err
				}
				out, err := r.try(Take, 1, ServerClock)
				return out.RetryAfter == 0, again, err
			})
			for r.takes(1, ServerClock) { // what a stalled crowd has left
				got++
			}
			most := l.Refill * float64(time.Since(before)/l.Interval+1)
			least := l.Refill*float64((300*time.Millisecond-after.Sub(before))/l.Interval-1) - 1
			if float64(got) > most || float64(got) < least {
				t.Errorf("admitted %d, want %.1f to %.1f", got, least, most)
			}
		})
	}
}

// TestForeignClocks: callers of the other side whose clocks are five seconds behind and ahead get, together with ours,
// the steps of ten seconds more than one clock would give; once, however long it goes on.
func TestForeignClocks(t *testing.T) {
	client := newClient(t)
	for _, l := range []Limit{
		{Capacity: 10, Refill: 1, Interval: time.Second},
		{Capacity: 4, Refill: 4, Interval: 250 * time.Millisecond}, // full again long before five seconds are over
		{Capacity: 50, Refill: 0.3, Interval: 100 * time.Millisecond},
	} {
		t.Run(l.String(), func(t *testing.T) {
			r := newRig(t, client, l)
			const skew = 5_000_000
			var admitted, ours int64
			end := epoch
			for ; end < epoch+100e6; end += 200e3 {
				for more := true; more; {
					more = false
					for _, clock := range []int64{end - skew, end, end + skew} {
						yes := clock == end && r.takes(1, end) || clock != end && r.theirs(clock)
						if yes && clock == end {
							ours++
						}
						if yes {
							admitted++
							more = true
						}
					}
				}
			}
			interval := l.Interval.Microseconds()
			most := l.Capacity + l.Refill*float64((end-epoch+2*skew)/interval+1)
			least := l.Capacity + l.Refill*float64((end-epoch)/interval-1) - 1
			if float64(admitted) > most || float64(admitted) < least {
				t.Errorf("admitted %d, want %.1f to %.1f", admitted, least, most)
			}
			if ours == 0 {
				t.Error("ours got nothing")
			}
			// Once the one ahead has gone, ours waits for its clock to catch up and for the steps it needs.
			wait := r.ours(Take, 1, end).RetryAfter
			if need := time.Duration(1/l.Refill+1) * l.Interval; wait <= 0 || wait > skew*time.Microsecond+need {
				t.Errorf("ours waits %v, want up to 5s and %v", wait, need)
			}
			r.checkWait(1, end, wait)
		})
	}
}

const year = 365 * 24 * time.Hour

// TestUntrustedTime: a last_refill from far ahead gives nothing, however often somebody with that clock comes by, and
// goes with the key.
func TestUntrustedTime(t *testing.T) {
	client := newClient(t)
	l := Limit{Capacity: 10, Refill: 1, Interval: time.Second}

	t.Run("mints nothing", func(t *testing.T) {
		r := newRig(t, client, l)
		admitted := 0
		end := epoch
		for ; end < epoch+200e6; end += 500e3 {
			for r.takes(1, end) {
				admitted++
			}
			for r.theirs(end + year.Microseconds()) {
				admitted++
			}
		}
		// Ours filled the bucket first, then the clock of the other side did.
		if most := 2*10 + 200; admitted > most || admitted < 200 {
			t.Errorf("admitted %d, want 200 to %d", admitted, most)
		}
	})

	t.Run("locks nobody out", func(t *testing.T) {
		r := newRig(t, client, l)
		far := seconds(epoch + year.Microseconds())
		r.put("3", far)
		for range 3 {
			if !r.takes(1, epoch) {
				t.Fatal("what is there is refused")
			}
		}
		r.checkTTL(keep(l))
		r.must(client.Persist(r.ctx, r.key).Err())
		writes := r.writes()
		got := r.ours(Peek, 1, epoch)
		if writes != r.writes() {
			t.Error("a peek wrote")
		}
		if want := keep(l) + time.Millisecond; got.RetryAfter != want || got.ResetAfter != want {
			t.Errorf("peek: %+v, want to wait %v", got, want)
		}
		r.checkRefusal(epoch, 1)
		r.checkTTL(keep(l))
		r.checkRefusal(epoch, 0)
		if tokens, last := r.fields(); tokens != "0" || last != far {
			t.Errorf("state %s of %s, want 0 of %s", tokens, last, far)
		}
		r.must(client.PExpire(r.ctx, r.key, year).Err())
		r.checkRefusal(epoch, 1)
		r.checkTTL(keep(l))
		r.must(client.Del(r.ctx, r.key).Err()) // as the server will
		if !r.takes(10, epoch) {
			t.Error("the key has gone and the bucket is not full")
		}
	})

	t.Run("is trusted up to keep", func(t *testing.T) {
		r := newRig(t, client, l)
		r.put("0", seconds(epoch+keep(l).Microseconds()))
		if got, want := r.ours(Peek, 1, epoch).RetryAfter, keep(l)+time.Second; got != want {
			t.Errorf("waits %v, want %v", got, want)
		}
		if got, want := r.ours(Peek, 1, epoch-1).RetryAfter, keep(l)+time.Millisecond; got != want {
			t.Errorf("a microsecond more: waits %v, want %v", got, want)
		}
	})
}

// checkRefusal refuses a token and counts the writes.
func (r *rig) checkRefusal(now, want int64) {
	r.Helper()
	writes := r.writes()
	if r.takes(1, now) {
		r.Fatal("admitted")
	}
	if got := r.writes() - writes; got != want {
		r.Errorf("a refusal wrote %d times, want %d", got, want)
	}
}

// checkTTL: the key expires after want, but for the seconds that the test may have taken.
func (r *rig) checkTTL(want time.Duration) {
	r.Helper()
	if got := r.ttl(); got > want+time.Millisecond || got < want-10*time.Second {
		r.Errorf("expires after %v, want %v", got, want)
	}
}

// TestExpiry: after each write of ours the key lives until the bucket is full again and keep longer.
func TestExpiry(t *testing.T) {
	client := newClient(t)
	for _, l := range append(exactLimits, Limit{Capacity: 1e5, Refill: 0.5, Interval: time.Hour}, Limit{Capacity: 36500, Refill: 1, Interval: 24 * time.Hour}) {
		t.Run(l.String(), func(t *testing.T) {
			r := newRig(t, client, l)
			check := func(op Op, cost int64) {
				t.Helper()
				out := r.ours(op, cost, ServerClock)
				r.checkTTL(keep(l) + out.ResetAfter)
			}
			check(Take, 1)
			check(Charge, int64(3*l.Capacity))
			check(Refund, 1)
			r.must(client.Persist(r.ctx, r.key).Err())
			check(Refund, int64(4*l.Capacity))
			if got := r.ours(Peek, 1, ServerClock); got.ResetAfter != 0 {
				t.Errorf("after the refund: %+v", got)
			}
			r.ours(Reset, 0, ServerClock)
			if n := client.Exists(r.ctx, r.key).Val(); n != 0 {
				t.Error("reset left the key")
			}
		})
	}
}

// TestRefusalWritesNothing, except an expiry that would come before the bucket is full because the other side took
// since it was set.
func TestRefusalWritesNothing(t *testing.T) {
	l := Limit{Capacity: 10, Refill: 1, Interval: time.Second}
	r := newRig(t, newClient(t), l)
	r.takes(4, epoch)
	for r.theirs(epoch + 300) {
	}
	tokens, last := r.fields()
	for _, now := range []int64{epoch - 7e6, epoch, epoch + 999_999} {
		r.checkRefusal(now, 0)
	}
	writes := r.writes()
	r.ours(Peek, 1, epoch+5e6)
	r.ours(Take, 0, epoch+5e6)
	r.ours(Take, 11, epoch+5e6)
	r.ours(Refund, 0, epoch+5e6)
	r.ours(Charge, 0, epoch+5e6)
	if r.writes() != writes {
		t.Error("a peek, or a cost of nothing or too much, wrote")
	}
	r.must(r.client.PExpire(r.ctx, r.key, 5*time.Second).Err())
	r.checkRefusal(epoch, 1)
	r.checkTTL(10*time.Second + keep(l))
	r.checkRefusal(epoch, 0)
	r.must(r.client.Persist(r.ctx, r.key).Err())
	r.checkRefusal(epoch, 0)
	if a, b := r.fields(); a != tokens || b != last {
		t.Errorf("refusals changed %s of %s to %s of %s", tokens, last, a, b)
	}
}

// TestStoredText: what ours writes is short, and says exactly what it means.
func TestStoredText(t *testing.T) {
	r := newRig(t, newClient(t), Limit{Capacity: 10.7, Refill: 0.1, Interval: 100 * time.Millisecond})
	for _, c := range []struct {
		put, putLast string
		now          int64
		want, last   string
	}{
		{"", "", epoch, "9.7", "1790000000"},
		{"", "", epoch + 123_456, "9.7", "1790000000.123456"},
		{"", "", epoch + 120_000, "9.7", "1790000000.12"},
		{"5", "1790000000.1234560", epoch + 100_000, "4", "1790000000.1234560"},         // within the step: as it was
		{"5", "1790000000.1234560013", epoch + 300_000, "4.1", "1790000000.223456"},     // 17 digits
		{"5", "1790000000.1235", epoch + 223_500, "4.1", "1790000000.2235"},             // the 14 digits of tostring
		{"5", "1.79e+09", epoch + 200_001, "4.2", "1790000000.2"},                       // fewer still
		{"0.99999999999999989", "1790000000", epoch, "0", "1790000000"},                 // ten times 0.1
		{"0.89999999999999991", "1790000000", epoch + 100_000, "0", "1790000000.1"},     // the tenth in one go
		{"1e-3", "1790000000", epoch + 1000_000, "0.0009999999999998899", "1790000001"}, // fractions stay
		{"7", "1700000000", epoch, "9.7", "1790000000"},                                 // full long ago, in phase
		{"7", "-1e300", epoch, "9.7", "1790000000"},                                     // before any clock
		{"7", "-1e305", epoch, "9.7", "1790000000"},                                     // even after it is made microseconds
		{"7", "0", epoch, "9.7", "1790000000"},                                          // 1970
		{"1e9", "1790000000", epoch, "9.7", "1790000000"},                               // more than the capacity
		{"-1e300", "1790000000", epoch + 36_000e6, "-3153563990.3", "1790036000"},       // a debt without end
		{"0x10", " 1790000000 ", epoch, "9.7", " 1790000000 "},                          // as Lua reads it
		{"2", "1790000005", epoch, "1", "1790000005"},                                   // ahead: stays
		{"2", "1790000000", epoch - 3600e6, "1", "1790000000"},                          // a clock gone back
		{"2", "1e300", epoch, "1", "1e300"},                                             // no clock at all
		{"2", "1790000000000", epoch, "1", "1790000000000"},                             // milliseconds
		{"10.6999999999", "1790000000", epoch, "9.7", "1790000000"},                     // full but for dust
		{"5", "1790000000", epoch + 5699_999, "9.600000000000001", "1790000005.6"},      // 56 steps
		{"5", "1790000000", epoch + 5700_000, "9.7", "1790000005.7"},                    // 57 steps: full
		{"5", "1790000000.05", epoch + 5700_000, "9.600000000000001", "1790000005.65"},  // keeps the phase
		{"5", "1790000000.05", epoch + 999_999_950_000, "9.7", "1790999999.95"},         // also when full
	} {
		if c.put == "" {
			r.must(r.client.Del(r.ctx, r.key).Err())
		} else {
			r.put(c.put, c.putLast)
		}
		out := r.ours(Take, 1, c.now)
		tokens, last := r.fields()
		if out.RetryAfter != 0 { // a debt
			out = r.ours(Charge, 1, c.now)
			tokens, last = r.fields()
		}
		if tokens != c.want || last != c.last {
			t.Errorf("%s of %s at %d: %+v, left %s of %s, want %s of %s", c.put, c.putLast, c.now, out, tokens, last, c.want, c.last)
		}
	}
}

// TestLargeFractions: where sums of large fractions lose digits, the wait is still that of the sum that will be made.
func TestLargeFractions(t *testing.T) {
	client := newClient(t)
	for _, c := range []struct {
		limit  Limit
		tokens string
		cost   int64
	}{
		{Limit{Capacity: 254492040478, Refill: 0.7, Interval: time.Millisecond}, "39588256776.4", 254492040478},
		{Limit{Capacity: 536608846354, Refill: 0.7, Interval: time.Millisecond}, "33962044371.8", 482154557508},
		{Limit{Capacity: 137020753287, Refill: 0.3, Interval: time.Millisecond}, "7559355485.7", 137020753287},
	} {
		t.Run(c.limit.String(), func(t *testing.T) {
			r := newRig(t, client, c.limit)
			r.put(c.tokens, seconds(epoch))
			r.checkWait(c.cost, epoch, r.ours(Take, c.cost, epoch).RetryAfter)
		})
	}
}

// TestDebt: a debt ends where a hundred years or 1e12 steps pay it, and both sides pay it off.
func TestDebt(t *testing.T) {
	client := newClient(t)
	for _, c := range []struct {
		limit Limit
		want  time.Duration
	}{
		{Limit{Capacity: 10, Refill: 1, Interval: 24 * time.Hour}, 100 * year},
		{Limit{Capacity: 10, Refill: 1, Interval: time.Millisecond}, 1e12 * time.Millisecond},
		{Limit{Capacity: 10, Refill: weir.MaxQuota, Interval: time.Second}, time.Second},
	} {
		t.Run(c.limit.String(), func(t *testing.T) {
			r := newRig(t, client, c.limit)
			for range 3 {
				if got := r.ours(Charge, weir.MaxQuota, epoch); got.ResetAfter != c.want || got.Remaining != 0 {
					t.Errorf("a charge leaves %+v, want %v until it is full", got, c.want)
				}
			}
		})
	}
	r := newRig(t, client, exactLimits[0])
	r.ours(Charge, 13, epoch)
	if r.theirs(epoch+3_999_999) || !r.theirs(epoch+4e6) || r.takes(1, epoch+4e6) || !r.takes(1, epoch+5e6) {
		t.Error("after a charge of 13 the tokens 11 and 12 do not come with the fourth and fifth second")
	}
}

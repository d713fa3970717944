package algo_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/model"
)

// FuzzAgainstModel lets the fuzzer choose a limit's numbers, and operations with any amounts at any times.
func FuzzAgainstModel(f *testing.F) {
	for kind := range uint8(8) {
		for _, n := range []int64{1, 10, weir.MaxQuota} {
			f.Add(kind, n, int64(3), int64(1_000_000), []byte("take some, look, give some back, and charge a lot in between"))
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, quota, refill, period int64, program []byte) {
		if period < 1 || period > 70*365*86400*1e6 { // see limitMakers
			return
		}
		limits := []weir.Limit{
			weir.TokenBucket{Capacity: quota, Refill: refill, Interval: micros(period)},
			weir.TokenBucket{Capacity: quota, Refill: refill, Interval: micros(period), Stepwise: true},
			weir.FixedWindow{Limit: quota, Window: micros(period)},
			weir.FixedWindow{Limit: quota, Window: micros(period), Anchored: true},
			weir.FixedWindow{Limit: quota, Calendar: weir.Day, Zone: "America/St_Johns"},
			weir.FixedWindow{Limit: quota, Calendar: weir.Month, Zone: "Europe/Berlin"},
			weir.SlidingWindow{Limit: quota, Window: micros(period)},
			weir.SlidingLog{Limit: quota, Window: micros(period)},
		}
		limit := limits[int(kind)%len(limits)]
		if _, err := weir.SpecOf(limit); err != nil {
			return
		}
		c := &comparison{Rand: rand.New(rand.NewPCG(0, 0)), t: t, limit: limit, subject: newSubject(limit), model: model.New(limit)}
		for ; len(program) >= 17; program = program[17:] {
			now := binary.LittleEndian.Uint64(program[1:])
			if program[0]&0x80 == 0 { // near the last time rather than anywhere
				now = uint64(c.now) + now>>(program[0]>>2&31) - 1
			}
			c.now = int64(now & (1<<53 - 1))
			c.perform(program[0]&3, int64(binary.LittleEndian.Uint64(program[9:])&(1<<53-1))>>(program[0]>>1&31))
		}
	})
}

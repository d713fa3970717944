package redisstore

import (
	"testing"

	"github.com/weirhq/weir"
)

// TestShares: a share is the n-th part of a limit, or the smallest limit there is; n of them admit about the limit.
func TestShares(t *testing.T) {
	for _, c := range []struct {
		limit string
		n     int64
		want  string
	}{
		{"10/s burst 20", 1, "10/s burst 20"},
		{"10/s burst 20", 2, "5/s burst 10"},
		{"10/s burst 20", 3, "10/3s burst 6"},
		{"10/s burst 20", 100, "1/10s burst 1"},
		{"9/m burst 30 stepwise", 3, "3/m burst 10 stepwise"},
		{"9/m burst 30 stepwise", 4, "9/4m burst 7 stepwise"},
		{"1000/h fixed-window", 7, "142/h fixed-window"},
		{"1000/h sliding-window", 2000, "1/h sliding-window"},
		{"100/m sliding-log", 4, "25/m sliding-log"},
		{"10/month", 4, "2/month"},
		{"1000000/365d stepwise", 128, "7812/365d stepwise"},
		{"1/365d burst 1", 1 << 20, "1/365d burst 1"},
	} {
		spec, err := weir.SpecOf(weir.MustParseLimit(c.limit))
		if err != nil {
			t.Fatal(err)
		}
		want, err := weir.SpecOf(weir.MustParseLimit(c.want))
		if err != nil {
			t.Fatal(err)
		}
		if got := shareOf(spec, c.n); got != want {
			t.Errorf("1/%d of %s: got %v, want %s", c.n, c.limit, got.Limit(), c.want)
		}
	}
}

package memstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir"
)

var snapshotLimits = []string{
	"10/h", "10/h burst 20 stepwise", "10/h fixed-window", "10/h anchored", "10/month calendar Europe/Berlin",
	"10/h sliding-window", "10/h sliding-log",
}

// snapshotOf returns a snapshot of a store in which the key "key<i>" has used i units under each of snapshotLimits.
func snapshotOf(t *testing.T) []byte {
	t.Helper()
	s := MustNew(Options{})
	defer s.Close()
	for _, limit := range snapshotLimits {
		l := weir.MustNew(s, weir.Options{Name: limit, Limits: weir.MustParseLimits(limit, "1000/d")})
		for i := range int64(10) {
			takeN(t, l, fmt.Sprint("key", i), i, true)
		}
	}
	var buf bytes.Buffer
	if err := s.Snapshot(&buf); err != nil {
		t.Fatalf("Snapshot: %v", err)
	}
	return buf.Bytes()
}

func checkRestored(t *testing.T, s *Store) {
	t.Helper()
	for _, limit := range snapshotLimits {
		l := weir.MustNew(s, weir.Options{Name: limit, Limits: weir.MustParseLimits(limit, "1000/d")})
		for i := range int64(10) {
			d, err := l.Peek(t.Context(), fmt.Sprint("key", i))
			if figures := d.Figures(); err != nil || figures[0].Remaining != figures[0].Limit-i || figures[1].Remaining != 1000-i {
				t.Errorf("%s: Peek(key%d) = %+v, %v, want %d used", limit, i, figures, err, i)
			}
		}
	}
}

// TestRestart: the state survives, and the time between counts as elapsed.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		snapshot := snapshotOf(t)
		s := MustNew(Options{})
		defer s.Close()
		takeN(t, testLimiter(t, s, "1/h"), "replaced", 1, true)
		if err := s.Restore(bytes.NewReader(snapshot)); err != nil {
			t.Fatalf("Restore: %v", err)
		}
		checkRestored(t, s)
		takeN(t, testLimiter(t, s, "1/h"), "replaced", 1, true)

		s.Close() // or it would sweep every second of two days
		time.Sleep(48 * time.Hour)
		later := MustNew(Options{})
		defer later.Close()
		if err := later.Restore(bytes.NewReader(snapshot)); err != nil {
			t.Fatalf("Restore after two days: %v", err)
		}
		if got := later.Len(); got != 9 {
			t.Errorf("Len() = %d two days later, want 9: those of the month", got)
		}
	})
}

// TestDamagedSnapshotIsRefused: whatever byte is changed or missing, the store keeps what it has.
func TestDamagedSnapshotIsRefused(t *testing.T) {
	// A bubble, so that no hour ends in between.
	synctest.Test(t, func(t *testing.T) {
		snapshot := snapshotOf(t)
		s := MustNew(Options{})
		defer s.Close()
		l := testLimiter(t, s, "5/d")
		takeN(t, l, "kept", 5, true)
		refused := func(what string, damaged []byte) {
			t.Helper()
			if err := s.Restore(bytes.NewReader(damaged)); !errors.Is(err, ErrDamaged) {
				t.Fatalf("%s: Restore = %v, want ErrDamaged", what, err)
			}
			takeN(t, l, "kept", 1, false)
		}
		for i := range snapshot {
			damaged := bytes.Clone(snapshot)
			damaged[i] ^= 1 << (i % 8)
			refused(fmt.Sprintf("bit %d of byte %d flipped", i%8, i), damaged)
		}
		for n := 0; n < len(snapshot); n += 1 + n/20 {
			refused(fmt.Sprintf("cut to %d bytes", n), snapshot[:n])
		}
		if err := s.Restore(bytes.NewReader(snapshot)); err != nil {
			t.Fatalf("Restore of the whole snapshot: %v", err)
		}
		checkRestored(t, s)
	})
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

// TestReadErrorIsNoDamage: trouble of the reader is reported as it is.
func TestReadErrorIsNoDamage(t *testing.T) {
	want := errors.New("disk on fire")
	err := testStore(t, 0).Restore(failingReader{want})
	if !errors.Is(err, want) || errors.Is(err, ErrDamaged) {
		t.Errorf("Restore = %v, want %v and no ErrDamaged", err, want)
	}
}

// TestRestoreIntoSmallerStore: MaxKeys holds, and the exhausted keys are those that stay.
func TestRestoreIntoSmallerStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		big := MustNew(Options{})
		defer big.Close()
		l := testLimiter(t, big, "10/d")
		for i := range 10_000 {
			n := int64(1)
			if i%1000 == 0 {
				n = 10
			}
			takeN(t, l, fmt.Sprint("key", i), n, true)
		}
		var buf bytes.Buffer
		if err := big.Snapshot(&buf); err != nil {
			t.Fatal(err)
		}
		small := MustNew(Options{MaxKeys: 1000})
		defer small.Close()
		if err := small.Restore(&buf); err != nil {
			t.Fatal(err)
		}
		if got := small.Len(); got != 1000 {
			t.Errorf("Len() = %d, want 1000", got)
		}
		for i := 0; i < 10_000; i += 1000 {
			takeN(t, testLimiter(t, small, "10/d"), fmt.Sprint("key", i), 1, false)
		}
	})
}

// TestCarriedStateSurvives: what a change of limits makes of a state can be written and read.
func TestCarriedStateSurvives(t *testing.T) {
	limits := []string{"1/s burst 3 stepwise", "1/36500d burst 1 stepwise", "1/36500d burst 1", "9007199254740991/1ms stepwise",
		"1/36500d fixed-window", "1/36500d anchored", "1/year", "1/36500d sliding-window", "1/36500d sliding-log", "3/s sliding-log"}
	for _, from := range limits {
		for _, to := range limits {
			synctest.Test(t, func(t *testing.T) {
				s := MustNew(Options{})
				defer s.Close()
				l := testLimiter(t, s, from)
				if _, err := l.Charge(t.Context(), "key", 3); err != nil {
					t.Fatal(err)
				}
				time.Sleep(900 * time.Millisecond)
				l, err := l.With(weir.MustParseLimit(to))
				if err != nil {
					t.Fatal(err)
				}
				l.Allow(t.Context(), "key")
				want, _ := l.Peek(t.Context(), "key")
				var buf bytes.Buffer
				if err := errors.Join(s.Snapshot(&buf), s.Restore(&buf)); err != nil {
					t.Fatalf("%s, then %s: snapshot and restore: %v", from, to, err)
				}
				if got, _ := l.Peek(t.Context(), "key"); got.Remaining != want.Remaining || got.RetryAfter != want.RetryAfter || got.RetryAfter < 0 {
					t.Errorf("%s, then %s: Peek = %+v after a restart, want %+v", from, to, got, want)
				}
			})
		}
	}
}

// TestLogInDebtIsBounded: charges into debt neither pile up nor make decisions slower.
func TestLogInDebtIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := MustNew(Options{MaxKeys: 10})
		defer s.Close()
		l := testLimiter(t, s, "10/d sliding-log")
		for range 10_000 {
			time.Sleep(time.Microsecond)
			if _, err := l.Charge(t.Context(), "key", 1); err != nil {
				t.Fatal(err)
			}
		}
		if got := len(s.tables.Load().shards[0].logs[0]); got > 11 {
			t.Errorf("a log of 10 keeps %d stamps", got)
		}
		d, _ := l.Refund(t.Context(), "key", 9_995)
		if d.Remaining != 5 {
			t.Errorf("after charges of 10,000 and a refund of 9,995: Remaining = %d, want 5", d.Remaining)
		}
	})
}

// TestCloseAdmitsNobody: no decision is made on what replaces the tables of a store that is being closed.
func TestCloseAdmitsNobody(t *testing.T) {
	for range 200 {
		s := MustNew(Options{})
		l := testLimiter(t, s, "1/h")
		takeN(t, l, "key", 1, true)
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				for {
					d, err := l.Allow(context.Background(), "key")
					if err != nil {
						return
					}
					if d.Allowed {
						t.Error("Allow of an exhausted key admits while the store is closed")
						return
					}
				}
			})
		}
		s.Close()
		group.Wait()
	}
}

func TestClosed(t *testing.T) {
	s := MustNew(Options{})
	l := testLimiter(t, s, "1/h")
	takeN(t, l, "key", 1, true)
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
	}
	_, allow := l.Allow(t.Context(), "key")
	_, peek := l.Peek(t.Context(), "key")
	_, refund := l.Refund(t.Context(), "key", 1)
	_, charge := l.Charge(t.Context(), "key", 1)
	for what, err := range map[string]error{
		"Allow": allow, "Peek": peek, "Refund": refund, "Charge": charge, "Reset": l.Reset(t.Context(), "key"),
		"Snapshot": s.Snapshot(new(bytes.Buffer)), "Restore": s.Restore(new(bytes.Buffer)),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s after Close = %v, want ErrClosed", what, err)
		}
	}
	if got := s.Len(); got != 0 {
		t.Errorf("Len() after Close = %d, want 0", got)
	}
}

// FuzzRestore: no bytes make Restore panic, hang or leave the store unusable, whatever their checksum says.
func FuzzRestore(f *testing.F) {
	s := MustNew(Options{})
	defer s.Close()
	l := weir.MustNew(s, weir.Options{Limits: weir.MustParseLimits("10/h", "10/h sliding-log", "10/h sliding-window", "10/month")})
	l.Allow(f.Context(), "key")
	var buf bytes.Buffer
	if err := s.Snapshot(&buf); err != nil {
		f.Fatal(err)
	}
	f.Add(buf.Bytes())
	f.Add([]byte(snapshotMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := MustNew(Options{MaxKeys: 1000})
		defer s.Close()
		s.Restore(bytes.NewReader(sealed(data)))
		if got := s.Len(); got > 1000 {
			t.Errorf("Len() = %d, want at most 1000", got)
		}
		l := weir.MustNew(s, weir.Options{Limits: weir.MustParseLimits("10/h", "10/h sliding-log", "10/h sliding-window", "10/month")})
		d, err := l.Allow(t.Context(), "key")
		if err != nil {
			t.Fatalf("Allow after Restore: %v", err)
		}
		for _, f := range d.Figures() {
			if f.Remaining < 0 || f.Remaining > f.Limit || f.RetryAfter < 0 || f.ResetAfter < 0 {
				t.Errorf("Allow after Restore: %+v", f)
			}
		}
		var again bytes.Buffer
		if err := s.Snapshot(&again); err != nil {
			t.Fatalf("Snapshot after Restore: %v", err)
		}
		if err := s.Restore(&again); err != nil {
			t.Fatalf("Restore of its own snapshot: %v", err)
		}
	})
}

// sealed gives data the checksum that Restore wants, so that the fuzzer reaches what lies behind it.
func sealed(data []byte) []byte {
	if len(data) < sha256.Size {
		return data
	}
	body := data[:len(data)-sha256.Size]
	sum := sha256.Sum256(body)
	return append(append([]byte{}, body...), sum[:]...)
}

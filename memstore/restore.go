package memstore

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/algo"
	"github.com/weirhq/weir/internal/siphash"
	"github.com/weirhq/weir/memstore/internal/table"
)

// ErrDamaged says that what was to be restored is no whole, unaltered snapshot.
var ErrDamaged = errors.New("memstore: damaged snapshot")

// maxTextLength bounds a limit's text in a snapshot.
const maxTextLength = 256

// Restore replaces the store's state by a snapshot. It reads r to the end of the snapshot, checks all of it, and
// only then lets go of what the store held: after an error, which wraps [ErrDamaged] if the snapshot is at fault, the
// store is as before. The time since the snapshot counts as elapsed. A snapshot with more entries than MaxKeys is
// thinned as the store would.
//
// Restore before traffic: what is decided while it runs is lost.
func (s *Store) Restore(r io.Reader) error {
	s.life.Lock()
	defer s.life.Unlock()
	if s.tables.Load().gone {
		return ErrClosed
	}
	in := &snapshotReader{r: bufio.NewReaderSize(r, 1<<16), digest: sha256.New()}
	t, err := s.read(in)
	if err != nil {
		return fmt.Errorf("memstore: restore: %w", err)
	}
	old := s.tables.Swap(t)
	old.stop()
	t.arm()
	return nil
}

// read builds the tables that a snapshot describes.
func (s *Store) read(in *snapshotReader) (*tables, error) {
	magic := string(in.bytes(len(snapshotMagic)))
	version := in.u32()
	key := siphash.Key{K0: in.u64(), K1: in.u64()}
	switch {
	case in.err != nil:
		return nil, in.err
	case magic != snapshotMagic:
		return nil, fmt.Errorf("%w: it does not begin like one", ErrDamaged)
	case version != snapshotVersion:
		return nil, fmt.Errorf("%w: version %d is not known, only %d; use the release that wrote it", ErrDamaged, version, snapshotVersion)
	}
	t := newTables(s.options.MaxKeys, key, s.now)
	now := s.now()
	for {
		limits := in.u32()
		if in.err != nil {
			return nil, in.err
		}
		if limits == 0 {
			break
		}
		if err := t.readSection(in, limits, now); err != nil {
			return nil, err
		}
	}
	want := in.digest.Sum(nil) // before the next read adds to it
	if got := in.bytes(len(want)); in.err != nil {
		return nil, in.err
	} else if !bytes.Equal(got, want) {
		return nil, fmt.Errorf("%w: the checksum is wrong", ErrDamaged)
	}
	return t, nil
}

func (t *tables) readSection(in *snapshotReader, limits uint32, now int64) error {
	var specs []*weir.Spec
	for range limits {
		n := in.u32()
		if n > maxTextLength {
			return fmt.Errorf("%w: a limit of %d bytes", ErrDamaged, n)
		}
		text := string(in.bytes(int(n)))
		if in.err != nil {
			return in.err
		}
		spec, err := specOfText(text)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		specs = append(specs, &spec)
	}
	for range in.u32() {
		h := table.Hash{Lo: in.u64(), Hi: uint64(in.u32()) << 32}
		id := in.u32()
		st := algo.State{A: in.i64(), B: in.i64(), C: in.i64()}
		stamps := in.u32()
		if in.err == nil && (id >= limits || stamps > 0 && specs[id].Algorithm != weir.Log) {
			return fmt.Errorf("%w: an entry that fits no limit", ErrDamaged)
		}
		for range stamps {
			st.Log = append(st.Log, algo.Stamp{At: in.i64(), N: in.i64()})
			if in.err != nil {
				break
			}
		}
		if in.err != nil {
			return in.err
		}
		if !valid(specs[id], st) {
			return fmt.Errorf("%w: an impossible state", ErrDamaged)
		}
		t.put(h, specs[id], st, now)
	}
	return in.err
}

// valid reports whether st could have been written under spec, so far as that keeps the arithmetic in bounds.
func valid(spec *weir.Spec, st algo.State) bool {
	total := int64(0)
	for i, stamp := range st.Log {
		if stamp.N < 1 || stamp.N > weir.MaxQuota-total || stamp.At < 0 || stamp.At > weir.MaxQuota || i > 0 && stamp.At <= st.Log[i-1].At {
			return false
		}
		total += stamp.N
	}
	switch spec.Algorithm {
	case weir.Log:
		return st.A == total && st.B == 0 && st.C == 0
	case weir.TwoWindows:
		if st.A%spec.Period != 0 || st.B > weir.MaxSlidingWindow || st.C > weir.MaxSlidingWindow {
			return false
		}
	default:
		if st.C != 0 {
			return false
		}
	}
	return st.A >= 0 && st.A <= weir.MaxQuota && st.B >= 0 && st.B <= weir.MaxQuota && st.C >= 0 && algo.Sane(algo.For(*spec), st)
}

// put adds an entry of a snapshot unless it has expired meanwhile.
func (t *tables) put(h table.Hash, spec *weir.Spec, st algo.State, now int64) {
	sh := &t.shards[h.Lo>>t.shift]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	var c cursor
	if sh.seek(&c, h) != nil {
		return
	}
	c.id = sh.specs.Intern(spec)
	c.algo = sh.specs.Slot(c.id).Algo
	c.state = c.algo.Settle(st, now)
	sh.write(&c, h, spec, now)
}

// snapshotReader keeps the first error and the digest. Its methods return zeros after an error.
type snapshotReader struct {
	r      *bufio.Reader
	digest hash.Hash
	err    error
	buf    [maxTextLength]byte
}

// bytes returns the next n bytes, at most maxTextLength, valid until the next call.
func (in *snapshotReader) bytes(n int) []byte {
	b := in.buf[:n]
	if in.err == nil {
		if _, err := io.ReadFull(in.r, b); err != nil {
			in.err = err
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				in.err = fmt.Errorf("%w: it ends early", ErrDamaged)
			}
		}
	}
	if in.err != nil {
		clear(b)
		return b
	}
	in.digest.Write(b)
	return b
}

func (in *snapshotReader) u32() uint32 { return binary.LittleEndian.Uint32(in.bytes(4)) }
func (in *snapshotReader) u64() uint64 { return binary.LittleEndian.Uint64(in.bytes(8)) }
func (in *snapshotReader) i64() int64  { return int64(in.u64()) }

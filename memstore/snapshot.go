package memstore

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"io"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/algo"
	"github.com/weirhq/weir/memstore/internal/table"
)

// A snapshot is little-endian:
//
//	"weirmem\n"  version uint32 = 1
//	key of the hashes, 16 bytes
//	sections, one per shard that is not empty:
//	    number of limits uint32, not 0; each: length uint32, text in the grammar of weir.ParseLimit
//	    number of entries uint32; each:
//	        hash.Lo uint64, upper half of hash.hi uint32, index of the limit uint32
//	        state: A, B, C int64, number of stamps uint32, each: At, N int64
//	end: 0 uint32
//	SHA-256 of all that, 32 bytes
//
// States are written as the algorithms know them, not as entries pack them, so that a new layout reads old files.
const (
	snapshotMagic   = "weirmem\n"
	snapshotVersion = 1
)

// Snapshot writes the store's state to w, for [Store.Restore] in this or another process. Subjects are consistent one
// by one; those that change meanwhile are written before or after. It holds one of up to 256 locks at a time, while
// it copies that part.
//
// The snapshot contains the secret of the store's hashes: keep it from those who may make up keys.
func (s *Store) Snapshot(w io.Writer) error {
	t := s.tables.Load()
	if t.gone {
		return ErrClosed
	}
	digest := sha256.New()
	out := &snapshotWriter{w: bufio.NewWriterSize(w, 1<<16), digest: digest}
	out.bytes([]byte(snapshotMagic))
	out.u32(snapshotVersion)
	out.u64(t.key.K0)
	out.u64(t.key.K1)
	var section []byte
	for i := range t.shards {
		sh := &t.shards[i]
		sh.mu.Lock()
		section = sh.appendSection(section[:0], s.now())
		sh.mu.Unlock()
		out.bytes(section)
	}
	out.u32(0)
	out.bytes(digest.Sum(nil))
	if out.err == nil {
		out.err = out.w.Flush()
	}
	if out.err != nil {
		return fmt.Errorf("memstore: snapshot: %w", out.err)
	}
	return nil
}

// snapshotWriter keeps the first error and the digest.
type snapshotWriter struct {
	w      *bufio.Writer
	digest hash.Hash
	err    error
}

func (o *snapshotWriter) bytes(b []byte) {
	if o.err == nil {
		o.digest.Write(b)
		_, o.err = o.w.Write(b)
	}
}

func (o *snapshotWriter) u32(v uint32) { o.bytes(binary.LittleEndian.AppendUint32(nil, v)) }
func (o *snapshotWriter) u64(v uint64) { o.bytes(binary.LittleEndian.AppendUint64(nil, v)) }

// appendSection appends the shard's limits and live entries, nothing if there are none. s.mu must be held.
func (s *shard) appendSection(b []byte, now int64) []byte {
	if s.table.N == 0 {
		return b
	}
	index := make(map[uint32]uint32)
	var texts []string
	var entries []byte
	count := uint32(0)
	for gi := range s.table.NGroup {
		g := s.table.Group(gi)
		for slot := range int(g.N) {
			e := s.table.Entry(g, slot)
			spec := s.specs.Slot(e.Spec())
			st := s.load(&spec.Spec, e)
			if algo.Fresh(spec.Algo, spec.Algo.Settle(st, now), now) {
				continue
			}
			id, ok := index[e.Spec()]
			if !ok {
				id = uint32(len(texts))
				index[e.Spec()] = id
				texts = append(texts, spec.Spec.Limit().String())
			}
			entries = appendEntry(entries, e, id, st)
			count++
		}
	}
	if count == 0 {
		return b
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(texts)))
	for _, text := range texts {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
		b = append(b, text...)
	}
	b = binary.LittleEndian.AppendUint32(b, count)
	return append(b, entries...)
}

func appendEntry(b []byte, e *table.Entry, id uint32, st algo.State) []byte {
	le := binary.LittleEndian
	h := e.Hash()
	b = le.AppendUint64(b, h.Lo)
	b = le.AppendUint32(b, uint32(h.Hi>>32))
	b = le.AppendUint32(b, id)
	b = le.AppendUint64(b, uint64(st.A))
	b = le.AppendUint64(b, uint64(st.B))
	b = le.AppendUint64(b, uint64(st.C))
	b = le.AppendUint32(b, uint32(len(st.Log)))
	for _, stamp := range st.Log {
		b = le.AppendUint64(b, uint64(stamp.At))
		b = le.AppendUint64(b, uint64(stamp.N))
	}
	return b
}

// specOfText is the inverse of the limits' texts in a snapshot.
func specOfText(text string) (weir.Spec, error) {
	limit, err := weir.ParseLimit(text)
	if err != nil {
		return weir.Spec{}, err
	}
	return weir.SpecOf(limit)
}

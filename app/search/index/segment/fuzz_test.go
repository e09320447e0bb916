package segment

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// FuzzBlock checks that decoded blocks are valid and that encoding and decoding them again does not
// change them.
func FuzzBlock(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0}, uint8(9), uint32(100))
	f.Add([]byte{0x81, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, uint8(10), uint32(1<<20))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x0f, 0xff, 0xff, 0xff, 0xff, 0x0f}, uint8(2), uint32(1000))
	f.Add([]byte{0xff}, uint8(1), uint32(1000))
	f.Fuzz(func(t *testing.T, raw []byte, n uint8, limit uint32) {
		docs := make([]uint32, min(n, blockSize))
		if _, err := decodeUvarints(raw, docs); err == nil {
			decoded := make([]uint32, len(docs))
			if rest, err := decodeUvarints(appendUvarints(nil, docs), decoded); err != nil || len(rest) > 0 || !slices.Equal(docs, decoded) {
				t.Errorf("decodeUvarints(appendUvarints(%v)) = %v, %v, %d bytes left, want the same numbers", docs, decoded, err, len(rest))
			}
		}
		if _, err := decodeGaps(raw, NoMoreDocs, docs, limit); err != nil {
			return
		}
		for i, d := range docs {
			if d >= limit || i > 0 && d <= docs[i-1] {
				t.Fatalf("decodeGaps with limit %d = %v, want ascending documents below it", limit, docs)
			}
		}
		decoded := make([]uint32, len(docs))
		rest, err := decodeGaps(appendGaps(nil, NoMoreDocs, docs), NoMoreDocs, decoded, limit)
		if err != nil || len(rest) > 0 || !slices.Equal(docs, decoded) {
			t.Errorf("decodeGaps(appendGaps(%v)) = %v, %v, %d bytes left, want the same documents", docs, decoded, err, len(rest))
		}
	})
}

// FuzzTombstones checks that encoding and decoding tombstones again does not change them. It also
// checks that the memory allocated for decoding is in proportion to the input, plus one bit per
// document if the input is valid.
func FuzzTombstones(f *testing.F) {
	var few, many *Tombstones
	few = few.With(100, []uint32{7, 99})
	for d := range uint32(60) {
		many = many.With(100, []uint32{d + 40})
	}
	f.Add(few.Append(nil, 100), uint32(100))
	f.Add(many.Append(nil, 100), uint32(100))
	f.Add([]byte{0}, uint32(1))
	f.Add([]byte{1}, uint32(0))
	f.Add([]byte{1}, uint32(MaxDocs))
	f.Add([]byte{1, 7}, uint32(MaxDocs))
	f.Add([]byte{2, 7, 0xff, 0xff, 0xff, 0xff, 0x0f}, uint32(MaxDocs))
	f.Add(binary.AppendUvarint(nil, MaxDocs/10), uint32(MaxDocs))
	f.Add(binary.AppendUvarint(nil, MaxDocs), uint32(MaxDocs))
	f.Fuzz(func(t *testing.T, raw []byte, docs uint32) {
		docs %= MaxDocs + 1
		var deleted *Tombstones
		var err error
		allocated := allocatedBytes(func() { deleted, _, err = ParseTombstones(raw, docs) })
		limit := 4*uint64(len(raw)) + 1<<20
		if err == nil {
			limit += uint64(docs) / 8
		}
		if allocated > limit {
			t.Errorf("decoding %d bytes for %d documents allocated %d bytes, want at most %d (error %v)", len(raw), docs, allocated, limit, err)
		}
		if err != nil {
			return
		}
		decoded, rest, err := ParseTombstones(deleted.Append(nil, docs), docs)
		if err != nil || len(rest) > 0 || decoded.Count() != deleted.Count() {
			t.Fatalf("round trip: Count() = %d, %v, %d bytes left, want %d", decoded.Count(), err, len(rest), deleted.Count())
		}
		deleted.forEach(func(doc uint32) {
			if doc >= docs || !decoded.Has(doc) {
				t.Fatalf("Has(%d) of %d documents after the round trip = false, want true", doc, docs)
			}
		})
	})
}

// allocatedBytes returns the number of bytes that do allocates, including those that are freed
// again.
func allocatedBytes(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// FuzzSegment changes bytes of a segment and fixes the checksums. Reading the segment may return
// ErrDamaged or any contents, but must terminate and must not panic.
func FuzzSegment(f *testing.F) {
	path := filepath.Join(f.TempDir(), "7")
	writeSegment(f, path, randomDocs(1, 400))
	raw, err := os.ReadFile(path)
	if err != nil {
		f.Fatalf("read segment: %v", err)
	}
	f.Add(uint32(0), []byte{})
	for at := 0; at < len(raw); at += 1 + len(raw)/40 {
		f.Add(uint32(at), []byte{0xff, 0xff, 0xff, 0x7f})
		f.Add(uint32(at), []byte{0})
	}
	f.Add(uint32(len(raw)-footerSize+20), []byte{200})
	f.Fuzz(func(t *testing.T, at uint32, change []byte) {
		changed := slices.Clone(raw)
		copy(changed[int(at)%len(raw):], change)
		meta, ok := fixChecksums(changed)
		if !ok {
			return
		}
		path := filepath.Join(t.TempDir(), "7")
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatalf("write changed segment: %v", err)
		}
		s, err := Open(path, meta, NewCache(1))
		if err != nil {
			return
		}
		defer func() { _ = s.Close() }()
		_, _ = readDocs(t.Context(), s, nil)
		_, _, _ = s.FindKey(20)
		budget := NewBudget(t.Context())
		if e, found, err := s.Lookup().Find([]byte("w0")); err == nil && found {
			var c Cursor
			c.Open(s, e, &budget)
			for d := uint32(0); c.Advance(d) != NoMoreDocs; d += 150 {
				_ = c.Freq()
			}
		}
		merge := NewMerge(t.Context(), []Source{{s, nil}})
		_ = merge.Write(NewWriter(discardFile{}))
	})
}

// discardFile is a File that discards everything written to it.
type discardFile struct{}

func (discardFile) Write(p []byte) (int, error) { return len(p), nil }
func (discardFile) Sync() error                 { return nil }

// fixChecksums recomputes the checksums of a segment file. It returns false if the file cannot
// contain streams of the lengths in the footer.
func fixChecksums(raw []byte) (Meta, bool) {
	var p pageFile
	end := len(raw) - footerSize
	copy(raw[end:], footerMagic)
	binary.LittleEndian.PutUint32(raw[end+8:], footerFormat)
	p.parse(raw[end:])
	full, _, size, ok := p.layout(int64(len(raw)))
	if !ok || p.docs == 0 {
		return Meta{}, false
	}
	table := raw[full<<pageBits+int(size) : end]
	offset, sums := 0, table[full:]
	addSum := func(n int) {
		binary.LittleEndian.PutUint32(sums, Checksum(raw[offset:offset+n]))
		offset, sums = offset+n, sums[4:]
	}
	for range full {
		addSum(pageSize)
	}
	for _, n := range p.lengths {
		if rest := int(n & pageMask); rest > 0 {
			addSum(rest)
		}
	}
	binary.LittleEndian.PutUint32(raw[len(raw)-8:], Checksum(table))
	last := Checksum(raw[end : len(raw)-4])
	binary.LittleEndian.PutUint32(raw[len(raw)-4:], last)
	return Meta{Number: p.number, Size: int64(len(raw)), Sum: last, Docs: p.docs}, true
}

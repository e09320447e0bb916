package index

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"deedkeep/app/search/index/segment"
)

// FuzzManifest checks that a decoded manifest is encoded to the same bytes. It also checks that the
// memory allocated for decoding is in proportion to the input and to the number of documents that
// the segments can contain.
func FuzzManifest(f *testing.F) {
	const each = 1 << 20 // bytes per segment
	size := func(uint64) (int64, error) { return each, nil }
	var few, many *segment.Tombstones
	few = few.With(100, []uint32{7})
	for d := range uint32(60) {
		many = many.With(100, []uint32{d + 40})
	}
	full := manifest{nextSegment: 9, checkpoint: []byte("mark"), segments: []listedSegment{
		{Meta: segment.Meta{Number: 3, Size: each, Sum: 5, Docs: 100}, tombstones: few},
		{Meta: segment.Meta{Number: 8, Size: each, Sum: 6, Docs: 100}, tombstones: many},
		{Meta: segment.Meta{Number: 5, Size: each, Sum: 7, Docs: 64}},
	}}
	f.Add(full.encode())
	f.Add((&manifest{}).encode())
	large := segment.Meta{Number: 3, Size: each, Docs: segment.MaxDocs}
	f.Add((&manifest{nextSegment: 9, segments: []listedSegment{{Meta: large, tombstones: few}}}).encode())
	large.Size = 1 << 40
	f.Add((&manifest{nextSegment: 9, segments: []listedSegment{{Meta: large, tombstones: few}}}).encode())
	duplicate := listedSegment{Meta: segment.Meta{Number: 3, Size: each, Docs: 100}}
	f.Add((&manifest{nextSegment: 9, segments: []listedSegment{duplicate, duplicate}}).encode())
	f.Add([]byte(manifestMagic))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, raw []byte) {
		raw = slices.Clone(raw)
		if len(raw) >= 4 { // otherwise, only the checksum would be tested
			binary.LittleEndian.PutUint32(raw[len(raw)-4:], segment.Checksum(raw[:len(raw)-4]))
		}
		var m *manifest
		var err error
		limit := 1<<20 + each/8*uint64(len(raw))/listedSegmentBytes
		if allocated := allocatedBytes(func() { m, err = parseManifest(raw, size) }); allocated > limit {
			t.Errorf("decoding %d bytes allocated %d bytes, want at most %d (error %v)", len(raw), allocated, limit, err)
		}
		if err != nil {
			return
		}
		for i, l := range m.segments {
			if l.Size != each || slices.ContainsFunc(m.segments[:i], func(o listedSegment) bool { return o.Number == l.Number }) {
				t.Errorf("segment %d = %+v, want no duplicate and %d bytes", i, l, each)
			}
		}
		decoded, err := parseManifest(m.encode(), size)
		if err != nil || !bytes.Equal(decoded.encode(), m.encode()) {
			t.Errorf("parseManifest(encode) = %+v, %v; want %+v", decoded, err, m)
		}
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
// ErrDamaged or any result, but must terminate and must not panic.
func FuzzSegment(f *testing.F) {
	raw, size := fuzzSegment(f)
	f.Add(uint32(0), []byte{})
	for at := 0; at < len(raw); at += 1 + len(raw)/40 {
		f.Add(uint32(at), []byte{0xff, 0xff, 0xff, 0x7f})
		f.Add(uint32(at), []byte{0})
	}
	f.Add(uint32(len(raw)-footerSize+20), []byte{200})
	f.Fuzz(func(t *testing.T, at uint32, change []byte) {
		changed := slices.Clone(raw)
		copy(changed[int(at)%size:], change)
		l, ok := fixChecksums(changed)
		if !ok {
			return
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, segmentName(0)), changed, 0o600); err != nil {
			t.Fatalf("write file: %v", err)
		}
		m := manifest{nextSegment: 1, segments: []listedSegment{l}}
		if err := os.WriteFile(filepath.Join(dir, manifestName), m.encode(), 0o600); err != nil {
			t.Fatalf("write file: %v", err)
		}
		readAll(t, dir)
	})
}

// fuzzSegment returns the content of a segment file and its size.
func fuzzSegment(f *testing.F) (raw []byte, size int) {
	dir := f.TempDir()
	x, err := open(dir, Options{}, noSyncDisk{})
	if err != nil {
		f.Fatalf("open index: %v", err)
	}
	b, r := x.NewBatch(), generator{rand.New(rand.NewPCG(1, 1))}
	for range 400 {
		d := r.doc(100_000)
		d.addTo(b)
	}
	if err := x.Apply(f.Context(), b, nil); err != nil {
		f.Fatalf("Apply: %v", err)
	}
	if err := x.Close(); err != nil {
		f.Fatalf("Close: %v", err)
	}
	if raw, err = os.ReadFile(filepath.Join(dir, segmentName(0))); err != nil {
		f.Fatalf("read file: %v", err)
	}
	return raw, len(raw)
}

// The end of a segment file, as described in app/search/index/segment/page_write.go.
const (
	pageSize   = 16384
	footerSize = 8 + 4 + 8 + 4 + 8 + 8*10 + 4 + 4
)

// fixChecksums recomputes the checksums of a segment file. It returns false if the file cannot
// contain streams of the lengths in the footer.
func fixChecksums(raw []byte) (listedSegment, bool) {
	end := len(raw) - footerSize
	footer := raw[end:]
	copy(footer, "dkposts\n")
	binary.LittleEndian.PutUint32(footer[8:], 1)
	binary.LittleEndian.PutUint64(footer[12:], 0)
	var sizes []int // of the pages, then of the tails
	var tails []int
	left := end
	for stream := range 10 {
		n := binary.LittleEndian.Uint64(footer[32+8*stream:])
		if n > uint64(left) {
			return listedSegment{}, false
		}
		left -= int(n)
		sizes = append(sizes, slices.Repeat([]int{pageSize}, int(n/pageSize))...)
		if n%pageSize > 0 {
			tails = append(tails, int(n%pageSize))
		}
	}
	pages, docs := len(sizes), binary.LittleEndian.Uint32(footer[20:])
	sizes = append(sizes, tails...)
	if left != pages+4*len(sizes) || docs == 0 {
		return listedSegment{}, false
	}
	table := raw[end-left : end]
	at := 0
	for i, n := range sizes {
		binary.LittleEndian.PutUint32(table[pages+4*i:], segment.Checksum(raw[at:at+n]))
		at += n
	}
	binary.LittleEndian.PutUint32(footer[footerSize-8:], segment.Checksum(table))
	sum := segment.Checksum(footer[:footerSize-4])
	binary.LittleEndian.PutUint32(footer[footerSize-4:], sum)
	return listedSegment{Meta: segment.Meta{Size: int64(len(raw)), Sum: sum, Docs: docs}}, true
}

// readAll runs all read operations on the index.
func readAll(t *testing.T, dir string) {
	t.Helper()
	x, err := open(dir, Options{Cache: 1}, noSyncDisk{})
	if err != nil {
		return
	}
	defer func() { _ = x.Close() }()
	r := generator{rand.New(rand.NewPCG(2, 2))}
	for range 10 {
		_, _ = x.Search(t.Context(), r.query())
	}
	_, _ = x.DocFreqs(t.Context(), []string{"f00", "f01", "f99", "w00", "w11"})
	_, _ = x.Terms(t.Context(), "w", 5)
	b := x.NewBatch()
	for range 3 {
		d := r.doc(100_000)
		d.addTo(b)
	}
	if err := x.Apply(t.Context(), b, nil); err == nil {
		_ = mergeAll(t, x)
	}
}

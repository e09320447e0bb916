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

// FuzzManifest: what is read is written again as it was; and reading takes memory for the
// bytes that are there, and for the documents that the segments have room for.
func FuzzManifest(f *testing.F) {
	const each = 1 << 20 // bytes of a segment
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
	vast := segment.Meta{Number: 3, Size: each, Docs: segment.MaxDocs}
	f.Add((&manifest{nextSegment: 9, segments: []listedSegment{{Meta: vast, tombstones: few}}}).encode())
	vast.Size = 1 << 40
	f.Add((&manifest{nextSegment: 9, segments: []listedSegment{{Meta: vast, tombstones: few}}}).encode())
	twice := listedSegment{Meta: segment.Meta{Number: 3, Size: each, Docs: 100}}
	f.Add((&manifest{nextSegment: 9, segments: []listedSegment{twice, twice}}).encode())
	f.Add([]byte(manifestMagic))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, raw []byte) {
		raw = slices.Clone(raw)
		if len(raw) >= 4 { // else the sum alone would be tried
			binary.LittleEndian.PutUint32(raw[len(raw)-4:], segment.Checksum(raw[:len(raw)-4]))
		}
		var m *manifest
		var err error
		if took := allocated(func() { m, err = parseManifest(raw, size) }); took > 1<<20+each/8*uint64(len(raw))/listedSegmentBytes {
			t.Errorf("%d bytes take %d bytes, %v", len(raw), took, err)
		}
		if err != nil {
			return
		}
		for i, l := range m.segments {
			if l.Size != each || slices.ContainsFunc(m.segments[:i], func(o listedSegment) bool { return o.Number == l.Number }) {
				t.Errorf("segment %d is listed: %+v", i, l)
			}
		}
		again, err := parseManifest(m.encode(), size)
		if err != nil || !bytes.Equal(again.encode(), m.encode()) {
			t.Errorf("%+v became %+v, %v", m, again, err)
		}
	})
}

// allocated is how many bytes something takes, whether it gives them back or not.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// FuzzSegment changes a segment and makes its sums right again: what reads it may say
// that it is damaged or answer anything, but it ends, and does not panic.
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
		l, ok := reseal(changed)
		if !ok {
			return
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, segmentName(0)), changed, 0o600); err != nil {
			t.Fatal(err)
		}
		m := manifest{nextSegment: 1, segments: []listedSegment{l}}
		if err := os.WriteFile(filepath.Join(dir, manifestName), m.encode(), 0o600); err != nil {
			t.Fatal(err)
		}
		readAll(t, dir)
	})
}

func fuzzSegment(f *testing.F) (raw []byte, size int) {
	dir := f.TempDir()
	x, err := open(dir, Options{}, unsynced{})
	if err != nil {
		f.Fatal(err)
	}
	b, r := x.NewBatch(), scene{rand.New(rand.NewPCG(1, 1))}
	for range 400 {
		d := r.doc(100_000)
		d.into(b)
	}
	if err := x.Apply(f.Context(), b, nil); err != nil {
		f.Fatal(err)
	}
	if err := x.Close(); err != nil {
		f.Fatal(err)
	}
	if raw, err = os.ReadFile(filepath.Join(dir, segmentName(0))); err != nil {
		f.Fatal(err)
	}
	return raw, len(raw)
}

// The end of a segment's file, as app/search/index/segment/page.go draws it.
const (
	pageSize   = 16384
	footerSize = 8 + 4 + 8 + 4 + 8 + 8*10 + 4 + 4
)

// reseal makes the sums of a segment's file right; false where the footer tells lengths
// that the file cannot have.
func reseal(raw []byte) (listedSegment, bool) {
	end := len(raw) - footerSize
	footer := raw[end:]
	copy(footer, "dkposts\n")
	binary.LittleEndian.PutUint32(footer[8:], 1)
	binary.LittleEndian.PutUint64(footer[12:], 0)
	var sizes []int // of the pages, and then of the tails
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

// readAll reads everything there is to read.
func readAll(t *testing.T, dir string) {
	t.Helper()
	x, err := open(dir, Options{Cache: 1}, unsynced{})
	if err != nil {
		return
	}
	defer func() { _ = x.Close() }()
	r := scene{rand.New(rand.NewPCG(2, 2))}
	for range 10 {
		_, _ = x.Search(t.Context(), r.query())
	}
	_, _ = x.DocFreqs(t.Context(), []string{"f00", "f01", "f99", "w00", "w11"})
	_, _ = x.Terms(t.Context(), "w", 5)
	b := x.NewBatch()
	for range 3 {
		d := r.doc(100_000)
		d.into(b)
	}
	if err := x.Apply(t.Context(), b, nil); err == nil {
		_ = mergeAll(t, x)
	}
}

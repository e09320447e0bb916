package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

// savedIndex contains the files of an intact index, and queries with their results.
type savedIndex struct {
	files   map[string][]byte
	queries []Query
	results []Result
}

// saveIndex creates an index with two segments and deleted documents. One segment has several
// pages, and the other has less than one page.
func saveIndex(t *testing.T) *savedIndex {
	t.Helper()
	dir := t.TempDir()
	x, err := open(dir, Options{}, noSyncDisk{})
	if err != nil {
		t.Fatalf("open index: %v", err)
	}
	r := generator{rand.New(rand.NewPCG(7, 8))}
	for _, docs := range []int{3000, 200} {
		b := x.NewBatch()
		for range docs {
			d := r.doc(4000)
			d.addTo(b)
		}
		if err := x.Apply(t.Context(), b, []byte("mark")); err != nil {
			t.Fatalf("Apply: %v", err)
		}
	}
	saved := &savedIndex{files: make(map[string][]byte)}
	for range 25 {
		saved.queries = append(saved.queries, r.query())
	}
	if saved.results, err = saved.searchAll(t, x); err != nil {
		t.Fatalf("Search: %v", err)
	}
	if err := x.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatalf("read directory: %v", err)
	}
	for _, n := range names {
		if saved.files[n.Name()], err = os.ReadFile(filepath.Join(dir, n.Name())); err != nil {
			t.Fatalf("read file: %v", err)
		}
	}
	return saved
}

func (saved *savedIndex) searchAll(t *testing.T, x *Index) ([]Result, error) {
	t.Helper()
	var list []Result
	for _, q := range saved.queries {
		a, err := x.Search(t.Context(), q)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

// writeFiles writes the files to dir. The file named changed gets the given content, or is omitted
// if content is nil.
func (saved *savedIndex) writeFiles(t *testing.T, dir, changed string, content []byte) {
	t.Helper()
	for name, raw := range saved.files {
		path := filepath.Join(dir, name)
		if name == changed {
			if raw = content; raw == nil {
				if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
					t.Fatalf("remove file: %v", err)
				}
				continue
			}
		}
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatalf("write file: %v", err)
		}
	}
}

// openAndVerify opens the index and runs the queries. It fails the test if a search without an
// error returns a wrong result. It returns the errors of Open, Search, and Check.
func (saved *savedIndex) openAndVerify(t *testing.T, dir string) error {
	t.Helper()
	x, err := open(dir, Options{Cache: 1}, noSyncDisk{})
	if err != nil {
		return err
	}
	defer func() { _ = x.Close() }()
	got, err := saved.searchAll(t, x)
	if err == nil && !reflect.DeepEqual(got, saved.results) {
		t.Fatalf("Search = %v, want %v", got, saved.results)
	}
	return errors.Join(err, x.Check(t.Context()))
}

func TestEveryChangedByteIsDetected(t *testing.T) {
	saved := saveIndex(t)
	dir := t.TempDir()
	for name, raw := range saved.files {
		step := 1 + len(raw)/80
		offsets := slices.Collect(func(yield func(int) bool) {
			for at := 0; at < len(raw) && yield(at); at += step {
			}
			for at := max(0, len(raw)-footerSize-40); at < len(raw) && yield(at); at += 3 {
			}
		})
		for _, offset := range offsets {
			changed := slices.Clone(raw)
			changed[offset] ^= 1 << (offset % 8)
			saved.writeFiles(t, dir, name, changed)
			err := saved.openAndVerify(t, dir)
			if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrOtherFormat) {
				t.Fatalf("%s with byte %d of %d changed: got %v, want %v or %v", name, offset, len(raw), err, ErrDamaged, ErrOtherFormat)
			}
		}
	}
}

func TestDamagedFiles(t *testing.T) {
	saved := saveIndex(t)
	first, second := segmentName(0), segmentName(1)
	manifest := saved.files[manifestName]
	other := slices.Clone(manifest)
	binary.LittleEndian.PutUint32(other[len(manifestMagic):], manifestFormat+1)
	rows := []struct {
		name    string
		file    string
		content []byte
		want    error
	}{
		{"intact", first, saved.files[first], nil},
		{"segment missing", first, nil, ErrDamaged},
		{"segment empty", first, []byte{}, ErrDamaged},
		{"segment truncated by a byte", second, saved.files[second][:len(saved.files[second])-1], ErrDamaged},
		{"segment truncated to half", first, saved.files[first][:len(saved.files[first])/2], ErrDamaged},
		{"segment longer", second, append(slices.Clone(saved.files[second]), 0), ErrDamaged},
		{"segment with another name", first, saved.files[second], ErrDamaged},
		{"segment of zeros", second, make([]byte, len(saved.files[second])), ErrDamaged},
		{"manifest missing", manifestName, nil, ErrDamaged},
		{"manifest empty", manifestName, []byte{}, ErrDamaged},
		{"manifest truncated by a byte", manifestName, manifest[:len(manifest)-1], ErrDamaged},
		{"manifest longer", manifestName, append(slices.Clone(manifest), 0), ErrDamaged},
		{"manifest with another format", manifestName, other, ErrOtherFormat},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			saved.writeFiles(t, dir, row.file, row.content)
			if err := saved.openAndVerify(t, dir); !errors.Is(err, row.want) || row.want == nil && err != nil {
				t.Errorf("openAndVerify = %v, want %v", err, row.want)
			}
			if err := os.RemoveAll(dir); err != nil {
				t.Fatalf("remove directory: %v", err)
			}
			x, err := open(dir, Options{}, noSyncDisk{})
			if err != nil {
				t.Fatalf("open after deleting the directory: %v", err)
			}
			if got := x.Stats(); got != (Stats{}) {
				t.Errorf("Stats() after deleting the directory = %+v, want zero", got)
			}
			if err := x.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

// If a merge finds damage, the next Apply reports it.
func TestDamageInMerge(t *testing.T) {
	saved := saveIndex(t)
	dir := t.TempDir()
	raw := slices.Clone(saved.files[segmentName(0)])
	raw[0] ^= 1
	saved.writeFiles(t, dir, segmentName(0), raw)
	x, err := open(dir, Options{}, noSyncDisk{})
	if err != nil {
		t.Fatalf("open index: %v", err)
	}
	defer func() { _ = x.Close() }()
	s, err := x.acquire()
	if err != nil {
		t.Fatalf("acquire: %v", err)
	}
	defer s.release()
	err = x.merge(t.Context(), s.views)
	if !errors.Is(err, ErrDamaged) {
		t.Fatalf("merge = %v, want %v", err, ErrDamaged)
	}
	x.mergeFailed(t.Context(), err)
	if err := x.Apply(t.Context(), x.NewBatch(), nil); !errors.Is(err, ErrDamaged) {
		t.Errorf("Apply = %v, want %v", err, ErrDamaged)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.segment"))
	if err != nil || len(names) != 2 {
		t.Errorf("segment files = %v, %v, want 2", names, err)
	}
}

// Open removes the files of an unfinished write.
func TestOpenRemovesUnfinishedFiles(t *testing.T) {
	saved := saveIndex(t)
	dir := t.TempDir()
	saved.writeFiles(t, dir, "", nil)
	for _, name := range []string{manifestNew, segmentName(2), segmentName(900)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600); err != nil {
			t.Fatalf("write file: %v", err)
		}
	}
	if err := saved.openAndVerify(t, dir); err != nil {
		t.Fatalf("openAndVerify: %v", err)
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 3 {
		t.Errorf("files = %v, %v, want 3", names, err)
	}
	if fmt.Sprint(names[0].Name(), names[1].Name(), names[2].Name()) != segmentName(0)+segmentName(1)+manifestName {
		t.Errorf("files = %v, want two segments and the manifest", names)
	}
}

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

// kept is an index that lies on the disk, whole, with questions and their answers.
type kept struct {
	files   map[string][]byte
	queries []Query
	answers []Result
}

// keep makes two segments, of several pages and of less than one, and documents that
// are gone.
func keep(t *testing.T) *kept {
	t.Helper()
	dir := t.TempDir()
	x, err := open(dir, Options{}, unsynced{})
	if err != nil {
		t.Fatal(err)
	}
	r := scene{rand.New(rand.NewPCG(7, 8))}
	for _, docs := range []int{3000, 200} {
		b := x.NewBatch()
		for range docs {
			d := r.doc(4000)
			d.into(b)
		}
		if err := x.Apply(t.Context(), b, []byte("mark")); err != nil {
			t.Fatal(err)
		}
	}
	k := &kept{files: make(map[string][]byte)}
	for range 25 {
		k.queries = append(k.queries, r.query())
	}
	if k.answers, err = k.ask(t, x); err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if k.files[n.Name()], err = os.ReadFile(filepath.Join(dir, n.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return k
}

func (k *kept) ask(t *testing.T, x *Index) ([]Result, error) {
	t.Helper()
	var list []Result
	for _, q := range k.queries {
		a, err := x.Search(t.Context(), q)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

// put lays the files into a folder, one of them changed, or nil to leave it out.
func (k *kept) put(t *testing.T, dir, changed string, content []byte) {
	t.Helper()
	for name, raw := range k.files {
		path := filepath.Join(dir, name)
		if name == changed {
			if raw = content; raw == nil {
				if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
					t.Fatal(err)
				}
				continue
			}
		}
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// hold opens the index and asks: the answers are right, or the damage is said. It
// returns what was said, by anybody.
func (k *kept) hold(t *testing.T, dir string) error {
	t.Helper()
	x, err := open(dir, Options{Cache: 1}, unsynced{})
	if err != nil {
		return err
	}
	defer func() { _ = x.Close() }()
	got, err := k.ask(t, x)
	if err == nil && !reflect.DeepEqual(got, k.answers) {
		t.Fatal("another answer")
	}
	return errors.Join(err, x.Check(t.Context()))
}

func TestOneByteChanged(t *testing.T) {
	k := keep(t)
	dir := t.TempDir()
	for name, raw := range k.files {
		step := 1 + len(raw)/80
		places := slices.Collect(func(yield func(int) bool) {
			for at := 0; at < len(raw) && yield(at); at += step {
			}
			for at := max(0, len(raw)-footerSize-40); at < len(raw) && yield(at); at += 3 {
			}
		})
		for _, at := range places {
			changed := slices.Clone(raw)
			changed[at] ^= 1 << (at % 8)
			k.put(t, dir, name, changed)
			err := k.hold(t, dir)
			if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrOtherFormat) {
				t.Fatalf("%s, byte %d of %d: %v", name, at, len(raw), err)
			}
		}
	}
}

func TestDamage(t *testing.T) {
	k := keep(t)
	first, second := segmentName(0), segmentName(1)
	manifest := k.files[manifestName]
	other := slices.Clone(manifest)
	binary.LittleEndian.PutUint32(other[len(manifestMagic):], manifestFormat+1)
	rows := []struct {
		name    string
		file    string
		content []byte
		want    error
	}{
		{"whole", first, k.files[first], nil},
		{"segment missing", first, nil, ErrDamaged},
		{"segment empty", first, []byte{}, ErrDamaged},
		{"segment cut off", second, k.files[second][:len(k.files[second])-1], ErrDamaged},
		{"segment cut by half", first, k.files[first][:len(k.files[first])/2], ErrDamaged},
		{"segment longer", second, append(slices.Clone(k.files[second]), 0), ErrDamaged},
		{"segment of another name", first, k.files[second], ErrDamaged},
		{"segment of zeros", second, make([]byte, len(k.files[second])), ErrDamaged},
		{"manifest missing", manifestName, nil, ErrDamaged},
		{"manifest empty", manifestName, []byte{}, ErrDamaged},
		{"manifest cut off", manifestName, manifest[:len(manifest)-1], ErrDamaged},
		{"manifest longer", manifestName, append(slices.Clone(manifest), 0), ErrDamaged},
		{"manifest of another version", manifestName, other, ErrOtherFormat},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			k.put(t, dir, row.file, row.content)
			if err := k.hold(t, dir); !errors.Is(err, row.want) || row.want == nil && err != nil {
				t.Errorf("got %v, want %v", err, row.want)
			}
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			x, err := open(dir, Options{}, unsynced{})
			if err != nil {
				t.Fatalf("after Remove: %v", err)
			}
			if got := x.Stats(); got != (Stats{}) {
				t.Errorf("after Remove: %+v", got)
			}
			if err := x.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// What a merge meets of damage, the next Apply says.
func TestDamageInMerge(t *testing.T) {
	k := keep(t)
	dir := t.TempDir()
	raw := slices.Clone(k.files[segmentName(0)])
	raw[0] ^= 1
	k.put(t, dir, segmentName(0), raw)
	x, err := open(dir, Options{}, unsynced{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	s, err := x.acquire()
	if err != nil {
		t.Fatal(err)
	}
	defer s.release()
	err = x.merge(t.Context(), s.views)
	if !errors.Is(err, ErrDamaged) {
		t.Fatalf("merge: %v", err)
	}
	x.mergeFailed(t.Context(), err)
	if err := x.Apply(t.Context(), x.NewBatch(), nil); !errors.Is(err, ErrDamaged) {
		t.Errorf("apply: %v", err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.segment"))
	if err != nil || len(names) != 2 {
		t.Errorf("%v is there, %v", names, err)
	}
}

// What an earlier process was about to write is gone after Open.
func TestSweep(t *testing.T) {
	k := keep(t)
	dir := t.TempDir()
	k.put(t, dir, "", nil)
	for _, name := range []string{manifestNew, segmentName(2), segmentName(900)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.hold(t, dir); err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 3 {
		t.Errorf("%v is there, %v", names, err)
	}
	if fmt.Sprint(names[0].Name(), names[1].Name(), names[2].Name()) != segmentName(0)+segmentName(1)+manifestName {
		t.Errorf("%v", names)
	}
}

package store

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"deedkeep/app/model"
)

// putScan writes a file with three pages. change may be nil.
func putScan(tx *Tx, change func(*model.File)) (uint64, error) {
	id, err := tx.NewFileID()
	pages := 3
	f := model.File{ID: id, MIME: model.MIMEPDF, Pages: &pages, Digest: digest(int(id)), CreatedAt: testTime}
	if change != nil {
		change(&f)
	}
	return id, errors.Join(err, tx.PutFile(f))
}

// ocrQueue returns the IDs in the OCR queue in order.
func ocrQueue(t *testing.T, s *Store) (ids []uint64) {
	t.Helper()
	view(t, s, func(tx *Tx) error {
		for _, owner := range tx.OCROwners() {
			for {
				file, found, err := tx.NextForOCR(owner, func(id uint64) bool { return slices.Contains(ids, id) })
				if err != nil {
					return err
				}
				if !found {
					break
				}
				ids = append(ids, file.ID)
			}
		}
		return nil
	})
	return ids
}

func TestOCRQueue(t *testing.T) {
	s := openNew(t)
	two := 2
	update(t, s, func(tx *Tx) error {
		var err error
		for _, change := range []func(*model.File){
			nil, // 1
			func(f *model.File) { f.Trashed = trashedAt(1, "") },
			func(f *model.File) { f.MIME = "image/png"; f.Pages = nil },
			func(f *model.File) { f.MIME = "text/plain" },
			func(f *model.File) { f.Processing = true }, // 5
			func(f *model.File) { f.OCR = &model.OCR{Pages: 2, Read: 1} },
			func(f *model.File) { f.OCR = &model.OCR{Pages: 2, Read: 2} },
			func(f *model.File) { f.OCR = &model.OCR{} },
			func(f *model.File) { f.TextPages = &two }, // 9
		} {
			_, e := putScan(tx, change)
			err = errors.Join(err, e)
		}
		return err
	})
	expect := func(files, pages uint64, queue ...uint64) {
		t.Helper()
		if got := ocrQueue(t, s); !slices.Equal(got, queue) {
			t.Errorf("queue is %v, want %v", got, queue)
		}
		view(t, s, func(tx *Tx) error {
			if f, p := tx.Count(CountOCRFiles), tx.Count(CountOCRPages); f != files || p != pages {
				t.Errorf("counted %d files, %d pages; want %d, %d", f, p, files, pages)
			}
			return nil
		})
		if findings := check(t, s); len(findings) > 0 {
			t.Errorf("got findings %+v, want none", findings)
		}
	}
	expect(4, 3+1+1+1, 9, 6, 3, 1)
	for _, step := range []struct {
		name         string
		do           func(*Tx) error
		files, pages uint64
		queue        []uint64
		changes      int
	}{
		{"progress without new text", func(tx *Tx) error { return tx.SetOCR(1, model.OCR{Pages: 3, Read: 2}, 0, false) }, 4, 4,
			[]uint64{9, 6, 3, 1}, 0},
		{"progress with new text", func(tx *Tx) error { return tx.SetOCR(1, model.OCR{Pages: 3, Read: 3}, 3, true) }, 3, 3,
			[]uint64{9, 6, 3}, 1},
		{"nothing to read", func(tx *Tx) error { return tx.SetOCR(9, model.OCR{}, 2, false) }, 2, 2, []uint64{6, 3}, 0},
		{"being processed", func(tx *Tx) error { return tx.SetOCR(5, model.OCR{Pages: 1}, 0, true) }, 2, 2, []uint64{6, 3}, 0},
		{"results lost", func(tx *Tx) error { return tx.ResetOCR([32]byte{31: 1}, 9) }, 3, 2, []uint64{6, 3, 1}, 1},
		{"restored", func(tx *Tx) error {
			f, err := tx.FileIncludingTrash(2)
			f.Trashed = nil
			return errors.Join(err, tx.PutFile(f))
		}, 4, 5, []uint64{6, 3, 2, 1}, 1},
		{"purged", func(tx *Tx) error { return errors.Join(tx.RemoveFile(6), tx.RemoveFile(1), tx.RemoveFile(7)) }, 2, 4, []uint64{3, 2}, 3},
	} {
		t.Run(step.name, func(t *testing.T) {
			var before, after uint64
			view(t, s, func(tx *Tx) error { before = tx.LastChange(); return nil })
			update(t, s, step.do)
			view(t, s, func(tx *Tx) error { after = tx.LastChange(); return nil })
			if got := after - before; got != uint64(step.changes) {
				t.Errorf("the change feed has %d new entries, want %d", got, step.changes)
			}
			expect(step.files, step.pages, step.queue...)
		})
	}
}

// Each owner has its own line in the queue. The trash is in none.
func TestOCRQueueOfOwners(t *testing.T) {
	s := openNew(t)
	owned := func(owner string) func(*model.File) { return func(f *model.File) { f.Owner = owner } }
	update(t, s, func(tx *Tx) (err error) {
		for _, change := range []func(*model.File){owned("key:1"), nil, owned("key:2"), owned("key:1"), // 1 to 4
			func(f *model.File) { f.Owner, f.Trashed = "key:2", trashedAt(1, "") }, nil} {
			_, e := putScan(tx, change)
			err = errors.Join(err, e)
		}
		return err
	})
	view(t, s, func(tx *Tx) error {
		got := map[string][]uint64{}
		for _, owner := range tx.OCROwners() {
			seen := []uint64{}
			for {
				file, found, err := tx.NextForOCR(owner, func(id uint64) bool { return slices.Contains(seen, id) })
				if err != nil || !found {
					got[fmt.Sprint(len(owner) > 1, seen[0])] = seen
					break
				}
				if seen = append(seen, file.ID); OCROwnerOf(&file) != owner {
					t.Errorf("file %d has the owner %q, want %q", file.ID, OCROwnerOf(&file), owner)
				}
			}
		}
		if want := "map[false 6:[6 2] true 3:[3] true 4:[4 1]]"; fmt.Sprint(got) != want {
			t.Errorf("queue is %v, want %s", got, want)
		}
		return nil
	})
	if findings := check(t, s); len(findings) > 0 {
		t.Errorf("got findings %+v, want none", findings)
	}
}

func TestCheckFindsWrongOCRQueue(t *testing.T) {
	key := func(id uint64) []byte { return append([]byte{0}, encodeUint64(math.MaxUint64-id)...) }
	for name, damage := range map[string]func(*bucket) error{
		"an entry is missing":              func(b *bucket) error { return b.Delete(key(1)) },
		"a number is wrong":                func(b *bucket) error { return b.Put(key(1), encodeUint64(7)) },
		"an entry for no file":             func(b *bucket) error { return b.Put(key(9), encodeUint64(1)) },
		"an entry of a file that was read": func(b *bucket) error { return b.Put(key(2), encodeUint64(1)) },
		"a truncated key":                  func(b *bucket) error { return b.Put([]byte{0, 1}, encodeUint64(1)) },
		"the trash":                        func(b *bucket) error { return b.Put(append([]byte{1}, key(1)[1:]...), encodeUint64(3)) },
	} {
		t.Run(name, func(t *testing.T) {
			s := openNew(t)
			update(t, s, func(tx *Tx) error {
				_, e1 := putScan(tx, nil)
				_, e2 := putScan(tx, func(f *model.File) { f.OCR = &model.OCR{Pages: 1, Read: 1} })
				return errors.Join(e1, e2)
			})
			if err := alter(s, func(tx *Tx) error { return damage(tx.bucket(bucketOCRQueue)) }); err != nil {
				t.Fatalf("change database: %v", err)
			}
			if findings := check(t, s); len(findings) == 0 {
				t.Error("got no findings, want one")
			}
			if err := s.Rebuild(t.Context(), func(f Finding) { t.Errorf("Rebuild reported %+v", f) }); err != nil {
				t.Fatalf("rebuild: %v", err)
			}
			if findings := check(t, s); len(findings) > 0 {
				t.Errorf("after Rebuild: got findings %+v, want none", findings)
			}
			if got := fmt.Sprint(ocrQueue(t, s)); got != "[1]" {
				t.Errorf("after Rebuild: queue is %s, want [1]", got)
			}
		})
	}
}

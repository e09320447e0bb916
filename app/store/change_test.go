package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"deedkeep/app/model"
)

// told gives the feed as "noun id", from a number on.
func told(t testing.TB, s *Store, from uint64, limit int) (list []string, err error) {
	t.Helper()
	view(t, s, func(tx *Tx) error {
		changes, e := tx.Changes(from, limit)
		for i, c := range changes {
			if c.Seq != max(from, 1)+uint64(i) {
				t.Errorf("change %d stands at %d", c.Seq, max(from, 1)+uint64(i))
			}
			list = append(list, fmt.Sprint(c.Type, " ", c.ID))
		}
		err = e
		return nil
	})
	return list, err
}

func putOf(noun string, id uint64) func(*Tx) error {
	return func(tx *Tx) error {
		switch noun {
		case "abstract":
			return tx.PutAbstract(model.Abstract{ID: id, CreatedAt: testTime})
		case "order":
			return tx.PutOrder(model.Order{ID: id, Number: fmt.Sprint(id), CreatedAt: testTime})
		}
		return tx.PutFile(model.File{ID: id, Digest: digest(int(id)), CreatedAt: testTime})
	}
}

func TestEveryPutAndRemoveIsToldOnceACommit(t *testing.T) {
	s := openNew(t)
	var ids [3]uint64
	update(t, s, func(tx *Tx) (err error) {
		for i, next := range []func() (uint64, error){tx.NewAbstractID, tx.NewOrderID, tx.NewFileID} {
			id, e := next()
			ids[i], err = id, errors.Join(err, e)
		}
		return err
	})
	for i, noun := range []string{"abstract", "order", "file"} {
		for _, row := range []struct {
			name string
			fn   func(*Tx) error
			want int
		}{
			{"put", putOf(noun, ids[i]), 1},
			{"put twice", func(tx *Tx) error { return errors.Join(putOf(noun, ids[i])(tx), putOf(noun, ids[i])(tx)) }, 1},
			{"remove", func(tx *Tx) error {
				return map[string]func(uint64) error{"abstract": tx.RemoveAbstract, "order": tx.RemoveOrder, "file": tx.RemoveFile}[noun](ids[i])
			}, 1},
			{"nothing of theirs", func(tx *Tx) error { return tx.PutFolder(model.Folder{ID: 1, Name: fmt.Sprint("F", i)}) }, 0},
		} {
			var from uint64
			view(t, s, func(tx *Tx) error { from = tx.LastChange() + 1; return nil })
			select {
			case <-s.Changed():
			default:
			}
			update(t, s, row.fn)
			want := slices.Repeat([]string{fmt.Sprint(noun, " ", ids[i])}, row.want)
			if list, err := told(t, s, from, 9); err != nil || !slices.Equal(list, want) {
				t.Errorf("%s %s: told %v, %v", row.name, noun, list, err)
			}
			if len(s.Changed()) != row.want {
				t.Errorf("%s %s: %d wake the follower", row.name, noun, len(s.Changed()))
			}
		}
	}
}

// The files of an abstract are told of by one entry, and only when it lies elsewhere or
// is made by another template.
func TestFilesAreToldOfWhenTheirAbstractMoves(t *testing.T) {
	s := openNew(t)
	a := model.Abstract{ID: 1, CreatedAt: testTime, Status: "Open"}
	a.County, a.State, a.TemplateID = "Albany", "NY", 1
	update(t, s, func(tx *Tx) error {
		_, err := tx.NewAbstractID()
		a.Files = []uint64{1, 2, 3}
		return errors.Join(err, tx.PutAbstract(a))
	})
	for _, row := range []struct {
		name   string
		change func()
		want   []string
	}{
		{"nothing", func() {}, []string{"abstract 1"}},
		{"a status", func() { a.Status = "Done" }, []string{"abstract 1"}},
		{"a city", func() { a.City = "Troy" }, []string{"abstract 1"}},
		{"a county", func() { a.County = "Erie" }, []string{"abstract 1", "files of 1"}},
		{"a state", func() { a.State = "PA" }, []string{"abstract 1", "files of 1"}},
		{"a template", func() { a.TemplateID = 2 }, []string{"abstract 1", "files of 1"}},
		{"a county without files", func() { a.County, a.Files = "Albany", nil }, []string{"abstract 1"}},
	} {
		var from uint64
		view(t, s, func(tx *Tx) error { from = tx.LastChange() + 1; return nil })
		row.change()
		update(t, s, func(tx *Tx) error { return errors.Join(tx.PutAbstract(a), tx.PutAbstract(a)) })
		if list, err := told(t, s, from, 9); err != nil || !slices.Equal(list, row.want) {
			t.Errorf("%s: told %v, %v", row.name, list, err)
		}
	}
}

// A write that fails takes its changes with it, and leaves those of its neighbors.
func TestWhatIsNotCommittedIsNotTold(t *testing.T) {
	s := openNew(t)
	broken := errors.New("broken")
	err := s.Update(t.Context(), nil, func(tx *Tx) error { return errors.Join(putOrder(tx, false, false), broken) })
	if !errors.Is(err, broken) {
		t.Fatal(err)
	}
	update(t, s, func(tx *Tx) error { return putOrder(tx, false, false) })
	if list, err := told(t, s, 0, 9); err != nil || !slices.Equal(list, []string{"order 1"}) {
		t.Errorf("told %v, %v", list, err)
	}
}

func TestChangesAreReadAndTrimmed(t *testing.T) {
	s := openNew(t)
	const many = 500
	for range many / 100 {
		update(t, s, func(tx *Tx) (err error) {
			for range 100 {
				err = errors.Join(err, putOrder(tx, false, false))
			}
			return err
		})
	}
	trim := func(upTo uint64, limit int) (count int) {
		t.Helper()
		update(t, s, func(tx *Tx) (err error) { count, err = tx.TrimChanges(upTo, limit); return err })
		return count
	}
	if list, err := told(t, s, 499, 9); err != nil || !slices.Equal(list, []string{"order 499", "order 500"}) {
		t.Errorf("told %v, %v", list, err)
	}
	if list, err := told(t, s, many+1, 9); err != nil || len(list) > 0 {
		t.Errorf("beyond the last: %v, %v", list, err)
	}
	if _, err := told(t, s, many+2, 9); !errors.Is(err, ErrGap) {
		t.Errorf("beyond what there ever was: %v", err)
	}
	if n := trim(300, 200) + trim(300, 200) + trim(300, 200); n != 300 {
		t.Errorf("trimmed %d", n)
	}
	if _, err := told(t, s, 300, 9); !errors.Is(err, ErrGap) {
		t.Errorf("what was trimmed: %v", err)
	}
	if list, err := told(t, s, 301, 1); err != nil || list[0] != "order 301" {
		t.Errorf("what was not: %v, %v", list, err)
	}
	if trim(many, many); len(check(t, s)) > 0 {
		t.Error("it does not hold")
	}
	update(t, s, func(tx *Tx) error { return putOrder(tx, false, false) })
	if list, err := told(t, s, many+1, 9); err != nil || !slices.Equal(list, []string{"order 501"}) {
		t.Errorf("after all was trimmed: %v, %v", list, err)
	}
	view(t, s, func(tx *Tx) error {
		if tx.FirstChange() != many+1 || tx.LastChange() != many+1 {
			t.Errorf("%d to %d", tx.FirstChange(), tx.LastChange())
		}
		return nil
	})
}

// Whatever is wrong with the feed is a gap to those who follow and found by a check;
// a rebuilding ends it, and those who followed until then begin anew.
func TestADamagedFeedIsFoundAndMended(t *testing.T) {
	entry := func(seq uint64, change func(key, value []byte) []byte) func(*bolt.Bucket) error {
		return func(b *bolt.Bucket) error {
			return b.Put(encodeUint64(seq), change(encodeUint64(seq), slices.Clone(b.Get(encodeUint64(seq)))))
		}
	}
	for _, row := range []struct {
		name   string
		damage func(*bolt.Bucket) error
		says   string
	}{
		{"a missing one", func(b *bolt.Bucket) error { return b.Delete(encodeUint64(3)) }, "follows change 2"},
		{"the last", func(b *bolt.Bucket) error { return b.Delete(encodeUint64(9)) }, "is missing"},
		{"another record", entry(3, func(_, v []byte) []byte { v[7] ^= 1; return v }), "damaged"},
		{"no noun", entry(3, func(key, _ []byte) []byte { return encodeChange(key, 9<<typeShift|1) }), "damaged"},
		{"too short", entry(3, func(_, v []byte) []byte { return v[:11] }), "damaged"},
		{"that of another", entry(3, func(_, _ []byte) []byte { return encodeChange(encodeUint64(4), 1<<typeShift|1) }), "damaged"},
		{"a key that is none", func(b *bolt.Bucket) error { return b.Put([]byte("x"), nil) }, "damaged"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := open(t, filepath.Join(t.TempDir(), "vault.db"))
			update(t, s, func(tx *Tx) (err error) {
				for range 9 {
					err = errors.Join(err, putOrder(tx, false, false))
				}
				return err
			})
			if err := s.db.Update(func(tx *bolt.Tx) error { return row.damage(tx.Bucket(bucketChanges)) }); err != nil {
				t.Fatal(err)
			}
			findings := check(t, s)
			if len(findings) == 0 || findings[0].Kind != "change" || !strings.Contains(findings[0].Problem, row.says) {
				t.Errorf("found %+v", findings)
			}
			if _, err := told(t, s, 1, 99); !errors.Is(err, ErrGap) && row.name != "a key that is none" {
				t.Errorf("whoever follows is told %v", err)
			}
			if err := s.Rebuild(t.Context(), func(f Finding) { t.Errorf("%+v", f) }); err != nil {
				t.Fatal(err)
			}
			if findings := check(t, s); len(findings) > 0 {
				t.Errorf("found %+v", findings)
			}
			if _, err := told(t, s, 10, 9); !errors.Is(err, ErrGap) {
				t.Errorf("after the rebuilding: %v", err)
			}
			update(t, s, func(tx *Tx) error { return putOrder(tx, false, false) })
			if list, err := told(t, s, 11, 9); err != nil || len(list) != 1 {
				t.Errorf("told %v, %v", list, err)
			}
		})
	}
}

func TestAChangeIsDrawnAsItIs(t *testing.T) {
	key := encodeUint64(7)
	raw := encodeChange(key, typedID("file", 0x1234))
	if len(raw) != changeSize || raw[0] != 3 || binary.BigEndian.Uint64(raw)&(1<<typeShift-1) != 0x1234 {
		t.Errorf("%x", raw)
	}
	if c, ok := decodeChange(key, raw); !ok || c != (Change{7, "file", 0x1234}) {
		t.Errorf("%+v, %v", c, ok)
	}
}

package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/model"
)

// changesFrom returns up to limit entries of the change feed, starting with sequence number from,
// in the form "type id".
func changesFrom(t testing.TB, s *Store, from uint64, limit int) (list []string, err error) {
	t.Helper()
	view(t, s, func(tx *Tx) error {
		changes, e := tx.Changes(from, limit)
		for i, c := range changes {
			if c.Seq != max(from, 1)+uint64(i) {
				t.Errorf("got change %d, want %d", c.Seq, max(from, 1)+uint64(i))
			}
			list = append(list, fmt.Sprint(c.Type, " ", c.ID))
		}
		err = e
		return nil
	})
	return list, err
}

// putRecord returns a function that writes a minimal record.
func putRecord(typeName string, id uint64) func(*Tx) error {
	return func(tx *Tx) error {
		switch typeName {
		case "abstract":
			return tx.PutAbstract(model.Abstract{ID: id, CreatedAt: testTime})
		case "order":
			return tx.PutOrder(model.Order{ID: id, Number: fmt.Sprint(id), CreatedAt: testTime})
		}
		return tx.PutFile(model.File{ID: id, Digest: digest(int(id)), CreatedAt: testTime})
	}
}

func TestPutAndRemoveAddOneChangePerCommit(t *testing.T) {
	s := openNew(t)
	var ids [3]uint64
	update(t, s, func(tx *Tx) (err error) {
		for i, next := range []func() (uint64, error){tx.NewAbstractID, tx.NewOrderID, tx.NewFileID} {
			id, e := next()
			ids[i], err = id, errors.Join(err, e)
		}
		return err
	})
	for i, typeName := range []string{"abstract", "order", "file"} {
		for _, row := range []struct {
			name string
			fn   func(*Tx) error
			want int
		}{
			{"put", putRecord(typeName, ids[i]), 1},
			{"put twice", func(tx *Tx) error {
				return errors.Join(putRecord(typeName, ids[i])(tx), putRecord(typeName, ids[i])(tx))
			}, 1},
			{"remove", func(tx *Tx) error {
				return map[string]func(uint64) error{"abstract": tx.RemoveAbstract, "order": tx.RemoveOrder, "file": tx.RemoveFile}[typeName](ids[i])
			}, 1},
			{"other record", func(tx *Tx) error { return tx.PutFolder(model.Folder{ID: 1, Name: fmt.Sprint("F", i)}) }, 0},
		} {
			t.Run(typeName+" "+row.name, func(t *testing.T) {
				var from uint64
				view(t, s, func(tx *Tx) error { from = tx.LastChange() + 1; return nil })
				select {
				case <-s.Changed():
				default:
				}
				update(t, s, row.fn)
				want := slices.Repeat([]string{fmt.Sprint(typeName, " ", ids[i])}, row.want)
				if list, err := changesFrom(t, s, from, 9); err != nil || !slices.Equal(list, want) {
					t.Errorf("got changes %v, %v; want %v", list, err, want)
				}
				if len(s.Changed()) != row.want {
					t.Errorf("got %d signals, want %d", len(s.Changed()), row.want)
				}
			})
		}
	}
}

// If the county, state, or template of an abstract changes, there is a single change for all of its
// files. Other changes to the abstract don't affect the files.
func TestMovedAbstractAddsChangeForItsFiles(t *testing.T) {
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
		t.Run(row.name, func(t *testing.T) {
			var from uint64
			view(t, s, func(tx *Tx) error { from = tx.LastChange() + 1; return nil })
			row.change()
			update(t, s, func(tx *Tx) error { return errors.Join(tx.PutAbstract(a), tx.PutAbstract(a)) })
			if list, err := changesFrom(t, s, from, 9); err != nil || !slices.Equal(list, row.want) {
				t.Errorf("got changes %v, %v; want %v", list, err, row.want)
			}
		})
	}
}

// A failed update adds nothing to the change feed. Later updates are not affected.
func TestFailedUpdateAddsNoChange(t *testing.T) {
	s := openNew(t)
	broken := errors.New("broken")
	err := s.Update(t.Context(), nil, func(tx *Tx) error { return errors.Join(putOrder(tx, false, false), broken) })
	if !errors.Is(err, broken) {
		t.Fatalf("got %v, want %v", err, broken)
	}
	update(t, s, func(tx *Tx) error { return putOrder(tx, false, false) })
	if list, err := changesFrom(t, s, 0, 9); err != nil || !slices.Equal(list, []string{"order 1"}) {
		t.Errorf("got changes %v, %v; want one change", list, err)
	}
}

func TestReadAndTrimChanges(t *testing.T) {
	s := openNew(t)
	const total = 500
	for range total / 100 {
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
	if list, err := changesFrom(t, s, 499, 9); err != nil || !slices.Equal(list, []string{"order 499", "order 500"}) {
		t.Errorf("got changes %v, %v; want order 499 and order 500", list, err)
	}
	if list, err := changesFrom(t, s, total+1, 9); err != nil || len(list) > 0 {
		t.Errorf("changes after the last: got %v, %v; want none", list, err)
	}
	if _, err := changesFrom(t, s, total+2, 9); !errors.Is(err, ErrGap) {
		t.Errorf("changes far after the last: got %v, want ErrGap", err)
	}
	if n := trim(300, 200) + trim(300, 200) + trim(300, 200); n != 300 {
		t.Errorf("trimmed %d changes, want 300", n)
	}
	if _, err := changesFrom(t, s, 300, 9); !errors.Is(err, ErrGap) {
		t.Errorf("trimmed change: got %v, want ErrGap", err)
	}
	if list, err := changesFrom(t, s, 301, 1); err != nil || list[0] != "order 301" {
		t.Errorf("first change: got %v, %v; want order 301", list, err)
	}
	if trim(total, total); len(check(t, s)) > 0 {
		t.Error("Check has findings, want none")
	}
	update(t, s, func(tx *Tx) error { return putOrder(tx, false, false) })
	if list, err := changesFrom(t, s, total+1, 9); err != nil || !slices.Equal(list, []string{"order 501"}) {
		t.Errorf("after trimming all: got %v, %v; want order 501", list, err)
	}
	view(t, s, func(tx *Tx) error {
		if tx.FirstChange() != total+1 || tx.LastChange() != total+1 {
			t.Errorf("got changes %d to %d, want %d to %d", tx.FirstChange(), tx.LastChange(), total+1, total+1)
		}
		return nil
	})
}

// If the change feed is damaged in any way, the follower gets ErrGap and Check reports the damage.
// A rebuild repairs the feed, and the follower has to start from scratch.
func TestDamagedChangeFeedIsFoundAndRebuilt(t *testing.T) {
	entry := func(seq uint64, change func(key, value []byte) []byte) func(*bucket) error {
		return func(b *bucket) error {
			return b.Put(encodeUint64(seq), change(encodeUint64(seq), slices.Clone(b.Get(encodeUint64(seq)))))
		}
	}
	for _, row := range []struct {
		name   string
		damage func(*bucket) error
		want   string // substring of the finding
	}{
		{"a missing change", func(b *bucket) error { return b.Delete(encodeUint64(3)) }, "sequence gap: follows change 2"},
		{"the last change is missing", func(b *bucket) error { return b.Delete(encodeUint64(9)) }, "is missing"},
		{"another record", entry(3, func(_, v []byte) []byte { v[7] ^= 1; return v }), "damaged"},
		{"invalid type", entry(3, func(key, _ []byte) []byte { return encodeChange(key, 9<<typeShift|1) }), "damaged"},
		{"too short", entry(3, func(_, v []byte) []byte { return v[:11] }), "damaged"},
		{"the value of another change", entry(3, func(_, _ []byte) []byte { return encodeChange(encodeUint64(4), 1<<typeShift|1) }), "damaged"},
		{"an invalid key", func(b *bucket) error { return b.Put([]byte("x"), nil) }, "damaged"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := open(t, filepath.Join(t.TempDir(), "vault.db"))
			update(t, s, func(tx *Tx) (err error) {
				for range 9 {
					err = errors.Join(err, putOrder(tx, false, false))
				}
				return err
			})
			if err := alter(s, func(tx *Tx) error { return row.damage(tx.bucket(bucketChanges)) }); err != nil {
				t.Fatalf("change database: %v", err)
			}
			findings := check(t, s)
			if len(findings) == 0 || findings[0].Kind != "change" || !strings.Contains(findings[0].Problem, row.want) {
				t.Errorf("got findings %+v, want %q", findings, row.want)
			}
			if _, err := changesFrom(t, s, 1, 99); !errors.Is(err, ErrGap) && row.name != "an invalid key" {
				t.Errorf("Changes: got %v, want ErrGap", err)
			}
			if err := s.Rebuild(t.Context(), func(f Finding) { t.Errorf("%+v", f) }); err != nil {
				t.Fatalf("rebuild: %v", err)
			}
			if findings := check(t, s); len(findings) > 0 {
				t.Errorf("got findings %+v, want none", findings)
			}
			if _, err := changesFrom(t, s, 10, 9); !errors.Is(err, ErrGap) {
				t.Errorf("Changes after the rebuild: got %v, want ErrGap", err)
			}
			update(t, s, func(tx *Tx) error { return putOrder(tx, false, false) })
			if list, err := changesFrom(t, s, 11, 9); err != nil || len(list) != 1 {
				t.Errorf("got changes %v, %v; want one change", list, err)
			}
		})
	}
}

// TestChangeEncoding verifies the format described in change.go.
func TestChangeEncoding(t *testing.T) {
	key := encodeUint64(7)
	raw := encodeChange(key, typedID("file", 0x1234))
	if len(raw) != changeSize || raw[0] != 3 || binary.BigEndian.Uint64(raw)&(1<<typeShift-1) != 0x1234 {
		t.Errorf("encodeChange = %x, want type 3 and ID 1234", raw)
	}
	if c, ok := decodeChange(key, raw); !ok || c != (Change{7, "file", 0x1234}) {
		t.Errorf("decodeChange = %+v, %v; want change 7 of file 4660", c, ok)
	}
}

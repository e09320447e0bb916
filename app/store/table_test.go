package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// TestRecordEncoding verifies the format described in table.go.
func TestRecordEncoding(t *testing.T) {
	raw, err := encodeRecord(bucketFolders, encodeUint64(7), model.Folder{ID: 7, Name: "A & B"})
	want := "01" + "9e3f2ac6" + `{"id":7,"name":"A & B"}`
	if got := hexHead(raw); err != nil || got != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
	if _, err := encodeRecord(bucketFolders, encodeUint64(7), func() {}); err == nil {
		t.Error("encodeRecord of a function succeeded, want an error")
	}
}

// TestRecordJSON verifies that records are encoded as encoding/json encoded them in earlier versions.
func TestRecordJSON(t *testing.T) {
	records := map[string]any{
		"empty order":    model.Order{},
		"empty abstract": model.Abstract{},
		"empty file":     model.File{},
		"order": model.Order{ID: 7, Number: "A <&> \u2028", CreatedAt: testTime, UpdatedAt: testTime.Add(time.Microsecond),
			Custom:  model.CustomValues{"z": json.RawMessage(`"\u00e9"`), "a": json.RawMessage("1.50")},
			Trashed: &model.Trashed{At: testTime, By: model.SystemActor()}},
		"fields":   []model.Field{{Key: "fee", Type: model.Money, Options: []string{}}},
		"nil list": []string(nil),
		"number":   uint64(1<<63 + 1),
	}
	for name, v := range records {
		t.Run(name, func(t *testing.T) {
			var want bytes.Buffer
			to := json.NewEncoder(&want)
			to.SetEscapeHTML(false)
			if err := to.Encode(v); err != nil {
				t.Fatalf("encode with encoding/json: %v", err)
			}
			raw, err := encodeRecord(bucketOrders, encodeUint64(7), v)
			if err != nil || string(raw[recordHeaderSize:])+"\n" != want.String() {
				t.Errorf("encodeRecord() = %s, %v; want %s", raw[recordHeaderSize:], err, want.String())
			}
		})
	}
}

// hexHead returns an encoded record with its header converted to hex.
func hexHead(raw []byte) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for _, c := range raw[:recordHeaderSize] {
		b.WriteByte(digits[c>>4])
		b.WriteByte(digits[c&15])
	}
	return b.String() + string(raw[recordHeaderSize:])
}

func TestDecodeRecordRejectsDamage(t *testing.T) {
	valid, err := encodeRecord(bucketFolders, encodeUint64(7), model.Folder{ID: 7, Name: "Inbox"})
	if err != nil {
		t.Fatalf("encode record: %v", err)
	}
	var f model.Folder
	if err := decodeRecord(bucketFolders, encodeUint64(7), valid, &f); err != nil || f.Name != "Inbox" {
		t.Fatalf("valid record: got %+v, %v; want Inbox", f, err)
	}
	otherVersion := bytes.Clone(valid)
	otherVersion[0] = 2
	text, err := encodeRecord(bucketFolders, encodeUint64(7), "text")
	if err != nil {
		t.Fatalf("encode record: %v", err)
	}
	for _, row := range []struct {
		name        string
		bucket, key []byte
		raw         []byte
	}{
		{"nothing", bucketFolders, encodeUint64(7), nil},
		{"less than a header", bucketFolders, encodeUint64(7), valid[:4]},
		{"only a header", bucketFolders, encodeUint64(7), valid[:5]},
		{"truncated", bucketFolders, encodeUint64(7), valid[:len(valid)-1]},
		{"longer", bucketFolders, encodeUint64(7), append(bytes.Clone(valid), ' ')},
		{"another version", bucketFolders, encodeUint64(7), otherVersion},
		{"under another key", bucketFolders, encodeUint64(8), valid},
		{"in another bucket", bucketFiles, encodeUint64(7), valid},
		{"of another type", bucketFolders, encodeUint64(7), text},
	} {
		t.Run(row.name, func(t *testing.T) {
			var f model.Folder
			if err := decodeRecord(row.bucket, row.key, row.raw, &f); !errors.Is(err, ErrDamaged) {
				t.Errorf("got %v, want ErrDamaged", err)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	valid, err := encodeRecord(bucketFolders, encodeUint64(7), model.Folder{ID: 7, Name: "Inbox"})
	if err != nil {
		f.Fatalf("encode record: %v", err)
	}
	f.Add(valid, uint64(7))
	f.Add([]byte{recordVersion, 0, 0, 0, 0}, uint64(0))
	f.Add([]byte{}, uint64(1))
	f.Fuzz(func(t *testing.T, raw []byte, id uint64) {
		before := bytes.Clone(raw)
		var folder model.Folder
		err := decodeRecord(bucketFolders, encodeUint64(id), raw, &folder)
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("got %v, want nil or ErrDamaged", err)
		}
		if !bytes.Equal(raw, before) {
			t.Errorf("decodeRecord changed its input to %x, want %x", raw, before)
		}
		reencoded, encodeErr := encodeRecord(bucketFolders, encodeUint64(id), folder)
		if encodeErr != nil || err == nil && decodeRecord(bucketFolders, encodeUint64(id), reencoded, &folder) != nil {
			t.Errorf("encode and decode the record again: %v", encodeErr)
		}
	})
}

// Each row is one transaction in a store that already contains records.
func TestIndexesAndCountersMatchRecords(t *testing.T) {
	count := func(c Counter, want uint64) func(*Tx) string {
		return func(tx *Tx) string {
			if tx.Count(c) != want {
				return fmt.Sprintf("Count(%s) = %d, want %d", c, tx.Count(c), want)
			}
			return ""
		}
	}
	folder := func(name string, parent uint64, want bool) func(*Tx) string {
		return func(tx *Tx) string {
			if tx.FolderNameTaken(parent, name) != want {
				return fmt.Sprintf("FolderNameTaken(%d, %q) = %v, want %v", parent, name, !want, want)
			}
			return ""
		}
	}
	order := func(number string, want bool) func(*Tx) string {
		return func(tx *Tx) string {
			if tx.OrderNumberTaken(number) != want {
				return fmt.Sprintf("OrderNumberTaken(%q) = %v, want %v", number, !want, want)
			}
			return ""
		}
	}
	file := model.File{ID: 1, Filename: "deed.pdf", Size: 10, Digest: digest(0), AbstractID: 1, Version: 1, CreatedAt: testTime}
	for _, row := range []struct {
		name  string
		write func(*Tx) error
		want  string // substring of the error; "" if there must not be one
		tests []func(*Tx) string
	}{
		{"no change", func(*Tx) error { return nil }, "",
			[]func(*Tx) string{count(CountFolders, 6), count(CountAbstracts, 2), count(CountOrders, 2),
				count(CountFiles, 2), count(CountBytes, 30), count(CountTasks, 2), folder("BOX 1", 1, true), folder("box 1", 0, false), order("a-1",
					true), order("a-", false), order("a-10", false)}},
		{"an order's number changes", func(tx *Tx) error { return tx.PutOrder(model.Order{ID: 1, Number: "B-7"}) }, "",
			[]func(*Tx) string{order("A-0", false), order("b-7", true), count(CountOrders, 2)}},
		{"an order's number changes its case", func(tx *Tx) error { return tx.PutOrder(model.Order{ID: 1, Number: "a-0"}) }, "",
			[]func(*Tx) string{order("A-0", true), count(CountOrders, 2)}},
		{"an order gets the number of another", func(tx *Tx) error { return tx.PutOrder(model.Order{ID: 1, Number: "A-1"}) }, "",
			[]func(*Tx) string{order("A-0", false), order("A-1", true)}},
		{"a folder is renamed", func(tx *Tx) error { return tx.PutFolder(model.Folder{ID: 5, Name: "Deeds", ParentID: 1}) }, "",
			[]func(*Tx) string{folder("box 0", 1, false), folder("deeds", 1, true), count(CountFolders, 6)}},
		{"a folder is moved", func(tx *Tx) error { return tx.PutFolder(model.Folder{ID: 5, Name: "Box 0", ParentID: 2}) }, "",
			[]func(*Tx) string{folder("box 0", 1, false), folder("box 0", 2, true)}},
		{"a folder changes its case", func(tx *Tx) error { return tx.PutFolder(model.Folder{ID: 5, Name: "BOX 0", ParentID: 1}) }, "",
			[]func(*Tx) string{folder("box 0", 1, true)}},
		{"a folder takes a sibling's name", func(tx *Tx) error { return tx.PutFolder(model.Folder{ID: 5, Name: "box 1", ParentID: 1}) },
			"folder 6 has the same name", nil},
		{"a file is processed", func(tx *Tx) error { f := file; f.Processing = true; return tx.PutFile(f) }, "",
			[]func(*Tx) string{count(CountFiles, 2), count(CountBytes, 30)}},
		{"a file with other bytes", func(tx *Tx) error { f := file; f.Digest = digest(9); return tx.PutFile(f) }, "file content can't change", nil},
		{"a file of another size", func(tx *Tx) error { f := file; f.Size = 11; return tx.PutFile(f) }, "file content can't change", nil},
		{"a file without a digest", func(tx *Tx) error { return tx.PutFile(model.File{ID: 9, Digest: "ab"}) }, "invalid SHA-256 digest", nil},
		{"a file with a digest in capitals", func(tx *Tx) error {
			return tx.PutFile(model.File{ID: 9,
				Digest: strings.ToUpper(digest(0xabc))})
		}, "invalid SHA-256 digest", nil},
		{"a file of the same bytes again", func(tx *Tx) error {
			_, err := tx.NewFileID()
			return errors.Join(err, tx.PutFile(model.File{ID: 3, Size: 10, Digest: digest(0)}))
		}, "",
			[]func(*Tx) string{count(CountFiles, 3), count(CountBytes, 40)}},
		{"an abstract is written again", func(tx *Tx) error { return tx.PutAbstract(model.Abstract{ID: 1, Files: []uint64{1}}) }, "",
			[]func(*Tx) string{count(CountAbstracts, 2)}},
		{"a task is done", func(tx *Tx) error { return tx.RemoveTask(1) }, "", []func(*Tx) string{count(CountTasks, 1)}},
		{"a task is done twice", func(tx *Tx) error { return errors.Join(tx.RemoveTask(1), tx.RemoveTask(1)) }, "",
			[]func(*Tx) string{count(CountTasks, 1)}},
		{"a key is used", func(tx *Tx) error { return tx.PutKey(model.Key{ID: 1, Hash: digest(1000), UseCount: 3}) }, "", nil},
		{"a key changes its hash", func(tx *Tx) error { return tx.PutKey(model.Key{ID: 1, Hash: digest(77)}) }, "hash was changed or belongs to another key", nil},
		{"a key with another's hash", func(tx *Tx) error { return tx.PutKey(model.Key{ID: 3, Hash: digest(1000)}) }, "hash was changed or belongs to another key",
			nil},
		{"a key without a hash", func(tx *Tx) error { return tx.PutKey(model.Key{ID: 3, Hash: "zz"}) }, "invalid SHA-256 hash", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := openNew(t) // checks all indexes when the test ends
			fill(t, s, 2)
			err := s.Update(t.Context(), nil, row.write)
			if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
				t.Errorf("got error %v, want %q", err, row.want)
			}
			view(t, s, func(tx *Tx) error {
				for _, test := range row.tests {
					if failure := test(tx); failure != "" {
						t.Error(failure)
					}
				}
				return nil
			})
		})
	}
}

func TestReadMissingRecords(t *testing.T) {
	s := openNew(t)
	view(t, s, func(tx *Tx) error {
		_, abstract := tx.Abstract(1)
		_, order := tx.Order(1)
		_, file := tx.File(1)
		_, folder := tx.Folder(99)
		_, template := tx.Template(99)
		_, key := tx.Key(1)
		for name, err := range map[string]error{"abstract": abstract, "order": order, "file": file, "folder": folder, "template": template,
			"key": key} {
			if errs.KindOf(err) != errs.NotFound {
				t.Errorf("%s: got %v, want errs.NotFound", name, err)
			}
		}
		if _, found, err := tx.KeyByHash([32]byte{}); found || err != nil {
			t.Errorf("KeyByHash: got %v, %v; want none", found, err)
		}
		if tx.DigestInUse([32]byte{}) || tx.HasFolder(99) || tx.OrderNumberTaken("x") {
			t.Error("a digest, folder, or order number exists in an empty store, want none")
		}
		if list, err := tx.Tasks(5); len(list) > 0 || err != nil {
			t.Errorf("got tasks %v, %v; want none", list, err)
		}
		return nil
	})
}

func TestKeysDigestsAndTasks(t *testing.T) {
	s := openNew(t)
	fill(t, s, 3)
	view(t, s, func(tx *Tx) error {
		var hash, bytes [32]byte
		hash[30], hash[31], bytes[31] = 1001>>8, 1001&0xff, 2
		if key, found, err := tx.KeyByHash(hash); !found || err != nil || key.ID != 2 {
			t.Errorf("KeyByHash = %+v, %v, %v; want key 2", key, found, err)
		}
		if !tx.DigestInUse(bytes) {
			t.Error("DigestInUse = false, want true")
		}
		if list, err := tx.Tasks(2); err != nil || len(list) != 2 || list[0].Seq != 1 || list[1].FileID != 2 { // the first two
			t.Errorf("Tasks(2) = %+v, %v, want the first two of three", list, err)
		}
		if list, err := tx.Keys(); err != nil || len(list) != 3 {
			t.Errorf("got keys %+v, %v; want 3", list, err)
		}
		return nil
	})
	c, err := s.Snapshot(t.Context(), filepath.Join(t.TempDir(), "copy.db"))
	if err != nil {
		t.Fatalf("snapshot: %v", err)
	}
	var fileIDs []uint64
	err = c.EachDigest(func(_ [32]byte, f []model.File) error { fileIDs = append(fileIDs, f[0].ID); return nil })
	if err != nil || len(fileIDs) != 3 {
		t.Errorf("got digests of files %v, %v; want 3", fileIDs, err)
	}
	stop := errors.New("stop")
	if err := c.EachDigest(func([32]byte, []model.File) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("EachDigest: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Errorf("close copy: %v", err)
	}
}

func TestDamagedRecordsAreErrors(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "vault.db"))
	fill(t, s, 1)
	err := alter(s, func(tx *Tx) error {
		for _, name := range [][]byte{bucketAbstracts, bucketOrders, bucketFiles, bucketFolders, bucketTasks, bucketEvents} {
			b := tx.bucket(name)
			key, value := b.Cursor().Last()
			if err := b.Put(bytes.Clone(key), append(bytes.Clone(value), 'x')); err != nil {
				return err
			}
		}
		return errors.Join(tx.bucket(bucketKeys).Delete(encodeUint64(1)), tx.bucket(bucketTemplates).Delete(encodeUint64(1)))
	})
	if err != nil {
		t.Fatalf("damage records: %v", err)
	}
	for name, read := range map[string]func(*Tx) error{
		"abstract": func(tx *Tx) error { _, err := tx.Abstract(1); return err },
		"order":    func(tx *Tx) error { _, err := tx.Order(1); return err },
		"file":     func(tx *Tx) error { _, err := tx.File(1); return err },
		"folders":  func(tx *Tx) error { _, err := tx.Folders(); return err },
		"the key of a hash": func(tx *Tx) error {
			var hash [32]byte
			hash[30], hash[31] = 1000>>8, 1000&0xff
			_, _, err := tx.KeyByHash(hash)
			return err
		},
		"the default template": func(tx *Tx) error { _, _, err := tx.DefaultTemplate(); return err },
		"an event is added":    func(tx *Tx) error { return tx.AddEvent(model.Event{Kind: "x"}) },
		"an order is changed":  func(tx *Tx) error { return tx.PutOrder(model.Order{ID: 1, Number: "A"}) },
		"a file is changed":    func(tx *Tx) error { return tx.PutFile(model.File{ID: 1, Digest: digest(0), Size: 10}) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := s.Update(t.Context(), read, nil); !errors.Is(err, ErrDamaged) || errs.KindOf(err) != errs.Internal {
				t.Errorf("got %v, want ErrDamaged", err)
			}
		})
	}
}

// A damaged task doesn't block later ones.
func TestDamagedTaskIsSkipped(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "vault.db")) // not openNew, because the store remains damaged
	fill(t, s, 3)
	err := s.Update(t.Context(), nil, func(tx *Tx) error {
		b := tx.bucket(bucketTasks)
		key, value := b.Cursor().First()
		return b.Put(bytes.Clone(key), append(bytes.Clone(value), 'x'))
	})
	if err != nil {
		t.Fatalf("update: %v", err)
	}
	err = s.View(t.Context(), func(tx *Tx) error {
		list, err := tx.Tasks(9)
		if err != nil || len(list) != 2 || list[0].Seq != 2 {
			t.Errorf("Tasks(9) = %+v, %v, want 2 from number 2", list, err)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("view: %v", err)
	}
}

func TestCacheIsNeverStale(t *testing.T) {
	s := openNew(t)
	broken := errors.New("broken")
	defaultTemplate := func(tx *Tx) (template model.Template) {
		template, _, err := tx.DefaultTemplate()
		if err != nil {
			t.Errorf("DefaultTemplate: %v", err)
		}
		return template
	}
	view(t, s, func(tx *Tx) error { defaultTemplate(tx); return nil })
	change := func(tx *Tx) error {
		return errors.Join(tx.PutTemplate(model.Template{ID: 2, Name: "Changed"}), tx.SetDefaultTemplate(2))
	}
	err := s.Update(t.Context(), nil, func(tx *Tx) error {
		if err := change(tx); err != nil {
			return err
		}
		if got := defaultTemplate(tx); got.ID != 2 || got.Name != "Changed" {
			t.Errorf("inside the transaction: got %+v, want template 2", got)
		}
		return broken
	})
	if !errors.Is(err, broken) {
		t.Fatalf("got %v, want %v", err, broken)
	}
	view(t, s, func(tx *Tx) error {
		if got := defaultTemplate(tx); got.ID != 1 {
			t.Errorf("after the rollback: got %+v, want template 1", got)
		}
		return nil
	})
	update(t, s, change)
	view(t, s, func(tx *Tx) error {
		if got := defaultTemplate(tx); got.ID != 2 || got.Name != "Changed" {
			t.Errorf("after the commit: got %+v, want template 2", got)
		}
		return nil
	})
}

func TestValuesRemainValidAfterTransaction(t *testing.T) {
	s := openNew(t)
	fill(t, s, 1)
	var a model.Abstract
	view(t, s, func(tx *Tx) (err error) { a, err = tx.Abstract(1); return err })
	for range 20 {
		update(t, s, putAbstract)
	}
	if want := json.RawMessage(`"fee"`); !bytes.Equal(a.Custom["vesting"], want) {
		t.Errorf("got %s, want %s", a.Custom["vesting"], want)
	}
}

func TestSnapshotErrors(t *testing.T) {
	s := openNew(t)
	path := filepath.Join(t.TempDir(), "copy.db")
	overwrite([]byte("other content"))(t, path)
	if _, err := s.Snapshot(t.Context(), path); err == nil || string(readFile(t, path)) != "other content" {
		t.Errorf("Snapshot to an existing file: got %v, want an error", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path += "2"
	if _, err := s.Snapshot(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("Snapshot with a canceled context: got %v, want %v", err, context.Canceled)
	}
	c, err := s.Snapshot(t.Context(), path) // the canceled snapshot didn't leave a file
	if err != nil {
		t.Fatalf("snapshot: %v", err)
	}
	if _, err := c.Check(ctx, func(Finding) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("Check with a canceled context: got %v, want %v", err, context.Canceled)
	}
	summary, err := c.Check(t.Context(), func(f Finding) { t.Errorf("%+v", f) })
	if err != nil || summary.Events != 1 || summary.Files != 0 || summary.Records != 9 {
		t.Errorf("got %+v, %v; want 9 records with 1 event", summary, err)
	}
	if err := c.Close(); err != nil {
		t.Errorf("close copy: %v", err)
	}
}

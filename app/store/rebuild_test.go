package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/kv"
	"deedkeep/app/model"
)

// fillAll writes records of all types, live and in the trash.
func fillAll(t testing.TB, s *Store) {
	t.Helper()
	fill(t, s, 6)
	update(t, s, func(tx *Tx) error {
		err := errors.Join(tx.PutStoredResponse([32]byte{1}, model.StoredResponse{Status: 201, At: testTime}),
			tx.PutStoredResponse([32]byte{2}, model.StoredResponse{Status: 201, At: testTime.Add(time.Hour)}))
		property := model.Property{County: "Rensselaer", State: "NY"}
		for i := range uint64(6) {
			order := model.Order{ID: i + 1, Number: fmt.Sprint("B-", i), Status: "active", DueDate: "2026-06-15", Property: property,
				AssigneeID: i % 3, CreatedAt: testTime}
			abstract := model.Abstract{ID: i + 1, TemplateID: 1, Status: "New", Property: property, Files: []uint64{i + 1}, CreatedAt: testTime}
			file := model.File{ID: i + 1, Size: int64(10 * (i + 1)), Digest: digest(int(i)), AbstractID: i + 1, FolderID: i % 2,
				MIME: model.MIMEPDF, Processing: i == 2, CreatedAt: testTime}
			if i == 4 {
				order.Trashed, abstract.Trashed, file.Trashed = trashedAt(1, ""), trashedAt(2, ""), trashedAt(2, "abstract:5")
			}
			if i == 3 {
				abstract.Files, file.AbstractID, file.FolderID, file.Failure = nil, 0, 0, "no"
			}
			if i == 5 {
				abstract.Files, file.Trashed = nil, trashedAt(3, "")
			}
			instrument := model.Instrument{ID: i + 1, AbstractID: i + 1, TypeID: 7, Book: "1022", Recorded: "2019-04-17",
				Documents: []model.DocumentLink{{FileID: i + 1}}, Trashed: abstract.Trashed, CreatedAt: testTime}
			_, e1 := tx.NewInstrumentID()
			_, e2 := tx.NewNoteID()
			if i == 1 {
				instrument.Relations = []model.Relation{{Kind: model.Releases, InstrumentID: 1}}
			}
			err = errors.Join(err, e1, e2, tx.PutOrder(order), tx.PutAbstract(abstract), tx.PutMovedFile(file), tx.PutInstrument(instrument),
				tx.PutTitleWork(model.TitleWork{AbstractID: i + 1, OrderID: i / 2,
					Assignment: model.Assignment{SearcherID: i % 3, ExaminerID: 2, DueDate: "2026-12-01"}}),
				tx.PutNote(model.Note{ID: i + 1, Record: fmt.Sprint("file:", i+1), Text: "see page 2", CreatedAt: testTime}))
		}
		return err
	})
}

// derivedBuckets returns the buckets that a rebuild regenerates.
func derivedBuckets() [][]byte {
	return append(listIndexBuckets(), bucketCounters, bucketCounts, bucketFolderNames, bucketFileDigests, bucketFailed, bucketKeyHashes,
		bucketStoredResponseTimes, bucketInstrumentIndex, bucketInstrumentRefs, bucketRunsheetRows, bucketOrderAbstracts,
		bucketUserAbstracts, bucketRecordNotes, bucketOCRQueue)
}

// derivedContents returns all entries of the derived buckets except counters that are 0.
func derivedContents(t testing.TB, s *Store) map[string]string {
	t.Helper()
	all := map[string]string{}
	view(t, s, func(tx *Tx) error {
		for _, name := range derivedBuckets() {
			err := eachEntry(tx, name, func(k, v []byte) error {
				if n, ok := decodeUint64(v); !bytes.Equal(name, bucketCounters) || !ok || n > 0 {
					all[fmt.Sprintf("%s %x", name, k)] = fmt.Sprintf("%x", v)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return all
}

// Check finds any missing, changed, moved, or additional entry in an index and any wrong counter. A
// rebuild repairs them.
func TestDamagedIndexesAreFoundAndRebuilt(t *testing.T) {
	s := openNew(t)
	withoutSync(s)
	fillAll(t, s)
	if findings := check(t, s); len(findings) > 0 {
		t.Fatalf("got findings %+v, want none", findings)
	}
	want := derivedContents(t, s)
	damageStore := func(fn func(*Tx) error) {
		t.Helper()
		if err := alter(s, fn); err != nil {
			t.Fatalf("change database: %v", err)
		}
	}
	expectFinding := func(bucket []byte, label string) {
		t.Helper()
		findings := check(t, s)
		if !slices.ContainsFunc(findings, func(f Finding) bool {
			return strings.Contains(f.Problem, string(bucket)) || f.Subject == string(bucket) || f.Kind == "counter"
		}) {
			t.Errorf("%s of %s: got findings %+v, want one about it", label, bucket, findings)
		}
	}
	damaged := false
	for _, name := range derivedBuckets() {
		var keys, values [][]byte
		view(t, s, func(tx *Tx) error {
			return eachEntry(tx, name, func(k, v []byte) error {
				keys, values = append(keys, bytes.Clone(k)), append(values, bytes.Clone(v))
				return nil
			})
		})
		if len(keys) == 0 {
			t.Errorf("%s is empty, want at least one entry", name)
		}
		rng := rand.New(rand.NewPCG(7, 7))
		for _, i := range rng.Perm(len(keys))[:min(len(keys), 2)] {
			if n, _ := decodeUint64(values[i]); bytes.Equal(name, bucketCounters) && n == 0 {
				continue
			}
			other := bytes.Clone(keys[i])
			other[rng.IntN(len(other))] ^= 1 << rng.IntN(8)
			changed := append(bytes.Clone(values[i]), 'x')
			if len(values[i]) > 0 {
				changed = bytes.Clone(values[i])
				changed[len(changed)-1] ^= 1
			}
			for label, damage := range map[string]func(b *bucket) error{
				"a missing entry": func(b *bucket) error { return b.Delete(keys[i]) },
				"another entry":   func(b *bucket) error { return b.Put(other, values[i]) },
				"a moved entry": func(b *bucket) error {
					return errors.Join(b.Delete(keys[i]), b.Put(other, values[i]))
				},
				"a changed entry": func(b *bucket) error { return b.Put(keys[i], changed) },
			} {
				if label == "a changed entry" && len(values[i]) == 0 {
					continue
				}
				damageStore(func(tx *Tx) error { return damage(tx.bucket(name)) })
				expectFinding(name, label)
				if err := s.Rebuild(t.Context(), func(f Finding) { t.Errorf("%s of %s: Rebuild reported %+v", label, name, f) }); err != nil {
					t.Fatalf("rebuild: %v", err)
				}
				if got := derivedContents(t, s); !maps.Equal(got, want) {
					t.Fatalf("%s of %s: got after the rebuild\n%v\nwant\n%v", label, name, got, want)
				}
				damaged = true
			}
		}
	}
	if !damaged {
		t.Error("the test damaged no entry, want at least one")
	}
}

func TestRebuildKeepsDamagedRecords(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "vault.db")) // not openNew, because the store remains damaged
	fillAll(t, s)
	err := alter(s, func(tx *Tx) error {
		for _, name := range [][]byte{bucketAbstracts, bucketOrders, bucketFiles, bucketFolders, bucketTasks, bucketKeys} {
			if err := tx.bucket(name).Put(encodeUint64(1), []byte("torn")); err != nil {
				return err
			}
		}
		slot := [32]byte{1}
		return errors.Join(tx.bucket(bucketStoredResponses).Put(slot[:], []byte("torn")),
			tx.bucket(bucketOrders).Put([]byte{0, 0}, []byte("torn")))
	})
	if err != nil {
		t.Fatalf("damage records: %v", err)
	}
	var reported []string
	if err := s.Rebuild(t.Context(), func(f Finding) { reported = append(reported, f.Kind+" "+f.Subject) }); err != nil {
		t.Fatalf("rebuild: %v", err)
	}
	slices.Sort(reported)
	if got := strings.Join(reported, ", "); got !=
		fmt.Sprintf("abstract 1, file 1, folder 1, key 1, order 0, order 1, replay 01%062d, task 1", 0) {
		t.Errorf("got reports %s, want one for each damaged record", got)
	}
	view(t, s, func(tx *Tx) error {
		for _, name := range [][]byte{bucketAbstracts, bucketOrders, bucketFiles, bucketFolders, bucketTasks, bucketKeys} {
			if string(tx.bucket(name).Get(encodeUint64(1))) != "torn" {
				t.Errorf("%s: the damaged record changed, want it unchanged", name)
			}
		}
		if !tx.DigestInUse([32]byte{}) {
			t.Error("DigestInUse of a damaged file = false, want true")
		}
		if page, err := tx.ListOrders(Query{Limit: 9}); err != nil || len(page.Items) != 4 || tx.Count(CountOrders) != 4 {
			t.Errorf("got list %+v, %v, count %d; want 4 orders", page, err, tx.Count(CountOrders))
		}
		return nil
	})
}

func TestRebuildReportsDuplicateFolderName(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "vault.db")) // not openNew, because the store remains damaged
	update(t, s, func(tx *Tx) error { return folders.put(tx, 2, model.Folder{ID: 2, Name: "INBOX"}) })
	var reported []Finding
	if err := s.Rebuild(t.Context(), func(f Finding) { reported = append(reported, f) }); err != nil {
		t.Fatalf("rebuild: %v", err)
	}
	if len(reported) != 1 || reported[0] != (Finding{"folder", "2", "folder 1 has the same name"}) {
		t.Errorf("got reports %+v, want one about folder 2", reported)
	}
}

// smallBatch is the number of records per rebuild transaction in tests.
const smallBatch = 60

// fillMany writes more orders and files than a rebuild processes in one transaction.
func fillMany(t testing.TB, s *Store) {
	t.Helper()
	s.rebuildBatch = smallBatch
	update(t, s, func(tx *Tx) (err error) {
		for range 2*smallBatch + 30 {
			id, e := tx.NewOrderID()
			err = errors.Join(err, e, tx.PutOrder(model.Order{ID: id, Number: fmt.Sprint(id), CreatedAt: testTime}))
		}
		for i := range smallBatch + 10 {
			id, e := tx.NewFileID()
			file := model.File{ID: id, MIME: []string{model.MIMEPDF, "image/tiff", "text/plain"}[i%3], Digest: digest(100 + i), CreatedAt: testTime}
			if file.Pages = &i; i%4 == 0 {
				file.OCR = &model.OCR{Pages: i, Read: i / 2}
			}
			err = errors.Join(err, e, tx.PutFile(file))
		}
		return err
	})
}

func TestRebuildInManyTransactions(t *testing.T) {
	s := openNew(t)
	fillAll(t, s)
	fillMany(t, s)
	want := derivedContents(t, s)
	update(t, s, func(tx *Tx) (err error) { // more stale entries than a rebuild removes in one transaction
		for i := range 2*smallBatch + 30 {
			err = errors.Join(err, putKeyOnly(tx.bucket(bucketFailed), encodeUint64(uint64(i+10))))
		}
		return errors.Join(err, tx.recreateBuckets([][]byte{bucketOrderIndex}))
	})
	if err := s.Rebuild(t.Context(), func(f Finding) { t.Errorf("Rebuild reported %+v", f) }); err != nil {
		t.Fatalf("rebuild: %v", err)
	}
	if !maps.Equal(derivedContents(t, s), want) {
		t.Error("the rebuilt indexes differ, want the same entries")
	}
}

// After an interrupted rebuild, lists return an error instead of incomplete results. The next Open
// completes the rebuild.
func TestInterruptedRebuild(t *testing.T) {
	for after := int64(1); ; after++ {
		path := filepath.Join(t.TempDir(), "vault.db")
		s := open(t, path)
		withoutSync(s)
		fillAll(t, s)
		want := derivedContents(t, s)
		commits := int64(0)
		s.commitTx = func(tx kv.Tx) error {
			if commits++; commits > after {
				return errors.Join(tx.Rollback(), errors.New("interrupted"))
			}
			return tx.Commit(t.Context())
		}
		err := s.Rebuild(t.Context(), func(f Finding) { t.Errorf("Rebuild reported %+v", f) })
		if err == nil {
			if after < 10 {
				t.Errorf("the rebuild took %d commits, want at least 10", after)
			}
			return
		}
		listErr := s.View(t.Context(), func(tx *Tx) error {
			_, trashed := tx.TrashedBefore(testTime, TrashEntry{}, 1)
			_, err := tx.ListOrders(Query{})
			if errs.KindOf(trashed) != errs.KindOf(err) {
				t.Errorf("TrashedBefore: got %v, want the kind of %v", trashed, err)
			}
			return err
		})
		writeErr := s.Update(t.Context(), nil, putAbstract)
		if errs.KindOf(listErr) != errs.Unavailable || errs.KindOf(writeErr) != errs.Unavailable {
			t.Errorf("after %d commits: got list error %v, write error %v; want errs.Unavailable", after, listErr, writeErr)
		}
		if err := s.Close(); err != nil {
			t.Fatalf("close store: %v", err)
		}
		s = open(t, path)
		if got := derivedContents(t, s); !maps.Equal(got, want) {
			t.Errorf("after %d commits: got\n%v\nwant\n%v", after, got, want)
		}
		if findings := check(t, s); len(findings) > 0 {
			t.Errorf("after %d commits: got findings %+v, want none", after, findings)
		}
		if err := s.Close(); err != nil {
			t.Fatalf("close store: %v", err)
		}
	}
}

func TestRebuildWithCanceledContext(t *testing.T) {
	s := openNew(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Rebuild(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	update(t, s, putAbstract)
}

func TestRebuildAfterClose(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "vault.db"))
	if err := s.Close(); err != nil {
		t.Fatalf("close store: %v", err)
	}
	if err := s.Rebuild(t.Context(), nil); errs.KindOf(err) != errs.Unavailable {
		t.Errorf("got %v, want errs.Unavailable", err)
	}
}

// signalingContext is a context that signals the first call of Done.
type signalingContext struct {
	context.Context
	waiting chan struct{}
	once    *sync.Once
}

func (s signalingContext) Done() <-chan struct{} {
	s.once.Do(func() { close(s.waiting) })
	return s.Context.Done()
}

// If a snapshot is requested during a rebuild, it waits until the rebuild has ended, so that the
// indexes of the copy are complete. This is tested for each commit of the rebuild.
func TestSnapshotWaitsForRebuild(t *testing.T) {
	for at, done := 1, false; !done; at++ {
		s := openNew(t)
		withoutSync(s)
		fillAll(t, s)
		ctx := signalingContext{t.Context(), make(chan struct{}), new(sync.Once)}
		findings, copied, started := []Finding(nil), make(chan error, 1), false
		commits := 0
		s.commitTx = func(tx kv.Tx) error {
			err := tx.Commit(t.Context())
			if commits++; commits != at {
				return err
			}
			started = true
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				c, err := s.Snapshot(ctx, filepath.Join(t.TempDir(), "copy"))
				if err == nil {
					_, err = c.Check(t.Context(), func(f Finding) { findings = append(findings, f) })
					err = errors.Join(err, c.Close())
				}
				copied <- err
			}()
			select {
			case <-ctx.waiting:
			case <-ended:
			}
			return err
		}
		if err := s.Rebuild(t.Context(), func(f Finding) { t.Errorf("Rebuild reported %+v", f) }); err != nil {
			t.Fatalf("rebuild: %v", err)
		}
		if done = !started; done {
			if at < 10 {
				t.Errorf("a rebuild took %d commits, want at least 10", at-1)
			}
			return
		}
		if err := <-copied; err != nil || len(findings) > 0 {
			t.Errorf("copy at commit %d: got error %v and %d findings %+v, want none", at, err, len(findings), findings)
		}
	}
}

// If a disk error ended a rebuild, Snapshot returns an error, because index entries would be
// missing in the copy.
func TestSnapshotAfterFailedRebuild(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "vault.db"))
	defer func() {
		if err := s.Close(); err != nil {
			t.Errorf("close store: %v", err)
		}
	}()
	fillAll(t, s)
	commits := 0
	s.commitTx = func(tx kv.Tx) error {
		if commits++; commits == 3 {
			return errors.Join(tx.Rollback(), errors.New("interrupted"))
		}
		return tx.Commit(t.Context())
	}
	if err := s.Rebuild(t.Context(), func(Finding) {}); err == nil {
		t.Fatal("Rebuild succeeded, want an error")
	}
	if _, err := s.Snapshot(t.Context(), filepath.Join(t.TempDir(), "copy")); errs.KindOf(err) != errs.Unavailable {
		t.Errorf("got %v, want errs.Unavailable", err)
	}
}

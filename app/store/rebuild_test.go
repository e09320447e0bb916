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

	bolt "go.etcd.io/bbolt"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// fillAll writes some of everything there is, in the trash and out of it.
func fillAll(t testing.TB, s *Store) {
	t.Helper()
	fill(t, s, 6)
	update(t, s, func(tx *Tx) error {
		err := errors.Join(tx.PutStoredResponse([32]byte{1}, model.StoredResponse{Status: 201, At: testTime}), tx.PutStoredResponse([32]byte{2}, model.StoredResponse{Status: 201, At: testTime.Add(time.Hour)}))
		property := model.Property{County: "Rensselaer", State: "NY"}
		for i := range uint64(6) {
			order := model.Order{ID: i + 1, Number: fmt.Sprint("B-", i), Status: "active", DueDate: "2026-06-15", Property: property, CreatedAt: testTime}
			abstract := model.Abstract{ID: i + 1, TemplateID: 1, Status: "New", Property: property, Files: []uint64{i + 1}, CreatedAt: testTime}
			file := model.File{ID: i + 1, Size: int64(10 * (i + 1)), Digest: digest(int(i)), AbstractID: i + 1, FolderID: i % 2, Processing: i == 2, CreatedAt: testTime}
			if i == 4 {
				order.Trashed, abstract.Trashed, file.Trashed = gone(1, ""), gone(2, ""), gone(2, "abstract:5")
			}
			if i == 3 {
				abstract.Files, file.AbstractID, file.FolderID, file.Failure = nil, 0, 0, "no"
			}
			if i == 5 {
				abstract.Files, file.Trashed = nil, gone(3, "")
			}
			err = errors.Join(err, tx.PutOrder(order), tx.PutAbstract(abstract), tx.PutFile(file))
		}
		return err
	})
}

// derived are the buckets that hold nothing but what records say.
func derived() [][]byte {
	return append(listIndexBuckets(), bucketCounters, bucketCounts, bucketFolderNames, bucketFileDigests, bucketFailed, bucketKeyHashes, bucketStoredResponseTimes)
}

// contents are all entries of the derived buckets.
func contents(t testing.TB, s *Store) map[string]string {
	t.Helper()
	all := map[string]string{}
	view(t, s, func(tx *Tx) error {
		for _, name := range derived() {
			err := tx.bucket(name).ForEach(func(k, v []byte) error {
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

// Every entry of every index and every counter is missed when it is gone, noticed
// when it is changed, and no other is taken for one; a rebuilding makes all good.
func TestEveryDamageOfAnIndexIsFoundAndMended(t *testing.T) {
	s := openNew(t)
	s.db.NoSync = true // hundreds of commits, none of which meets a power cut
	fillAll(t, s)
	if findings := check(t, s); len(findings) > 0 {
		t.Fatalf("found %+v", findings)
	}
	whole := contents(t, s)
	raw := func(fn func(*bolt.Tx) error) {
		t.Helper()
		if err := s.db.Update(fn); err != nil {
			t.Fatal(err)
		}
	}
	finds := func(bucket []byte, what string) {
		t.Helper()
		findings := check(t, s)
		if !slices.ContainsFunc(findings, func(f Finding) bool {
			return strings.Contains(f.Problem, string(bucket)) || f.Subject == string(bucket) || f.Kind == "counter"
		}) {
			t.Errorf("%s of %s: found %+v", what, bucket, findings)
		}
	}
	rebuilt := false
	for _, name := range derived() {
		var keys, values [][]byte
		view(t, s, func(tx *Tx) error {
			return tx.bucket(name).ForEach(func(k, v []byte) error {
				keys, values = append(keys, bytes.Clone(k)), append(values, bytes.Clone(v))
				return nil
			})
		})
		if len(keys) == 0 {
			t.Errorf("%s is empty", name)
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
			for what, damage := range map[string]func(b *bolt.Bucket) error{
				"a missing entry": func(b *bolt.Bucket) error { return b.Delete(keys[i]) },
				"another entry":   func(b *bolt.Bucket) error { return b.Put(other, values[i]) },
				"a moved entry": func(b *bolt.Bucket) error {
					return errors.Join(b.Delete(keys[i]), b.Put(other, values[i]))
				},
				"a changed entry": func(b *bolt.Bucket) error { return b.Put(keys[i], changed) },
			} {
				if what == "a changed entry" && len(values[i]) == 0 {
					continue
				}
				raw(func(tx *bolt.Tx) error { return damage(tx.Bucket(name)) })
				finds(name, what)
				if err := s.Rebuild(t.Context(), func(f Finding) { t.Errorf("%s of %s: reported %+v", what, name, f) }); err != nil {
					t.Fatal(err)
				}
				if now := contents(t, s); !maps.Equal(now, whole) {
					t.Fatalf("%s of %s: made anew as\n%v\nwas\n%v", what, name, now, whole)
				}
				rebuilt = true
			}
		}
	}
	if !rebuilt {
		t.Error("nothing was damaged")
	}
}

func TestRebuildLeavesDamagedRecords(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "vault.db")) // damaged at its end, as meant
	fillAll(t, s)
	err := s.db.Update(func(tx *bolt.Tx) error {
		for _, name := range [][]byte{bucketAbstracts, bucketOrders, bucketFiles, bucketFolders, bucketTasks, bucketKeys} {
			if err := tx.Bucket(name).Put(encodeUint64(1), []byte("torn")); err != nil {
				return err
			}
		}
		slot := [32]byte{1}
		return errors.Join(tx.Bucket(bucketStoredResponses).Put(slot[:], []byte("torn")), tx.Bucket(bucketOrders).Put([]byte{0, 0}, []byte("torn")))
	})
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	if err := s.Rebuild(t.Context(), func(f Finding) { told = append(told, f.Kind+" "+f.Subject) }); err != nil {
		t.Fatal(err)
	}
	slices.Sort(told)
	if got := strings.Join(told, ", "); got != fmt.Sprintf("abstract 1, file 1, folder 1, key 1, order 0, order 1, replay 01%062d, task 1", 0) {
		t.Errorf("reported %s", got)
	}
	view(t, s, func(tx *Tx) error {
		for _, name := range [][]byte{bucketAbstracts, bucketOrders, bucketFiles, bucketFolders, bucketTasks, bucketKeys} {
			if string(tx.bucket(name).Get(encodeUint64(1))) != "torn" {
				t.Errorf("%s: the damaged record was touched", name)
			}
		}
		if !tx.DigestInUse([32]byte{}) {
			t.Error("the bytes of a damaged file are nobody's")
		}
		if page, err := tx.ListOrders(Query{Limit: 9}); err != nil || len(page.Items) != 4 || tx.Count(CountOrders) != 4 {
			t.Errorf("listed %+v, %v; %d counted", page, err, tx.Count(CountOrders))
		}
		return nil
	})
}

func TestRebuildOfTwoFoldersOfOneName(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "vault.db")) // damaged at its end, as meant
	update(t, s, func(tx *Tx) error { return folders.put(tx, 2, model.Folder{ID: 2, Name: "INBOX"}) })
	var told []Finding
	if err := s.Rebuild(t.Context(), func(f Finding) { told = append(told, f) }); err != nil {
		t.Fatal(err)
	}
	if len(told) != 1 || told[0] != (Finding{"folder", "2", "folder 1 has its name"}) {
		t.Errorf("reported %+v", told)
	}
}

// fewAtOnce is how many records a test indexes in a transaction.
const fewAtOnce = 60

// many writes more orders than one transaction of a rebuilding takes.
func many(t testing.TB, s *Store) {
	t.Helper()
	s.rebuildBatch = fewAtOnce
	update(t, s, func(tx *Tx) (err error) {
		for range 2*fewAtOnce + 30 {
			id, e := tx.NewOrderID()
			err = errors.Join(err, e, tx.PutOrder(model.Order{ID: id, Number: fmt.Sprint(id), CreatedAt: testTime}))
		}
		return err
	})
}

func TestRebuildOfMany(t *testing.T) {
	s := openNew(t)
	fillAll(t, s)
	many(t, s)
	whole := contents(t, s)
	update(t, s, func(tx *Tx) (err error) { // more stale entries than are mended at once
		for i := range 2*fewAtOnce + 30 {
			err = errors.Join(err, putKeyOnly(tx.bucket(bucketFailed), encodeUint64(uint64(i+10))))
		}
		return errors.Join(err, tx.recreateBuckets([][]byte{bucketOrderIndex}))
	})
	if err := s.Rebuild(t.Context(), func(f Finding) { t.Errorf("%+v", f) }); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(contents(t, s), whole) {
		t.Error("it is not as it was")
	}
}

// A rebuilding that is cut off after any of its commits leaves no list that lies,
// and the next opening ends it.
func TestARebuildingCutOff(t *testing.T) {
	for after := int64(1); ; after++ {
		path := filepath.Join(t.TempDir(), "vault.db")
		s := open(t, path)
		s.db.NoSync = true // the process ends, the machine does not
		fillAll(t, s)
		whole := contents(t, s)
		commits := int64(0)
		s.commitTx = func(tx *bolt.Tx) error {
			if commits++; commits > after {
				return errors.Join(tx.Rollback(), errors.New("cut off"))
			}
			return tx.Commit()
		}
		err := s.Rebuild(t.Context(), func(f Finding) { t.Errorf("%+v", f) })
		if err == nil {
			if after < 10 {
				t.Errorf("it took %d commits", after)
			}
			return
		}
		listed := s.View(t.Context(), func(tx *Tx) error {
			_, trashed := tx.TrashedBefore(testTime, TrashEntry{}, 1)
			_, err := tx.ListOrders(Query{})
			if errs.KindOf(trashed) != errs.KindOf(err) {
				t.Errorf("trash: %v", trashed)
			}
			return err
		})
		written := s.Update(t.Context(), nil, putAbstract)
		if errs.KindOf(listed) != errs.Unavailable || errs.KindOf(written) != errs.Unavailable {
			t.Errorf("after %d commits: lists say %v, a write %v", after, listed, written)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, path)
		if now := contents(t, s); !maps.Equal(now, whole) {
			t.Errorf("after %d commits: made anew as\n%v\nwas\n%v", after, now, whole)
		}
		if findings := check(t, s); len(findings) > 0 {
			t.Errorf("after %d commits: found %+v", after, findings)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRebuildThatIsNotWanted(t *testing.T) {
	s := openNew(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Rebuild(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("said %v", err)
	}
	update(t, s, putAbstract)
}

func TestRebuildOfAClosedStore(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "vault.db"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Rebuild(t.Context(), nil); errs.KindOf(err) != errs.Unavailable {
		t.Errorf("said %v", err)
	}
}

// waited is a context that says when someone waits for its end.
type waited struct {
	context.Context
	waits chan struct{}
	once  *sync.Once
}

func (w waited) Done() <-chan struct{} {
	w.once.Do(func() { close(w.waits) })
	return w.Context.Done()
}

// A copy that is asked for at any commit of a rebuild waits for its end: the indexes
// of a copy are complete.
func TestACopyWaitsForARebuild(t *testing.T) {
	for at, done := 1, false; !done; at++ {
		s := openNew(t)
		s.db.NoSync = true // no power cut is tested here
		fillAll(t, s)
		ctx := waited{t.Context(), make(chan struct{}), new(sync.Once)}
		findings, copied, begun := []Finding(nil), make(chan error, 1), false
		commits := 0
		s.commitTx = func(tx *bolt.Tx) error {
			err := tx.Commit()
			if commits++; commits != at {
				return err
			}
			begun = true
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
			case <-ctx.waits:
			case <-ended:
			}
			return err
		}
		if err := s.Rebuild(t.Context(), func(f Finding) { t.Errorf("%+v", f) }); err != nil {
			t.Fatal(err)
		}
		if done = !begun; done {
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

// Where a disk error ended a rebuild, a copy is refused: it would lack indexes.
func TestNoCopyAfterARebuildThatFailed(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "vault.db"))
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	fillAll(t, s)
	commits := 0
	s.commitTx = func(tx *bolt.Tx) error {
		if commits++; commits == 3 {
			return errors.Join(tx.Rollback(), errors.New("cut off"))
		}
		return tx.Commit()
	}
	if err := s.Rebuild(t.Context(), func(Finding) {}); err == nil {
		t.Fatal("the rebuild succeeded")
	}
	if _, err := s.Snapshot(t.Context(), filepath.Join(t.TempDir(), "copy")); errs.KindOf(err) != errs.Unavailable {
		t.Errorf("got %v, want kind Closing", err)
	}
}

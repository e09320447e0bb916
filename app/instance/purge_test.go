package instance_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// What is in the trash is no longer due at exactly its time, purged or not.
func TestRestoreTooLate(t *testing.T) {
	t.Parallel()
	v, _, clock := timed(t)
	ordered(t, v, "A-1")
	done(t, v.Orders.Trash(t.Context(), clerk, 1, vault.Match{}))
	clock.Advance(trashKeep - time.Microsecond)
	done(t, v.Purge(t.Context()))
	wantTrash(t, v, "order 1 A-1")
	clock.Advance(time.Microsecond)
	_, err := v.Orders.Restore(t.Context(), clerk, 1, vault.Idempotency[model.Order]{})
	kind(t, "too late", err, errs.NotFound)
	done(t, v.Purge(t.Context()))
	wantTrash(t, v)
	wantLogged(t, v, "order.purged order:1", "order.trashed order:1")
}

// Purged: the abstract, all its documents, their bytes; but not bytes that another
// record has, live or in the trash.
func TestPurge(t *testing.T) {
	t.Parallel()
	v, opts, clock := timed(t)
	gone := create(t, v, pdf("1.pdf", "1"), pdf("2.pdf", "2"), pdf("3.pdf", "3"))
	live := uploadDocs(t, v, pdf("copy of 1.pdf", "1"))[0]
	trashed := uploadDocs(t, v, pdf("copy of 2.pdf", "2"))[0]
	done(t, v.Abstracts.Trash(t.Context(), clerk, 1, vault.Match{}))
	clock.Advance(time.Hour)
	done(t, v.Files.Trash(t.Context(), clerk, trashed.ID, vault.Match{}))
	vaulttest.Verify(t, v)
	clock.Advance(trashKeep - time.Hour)
	done(t, v.Purge(t.Context()))
	vaulttest.Verify(t, v)
	wantTrash(t, v, fmt.Sprintf("file %d copy of 2.pdf", trashed.ID))
	wantLogged(t, v, "abstract.purged abstract:1", fmt.Sprintf("file.purged file:%d", gone.Files[2].ID))
	if e := logged(t, v, 1)[0]; e.Actor.Kind != "system" || e.Detail["files"] != "3" {
		t.Errorf("%+v", e)
	}
	for _, f := range gone.Files {
		missing(t, v, f.ID)
		_, err := v.Files.Restore(t.Context(), clerk, f.ID, vault.Idempotency[model.File]{})
		kind(t, "restore what was purged", err, errs.NotFound)
	}
	bytesOf := func(f model.File) error {
		_, err := os.Stat(opts.Dir + "/blobs/" + f.Digest[:2] + "/" + f.Digest)
		return err
	}
	done(t, bytesOf(gone.Files[2])) // until the sweep
	done(t, v.Sweeper.Sweep(t.Context()))
	if err := bytesOf(gone.Files[2]); !os.IsNotExist(err) {
		t.Errorf("bytes that nobody has: %v", err)
	}
	done(t, bytesOf(live))
	done(t, bytesOf(trashed))
	vaulttest.Verify(t, v)
	clock.Advance(time.Hour)
	done(t, v.Purge(t.Context()))
	done(t, v.Sweeper.Sweep(t.Context()))
	if err := bytesOf(trashed); !os.IsNotExist(err) {
		t.Errorf("bytes that nobody has any more: %v", err)
	}
	done(t, bytesOf(live))
	wantTrash(t, v)
	if again := create(t, v); again.Abstract.ID != 2 {
		t.Errorf("the next abstract has number %d", again.Abstract.ID)
	}
}

// The background work purges by itself, and the sweep follows soon.
func TestPurgeInTheBackground(t *testing.T) {
	t.Parallel()
	v, opts, clock := timed(t)
	file := uploadDocs(t, v, pdf("1.pdf", "1"))[0]
	done(t, v.Files.Trash(t.Context(), clerk, file.ID, vault.Match{}))
	clock.Advance(trashKeep)
	ordered(t, v, "the vault is in use")
	v.Start(1 << 40)
	eventually(t, "the purge and the sweep", func() bool { return len(under(t, opts.Dir, "blobs")) == 0 })
	wantTrash(t, v)
}

// More than one commit takes, and an abstract with more documents than that.
func TestPurgeMany(t *testing.T) {
	t.Parallel()
	v, _, clock := timed(t)
	var docs []doc
	for i := range 100 {
		docs = append(docs, pdf(fmt.Sprintf("%d.pdf", i), "the same"))
	}
	create(t, v, docs...)
	for i := range 70 {
		order := ordered(t, v, fmt.Sprint(i))
		done(t, v.Orders.Trash(t.Context(), clerk, order.ID, vault.Match{}))
	}
	done(t, v.Abstracts.Trash(t.Context(), clerk, 1, vault.Match{}))
	for i := range 70 {
		order := ordered(t, v, fmt.Sprint(i))
		done(t, v.Orders.Trash(t.Context(), clerk, order.ID, vault.Match{}))
	}
	stays := ordered(t, v, "stays")
	clock.Advance(trashKeep)
	done(t, v.Purge(t.Context()))
	wantTrash(t, v)
	if s := status(t, v); s.Orders != 1 || s.Files != 0 || s.Abstracts != 0 || s.Queue != 0 {
		t.Errorf("%+v", s)
	}
	if _, err := v.Orders.Get(t.Context(), stays.ID); err != nil {
		t.Error(err)
	}
}

// A damaged record in the trash stays, and those behind it need not wait.
func TestPurgePassesOverTheDamaged(t *testing.T) {
	t.Parallel()
	clock := vaulttest.NewClock()
	opts := vaulttest.Options(t)
	opts.Now = clock.Now
	v, err := instance.Open(t.Context(), opts)
	done(t, err)
	for _, number := range []string{"A-1", "A-2"} {
		order := ordered(t, v, number)
		done(t, v.Orders.Trash(t.Context(), clerk, order.ID, vault.Match{}))
		clock.Advance(time.Second)
	}
	closed(t, v)
	vaulttest.FlipBit(t, opts.Dir+"/vault.db", "orders", 200, false)
	v, err = instance.Open(t.Context(), opts)
	done(t, err)
	defer closed(t, v)
	wantTrash(t, v, "order 1 ", "order 2 A-2")
	clock.Advance(trashKeep)
	if err := v.Purge(t.Context()); err == nil {
		t.Error("nobody is told of a damaged record")
	}
	wantTrash(t, v, "order 1 ")
}

// Trashing, restoring and removing go on when the disk is full; what grows does not.
func TestTrashBelowTheReserve(t *testing.T) {
	t.Parallel()
	v, _, clock := timed(t)
	filed, order, inbox := create(t, v, pdf("1.pdf", "1")), ordered(t, v, "A-1"), folder(t, v, "Box", 0)
	v.MinFree = 1 << 62
	_, err := v.Orders.Patch(t.Context(), clerk, order.ID, model.OrderPatch{Number: sent("A-2")}, vault.Match{})
	kind(t, "a change", err, errs.InsufficientStorage)
	done(t, v.Orders.Trash(t.Context(), clerk, order.ID, vault.Match{}))
	done(t, v.Abstracts.Detach(t.Context(), clerk, 1, filed.Files[0].ID, vault.Match{}))
	_, err = v.Files.Restore(t.Context(), clerk, filed.Files[0].ID, vault.Idempotency[model.File]{})
	done(t, err)
	done(t, v.Abstracts.Trash(t.Context(), clerk, 1, vault.Match{}))
	done(t, v.Folders.Remove(t.Context(), clerk, inbox.ID, vault.Match{}))
	clock.Advance(trashKeep)
	done(t, v.Purge(t.Context()))
	wantTrash(t, v)
}

// Documents are processed in the trash too: what comes back is as if it had stayed.
func TestProcessingInTheTrash(t *testing.T) {
	t.Parallel()
	f := &fakeReader{}
	v, _ := opened(t, faked(f))
	file := uploadDocs(t, v, pdf("1.pdf", "1"))[0]
	done(t, v.Files.Trash(t.Context(), clerk, file.ID, vault.Match{}))
	v.Start(1 << 40)
	idle(t, v)
	back, err := v.Files.Restore(t.Context(), clerk, file.ID, vault.Idempotency[model.File]{})
	if err != nil || back.Processing || back.Failure != "" || f.count(texts) != 1 {
		t.Errorf("%+v, %v, %d texts", back, err, f.count(texts))
	}
}

// A document is purged, and its bytes swept, while the reader has it in hand:
// nothing of it stays, and the queue goes on.
func TestPurgedWhileProcessed(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		trouble error // of the reader, then
	}{
		{"that goes well", nil},
		{"that would be tried again", errors.New("no process could be started")},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			f := &fakeReader{}
			clock := vaulttest.NewClock()
			v, opts := opened(t, func(o *instance.Options) { faked(f)(o); o.Now = clock.Now })
			file := uploadDocs(t, v, pdf("1.pdf", "1"))[0]
			f.replies(onceDone(func() error {
				done(t, v.Files.Trash(t.Context(), clerk, file.ID, vault.Match{}))
				clock.Advance(trashKeep)
				done(t, v.Purge(t.Context()))
				done(t, v.Sweeper.Sweep(t.Context()))
				return row.trouble
			}))
			v.Start(1 << 40)
			eventually(t, "the reader", func() bool { return f.count(texts) > 0 })
			uploadDocs(t, v, pdf("2.pdf", "2"))
			idle(t, v)
			if n := len(under(t, opts.Dir, "blobs")); n != 1 {
				t.Errorf("%d documents on the disk", n)
			}
			for _, path := range previews(t, opts.Dir) {
				if strings.Contains(path, file.Digest) {
					t.Errorf("%s stays", path)
				}
			}
		})
	}
}

// previews lists what was derived.
func previews(t *testing.T, dir string) []string {
	t.Helper()
	if _, err := os.Stat(dir + "/previews"); os.IsNotExist(err) {
		return nil
	}
	var all []string
	err := fs.WalkDir(os.DirFS(dir), "previews", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			all = append(all, path)
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return all
}

// An abstract with thousands of documents goes, comes back and is purged in one
// commit each, in the time that a caller waits.
func TestTrashThousandsOfDocuments(t *testing.T) {
	t.Parallel()
	v, _, clock := timed(t)
	many(t, v, create(t, v, pdf("1.pdf", "1")), manyDocuments-1)
	const patience = 20 * time.Second // a hundred times what it takes
	began := time.Now()
	done(t, v.Abstracts.Trash(t.Context(), clerk, 1, vault.Match{}))
	gone := time.Since(began)
	back, err := v.Abstracts.Restore(t.Context(), clerk, 1, vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil || len(back.Files) != manyDocuments {
		t.Fatalf("%d files, %v", len(back.Files), err)
	}
	restored := time.Since(began)
	done(t, v.Abstracts.Trash(t.Context(), clerk, 1, vault.Match{}))
	clock.Advance(trashKeep)
	began = time.Now()
	done(t, v.Purge(t.Context()))
	purged := time.Since(began)
	t.Logf("into the trash %v, and back %v, purged %v", gone, restored-gone, purged)
	if gone > patience || restored > patience || purged > patience {
		t.Error("that is too long")
	}
	if s := status(t, v); s.Files != 0 || s.Queue != 0 {
		t.Errorf("%+v", s)
	}
}

// many gives an abstract more documents, with the bytes of its first.
func many(t *testing.T, v *instance.Instance, filed vault.AbstractWithFiles, count int) {
	t.Helper()
	done(t, v.Store.Update(t.Context(), nil, func(tx *store.Tx) error {
		file, abstract := filed.Files[0], filed.Abstract
		abstract.Files = slices.Clone(abstract.Files)
		for range count {
			var err error
			if file.ID, err = tx.NewFileID(); err != nil {
				return err
			}
			if err := tx.PutFile(file); err != nil {
				return err
			}
			if err := tx.AddTask(model.ProcessingTask{FileID: file.ID}); err != nil {
				return err
			}
			abstract.Files = append(abstract.Files, file.ID)
		}
		return tx.PutAbstract(abstract)
	}))
}

package vault_test

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
	v, _, clock := vaulttest.OpenWithClock(t)
	vaulttest.CreateOrder(t, v, "A-1")
	vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	clock.Advance(vaulttest.TrashKeep - time.Microsecond)
	vaulttest.NoError(t, v.Purge(t.Context()))
	vaulttest.WantTrash(t, v, "order 1 A-1")
	clock.Advance(time.Microsecond)
	_, err := v.Orders.Restore(t.Context(), vaulttest.Operator, 1, vault.Idempotency[model.Order]{})
	vaulttest.WantKind(t, "too late", err, errs.NotFound)
	vaulttest.NoError(t, v.Purge(t.Context()))
	vaulttest.WantTrash(t, v)
	wantLogged(t, v, "order.purged order:1", "order.trashed order:1")
}

// Purged: the abstract, all its documents, their bytes; but not bytes that another
// record has, live or in the trash.
func TestPurge(t *testing.T) {
	t.Parallel()
	v, opts, clock := vaulttest.OpenWithClock(t)
	gone := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"), vaulttest.PDFDoc("3.pdf", "3"))
	live := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("copy of 1.pdf", "1"))[0]
	trashed := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("copy of 2.pdf", "2"))[0]
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	clock.Advance(time.Hour)
	vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, trashed.ID, vault.Match{}))
	vaulttest.Verify(t, v)
	clock.Advance(vaulttest.TrashKeep - time.Hour)
	vaulttest.NoError(t, v.Purge(t.Context()))
	vaulttest.Verify(t, v)
	vaulttest.WantTrash(t, v, fmt.Sprintf("file %d copy of 2.pdf", trashed.ID))
	wantLogged(t, v, "abstract.purged abstract:1", fmt.Sprintf("file.purged file:%d", gone.Files[2].ID))
	if e := vaulttest.AuditEntries(t, v, 1)[0]; e.Actor.Kind != "system" || e.Detail["files"] != "3" {
		t.Errorf("%+v", e)
	}
	for _, f := range gone.Files {
		missing(t, v, f.ID)
		_, err := v.Files.Restore(t.Context(), vaulttest.Operator, f.ID, vault.Idempotency[model.File]{})
		vaulttest.WantKind(t, "restore what was purged", err, errs.NotFound)
	}
	bytesOf := func(f model.File) error {
		_, err := os.Stat(opts.Dir + "/blobs/" + f.Digest[:2] + "/" + f.Digest)
		return err
	}
	vaulttest.NoError(t, bytesOf(gone.Files[2])) // until the sweep
	vaulttest.NoError(t, v.Sweeper.Sweep(t.Context()))
	if err := bytesOf(gone.Files[2]); !os.IsNotExist(err) {
		t.Errorf("bytes that nobody has: %v", err)
	}
	vaulttest.NoError(t, bytesOf(live))
	vaulttest.NoError(t, bytesOf(trashed))
	vaulttest.Verify(t, v)
	clock.Advance(time.Hour)
	vaulttest.NoError(t, v.Purge(t.Context()))
	vaulttest.NoError(t, v.Sweeper.Sweep(t.Context()))
	if err := bytesOf(trashed); !os.IsNotExist(err) {
		t.Errorf("bytes that nobody has any more: %v", err)
	}
	vaulttest.NoError(t, bytesOf(live))
	vaulttest.WantTrash(t, v)
	if again := vaulttest.CreateAbstract(t, v); again.Abstract.ID != 2 {
		t.Errorf("the next abstract has number %d", again.Abstract.ID)
	}
}

// The background work purges by itself, and the sweep follows soon.
func TestPurgeInTheBackground(t *testing.T) {
	t.Parallel()
	v, opts, clock := vaulttest.OpenWithClock(t)
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"))[0]
	vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, file.ID, vault.Match{}))
	clock.Advance(vaulttest.TrashKeep)
	vaulttest.CreateOrder(t, v, "the vault is in use")
	v.Start(1 << 40)
	vaulttest.Eventually(t, "the purge and the sweep", func() bool { return len(vaulttest.FilesUnder(t, opts.Dir, "blobs")) == 0 })
	vaulttest.WantTrash(t, v)
}

// More than one commit takes, and an abstract with more documents than that.
func TestPurgeMany(t *testing.T) {
	t.Parallel()
	v, _, clock := vaulttest.OpenWithClock(t)
	var docs []vaulttest.Doc
	for i := range 100 {
		docs = append(docs, vaulttest.PDFDoc(fmt.Sprintf("%d.pdf", i), "the same"))
	}
	vaulttest.CreateAbstract(t, v, docs...)
	for i := range 70 {
		order := vaulttest.CreateOrder(t, v, fmt.Sprint(i))
		vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, order.ID, vault.Match{}))
	}
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	for i := range 70 {
		order := vaulttest.CreateOrder(t, v, fmt.Sprint(i))
		vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, order.ID, vault.Match{}))
	}
	stays := vaulttest.CreateOrder(t, v, "stays")
	clock.Advance(vaulttest.TrashKeep)
	vaulttest.NoError(t, v.Purge(t.Context()))
	vaulttest.WantTrash(t, v)
	if s := vaulttest.Status(t, v); s.Orders != 1 || s.Files != 0 || s.Abstracts != 0 || s.Queue != 0 {
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
	vaulttest.NoError(t, err)
	for _, number := range []string{"A-1", "A-2"} {
		order := vaulttest.CreateOrder(t, v, number)
		vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, order.ID, vault.Match{}))
		clock.Advance(time.Second)
	}
	vaulttest.Close(t, v)
	vaulttest.FlipBit(t, opts.Dir+"/vault.db", "orders", 200, false)
	v, err = instance.Open(t.Context(), opts)
	vaulttest.NoError(t, err)
	defer vaulttest.Close(t, v)
	vaulttest.WantTrash(t, v, "order 1 ", "order 2 A-2")
	clock.Advance(vaulttest.TrashKeep)
	if err := v.Purge(t.Context()); err == nil {
		t.Error("nobody is told of a damaged record")
	}
	vaulttest.WantTrash(t, v, "order 1 ")
}

// Trashing, restoring and removing go on when the disk is full; what grows does not.
func TestTrashBelowTheReserve(t *testing.T) {
	t.Parallel()
	v, _, clock := vaulttest.OpenWithClock(t)
	filed, order, inbox := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1")), vaulttest.CreateOrder(t, v, "A-1"), vaulttest.CreateFolder(t, v, "Box", 0)
	v.MinFree = 1 << 62
	_, err := v.Orders.Patch(t.Context(), vaulttest.Operator, order.ID, model.OrderPatch{Number: vaulttest.SomeText("A-2")}, vault.Match{})
	vaulttest.WantKind(t, "a change", err, errs.InsufficientStorage)
	vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, order.ID, vault.Match{}))
	vaulttest.NoError(t, v.Abstracts.Detach(t.Context(), vaulttest.Operator, 1, filed.Files[0].ID, vault.Match{}))
	_, err = v.Files.Restore(t.Context(), vaulttest.Operator, filed.Files[0].ID, vault.Idempotency[model.File]{})
	vaulttest.NoError(t, err)
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	vaulttest.NoError(t, v.Folders.Remove(t.Context(), vaulttest.Operator, inbox.ID, vault.Match{}))
	clock.Advance(vaulttest.TrashKeep)
	vaulttest.NoError(t, v.Purge(t.Context()))
	vaulttest.WantTrash(t, v)
}

// Documents are processed in the trash too: what comes back is as if it had stayed.
func TestProcessingInTheTrash(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	v, _ := vaulttest.OpenVerified(t, vaulttest.WithFakeReader(f))
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"))[0]
	vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, file.ID, vault.Match{}))
	v.Start(1 << 40)
	vaulttest.WaitProcessed(t, v)
	back, err := v.Files.Restore(t.Context(), vaulttest.Operator, file.ID, vault.Idempotency[model.File]{})
	if err != nil || back.Processing || back.Failure != "" || f.Count(vaulttest.IsTextCall) != 1 {
		t.Errorf("%+v, %v, %d texts", back, err, f.Count(vaulttest.IsTextCall))
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
			f := &vaulttest.FakeReader{}
			clock := vaulttest.NewClock()
			v, opts := vaulttest.OpenVerified(t, func(o *instance.Options) { vaulttest.WithFakeReader(f)(o); o.Now = clock.Now })
			file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"))[0]
			f.SetHandler(vaulttest.OnFirstCall(func() error {
				vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, file.ID, vault.Match{}))
				clock.Advance(vaulttest.TrashKeep)
				vaulttest.NoError(t, v.Purge(t.Context()))
				vaulttest.NoError(t, v.Sweeper.Sweep(t.Context()))
				return row.trouble
			}))
			v.Start(1 << 40)
			vaulttest.Eventually(t, "the reader", func() bool { return f.Count(vaulttest.IsTextCall) > 0 })
			vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("2.pdf", "2"))
			vaulttest.WaitProcessed(t, v)
			if n := len(vaulttest.FilesUnder(t, opts.Dir, "blobs")); n != 1 {
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
	v, _, clock := vaulttest.OpenWithClock(t)
	many(t, v, vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1")), manyDocuments-1)
	const patience = 20 * time.Second // a hundred times what it takes
	began := time.Now()
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	gone := time.Since(began)
	back, err := v.Abstracts.Restore(t.Context(), vaulttest.Operator, 1, vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil || len(back.Files) != manyDocuments {
		t.Fatalf("%d files, %v", len(back.Files), err)
	}
	restored := time.Since(began)
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	clock.Advance(vaulttest.TrashKeep)
	began = time.Now()
	vaulttest.NoError(t, v.Purge(t.Context()))
	purged := time.Since(began)
	t.Logf("into the trash %v, and back %v, purged %v", gone, restored-gone, purged)
	if gone > patience || restored > patience || purged > patience {
		t.Error("that is too long")
	}
	if s := vaulttest.Status(t, v); s.Files != 0 || s.Queue != 0 {
		t.Errorf("%+v", s)
	}
}

// many gives an abstract more documents, with the bytes of its first.
func many(t *testing.T, v *instance.Instance, filed vault.AbstractWithFiles, count int) {
	t.Helper()
	vaulttest.NoError(t, v.Store.Update(t.Context(), nil, func(tx *store.Tx) error {
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

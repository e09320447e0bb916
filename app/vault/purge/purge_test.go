package purge_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// An abstract is purged together with an instrument that was moved to the trash on its own at the same time.
func TestPurgeAbstractAndInstrument(t *testing.T) {
	t.Parallel()
	v, _, clock := vaulttest.OpenWithClock(t)
	abstract := vaulttest.CreateAbstract(t, v).Abstract.ID
	instrument := vaulttest.CreateInstrument(t, v, abstract, `{"type": "Mortgage"}`).ID
	vaulttest.NoError(t, v.Instruments.Trash(t.Context(), vaulttest.Operator, instrument, vault.Match{}))
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, abstract, vault.Match{}))
	clock.Advance(vaulttest.TrashPeriod)
	vaulttest.NoError(t, v.Purger.PurgeExpired(t.Context()))
	vaulttest.WantTrash(t, v)
}

// A purge that runs while the trash period becomes longer follows the new setting: it checks each record when it purges
// it, not only when it starts.
func TestLongerTrashPeriodDuringPurge(t *testing.T) {
	t.Parallel()
	v, _, clock := vaulttest.OpenWithClock(t)
	vaulttest.CreateOrder(t, v, "A-1")
	vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	clock.Advance(vaulttest.TrashPeriod)
	for changedAfter := range 4 { // once for the first record, and twice for each that is read
		read := 0
		v.Settings.TrashPeriod = func() time.Duration {
			if read++; read > changedAfter {
				return 2 * vaulttest.TrashPeriod
			}
			return vaulttest.TrashPeriod
		}
		vaulttest.NoError(t, v.Purger.PurgeExpired(t.Context()))
		vaulttest.WantTrash(t, v, "order 1 A-1")
	}
	v.Settings.TrashPeriod = v.Stored.TrashPeriod
	vaulttest.NoError(t, v.Purger.PurgeExpired(t.Context()))
	vaulttest.WantTrash(t, v)
}

// An expired record in the trash can't be restored, whether or not it has been purged yet.
func TestRestoreExpiredRecord(t *testing.T) {
	t.Parallel()
	v, _, clock := vaulttest.OpenWithClock(t)
	vaulttest.CreateOrder(t, v, "A-1")
	vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	clock.Advance(vaulttest.TrashPeriod - time.Microsecond)
	vaulttest.NoError(t, v.Purger.PurgeExpired(t.Context()))
	vaulttest.WantTrash(t, v, "order 1 A-1")
	clock.Advance(time.Microsecond)
	_, err := v.Orders.Restore(t.Context(), vaulttest.Operator, 1, vault.Idempotency[model.Order]{})
	vaulttest.WantKind(t, "restore an expired order", err, errs.NotFound)
	vaulttest.NoError(t, v.Purger.PurgeExpired(t.Context()))
	vaulttest.WantTrash(t, v)
	vaulttest.WantLogged(t, v, "order.purged order:1", "order.trashed order:1")
}

// Purging an abstract removes its documents. The next sweep removes their blobs, except blobs that another document
// (live or in the trash) uses.
func TestPurge(t *testing.T) {
	t.Parallel()
	v, opts, clock := vaulttest.OpenWithClock(t)
	purged := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"), vaulttest.PDFDoc("3.pdf", "3"))
	live := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("copy of 1.pdf", "1"))[0]
	trashed := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("copy of 2.pdf", "2"))[0]
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	clock.Advance(time.Hour)
	vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, trashed.ID, vault.Match{}))
	vaulttest.Verify(t, v)
	clock.Advance(vaulttest.TrashPeriod - time.Hour)
	vaulttest.NoError(t, v.Purger.PurgeExpired(t.Context()))
	vaulttest.Verify(t, v)
	vaulttest.WantTrash(t, v, fmt.Sprintf("file %d copy of 2.pdf", trashed.ID))
	vaulttest.WantLogged(t, v, "abstract.purged abstract:1", fmt.Sprintf("file.purged file:%d", purged.Files[2].ID))
	if e := vaulttest.AuditEntries(t, v, 1)[0]; e.Actor.Kind != "system" || e.Detail["files"] != "3" {
		t.Errorf("audit entry of the purge: got %+v, want 3 files, by the system", e)
	}
	for _, f := range purged.Files {
		vaulttest.WantNoFile(t, v, f.ID)
		_, err := v.Files.Restore(t.Context(), vaulttest.Operator, f.ID, vault.Idempotency[model.File]{})
		vaulttest.WantKind(t, "restore a purged document", err, errs.NotFound)
	}
	statBlob := func(f model.File) error {
		_, err := os.Stat(opts.Dir + "/blobs/" + f.Digest[:2] + "/" + f.Digest)
		return err
	}
	vaulttest.NoError(t, statBlob(purged.Files[2])) // the blob exists until the next sweep
	vaulttest.NoError(t, v.Sweeper.Sweep(t.Context()))
	if err := statBlob(purged.Files[2]); !os.IsNotExist(err) {
		t.Errorf("unused blob: got %v, want that it does not exist", err)
	}
	vaulttest.NoError(t, statBlob(live))
	vaulttest.NoError(t, statBlob(trashed))
	vaulttest.Verify(t, v)
	clock.Advance(time.Hour)
	vaulttest.NoError(t, v.Purger.PurgeExpired(t.Context()))
	vaulttest.NoError(t, v.Sweeper.Sweep(t.Context()))
	if err := statBlob(trashed); !os.IsNotExist(err) {
		t.Errorf("blob that is no longer used: got %v, want that it does not exist", err)
	}
	vaulttest.NoError(t, statBlob(live))
	vaulttest.WantTrash(t, v)
	if again := vaulttest.CreateAbstract(t, v); again.Abstract.ID != 2 {
		t.Errorf("ID of the next abstract: got %d, want 2", again.Abstract.ID)
	}
}

// A running server purges the trash automatically, and sweeps soon afterward.
func TestPurgeInTheBackground(t *testing.T) {
	t.Parallel()
	v, opts, clock := vaulttest.OpenWithClock(t)
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"))[0]
	vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, file.ID, vault.Match{}))
	clock.Advance(vaulttest.TrashPeriod)
	vaulttest.CreateOrder(t, v, "the vault is in use")
	v.Start(1 << 40)
	vaulttest.Eventually(t, "the purge and the sweep", func() bool { return len(vaulttest.FilesUnder(t, opts.Dir, "blobs")) == 0 })
	vaulttest.WantTrash(t, v)
}

// One purge handles more records than fit in one transaction, including an abstract with more documents than that.
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
	live := vaulttest.CreateOrder(t, v, "live")
	clock.Advance(vaulttest.TrashPeriod)
	vaulttest.NoError(t, v.Purger.PurgeExpired(t.Context()))
	vaulttest.WantTrash(t, v)
	if s := vaulttest.Status(t, v); s.Orders != 1 || s.Files != 0 || s.Abstracts != 0 || s.Queue != 0 {
		t.Errorf("status: got %+v, want 1 order and nothing else", s)
	}
	if _, err := v.Orders.Get(t.Context(), live.ID); err != nil {
		t.Errorf("Orders.Get: %v", err)
	}
}

// A purge skips a damaged record, reports it, and purges the records after it.
func TestPurgeSkipsDamagedRecords(t *testing.T) {
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
	clock.Advance(vaulttest.TrashPeriod)
	if err := v.Purger.PurgeExpired(t.Context()); err == nil {
		t.Error("Purge: got no error, want one about the damaged record")
	}
	vaulttest.WantTrash(t, v, "order 1 ")
}

// If free disk space is below the reserve, records can still be deleted, restored, and purged, but not changed.
func TestTrashBelowDiskReserve(t *testing.T) {
	t.Parallel()
	v, _, clock := vaulttest.OpenWithClock(t)
	created, order, folder := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1")), vaulttest.CreateOrder(t, v, "A-1"),
		vaulttest.CreateFolder(t, v, "Box", 0)
	v.MinFree = 1 << 62
	_, err := v.Orders.Patch(t.Context(), vaulttest.Operator, order.ID,
		model.OrderPatch{Fields: model.Inputs{"order_number": model.StringInput("A-2")}}, vault.Match{})
	vaulttest.WantKind(t, "change an order", err, errs.InsufficientStorage)
	vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, order.ID, vault.Match{}))
	vaulttest.NoError(t, v.Abstracts.Detach(t.Context(), vaulttest.Operator, 1, created.Files[0].ID, vault.Match{}))
	_, err = v.Files.Restore(t.Context(), vaulttest.Operator, created.Files[0].ID, vault.Idempotency[model.File]{})
	vaulttest.NoError(t, err)
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	vaulttest.NoError(t, v.Folders.Remove(t.Context(), vaulttest.Operator, folder.ID, vault.Match{}))
	clock.Advance(vaulttest.TrashPeriod)
	vaulttest.NoError(t, v.Purger.PurgeExpired(t.Context()))
	vaulttest.WantTrash(t, v)
}

// Documents in the trash are still processed, so that they have text and previews when restored.
func TestProcessDocumentsInTrash(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	v, _ := vaulttest.OpenVerified(t, vaulttest.WithFakeReader(f))
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"))[0]
	vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, file.ID, vault.Match{}))
	v.Start(1 << 40)
	vaulttest.WaitProcessed(t, v)
	restored, err := v.Files.Restore(t.Context(), vaulttest.Operator, file.ID, vault.Idempotency[model.File]{})
	if err != nil || restored.Processing || restored.Failure != "" || f.Count(vaulttest.IsTextCall) != 1 {
		t.Errorf("Files.Restore: got %+v, %v, %d extractions, want a processed file, 1 extraction", restored, err, f.Count(vaulttest.IsTextCall))
	}
}

// If a document is purged and its blob is swept while a worker is processing it, no data of it remains. Processing
// continues with the next document.
func TestPurgeDuringProcessing(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		err  error // read error
	}{
		{"reader succeeds", nil},
		{"reader fails with an error that is retried", errors.New("no process could be started")},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			f := &vaulttest.FakeReader{}
			clock := vaulttest.NewClock()
			v, opts := vaulttest.OpenVerified(t, func(o *instance.Options) { vaulttest.WithFakeReader(f)(o); o.Now = clock.Now })
			file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"))[0]
			f.SetHandler(vaulttest.OnFirstCall(func() error {
				vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, file.ID, vault.Match{}))
				clock.Advance(vaulttest.TrashPeriod)
				vaulttest.NoError(t, v.Purger.PurgeExpired(t.Context()))
				vaulttest.NoError(t, v.Sweeper.Sweep(t.Context()))
				return row.err
			}))
			v.Start(1 << 40)
			vaulttest.Eventually(t, "the reader", func() bool { return f.Count(vaulttest.IsTextCall) > 0 })
			vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("2.pdf", "2"))
			vaulttest.WaitProcessed(t, v)
			if n := len(vaulttest.FilesUnder(t, opts.Dir, "blobs")); n != 1 {
				t.Errorf("blobs: got %d, want 1", n)
			}
			for _, path := range previewFiles(t, opts.Dir) {
				if strings.Contains(path, file.Digest) {
					t.Errorf("preview of the purged document: got %s, want none", path)
				}
			}
		})
	}
}

// previewFiles returns the paths of all files in the previews directory.
func previewFiles(t *testing.T, dir string) []string {
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
		t.Fatalf("list the previews: %v", err)
	}
	return all
}

// After the clock jumps far ahead, the purger waits a day before it purges, even across restarts. This applies to jumps
// while the server is running and while it is stopped. If the clock is corrected within a day, nothing is purged.
func TestPurgeWaitsAfterClockJump(t *testing.T) {
	t.Parallel()
	clock, log := vaulttest.NewClock(), new(bytes.Buffer)
	opts := vaulttest.Options(t)
	opts.Now, opts.Log = clock.Now, slog.New(slog.NewTextHandler(log, nil))
	v, err := instance.Open(t.Context(), opts)
	vaulttest.NoError(t, err)
	restart := func() {
		t.Helper()
		vaulttest.Close(t, v)
		v, err = instance.Open(t.Context(), opts)
		vaulttest.NoError(t, err)
	}
	purge := func(what string, want ...string) {
		t.Helper()
		vaulttest.NoError(t, v.Purger.RunOnce(t.Context()))
		if got := vaulttest.TrashList(t, v); strings.Join(got, ",") != strings.Join(want, ",") {
			t.Errorf("trash %s: got %q, want %q", what, got, want)
		}
	}
	vaulttest.CreateOrder(t, v, "A-1")
	vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	purge("before the jump", "order 1 A-1")
	clock.Advance(10 * vaulttest.TrashPeriod)
	purge("after a jump while the server runs", "order 1 A-1")
	restart()
	vaulttest.CreateOrder(t, v, "an event at the later time")
	purge("after a restart", "order 1 A-1")
	clock.Advance(-10 * vaulttest.TrashPeriod)
	purge("after the correction of the clock", "order 1 A-1")
	clock.Advance(25 * time.Hour)
	purge("a day after the correction", "order 1 A-1")
	_, _, err = v.Keys.Create(t.Context(), vaulttest.Operator, model.KeyDraft{Name: "an event at the correct time"})
	vaulttest.NoError(t, err)
	restart()
	clock.Advance(vaulttest.TrashPeriod)
	purge("after a jump before the start", "order 1 A-1")
	clock.Advance(23 * time.Hour)
	restart()
	purge("less than a day after the jump", "order 1 A-1")
	clock.Advance(time.Hour)
	restart()
	purge("a day after the jump")
	if n := strings.Count(log.String(), "far ahead"); n != 2 {
		t.Errorf("warnings about the clock: got %d, want 2, in the log:\n%s", n, log)
	}
	vaulttest.Close(t, v)
}

// If the clock jumps past the end of a retention period, retained records can't be purged for a day, even manually.
// Records without retention can still be purged manually.
func TestRetentionAfterClockJump(t *testing.T) {
	t.Parallel()
	v, _, clock := vaulttest.OpenWithRetention(t)
	vaulttest.CreateAbstract(t, v)
	vaulttest.CreateOrder(t, v, "A-1")
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	clock.Advance(21 * vaulttest.Year)
	vaulttest.NoError(t, v.Purger.RunOnce(t.Context()))
	_, err := v.Purger.Purge(t.Context(), vaulttest.Operator, "abstract", 1, "")
	vaulttest.WantKind(t, "manual purge right after the jump", err, errs.Conflict)
	if _, err := v.Purger.Empty(t.Context(), vaulttest.Operator); err != nil {
		t.Fatalf("Purger.Empty: %v", err)
	}
	vaulttest.WantTrash(t, v, "abstract 1 "+v.Heading(model.Abstract{ID: 1}, model.Template{}))
	clock.Advance(vaulttest.Day)
	if got, err := v.Purger.Purge(t.Context(), vaulttest.Operator, "abstract", 1, ""); err != nil || got.Records != 1 {
		t.Errorf("manual purge a day after the jump: got %+v, %v, want 1 record", got, err)
	}
	vaulttest.WantTrash(t, v)
}

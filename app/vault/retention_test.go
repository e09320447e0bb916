package vault_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// trashedRecord returns a record in the trash.
func trashedRecord(t *testing.T, v *instance.Instance, kind string, id uint64) vault.Trashed {
	t.Helper()
	page, err := v.Trash.List(t.Context(), vault.Query{Limit: 100})
	vaulttest.NoError(t, err)
	for _, i := range page.Items {
		if i.Type == kind && i.ID == id {
			return i
		}
	}
	t.Fatalf("trash: got %+v, want %s %d", page.Items, kind, id)
	return vault.Trashed{}
}

// Every record stays in the trash until exactly the end of its retention period. Until then, it can be restored but not
// purged.
func TestRetention(t *testing.T) {
	t.Parallel()
	start := vaulttest.NewClock().Now()
	years := func(n int) time.Time { return start.AddDate(n, 0, 0) }
	detach := func(t *testing.T, v *instance.Instance, a vault.AbstractWithFiles) (string, uint64) {
		vaulttest.NoError(t, v.Abstracts.Detach(t.Context(), vaulttest.Operator, a.Abstract.ID, a.Files[0].ID, vault.Match{}))
		return "file", a.Files[0].ID
	}
	tests := []struct {
		name  string
		trash func(t *testing.T, v *instance.Instance, clock *vaulttest.Clock) (kind string, id uint64)
		want  time.Time // end of the retention period; zero: no retention
	}{
		{"abstract", func(t *testing.T, v *instance.Instance, _ *vaulttest.Clock) (string, uint64) {
			a := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"))
			vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, a.Abstract.ID, vault.Match{}))
			return "abstract", a.Abstract.ID
		}, years(20)},
		{"abstract with another template", func(t *testing.T, v *instance.Instance, _ *vaulttest.Clock) (string, uint64) {
			a, err := v.Abstracts.Create(t.Context(), vaulttest.Operator,
				model.AbstractDraft{TemplateID: model.IDInput{Present: true, Valid: true, Value: 2}}, vaulttest.StageDocs(t, v),
				vault.Idempotency[vault.AbstractWithFiles]{})
			vaulttest.NoError(t, err)
			_, err = v.Templates.Retire(t.Context(), vaulttest.Operator, 2)
			vaulttest.NoError(t, err)
			vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, a.Abstract.ID, vault.Match{}))
			return "abstract", a.Abstract.ID
		}, years(7)},
		{"abstract with a later document", func(t *testing.T, v *instance.Instance, clock *vaulttest.Clock) (string, uint64) {
			a := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"))
			clock.Advance(48 * time.Hour)
			_, err := v.Abstracts.Attach(t.Context(), vaulttest.Operator, a.Abstract.ID, model.UploadDraft{},
				vaulttest.StageDocs(t, v, vaulttest.PDFDoc("2.pdf", "2")), vault.Idempotency[vault.AbstractWithFiles]{})
			vaulttest.NoError(t, err)
			vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, a.Abstract.ID, vault.Match{}))
			return "abstract", a.Abstract.ID
		}, years(20).Add(48 * time.Hour)},
		{"document removed after 30 days", func(t *testing.T, v *instance.Instance, clock *vaulttest.Clock) (string, uint64) {
			a := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"))
			clock.Advance(30*vaulttest.Day + time.Microsecond)
			return detach(t, v, a)
		}, years(20)},
		{"document removed within 30 days", func(t *testing.T, v *instance.Instance, clock *vaulttest.Clock) (string, uint64) {
			a := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"))
			clock.Advance(30 * vaulttest.Day)
			return detach(t, v, a)
		}, time.Time{}},
		{"document removed early, restored, and removed late", func(t *testing.T, v *instance.Instance, clock *vaulttest.Clock) (string, uint64) {
			a := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"))
			detach(t, v, a)
			_, err := v.Files.Restore(t.Context(), vaulttest.Operator, a.Files[0].ID, vault.Idempotency[model.File]{})
			vaulttest.NoError(t, err)
			clock.Advance(31 * vaulttest.Day)
			return detach(t, v, a)
		}, years(20)},
		{"document uploaded while the clock was ahead", func(t *testing.T, v *instance.Instance, clock *vaulttest.Clock) (string, uint64) {
			clock.Advance(365 * vaulttest.Day)
			a := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"))
			clock.Advance(-365 * vaulttest.Day)
			return detach(t, v, a)
		}, years(21)},
		{"document of no abstract", func(t *testing.T, v *instance.Instance, clock *vaulttest.Clock) (string, uint64) {
			f := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"))[0]
			clock.Advance(90 * vaulttest.Day)
			vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, f.ID, vault.Match{}))
			return "file", f.ID
		}, time.Time{}},
		{"order", func(t *testing.T, v *instance.Instance, _ *vaulttest.Clock) (string, uint64) {
			o := vaulttest.CreateOrder(t, v, "A-1")
			vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, o.ID, vault.Match{}))
			return "order", o.ID
		}, time.Time{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v, _, clock := vaulttest.OpenWithRetention(t)
			kind, id := tt.trash(t, v, clock)
			wantRetained(t, v, clock, kind, id, tt.want)
			vaulttest.WantTrash(t, v)
		})
	}
}

// During its retention period, an abstract can be restored with its documents, long after trash.keep has passed. The
// scheduled purge skips many retained records and purges the expired record after them.
func TestRetentionRestoreAfterTrashKeep(t *testing.T) {
	t.Parallel()
	v, _, clock := vaulttest.OpenWithRetention(t)
	var ids []uint64
	for range 300 {
		ids = append(ids, vaulttest.CreateAbstract(t, v).Abstract.ID)
	}
	before := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"))
	for _, id := range append(ids, before.Abstract.ID) {
		vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, id, vault.Match{}))
	}
	vaulttest.CreateOrder(t, v, "A-1")
	vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	clock.Advance(19 * vaulttest.Year)
	_, err := v.Files.Restore(t.Context(), vaulttest.Operator, before.Files[0].ID, vault.Idempotency[model.File]{})
	vaulttest.WantKind(t, "restore a document of an abstract in the trash", err, errs.Conflict)
	vaulttest.NoError(t, v.Purger.PurgeExpired(t.Context()))
	if page, err := v.Trash.List(t.Context(), vault.Query{Limit: 1000}); err != nil || len(page.Items) != 301 {
		t.Errorf("Trash.List: got %d records, %v, want 301 abstracts", len(page.Items), err)
	}
	if due, retained, err := v.Purger.Purgeable(t.Context()); due != 0 || retained != 301 || err != nil {
		t.Errorf("Purger.Purgeable: got %d, %d retained, %v, want 0, 301 retained", due, retained, err)
	}
	after, err := v.Abstracts.Restore(t.Context(), vaulttest.Operator, before.Abstract.ID, vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil || len(after.Files) != 1 {
		t.Errorf("Abstracts.Restore: got %+v, %v, want 1 file", after, err)
	}
}

// If the abstract of a document in the trash is purged, the document is retained for the longest retention period of
// any template, even if it is restored and deleted again.
func TestRetentionOfDocumentWithoutAbstract(t *testing.T) {
	t.Parallel()
	clock := vaulttest.NewClock()
	opts := vaulttest.Options(t)
	opts.Now = clock.Now
	opts.Load = vaulttest.With(map[string]string{"retention.keep": "20y", "retention.templates": "2=7y"})
	v, err := instance.Open(t.Context(), opts)
	vaulttest.NoError(t, err)
	late, early := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2")),
		vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("3.pdf", "3"))
	vaulttest.NoError(t, v.Abstracts.Detach(t.Context(), vaulttest.Operator, 2, early.Files[0].ID, vault.Match{}))
	clock.Advance(31 * vaulttest.Day)
	file := late.Files[0]
	want := file.CreatedAt.AddDate(20, 0, 0)
	vaulttest.NoError(t, v.Abstracts.Detach(t.Context(), vaulttest.Operator, 1, file.ID, vault.Match{}))
	for _, id := range []uint64{1, 2} {
		vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, id, vault.Match{}))
		trashed := trashedRecord(t, v, "file", late.Files[0].ID)
		if trashed.Abstract == nil || trashed.Abstract.ID != 1 || trashed.Abstract.Heading == "" || trashed.Abstract.Live {
			t.Errorf("abstract of the document: got %+v, want abstract 1, in the trash", trashed.Abstract)
		}
	}
	for _, id := range []uint64{1, 2} {
		if _, err := v.Purger.Purge(t.Context(), vaulttest.Operator, "abstract", id, "the client asked for it"); err != nil {
			t.Fatalf("Purger.Purge: %v", err)
		}
	}
	trashed := trashedRecord(t, v, "file", file.ID)
	if !trashed.RetainedUntil.Equal(want) || trashed.Abstract == nil || trashed.Abstract.ID != 1 || trashed.Abstract.Heading != "" {
		t.Errorf("document of a purged abstract: got %+v, want it retained until %v", trashed, want)
	}
	for range 2 {
		restored, err := v.Files.Restore(t.Context(), vaulttest.Operator, file.ID, vault.Idempotency[model.File]{})
		if err != nil || restored.AbstractID != 0 {
			t.Fatalf("Files.Restore: got %+v, %v, want no abstract", restored, err)
		}
		vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, file.ID, vault.Match{}))
	}
	if trashed = trashedRecord(t, v, "file", file.ID); !trashed.RetainedUntil.Equal(want) {
		t.Errorf("document restored and deleted again: got %+v, want it retained until %v", trashed, want)
	}
	removedEarly := early.Files[0].ID
	_, err = v.Files.Restore(t.Context(), vaulttest.Operator, removedEarly, vault.Idempotency[model.File]{})
	vaulttest.WantKind(t, "restore an expired document", err, errs.NotFound)
	vaulttest.NoError(t, v.Purger.PurgeExpired(t.Context()))
	vaulttest.Close(t, v)

	// A shorter setting doesn't apply to a document that left its abstract before.
	opts.Load = vaulttest.With(map[string]string{"retention.keep": "1y"})
	v, err = instance.Open(t.Context(), opts)
	vaulttest.NoError(t, err)
	defer vaulttest.Close(t, v)
	if trashed = trashedRecord(t, v, "file", file.ID); !trashed.RetainedUntil.Equal(want) {
		t.Errorf("document with a shorter retention: got %+v, want it retained until %v", trashed, want)
	}
}

// If two documents share a blob, the blob is kept as long as one of them is retained.
func TestRetentionOfSharedBlob(t *testing.T) {
	t.Parallel()
	v, opts, clock := vaulttest.OpenWithRetention(t)
	loose := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("copy.pdf", "1"))[0]
	created := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"))
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, loose.ID, vault.Match{}))
	clock.Advance(vaulttest.TrashPeriod)
	vaulttest.NoError(t, v.Purger.PurgeExpired(t.Context()))
	vaulttest.NoError(t, v.Sweeper.Sweep(t.Context()))
	if n := len(vaulttest.FilesUnder(t, opts.Dir, "blobs")); n != 1 {
		t.Errorf("blobs: got %d, want 1, of the retained document", n)
	}
	_, err := v.Abstracts.Restore(t.Context(), vaulttest.Operator, 1, vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.NoError(t, err)
	if len(vaulttest.Content(t, v, created.Files[0].ID)) == 0 {
		t.Error("content of the restored document: got 0 bytes, want more")
	}
}

// Retention also applies to records that were moved to the trash before it was set, even to records that expired
// before.
func TestRetentionOfTrashFromBefore(t *testing.T) {
	t.Parallel()
	clock := vaulttest.NewClock()
	opts := vaulttest.Options(t) // no retention
	opts.Now = clock.Now
	v, err := instance.Open(t.Context(), opts)
	vaulttest.NoError(t, err)
	vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"))
	clock.Advance(31 * vaulttest.Day)
	vaulttest.NoError(t, v.Abstracts.Detach(t.Context(), vaulttest.Operator, 1, 1, vault.Match{}))
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	clock.Advance(10 * vaulttest.TrashPeriod)
	_, err = v.Abstracts.Restore(t.Context(), vaulttest.Operator, 1, vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.WantKind(t, "restore without retention", err, errs.NotFound)
	vaulttest.Close(t, v)
	opts.Load = vaulttest.With(map[string]string{"retention.keep": "20y"})
	v, err = instance.Open(t.Context(), opts)
	vaulttest.NoError(t, err)
	defer vaulttest.Close(t, v)
	vaulttest.NoError(t, v.Purger.PurgeExpired(t.Context()))
	if got, want := vaulttest.TrashList(t, v), []string{"abstract 1 " + v.Heading(model.Abstract{ID: 1}, model.Template{}),
		"file 1 1.pdf"}; !slices.Equal(slices.Sorted(slices.Values(got)), want) {
		t.Errorf("trash: got %q, want %q", got, want)
	}
	if _, err = v.Abstracts.Restore(t.Context(), vaulttest.Operator, 1, vault.Idempotency[vault.AbstractWithFiles]{}); err != nil {
		t.Errorf("Abstracts.Restore: %v", err)
	}
	if _, err = v.Files.Restore(t.Context(), vaulttest.Operator, 1, vault.Idempotency[model.File]{}); err != nil {
		t.Errorf("Files.Restore: %v", err)
	}
	vaulttest.Verify(t, v)
}

// An abstract with a damaged document is not purged, but other records still are.
func TestRetentionWithDamagedDocument(t *testing.T) {
	t.Parallel()
	clock := vaulttest.NewClock()
	opts := vaulttest.Options(t)
	opts.Now, opts.Load = clock.Now, vaulttest.With(map[string]string{"retention.keep": "1y"})
	v, err := instance.Open(t.Context(), opts)
	vaulttest.NoError(t, err)
	vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"))
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	vaulttest.CreateAbstract(t, v)
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, 2, vault.Match{}))
	vaulttest.Close(t, v)
	vaulttest.FlipBit(t, opts.Dir+"/vault.db", "files", 200, false)
	v, err = instance.Open(t.Context(), opts)
	vaulttest.NoError(t, err)
	defer vaulttest.Close(t, v)
	clock.Advance(2 * vaulttest.Year)
	if err := v.Purger.PurgeExpired(t.Context()); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("Purge: got %v, want %v", err, store.ErrDamaged)
	}
	vaulttest.WantTrash(t, v, "abstract 1 "+v.Heading(model.Abstract{ID: 1}, model.Template{}))
}

// If an abstract in the trash refers to a missing document, other records in the trash are still listed and purged.
func TestRetentionWithMissingDocument(t *testing.T) {
	t.Parallel()
	for missing, name := range []string{"oldest document", "newest document"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := vaulttest.NewClock()
			opts := vaulttest.Options(t)
			opts.Now, opts.Load = clock.Now, vaulttest.With(map[string]string{"retention.keep": "1y"})
			v, err := instance.Open(t.Context(), opts)
			vaulttest.NoError(t, err)
			defer vaulttest.Close(t, v)
			created := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"))
			vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, created.Abstract.ID, vault.Match{}))
			clock.Advance(time.Second)
			vaulttest.CreateOrder(t, v, "A-1")
			vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
			vaulttest.NoError(t, v.Store.Update(t.Context(), nil, func(tx *store.Tx) error { return tx.RemoveFile(created.Files[missing].ID) }))
			if page, err := v.Trash.List(t.Context(), vault.Query{Limit: 100}); err != nil || len(page.Items) != 2 {
				t.Errorf("Trash.List: got %d records, %v, want 2", len(page.Items), err)
			}
			clock.Advance(366 * vaulttest.Day) // past the retention period
			if err := v.Purger.PurgeExpired(t.Context()); !errors.Is(err, store.ErrDamaged) {
				t.Errorf("Purge: got %v, want %v", err, store.ErrDamaged)
			}
			vaulttest.WantTrash(t, v, "abstract 1 "+v.Heading(model.Abstract{ID: 1}, model.Template{}))
		})
	}
}

package vault_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

const ()

// retaining opens a vault that keeps abstracts for 20 years, those of template 2 for 7.
func retaining(t *testing.T) (*instance.Instance, instance.Options, *vaulttest.Clock) {
	t.Helper()
	clock := vaulttest.NewClock()
	v, opts := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.Now = clock.Now
		o.Settings.Retention = vault.Retention{Default: 20 * vaulttest.Year, Templates: map[uint64]time.Duration{2: 7 * vaulttest.Year}}
	})
	return v, opts, clock
}

// item finds one record in the trash.
func item(t *testing.T, v *instance.Instance, noun string, id uint64) vault.Trashed {
	t.Helper()
	page, err := v.Trash.List(t.Context(), vault.Query{Limit: 100})
	vaulttest.NoError(t, err)
	for _, i := range page.Items {
		if i.Type == noun && i.ID == id {
			return i
		}
	}
	t.Fatalf("%s %d is not in the trash: %+v", noun, id, page.Items)
	return vault.Trashed{}
}

// How long each kind of record stays in the trash, to the microsecond, restorable all the
// time, and that nothing purges it before.
func TestRetention(t *testing.T) {
	t.Parallel()
	start := vaulttest.NewClock().Now()
	years := func(n int) time.Time { return start.AddDate(n, 0, 0) }
	detach := func(t *testing.T, v *instance.Instance, filed vault.AbstractWithFiles) (string, uint64) {
		vaulttest.NoError(t, v.Abstracts.Detach(t.Context(), vaulttest.Operator, filed.Abstract.ID, filed.Files[0].ID, vault.Match{}))
		return "file", filed.Files[0].ID
	}
	tests := []struct {
		name  string
		trash func(t *testing.T, v *instance.Instance, clock *vaulttest.Clock) (noun string, id uint64)
		want  time.Time // zero: no retention
	}{
		{"an abstract", func(t *testing.T, v *instance.Instance, _ *vaulttest.Clock) (string, uint64) {
			a := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"))
			vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, a.Abstract.ID, vault.Match{}))
			return "abstract", a.Abstract.ID
		}, years(20)},
		{"an abstract of another template", func(t *testing.T, v *instance.Instance, _ *vaulttest.Clock) (string, uint64) {
			a, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{TemplateID: model.IDInput{Present: true, Valid: true, Value: 2}}, vaulttest.StageDocs(t, v), vault.Idempotency[vault.AbstractWithFiles]{})
			vaulttest.NoError(t, err)
			_, err = v.Templates.Retire(t.Context(), vaulttest.Operator, 2)
			vaulttest.NoError(t, err)
			vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, a.Abstract.ID, vault.Match{}))
			return "abstract", a.Abstract.ID
		}, years(7)},
		{"an abstract with a later document", func(t *testing.T, v *instance.Instance, clock *vaulttest.Clock) (string, uint64) {
			a := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"))
			clock.Advance(48 * time.Hour)
			_, err := v.Abstracts.Attach(t.Context(), vaulttest.Operator, a.Abstract.ID, model.UploadDraft{}, vaulttest.StageDocs(t, v, vaulttest.PDFDoc("2.pdf", "2")), vault.Idempotency[vault.AbstractWithFiles]{})
			vaulttest.NoError(t, err)
			vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, a.Abstract.ID, vault.Match{}))
			return "abstract", a.Abstract.ID
		}, years(20).Add(48 * time.Hour)},
		{"a document removed after 30 days", func(t *testing.T, v *instance.Instance, clock *vaulttest.Clock) (string, uint64) {
			a := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"))
			clock.Advance(30*vaulttest.Day + time.Microsecond)
			return detach(t, v, a)
		}, years(20)},
		{"a document removed within 30 days", func(t *testing.T, v *instance.Instance, clock *vaulttest.Clock) (string, uint64) {
			a := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"))
			clock.Advance(30 * vaulttest.Day)
			return detach(t, v, a)
		}, time.Time{}},
		{"a document removed early, restored, removed late", func(t *testing.T, v *instance.Instance, clock *vaulttest.Clock) (string, uint64) {
			a := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"))
			detach(t, v, a)
			_, err := v.Files.Restore(t.Context(), vaulttest.Operator, a.Files[0].ID, vault.Idempotency[model.File]{})
			vaulttest.NoError(t, err)
			clock.Advance(31 * vaulttest.Day)
			return detach(t, v, a)
		}, years(20)},
		{"a document that was uploaded in a future that is none", func(t *testing.T, v *instance.Instance, clock *vaulttest.Clock) (string, uint64) {
			clock.Advance(365 * vaulttest.Day)
			a := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"))
			clock.Advance(-365 * vaulttest.Day)
			return detach(t, v, a)
		}, years(21)},
		{"a document on no abstract", func(t *testing.T, v *instance.Instance, clock *vaulttest.Clock) (string, uint64) {
			f := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"))[0]
			clock.Advance(90 * vaulttest.Day)
			vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, f.ID, vault.Match{}))
			return "file", f.ID
		}, time.Time{}},
		{"an order", func(t *testing.T, v *instance.Instance, _ *vaulttest.Clock) (string, uint64) {
			o := vaulttest.CreateOrder(t, v, "A-1")
			vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, o.ID, vault.Match{}))
			return "order", o.ID
		}, time.Time{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v, _, clock := retaining(t)
			noun, id := tt.trash(t, v, clock)
			is := item(t, v, noun, id)
			if !is.RetainedUntil.Equal(tt.want) {
				t.Errorf("kept by the retention until %v, want %v", is.RetainedUntil, tt.want)
			}
			until := tt.want
			if until.IsZero() {
				until = is.At.Add(vaulttest.TrashKeep)
			}
			if !is.Until.Equal(until) {
				t.Errorf("kept until %v, want %v", is.Until, until)
			}
			clock.Advance(until.Sub(clock.Now()) - time.Microsecond)
			vaulttest.NoError(t, v.Purge(t.Context()))
			if found, err := v.Trash.Find(t.Context(), noun, id); err != nil || found.ID != id {
				t.Errorf("just before: %+v, %v", found, err)
			}
			if _, err := v.Trash.Purge(t.Context(), vaulttest.Operator, noun, id, ""); (errs.KindOf(err) == errs.Conflict) == tt.want.IsZero() {
				t.Errorf("purged by hand just before: %v", err)
			}
			clock.Advance(time.Microsecond)
			vaulttest.NoError(t, v.Purge(t.Context()))
			vaulttest.WantTrash(t, v)
			vaulttest.Verify(t, v)
		})
	}
}

// An abstract comes back whole long after trash.keep, and a purge by the plan passes over
// many that are kept to the one behind them.
func TestRetentionRestoresLate(t *testing.T) {
	t.Parallel()
	v, _, clock := retaining(t)
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
	vaulttest.WantKind(t, "one of its documents", err, errs.Conflict)
	vaulttest.NoError(t, v.Purge(t.Context()))
	if page, err := v.Trash.List(t.Context(), vault.Query{Limit: 1000}); err != nil || len(page.Items) != 301 {
		t.Errorf("%d records, %v, want the 301 abstracts", len(page.Items), err)
	}
	if due, kept, err := v.Trash.Purgeable(t.Context()); due != 0 || kept != 301 || err != nil {
		t.Errorf("%d may go, %d stay, %v", due, kept, err)
	}
	after, err := v.Abstracts.Restore(t.Context(), vaulttest.Operator, before.Abstract.ID, vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil || len(after.Files) != 1 {
		t.Errorf("%+v, %v", after, err)
	}
}

// A document whose abstract is purged is kept for the longest time, in the trash and when
// it comes back and goes there again.
func TestRetentionOfADocumentWithoutItsAbstract(t *testing.T) {
	t.Parallel()
	clock := vaulttest.NewClock()
	opts := vaulttest.Options(t)
	opts.Now = clock.Now
	opts.Settings.Retention = vault.Retention{Default: 20 * vaulttest.Year, Templates: map[uint64]time.Duration{2: 7 * vaulttest.Year}}
	v, err := instance.Open(t.Context(), opts)
	vaulttest.NoError(t, err)
	late, early := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2")), vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("3.pdf", "3"))
	vaulttest.NoError(t, v.Abstracts.Detach(t.Context(), vaulttest.Operator, 2, early.Files[0].ID, vault.Match{}))
	clock.Advance(31 * vaulttest.Day)
	file := late.Files[0]
	want := file.CreatedAt.AddDate(20, 0, 0)
	vaulttest.NoError(t, v.Abstracts.Detach(t.Context(), vaulttest.Operator, 1, file.ID, vault.Match{}))
	for _, id := range []uint64{1, 2} {
		vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, id, vault.Match{}))
		is := item(t, v, "file", late.Files[0].ID)
		if is.Abstract == nil || is.Abstract.ID != 1 || is.Abstract.Heading == "" || is.Abstract.Live {
			t.Errorf("on %+v, want abstract 1, which is in the trash", is.Abstract)
		}
	}
	for _, id := range []uint64{1, 2} {
		if _, err := v.Trash.Purge(t.Context(), vaulttest.Operator, "abstract", id, "the client asked for it"); err != nil {
			t.Fatal(err)
		}
	}
	is := item(t, v, "file", file.ID)
	if !is.RetainedUntil.Equal(want) || is.Abstract == nil || is.Abstract.ID != 1 || is.Abstract.Heading != "" {
		t.Errorf("%+v, want it kept until %v", is, want)
	}
	for range 2 {
		back, err := v.Files.Restore(t.Context(), vaulttest.Operator, file.ID, vault.Idempotency[model.File]{})
		if err != nil || back.AbstractID != 0 {
			t.Fatalf("%+v, %v", back, err)
		}
		vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, file.ID, vault.Match{}))
	}
	if is = item(t, v, "file", file.ID); !is.RetainedUntil.Equal(want) {
		t.Errorf("after a way through the vault: %+v, want it kept until %v", is, want)
	}
	mistake := early.Files[0].ID
	_, err = v.Files.Restore(t.Context(), vaulttest.Operator, mistake, vault.Idempotency[model.File]{})
	vaulttest.WantKind(t, "a mistake after its time", err, errs.NotFound)
	vaulttest.NoError(t, v.Purge(t.Context()))
	vaulttest.Close(t, v)

	// Settings in force count, not those of the day it was deleted.
	opts.Settings.Retention = vault.Retention{Default: vaulttest.Year}
	v, err = instance.Open(t.Context(), opts)
	vaulttest.NoError(t, err)
	defer vaulttest.Close(t, v)
	if is = item(t, v, "file", file.ID); !is.RetainedUntil.Equal(file.CreatedAt.AddDate(1, 0, 0)) {
		t.Errorf("with a shorter time: %+v", is)
	}
}

// Two records of the same bytes: the bytes stay as long as the one that is kept.
func TestRetentionOfSharedBytes(t *testing.T) {
	t.Parallel()
	v, opts, clock := retaining(t)
	loose := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("copy.pdf", "1"))[0]
	filed := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"))
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, loose.ID, vault.Match{}))
	clock.Advance(vaulttest.TrashKeep)
	vaulttest.NoError(t, v.Purge(t.Context()))
	vaulttest.NoError(t, v.Sweeper.Sweep(t.Context()))
	if n := len(vaulttest.FilesUnder(t, opts.Dir, "blobs")); n != 1 {
		t.Errorf("%d documents on the disk, want the one that is kept", n)
	}
	_, err := v.Abstracts.Restore(t.Context(), vaulttest.Operator, 1, vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.NoError(t, err)
	if len(vaulttest.Content(t, v, filed.Files[0].ID)) == 0 {
		t.Error("the document is empty")
	}
}

// What an older program has put into the trash is kept too, also where its time was over
// on the day of the upgrade.
func TestRetentionOfTrashOfAnOlderSchema(t *testing.T) {
	t.Parallel()
	clock := vaulttest.NewClock()
	opts := vaulttest.Options(t) // without a retention, as before
	opts.Now = clock.Now
	v, err := instance.Open(t.Context(), opts)
	vaulttest.NoError(t, err)
	vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"))
	clock.Advance(31 * vaulttest.Day)
	vaulttest.NoError(t, v.Abstracts.Detach(t.Context(), vaulttest.Operator, 1, 1, vault.Match{}))
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	clock.Advance(10 * vaulttest.TrashKeep)
	_, err = v.Abstracts.Restore(t.Context(), vaulttest.Operator, 1, vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.WantKind(t, "before", err, errs.NotFound)
	vaulttest.Close(t, v)
	db, err := bolt.Open(opts.Dir+"/vault.db", 0o600, nil)
	vaulttest.NoError(t, err)
	vaulttest.NoError(t, db.Update(func(tx *bolt.Tx) error { // schema 4: as 5, without the feed of changes
		return errors.Join(tx.DeleteBucket([]byte("changes")), tx.Bucket([]byte("meta")).Put([]byte("schema"), []byte{0, 0, 0, 0, 0, 0, 0, 4}))
	}))
	vaulttest.NoError(t, db.Close())
	opts.Settings.Retention = vault.Retention{Default: 20 * vaulttest.Year}
	v, err = instance.Open(t.Context(), opts)
	vaulttest.NoError(t, err)
	defer vaulttest.Close(t, v)
	vaulttest.NoError(t, v.Purge(t.Context()))
	if have, want := vaulttest.TrashList(t, v), []string{"abstract 1 " + v.Heading(model.Abstract{ID: 1}, model.Template{}), "file 1 1.pdf"}; !slices.Equal(sorted(have), want) {
		t.Errorf("in the trash %q, want %q", have, want)
	}
	if _, err = v.Abstracts.Restore(t.Context(), vaulttest.Operator, 1, vault.Idempotency[vault.AbstractWithFiles]{}); err != nil {
		t.Error(err)
	}
	if _, err = v.Files.Restore(t.Context(), vaulttest.Operator, 1, vault.Idempotency[model.File]{}); err != nil {
		t.Error(err)
	}
	vaulttest.Verify(t, v)
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

// A clock that leaps over the retention is not believed for a day, no matter who asks; what no
// retention covers goes by hand all the same.
func TestRetentionAndAClockFarAhead(t *testing.T) {
	t.Parallel()
	v, _, clock := retaining(t)
	vaulttest.CreateAbstract(t, v)
	vaulttest.CreateOrder(t, v, "A-1")
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	clock.Advance(21 * vaulttest.Year)
	vaulttest.NoError(t, v.RunPurgeOnce(t.Context()))
	_, err := v.Trash.Purge(t.Context(), vaulttest.Operator, "abstract", 1, "")
	vaulttest.WantKind(t, "right after the leap", err, errs.Conflict)
	if _, err := v.Trash.Empty(t.Context(), vaulttest.Operator); err != nil {
		t.Fatal(err)
	}
	vaulttest.WantTrash(t, v, "abstract 1 "+v.Heading(model.Abstract{ID: 1}, model.Template{}))
	clock.Advance(vaulttest.Day)
	if gone, err := v.Trash.Purge(t.Context(), vaulttest.Operator, "abstract", 1, ""); err != nil || gone.Records != 1 {
		t.Errorf("a day later: %+v, %v", gone, err)
	}
	vaulttest.WantTrash(t, v)
}

// What is damaged is neither purged nor in the way.
func TestRetentionWithADamagedDocument(t *testing.T) {
	t.Parallel()
	clock := vaulttest.NewClock()
	opts := vaulttest.Options(t)
	opts.Now, opts.Settings.Retention = clock.Now, vault.Retention{Default: vaulttest.Year}
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
	if err := v.Purge(t.Context()); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("purge: %v", err)
	}
	vaulttest.WantTrash(t, v, "abstract 1 "+v.Heading(model.Abstract{ID: 1}, model.Template{}))
}

// An abstract in the trash that lists a document without a record hides no other record
// there, and keeps none from its purge.
func TestRetentionWithALostDocument(t *testing.T) {
	t.Parallel()
	for lost, name := range []string{"the oldest", "the newest"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := vaulttest.NewClock()
			opts := vaulttest.Options(t)
			opts.Now, opts.Settings.Retention = clock.Now, vault.Retention{Default: vaulttest.Year}
			v, err := instance.Open(t.Context(), opts)
			vaulttest.NoError(t, err)
			defer vaulttest.Close(t, v)
			filed := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"))
			vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, filed.Abstract.ID, vault.Match{}))
			clock.Advance(time.Second)
			vaulttest.CreateOrder(t, v, "A-1")
			vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
			vaulttest.NoError(t, v.Store.Update(t.Context(), nil, func(tx *store.Tx) error { return tx.RemoveFile(filed.Files[lost].ID) }))
			if page, err := v.Trash.List(t.Context(), vault.Query{Limit: 100}); err != nil || len(page.Items) != 2 {
				t.Errorf("got %d records, %v, want 2", len(page.Items), err)
			}
			clock.Advance(366 * vaulttest.Day) // past the retention too
			if err := v.Purge(t.Context()); !errors.Is(err, store.ErrDamaged) {
				t.Errorf("purge: got %v, want %v", err, store.ErrDamaged)
			}
			vaulttest.WantTrash(t, v, "abstract 1 "+v.Heading(model.Abstract{ID: 1}, model.Template{}))
		})
	}
}

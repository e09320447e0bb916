package instance_test

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

const (
	calendarDay = 24 * time.Hour
	keepYear    = 365 * calendarDay
)

// retaining opens a vault that keeps abstracts for 20 years, those of template 2 for 7.
func retaining(t *testing.T) (*instance.Instance, instance.Options, *vaulttest.Clock) {
	t.Helper()
	clock := vaulttest.NewClock()
	v, opts := opened(t, func(o *instance.Options) {
		o.Now = clock.Now
		o.Settings.Retention = vault.Retention{Default: 20 * keepYear, Templates: map[uint64]time.Duration{2: 7 * keepYear}}
	})
	return v, opts, clock
}

// item finds one record in the trash.
func item(t *testing.T, v *instance.Instance, noun string, id uint64) vault.Trashed {
	t.Helper()
	page, err := v.Trash.List(t.Context(), vault.Query{Limit: 100})
	done(t, err)
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
		done(t, v.Abstracts.Detach(t.Context(), clerk, filed.Abstract.ID, filed.Files[0].ID, vault.Match{}))
		return "file", filed.Files[0].ID
	}
	tests := []struct {
		name  string
		trash func(t *testing.T, v *instance.Instance, clock *vaulttest.Clock) (noun string, id uint64)
		want  time.Time // zero: no retention
	}{
		{"an abstract", func(t *testing.T, v *instance.Instance, _ *vaulttest.Clock) (string, uint64) {
			a := create(t, v, pdf("1.pdf", "1"))
			done(t, v.Abstracts.Trash(t.Context(), clerk, a.Abstract.ID, vault.Match{}))
			return "abstract", a.Abstract.ID
		}, years(20)},
		{"an abstract of another template", func(t *testing.T, v *instance.Instance, _ *vaulttest.Clock) (string, uint64) {
			a, err := v.Abstracts.Create(t.Context(), clerk, model.AbstractDraft{TemplateID: model.IDInput{Present: true, Valid: true, Value: 2}}, tray(t, v), vault.Idempotency[vault.AbstractWithFiles]{})
			done(t, err)
			_, err = v.Templates.Retire(t.Context(), clerk, 2)
			done(t, err)
			done(t, v.Abstracts.Trash(t.Context(), clerk, a.Abstract.ID, vault.Match{}))
			return "abstract", a.Abstract.ID
		}, years(7)},
		{"an abstract with a later document", func(t *testing.T, v *instance.Instance, clock *vaulttest.Clock) (string, uint64) {
			a := create(t, v, pdf("1.pdf", "1"))
			clock.Advance(48 * time.Hour)
			_, err := v.Abstracts.Attach(t.Context(), clerk, a.Abstract.ID, model.UploadDraft{}, tray(t, v, pdf("2.pdf", "2")), vault.Idempotency[vault.AbstractWithFiles]{})
			done(t, err)
			done(t, v.Abstracts.Trash(t.Context(), clerk, a.Abstract.ID, vault.Match{}))
			return "abstract", a.Abstract.ID
		}, years(20).Add(48 * time.Hour)},
		{"a document removed after 30 days", func(t *testing.T, v *instance.Instance, clock *vaulttest.Clock) (string, uint64) {
			a := create(t, v, pdf("1.pdf", "1"), pdf("2.pdf", "2"))
			clock.Advance(30*calendarDay + time.Microsecond)
			return detach(t, v, a)
		}, years(20)},
		{"a document removed within 30 days", func(t *testing.T, v *instance.Instance, clock *vaulttest.Clock) (string, uint64) {
			a := create(t, v, pdf("1.pdf", "1"))
			clock.Advance(30 * calendarDay)
			return detach(t, v, a)
		}, time.Time{}},
		{"a document removed early, restored, removed late", func(t *testing.T, v *instance.Instance, clock *vaulttest.Clock) (string, uint64) {
			a := create(t, v, pdf("1.pdf", "1"))
			detach(t, v, a)
			_, err := v.Files.Restore(t.Context(), clerk, a.Files[0].ID, vault.Idempotency[model.File]{})
			done(t, err)
			clock.Advance(31 * calendarDay)
			return detach(t, v, a)
		}, years(20)},
		{"a document that was uploaded in a future that is none", func(t *testing.T, v *instance.Instance, clock *vaulttest.Clock) (string, uint64) {
			clock.Advance(365 * calendarDay)
			a := create(t, v, pdf("1.pdf", "1"))
			clock.Advance(-365 * calendarDay)
			return detach(t, v, a)
		}, years(21)},
		{"a document on no abstract", func(t *testing.T, v *instance.Instance, clock *vaulttest.Clock) (string, uint64) {
			f := uploadDocs(t, v, pdf("1.pdf", "1"))[0]
			clock.Advance(90 * calendarDay)
			done(t, v.Files.Trash(t.Context(), clerk, f.ID, vault.Match{}))
			return "file", f.ID
		}, time.Time{}},
		{"an order", func(t *testing.T, v *instance.Instance, _ *vaulttest.Clock) (string, uint64) {
			o := ordered(t, v, "A-1")
			done(t, v.Orders.Trash(t.Context(), clerk, o.ID, vault.Match{}))
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
				until = is.At.Add(trashKeep)
			}
			if !is.Until.Equal(until) {
				t.Errorf("kept until %v, want %v", is.Until, until)
			}
			clock.Advance(until.Sub(clock.Now()) - time.Microsecond)
			done(t, v.Purge(t.Context()))
			if found, err := v.Trash.Find(t.Context(), noun, id); err != nil || found.ID != id {
				t.Errorf("just before: %+v, %v", found, err)
			}
			if _, err := v.Trash.Purge(t.Context(), clerk, noun, id, ""); (errs.KindOf(err) == errs.Conflict) == tt.want.IsZero() {
				t.Errorf("purged by hand just before: %v", err)
			}
			clock.Advance(time.Microsecond)
			done(t, v.Purge(t.Context()))
			wantTrash(t, v)
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
		ids = append(ids, create(t, v).Abstract.ID)
	}
	before := create(t, v, pdf("1.pdf", "1"))
	for _, id := range append(ids, before.Abstract.ID) {
		done(t, v.Abstracts.Trash(t.Context(), clerk, id, vault.Match{}))
	}
	ordered(t, v, "A-1")
	done(t, v.Orders.Trash(t.Context(), clerk, 1, vault.Match{}))
	clock.Advance(19 * keepYear)
	_, err := v.Files.Restore(t.Context(), clerk, before.Files[0].ID, vault.Idempotency[model.File]{})
	kind(t, "one of its documents", err, errs.Conflict)
	done(t, v.Purge(t.Context()))
	if page, err := v.Trash.List(t.Context(), vault.Query{Limit: 1000}); err != nil || len(page.Items) != 301 {
		t.Errorf("%d records, %v, want the 301 abstracts", len(page.Items), err)
	}
	if due, kept, err := v.Trash.Purgeable(t.Context()); due != 0 || kept != 301 || err != nil {
		t.Errorf("%d may go, %d stay, %v", due, kept, err)
	}
	after, err := v.Abstracts.Restore(t.Context(), clerk, before.Abstract.ID, vault.Idempotency[vault.AbstractWithFiles]{})
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
	opts.Settings.Retention = vault.Retention{Default: 20 * keepYear, Templates: map[uint64]time.Duration{2: 7 * keepYear}}
	v, err := instance.Open(t.Context(), opts)
	done(t, err)
	late, early := create(t, v, pdf("1.pdf", "1"), pdf("2.pdf", "2")), create(t, v, pdf("3.pdf", "3"))
	done(t, v.Abstracts.Detach(t.Context(), clerk, 2, early.Files[0].ID, vault.Match{}))
	clock.Advance(31 * calendarDay)
	file := late.Files[0]
	want := file.CreatedAt.AddDate(20, 0, 0)
	done(t, v.Abstracts.Detach(t.Context(), clerk, 1, file.ID, vault.Match{}))
	for _, id := range []uint64{1, 2} {
		done(t, v.Abstracts.Trash(t.Context(), clerk, id, vault.Match{}))
		is := item(t, v, "file", late.Files[0].ID)
		if is.Abstract == nil || is.Abstract.ID != 1 || is.Abstract.Heading == "" || is.Abstract.Live {
			t.Errorf("on %+v, want abstract 1, which is in the trash", is.Abstract)
		}
	}
	for _, id := range []uint64{1, 2} {
		if _, err := v.Trash.Purge(t.Context(), clerk, "abstract", id, "the client asked for it"); err != nil {
			t.Fatal(err)
		}
	}
	is := item(t, v, "file", file.ID)
	if !is.RetainedUntil.Equal(want) || is.Abstract == nil || is.Abstract.ID != 1 || is.Abstract.Heading != "" {
		t.Errorf("%+v, want it kept until %v", is, want)
	}
	for range 2 {
		back, err := v.Files.Restore(t.Context(), clerk, file.ID, vault.Idempotency[model.File]{})
		if err != nil || back.AbstractID != 0 {
			t.Fatalf("%+v, %v", back, err)
		}
		done(t, v.Files.Trash(t.Context(), clerk, file.ID, vault.Match{}))
	}
	if is = item(t, v, "file", file.ID); !is.RetainedUntil.Equal(want) {
		t.Errorf("after a way through the vault: %+v, want it kept until %v", is, want)
	}
	mistake := early.Files[0].ID
	_, err = v.Files.Restore(t.Context(), clerk, mistake, vault.Idempotency[model.File]{})
	kind(t, "a mistake after its time", err, errs.NotFound)
	done(t, v.Purge(t.Context()))
	closed(t, v)

	// Settings in force count, not those of the day it was deleted.
	opts.Settings.Retention = vault.Retention{Default: keepYear}
	v, err = instance.Open(t.Context(), opts)
	done(t, err)
	defer closed(t, v)
	if is = item(t, v, "file", file.ID); !is.RetainedUntil.Equal(file.CreatedAt.AddDate(1, 0, 0)) {
		t.Errorf("with a shorter time: %+v", is)
	}
}

// Two records of the same bytes: the bytes stay as long as the one that is kept.
func TestRetentionOfSharedBytes(t *testing.T) {
	t.Parallel()
	v, opts, clock := retaining(t)
	loose := uploadDocs(t, v, pdf("copy.pdf", "1"))[0]
	filed := create(t, v, pdf("1.pdf", "1"))
	done(t, v.Abstracts.Trash(t.Context(), clerk, 1, vault.Match{}))
	done(t, v.Files.Trash(t.Context(), clerk, loose.ID, vault.Match{}))
	clock.Advance(trashKeep)
	done(t, v.Purge(t.Context()))
	done(t, v.Sweeper.Sweep(t.Context()))
	if n := len(under(t, opts.Dir, "blobs")); n != 1 {
		t.Errorf("%d documents on the disk, want the one that is kept", n)
	}
	_, err := v.Abstracts.Restore(t.Context(), clerk, 1, vault.Idempotency[vault.AbstractWithFiles]{})
	done(t, err)
	if len(content(t, v, filed.Files[0].ID)) == 0 {
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
	done(t, err)
	create(t, v, pdf("1.pdf", "1"), pdf("2.pdf", "2"))
	clock.Advance(31 * calendarDay)
	done(t, v.Abstracts.Detach(t.Context(), clerk, 1, 1, vault.Match{}))
	done(t, v.Abstracts.Trash(t.Context(), clerk, 1, vault.Match{}))
	clock.Advance(10 * trashKeep)
	_, err = v.Abstracts.Restore(t.Context(), clerk, 1, vault.Idempotency[vault.AbstractWithFiles]{})
	kind(t, "before", err, errs.NotFound)
	closed(t, v)
	db, err := bolt.Open(opts.Dir+"/vault.db", 0o600, nil)
	done(t, err)
	done(t, db.Update(func(tx *bolt.Tx) error { // schema 4: as 5, without the feed of changes
		return errors.Join(tx.DeleteBucket([]byte("changes")), tx.Bucket([]byte("meta")).Put([]byte("schema"), []byte{0, 0, 0, 0, 0, 0, 0, 4}))
	}))
	done(t, db.Close())
	opts.Settings.Retention = vault.Retention{Default: 20 * keepYear}
	v, err = instance.Open(t.Context(), opts)
	done(t, err)
	defer closed(t, v)
	done(t, v.Purge(t.Context()))
	if have, want := inTheTrash(t, v), []string{"abstract 1 " + v.Heading(model.Abstract{ID: 1}, model.Template{}), "file 1 1.pdf"}; !slices.Equal(sorted(have), want) {
		t.Errorf("in the trash %q, want %q", have, want)
	}
	if _, err = v.Abstracts.Restore(t.Context(), clerk, 1, vault.Idempotency[vault.AbstractWithFiles]{}); err != nil {
		t.Error(err)
	}
	if _, err = v.Files.Restore(t.Context(), clerk, 1, vault.Idempotency[model.File]{}); err != nil {
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
	create(t, v)
	ordered(t, v, "A-1")
	done(t, v.Abstracts.Trash(t.Context(), clerk, 1, vault.Match{}))
	done(t, v.Orders.Trash(t.Context(), clerk, 1, vault.Match{}))
	clock.Advance(21 * keepYear)
	done(t, v.RunPurgeOnce(t.Context()))
	_, err := v.Trash.Purge(t.Context(), clerk, "abstract", 1, "")
	kind(t, "right after the leap", err, errs.Conflict)
	if _, err := v.Trash.Empty(t.Context(), clerk); err != nil {
		t.Fatal(err)
	}
	wantTrash(t, v, "abstract 1 "+v.Heading(model.Abstract{ID: 1}, model.Template{}))
	clock.Advance(calendarDay)
	if gone, err := v.Trash.Purge(t.Context(), clerk, "abstract", 1, ""); err != nil || gone.Records != 1 {
		t.Errorf("a day later: %+v, %v", gone, err)
	}
	wantTrash(t, v)
}

// What is damaged is neither purged nor in the way.
func TestRetentionWithADamagedDocument(t *testing.T) {
	t.Parallel()
	clock := vaulttest.NewClock()
	opts := vaulttest.Options(t)
	opts.Now, opts.Settings.Retention = clock.Now, vault.Retention{Default: keepYear}
	v, err := instance.Open(t.Context(), opts)
	done(t, err)
	create(t, v, pdf("1.pdf", "1"))
	done(t, v.Abstracts.Trash(t.Context(), clerk, 1, vault.Match{}))
	create(t, v)
	done(t, v.Abstracts.Trash(t.Context(), clerk, 2, vault.Match{}))
	closed(t, v)
	vaulttest.FlipBit(t, opts.Dir+"/vault.db", "files", 200, false)
	v, err = instance.Open(t.Context(), opts)
	done(t, err)
	defer closed(t, v)
	clock.Advance(2 * keepYear)
	if err := v.Purge(t.Context()); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("purge: %v", err)
	}
	wantTrash(t, v, "abstract 1 "+v.Heading(model.Abstract{ID: 1}, model.Template{}))
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
			opts.Now, opts.Settings.Retention = clock.Now, vault.Retention{Default: keepYear}
			v, err := instance.Open(t.Context(), opts)
			done(t, err)
			defer closed(t, v)
			filed := create(t, v, pdf("1.pdf", "1"), pdf("2.pdf", "2"))
			done(t, v.Abstracts.Trash(t.Context(), clerk, filed.Abstract.ID, vault.Match{}))
			clock.Advance(time.Second)
			ordered(t, v, "A-1")
			done(t, v.Orders.Trash(t.Context(), clerk, 1, vault.Match{}))
			done(t, v.Store.Update(t.Context(), nil, func(tx *store.Tx) error { return tx.RemoveFile(filed.Files[lost].ID) }))
			if page, err := v.Trash.List(t.Context(), vault.Query{Limit: 100}); err != nil || len(page.Items) != 2 {
				t.Errorf("got %d records, %v, want 2", len(page.Items), err)
			}
			clock.Advance(366 * calendarDay) // past the retention too
			if err := v.Purge(t.Context()); !errors.Is(err, store.ErrDamaged) {
				t.Errorf("purge: got %v, want %v", err, store.ErrDamaged)
			}
			wantTrash(t, v, "abstract 1 "+v.Heading(model.Abstract{ID: 1}, model.Template{}))
		})
	}
}

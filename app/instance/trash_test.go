package instance_test

import (
	"fmt"
	"reflect"
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

const trashKeep = 30 * 24 * time.Hour

// timed opens a vault whose time the test moves.
func timed(t *testing.T) (*instance.Instance, instance.Options, *vaulttest.Clock) {
	t.Helper()
	clock := vaulttest.NewClock()
	v, opts := opened(t, func(o *instance.Options) { o.Now = clock.Now })
	return v, opts, clock
}

// inTheTrash lists it as "noun id heading".
func inTheTrash(t *testing.T, v *instance.Instance) (list []string) {
	t.Helper()
	page, err := v.Trash.List(t.Context(), vault.Query{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range page.Items {
		list = append(list, fmt.Sprintf("%s %d %s", item.Type, item.ID, item.Heading))
	}
	return list
}

func wantTrash(t *testing.T, v *instance.Instance, want ...string) {
	t.Helper()
	if have := inTheTrash(t, v); !slices.Equal(have, want) {
		t.Errorf("in the trash %q, want %q", have, want)
	}
	if n := status(t, v).Trashed; n != uint64(len(want)) {
		t.Errorf("counted in the trash: %d, want %d", n, len(want))
	}
}

func done(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// missing fails the test unless a document is as good as absent.
func missing(t *testing.T, v *instance.Instance, id uint64) {
	t.Helper()
	_, err := v.Files.Get(t.Context(), id)
	kind(t, fmt.Sprintf("read file %d", id), err, errs.NotFound)
	_, _, err = v.Files.Open(t.Context(), id)
	kind(t, fmt.Sprintf("open file %d", id), err, errs.NotFound)
	_, err = v.Previews.Thumbnail(t.Context(), clerk, id)
	kind(t, fmt.Sprintf("picture of file %d", id), err, errs.NotFound)
}

// An abstract with thirty documents comes back as it went; what was detached or
// trashed before stays in the trash by itself.
func TestAbstractTrashAndBack(t *testing.T) {
	t.Parallel()
	v, opts := opened(t, nil)
	var docs []doc
	for i := range 30 {
		docs = append(docs, pdf(fmt.Sprintf("%02d.pdf", i), fmt.Sprint(i%20)))
	}
	before := create(t, v, docs...)
	detached, alone := before.Files[3], before.Files[11]
	done(t, v.Abstracts.Detach(t.Context(), clerk, 1, detached.ID, vault.Match{}))
	done(t, v.Files.Trash(t.Context(), clerk, alone.ID, vault.Match{}))
	before, err := v.Abstracts.Get(t.Context(), 1)
	if err != nil || len(before.Files) != 28 || before.Abstract.Version != 3 {
		t.Fatalf("%+v, %v", before, err)
	}
	kind(t, "stale", v.Abstracts.Trash(t.Context(), clerk, 1, versions(1)), errs.PreconditionFailed)
	done(t, v.Abstracts.Trash(t.Context(), clerk, 1, versions(3)))
	wantLogged(t, v, "abstract.trashed abstract:1", fmt.Sprintf("file.trashed file:%d", alone.ID), fmt.Sprintf("file.detached file:%d", detached.ID))
	wantTrash(t, v, "abstract 1 "+v.Heading(model.Abstract{ID: 1}, model.Template{}), "file 4 03.pdf", "file 12 11.pdf")
	vaulttest.Verify(t, v)
	_, err = v.Abstracts.Get(t.Context(), 1)
	kind(t, "an abstract in the trash", err, errs.NotFound)
	_, err = v.Abstracts.Patch(t.Context(), clerk, 1, model.AbstractPatch{}, vault.Match{})
	kind(t, "change it", err, errs.NotFound)
	kind(t, "trash it again", v.Abstracts.Trash(t.Context(), clerk, 1, vault.Match{}), errs.NotFound)
	tr := tray(t, v, pdf("x.pdf", "x"))
	_, err = v.Abstracts.Attach(t.Context(), clerk, 1, model.UploadDraft{}, tr, vault.Idempotency[vault.AbstractWithFiles]{})
	kind(t, "attach to it", err, errs.NotFound)
	for _, f := range before.Files {
		missing(t, v, f.ID)
		_, err := v.Files.Restore(t.Context(), clerk, f.ID, vault.Idempotency[model.File]{})
		kind(t, "restore one of its documents", err, errs.Conflict)
	}
	_, err = v.Files.Restore(t.Context(), clerk, detached.ID, vault.Idempotency[model.File]{})
	kind(t, "restore one detached before", err, errs.Conflict)
	if s := status(t, v); s.Abstracts != 0 || s.Files != 0 {
		t.Errorf("%+v", s)
	}
	after, err := v.Abstracts.Restore(t.Context(), clerk, 1, vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil || !reflect.DeepEqual(after, before) {
		t.Fatalf("%v: came back as %+v\nwent as %+v", err, after, before)
	}
	if read, err := v.Abstracts.Get(t.Context(), 1); err != nil || !reflect.DeepEqual(read, before) {
		t.Errorf("reads %+v, %v", read, err)
	}
	wantLogged(t, v, "abstract.restored abstract:1")
	wantTrash(t, v, "file 4 03.pdf", "file 12 11.pdf")
	missing(t, v, detached.ID)
	for _, f := range after.Files {
		if _, bytes, err := v.Files.Open(t.Context(), f.ID); err != nil {
			t.Error(err)
		} else {
			done(t, bytes.Close())
		}
	}
	if n := len(under(t, opts.Dir, "blobs")); n != 20 {
		t.Errorf("%d documents on the disk", n)
	}
}

// A document comes back to its place, as far as the list still reaches.
func TestRestoreToItsPlace(t *testing.T) {
	t.Parallel()
	v, _ := opened(t, nil)
	all := numbersOf(create(t, v, pdf("1.pdf", "1"), pdf("2.pdf", "2"), pdf("3.pdf", "3"), pdf("4.pdf", "4")))
	for _, id := range all[1:] { // from the second place, each
		done(t, v.Abstracts.Detach(t.Context(), clerk, 1, id, vault.Match{}))
	}
	restored := func(id uint64, want ...uint64) {
		t.Helper()
		before, err := v.Abstracts.Get(t.Context(), 1)
		done(t, err)
		back, err := v.Files.Restore(t.Context(), clerk, id, vault.Idempotency[model.File]{})
		if err != nil || back.AbstractID != 1 || back.Trashed != nil {
			t.Fatalf("%+v, %v", back, err)
		}
		after, err := v.Abstracts.Get(t.Context(), 1)
		if err != nil || !slices.Equal(after.Abstract.Files, want) || after.Abstract.Version != before.Abstract.Version+1 {
			t.Errorf("%+v, %v, want files %v", after.Abstract, err, want)
		}
	}
	restored(all[3], all[0], all[3])
	restored(all[2], all[0], all[2], all[3])
	done(t, v.Abstracts.Detach(t.Context(), clerk, 1, all[0], vault.Match{}))
	done(t, v.Abstracts.Detach(t.Context(), clerk, 1, all[3], vault.Match{}))
	done(t, v.Abstracts.Detach(t.Context(), clerk, 1, all[2], vault.Match{}))
	restored(all[1], all[1]) // beyond the end of an empty list
	wantLogged(t, v, fmt.Sprintf("file.restored file:%d", all[1]))
	same, err := v.Files.Restore(t.Context(), clerk, all[1], vault.Idempotency[model.File]{})
	if err != nil || same.ID != all[1] {
		t.Errorf("restore what is live: %+v, %v", same, err)
	}
	wantLogged(t, v, fmt.Sprintf("file.restored file:%d", all[1]), fmt.Sprintf("file.detached file:%d", all[2]))
}

func numbersOf(f vault.AbstractWithFiles) []uint64 { return slices.Clone(f.Abstract.Files) }

// What a document was part of may be gone for good when it comes back: then it is
// part of nothing. Only a clock that went back lets an abstract go first.
func TestRestoreToWhatIsGone(t *testing.T) {
	t.Parallel()
	v, _ := opened(t, nil)
	file := create(t, v, pdf("1.pdf", "1")).Files[0]
	done(t, v.Abstracts.Detach(t.Context(), clerk, 1, file.ID, vault.Match{}))
	done(t, v.Store.Update(t.Context(), nil, func(tx *store.Tx) error { return tx.RemoveAbstract(1) }))
	vaulttest.Verify(t, v)
	back, err := v.Files.Restore(t.Context(), clerk, file.ID, vault.Idempotency[model.File]{})
	if err != nil || back.AbstractID != 0 || back.FolderID != 0 {
		t.Errorf("%+v, %v", back, err)
	}
}

// Lists show what is live, in pages, with the documents of abstracts.
func TestLists(t *testing.T) {
	t.Parallel()
	v, _ := opened(t, nil)
	for i := range 5 {
		create(t, v, pdf("a.pdf", fmt.Sprint(i)), pdf("b.pdf", fmt.Sprint(i)))
	}
	done(t, v.Abstracts.Trash(t.Context(), clerk, 3, vault.Match{}))
	var have []uint64
	q := vault.Query{Limit: 2}
	for pages := 0; ; pages++ {
		page, err := v.Abstracts.List(t.Context(), q)
		done(t, err)
		for _, filed := range page.Items {
			have = append(have, filed.Abstract.ID)
			read, err := v.Abstracts.Get(t.Context(), filed.Abstract.ID)
			if err != nil || !reflect.DeepEqual(filed, read) {
				t.Errorf("listed %+v\nread %+v, %v", filed, read, err)
			}
		}
		if q.Position = page.Next; page.Next == nil {
			break
		}
		if pages > 5 {
			t.Fatal("there is no end")
		}
	}
	if !slices.Equal(have, []uint64{1, 2, 4, 5}) {
		t.Errorf("listed %v", have)
	}
	files, err := v.Files.List(t.Context(), vault.Query{Limit: 100, Filters: []store.Filter{{Column: store.ColumnAbstract, Value: "3"}}})
	if err != nil || len(files.Items) != 0 {
		t.Errorf("documents of an abstract in the trash: %v, %v", files.Items, err)
	}
}

// A damaged document hides neither its abstract nor the rest of the list.
func TestListWithADamagedDocument(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v, err := instance.Open(t.Context(), opts)
	done(t, err)
	create(t, v, pdf("a.pdf", "a"), pdf("b.pdf", "b"))
	create(t, v, pdf("c.pdf", "c"))
	closed(t, v)
	vaulttest.FlipBit(t, opts.Dir+"/vault.db", "files", 200, false)
	v, err = instance.Open(t.Context(), opts)
	done(t, err)
	defer closed(t, v)
	page, err := v.Abstracts.List(t.Context(), vault.Query{Limit: 9})
	if err != nil || len(page.Items) != 2 || page.Items[0].Abstract.ID != 1 || len(page.Items[1].Files) != 1 {
		t.Errorf("%+v, %v", page.Items, err)
	}
}

func TestDetachRefused(t *testing.T) {
	t.Parallel()
	v, _ := opened(t, nil)
	one, two := create(t, v, pdf("1.pdf", "1")), create(t, v, pdf("2.pdf", "2"))
	loose := uploadDocs(t, v, pdf("3.pdf", "3"))[0]
	for _, row := range []struct {
		name           string
		abstract, file uint64
	}{
		{"another's", one.Abstract.ID, two.Files[0].ID},
		{"nobody's", one.Abstract.ID, loose.ID},
		{"no such file", one.Abstract.ID, 99},
		{"no such abstract", 99, one.Files[0].ID},
	} {
		kind(t, row.name, v.Abstracts.Detach(t.Context(), clerk, row.abstract, row.file, vault.Match{}), errs.NotFound)
	}
	done(t, v.Abstracts.Detach(t.Context(), clerk, one.Abstract.ID, one.Files[0].ID, vault.Match{}))
	kind(t, "twice", v.Abstracts.Detach(t.Context(), clerk, one.Abstract.ID, one.Files[0].ID, vault.Match{}), errs.NotFound)
}

func TestOrderTrashAndBack(t *testing.T) {
	t.Parallel()
	v, _ := opened(t, nil)
	ordered(t, v, "A-1")
	before, err := v.Orders.Get(t.Context(), 1)
	done(t, err)
	same, err := v.Orders.Restore(t.Context(), clerk, 1, vault.Idempotency[model.Order]{})
	if err != nil || !reflect.DeepEqual(same, before) {
		t.Errorf("restore what is live: %+v, %v", same, err)
	}
	kind(t, "stale", v.Orders.Trash(t.Context(), clerk, 1, versions(2)), errs.PreconditionFailed)
	done(t, v.Orders.Trash(t.Context(), clerk, 1, versions(1)))
	_, err = v.Orders.Get(t.Context(), 1)
	kind(t, "in the trash", err, errs.NotFound)
	wantTrash(t, v, "order 1 A-1")
	page, err := v.Trash.List(t.Context(), vault.Query{Limit: 1, Filters: []store.Filter{{Column: store.ColumnKind, Value: "order"}}})
	if err != nil || len(page.Items) != 1 {
		t.Fatal(page, err)
	}
	if item := page.Items[0]; item.By.Name != clerk.Name || item.By.Record() != clerk.Record() || item.Until.Sub(item.At) != trashKeep {
		t.Errorf("%+v", item)
	}
	back, err := v.Orders.Restore(t.Context(), clerk, 1, vault.Idempotency[model.Order]{})
	if err != nil || !reflect.DeepEqual(back, before) {
		t.Errorf("%+v, %v", back, err)
	}
	wantTrash(t, v)
	_, err = v.Orders.Restore(t.Context(), clerk, 9, vault.Idempotency[model.Order]{})
	kind(t, "no such order", err, errs.NotFound)
}

// A key that ended trashes, restores and changes nothing.
func TestChangesByAnEndedKey(t *testing.T) {
	t.Parallel()
	v, _ := opened(t, nil)
	create(t, v, pdf("1.pdf", "1"))
	ordered(t, v, "A-1")
	ordered(t, v, "A-2")
	done(t, v.Orders.Trash(t.Context(), clerk, 2, vault.Match{}))
	_, key, err := v.Keys.Create(t.Context(), clerk, model.KeyDraft{Name: "k"})
	done(t, err)
	_, err = v.Keys.Revoke(t.Context(), clerk, key.ID)
	done(t, err)
	by := model.Actor{Kind: model.ActorKey, ID: key.ID}
	events := len(logged(t, v, 100))
	for name, verb := range map[string]func() error{
		"trash abstract": func() error { return v.Abstracts.Trash(t.Context(), by, 1, vault.Match{}) },
		"detach":         func() error { return v.Abstracts.Detach(t.Context(), by, 1, 1, vault.Match{}) },
		"trash file":     func() error { return v.Files.Trash(t.Context(), by, 1, vault.Match{}) },
		"trash order":    func() error { return v.Orders.Trash(t.Context(), by, 1, vault.Match{}) },
		"restore order": func() error {
			_, err := v.Orders.Restore(t.Context(), by, 2, vault.Idempotency[model.Order]{})
			return err
		},
		"patch order": func() error {
			_, err := v.Orders.Patch(t.Context(), by, 1, model.OrderPatch{Number: sent("x")}, vault.Match{})
			return err
		},
		"remove folder": func() error { return v.Folders.Remove(t.Context(), by, 1, vault.Match{}) },
	} {
		kind(t, name, verb(), errs.Unauthenticated)
	}
	if n := len(logged(t, v, 100)); n != events {
		t.Errorf("%d events were written", n-events)
	}
}

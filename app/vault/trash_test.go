package vault_test

import (
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"deedkeep/app/store"
	"deedkeep/app/title"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

const trashKeep = 30 * 24 * time.Hour

// timed opens a vault whose time the test moves.
func timed(t *testing.T) (*vault.Vault, vault.Options, *vaulttest.Clock) {
	t.Helper()
	clock := vaulttest.NewClock()
	v, opts := opened(t, func(o *vault.Options) { o.Now = clock.Now })
	return v, opts, clock
}

// inTheTrash lists it as "noun id heading".
func inTheTrash(t *testing.T, v *vault.Vault) (list []string) {
	t.Helper()
	page, err := v.Trash.List(t.Context(), vault.Query{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range page.Items {
		list = append(list, fmt.Sprintf("%s %d %s", item.Noun, item.ID, item.Heading))
	}
	return list
}

func wantTrash(t *testing.T, v *vault.Vault, want ...string) {
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
func missing(t *testing.T, v *vault.Vault, id uint64) {
	t.Helper()
	_, err := v.Files.Get(t.Context(), id)
	kind(t, fmt.Sprintf("read file %d", id), err, title.NotFound)
	_, _, err = v.Files.Open(t.Context(), id)
	kind(t, fmt.Sprintf("open file %d", id), err, title.NotFound)
	_, err = v.Files.Thumbnail(t.Context(), clerk, id)
	kind(t, fmt.Sprintf("picture of file %d", id), err, title.NotFound)
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
	done(t, v.Abstracts.Detach(t.Context(), clerk, 1, detached.ID))
	done(t, v.Files.Trash(t.Context(), clerk, alone.ID, vault.Match{}))
	before, err := v.Abstracts.Get(t.Context(), 1)
	if err != nil || len(before.Files) != 28 || before.Abstract.Version != 3 {
		t.Fatalf("%+v, %v", before, err)
	}
	kind(t, "stale", v.Abstracts.Trash(t.Context(), clerk, 1, versions(1)), title.Stale)
	done(t, v.Abstracts.Trash(t.Context(), clerk, 1, versions(3)))
	wantLogged(t, v, "abstract.trashed abstract:1", fmt.Sprintf("file.trashed file:%d", alone.ID), fmt.Sprintf("file.detached file:%d", detached.ID))
	wantTrash(t, v, "abstract 1 ", "file 4 03.pdf", "file 12 11.pdf")
	vaulttest.Verify(t, v)
	_, err = v.Abstracts.Get(t.Context(), 1)
	kind(t, "an abstract in the trash", err, title.NotFound)
	_, err = v.Abstracts.Patch(t.Context(), clerk, 1, title.AbstractPatch{}, vault.Match{})
	kind(t, "change it", err, title.NotFound)
	kind(t, "trash it again", v.Abstracts.Trash(t.Context(), clerk, 1, vault.Match{}), title.NotFound)
	tr := tray(t, v, pdf("x.pdf", "x"))
	_, err = v.Abstracts.Attach(t.Context(), clerk, 1, title.UploadDraft{}, tr, vault.Keep[vault.Filed]{})
	kind(t, "attach to it", err, title.NotFound)
	for _, f := range before.Files {
		missing(t, v, f.ID)
		_, err := v.Files.Restore(t.Context(), clerk, f.ID, vault.Keep[title.File]{})
		kind(t, "restore one of its documents", err, title.Conflict)
	}
	_, err = v.Files.Restore(t.Context(), clerk, detached.ID, vault.Keep[title.File]{})
	kind(t, "restore one detached before", err, title.Conflict)
	if s := status(t, v); s.Abstracts != 0 || s.Files != 0 {
		t.Errorf("%+v", s)
	}
	after, err := v.Abstracts.Restore(t.Context(), clerk, 1, vault.Keep[vault.Filed]{})
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
		done(t, v.Abstracts.Detach(t.Context(), clerk, 1, id))
	}
	restored := func(id uint64, want ...uint64) {
		t.Helper()
		before, err := v.Abstracts.Get(t.Context(), 1)
		done(t, err)
		back, err := v.Files.Restore(t.Context(), clerk, id, vault.Keep[title.File]{})
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
	done(t, v.Abstracts.Detach(t.Context(), clerk, 1, all[0]))
	done(t, v.Abstracts.Detach(t.Context(), clerk, 1, all[3]))
	done(t, v.Abstracts.Detach(t.Context(), clerk, 1, all[2]))
	restored(all[1], all[1]) // beyond the end of an empty list
	wantLogged(t, v, fmt.Sprintf("file.restored file:%d", all[1]))
	same, err := v.Files.Restore(t.Context(), clerk, all[1], vault.Keep[title.File]{})
	if err != nil || same.ID != all[1] {
		t.Errorf("restore what is live: %+v, %v", same, err)
	}
	wantLogged(t, v, fmt.Sprintf("file.restored file:%d", all[1]), fmt.Sprintf("file.detached file:%d", all[2]))
}

func numbersOf(f vault.Filed) []uint64 { return slices.Clone(f.Abstract.Files) }

// What a document was part of may be gone for good when it comes back: then it is
// part of nothing. Only a clock that went back lets an abstract go first.
func TestRestoreToWhatIsGone(t *testing.T) {
	t.Parallel()
	v, _ := opened(t, nil)
	file := create(t, v, pdf("1.pdf", "1")).Files[0]
	done(t, v.Abstracts.Detach(t.Context(), clerk, 1, file.ID))
	done(t, v.Store().Update(t.Context(), nil, func(tx *store.Tx) error { return tx.RemoveAbstract(1) }))
	vaulttest.Verify(t, v)
	back, err := v.Files.Restore(t.Context(), clerk, file.ID, vault.Keep[title.File]{})
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
	files, err := v.Files.List(t.Context(), vault.Query{Limit: 100, Where: []store.Where{{Column: store.ColumnAbstract, Value: "3"}}})
	if err != nil || len(files.Items) != 0 {
		t.Errorf("documents of an abstract in the trash: %v, %v", files.Items, err)
	}
}

// A damaged document hides neither its abstract nor the rest of the list.
func TestListWithADamagedDocument(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v, err := vault.Open(t.Context(), opts)
	done(t, err)
	create(t, v, pdf("a.pdf", "a"), pdf("b.pdf", "b"))
	create(t, v, pdf("c.pdf", "c"))
	closed(t, v)
	vaulttest.FlipBit(t, opts.Dir+"/vault.db", "files", 200, false)
	v, err = vault.Open(t.Context(), opts)
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
	loose := upload(t, v, pdf("3.pdf", "3"))[0]
	for _, row := range []struct {
		name           string
		abstract, file uint64
	}{
		{"another's", one.Abstract.ID, two.Files[0].ID},
		{"nobody's", one.Abstract.ID, loose.ID},
		{"no such file", one.Abstract.ID, 99},
		{"no such abstract", 99, one.Files[0].ID},
	} {
		kind(t, row.name, v.Abstracts.Detach(t.Context(), clerk, row.abstract, row.file), title.NotFound)
	}
	done(t, v.Abstracts.Detach(t.Context(), clerk, one.Abstract.ID, one.Files[0].ID))
	kind(t, "twice", v.Abstracts.Detach(t.Context(), clerk, one.Abstract.ID, one.Files[0].ID), title.NotFound)
}

func TestOrderTrashAndBack(t *testing.T) {
	t.Parallel()
	v, _ := opened(t, nil)
	ordered(t, v, "A-1")
	before, err := v.Orders.Get(t.Context(), 1)
	done(t, err)
	same, err := v.Orders.Restore(t.Context(), clerk, 1, vault.Keep[title.Order]{})
	if err != nil || !reflect.DeepEqual(same, before) {
		t.Errorf("restore what is live: %+v, %v", same, err)
	}
	kind(t, "stale", v.Orders.Trash(t.Context(), clerk, 1, versions(2)), title.Stale)
	done(t, v.Orders.Trash(t.Context(), clerk, 1, versions(1)))
	_, err = v.Orders.Get(t.Context(), 1)
	kind(t, "in the trash", err, title.NotFound)
	wantTrash(t, v, "order 1 A-1")
	page, err := v.Trash.List(t.Context(), vault.Query{Limit: 1, Where: []store.Where{{Column: store.ColumnKind, Value: "order"}}})
	if err != nil || len(page.Items) != 1 {
		t.Fatal(page, err)
	}
	if item := page.Items[0]; item.By.Name != clerk.Name || item.By.Record() != clerk.Record() || item.Until.Sub(item.At) != trashKeep {
		t.Errorf("%+v", item)
	}
	back, err := v.Orders.Restore(t.Context(), clerk, 1, vault.Keep[title.Order]{})
	if err != nil || !reflect.DeepEqual(back, before) {
		t.Errorf("%+v, %v", back, err)
	}
	wantTrash(t, v)
	_, err = v.Orders.Restore(t.Context(), clerk, 9, vault.Keep[title.Order]{})
	kind(t, "no such order", err, title.NotFound)
}

// What is in the trash is no longer due at exactly its time, purged or not.
func TestRestoreTooLate(t *testing.T) {
	t.Parallel()
	v, _, clock := timed(t)
	ordered(t, v, "A-1")
	done(t, v.Orders.Trash(t.Context(), clerk, 1, vault.Match{}))
	clock.Move(trashKeep - time.Microsecond)
	done(t, v.Purge(t.Context()))
	wantTrash(t, v, "order 1 A-1")
	clock.Move(time.Microsecond)
	_, err := v.Orders.Restore(t.Context(), clerk, 1, vault.Keep[title.Order]{})
	kind(t, "too late", err, title.NotFound)
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
	live := upload(t, v, pdf("copy of 1.pdf", "1"))[0]
	trashed := upload(t, v, pdf("copy of 2.pdf", "2"))[0]
	done(t, v.Abstracts.Trash(t.Context(), clerk, 1, vault.Match{}))
	clock.Move(time.Hour)
	done(t, v.Files.Trash(t.Context(), clerk, trashed.ID, vault.Match{}))
	vaulttest.Verify(t, v)
	clock.Move(trashKeep - time.Hour)
	done(t, v.Purge(t.Context()))
	vaulttest.Verify(t, v)
	wantTrash(t, v, fmt.Sprintf("file %d copy of 2.pdf", trashed.ID))
	wantLogged(t, v, "abstract.purged abstract:1", fmt.Sprintf("file.purged file:%d", gone.Files[2].ID))
	if e := logged(t, v, 1)[0]; e.Actor.Kind != "system" || e.Detail["files"] != "3" {
		t.Errorf("%+v", e)
	}
	for _, f := range gone.Files {
		missing(t, v, f.ID)
		_, err := v.Files.Restore(t.Context(), clerk, f.ID, vault.Keep[title.File]{})
		kind(t, "restore what was purged", err, title.NotFound)
	}
	bytesOf := func(f title.File) error {
		_, err := os.Stat(opts.Dir + "/blobs/" + f.Digest[:2] + "/" + f.Digest)
		return err
	}
	done(t, bytesOf(gone.Files[2])) // until the sweep
	done(t, v.Sweep(t.Context()))
	if err := bytesOf(gone.Files[2]); !os.IsNotExist(err) {
		t.Errorf("bytes that nobody has: %v", err)
	}
	done(t, bytesOf(live))
	done(t, bytesOf(trashed))
	vaulttest.Verify(t, v)
	clock.Move(time.Hour)
	done(t, v.Purge(t.Context()))
	done(t, v.Sweep(t.Context()))
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
	file := upload(t, v, pdf("1.pdf", "1"))[0]
	done(t, v.Files.Trash(t.Context(), clerk, file.ID, vault.Match{}))
	clock.Move(trashKeep)
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
	clock.Move(trashKeep)
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
	v, err := vault.Open(t.Context(), opts)
	done(t, err)
	for _, number := range []string{"A-1", "A-2"} {
		order := ordered(t, v, number)
		done(t, v.Orders.Trash(t.Context(), clerk, order.ID, vault.Match{}))
		clock.Move(time.Second)
	}
	closed(t, v)
	vaulttest.FlipBit(t, opts.Dir+"/vault.db", "orders", 200, false)
	v, err = vault.Open(t.Context(), opts)
	done(t, err)
	defer closed(t, v)
	wantTrash(t, v, "order 1 ", "order 2 A-2")
	clock.Move(trashKeep)
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
	v.Reserve(1 << 62)
	_, err := v.Orders.Patch(t.Context(), clerk, order.ID, title.OrderPatch{Number: sent("A-2")}, vault.Match{})
	kind(t, "a change", err, title.Full)
	done(t, v.Orders.Trash(t.Context(), clerk, order.ID, vault.Match{}))
	done(t, v.Abstracts.Detach(t.Context(), clerk, 1, filed.Files[0].ID))
	_, err = v.Files.Restore(t.Context(), clerk, filed.Files[0].ID, vault.Keep[title.File]{})
	done(t, err)
	done(t, v.Abstracts.Trash(t.Context(), clerk, 1, vault.Match{}))
	done(t, v.Folders.Remove(t.Context(), clerk, inbox.ID, vault.Match{}))
	clock.Move(trashKeep)
	done(t, v.Purge(t.Context()))
	wantTrash(t, v)
}

// A key that ended trashes, restores and changes nothing.
func TestChangesByAnEndedKey(t *testing.T) {
	t.Parallel()
	v, _ := opened(t, nil)
	create(t, v, pdf("1.pdf", "1"))
	ordered(t, v, "A-1")
	ordered(t, v, "A-2")
	done(t, v.Orders.Trash(t.Context(), clerk, 2, vault.Match{}))
	_, key, err := v.Keys.Create(t.Context(), clerk, title.KeyDraft{Name: "k"})
	done(t, err)
	_, err = v.Keys.Revoke(t.Context(), clerk, key.ID)
	done(t, err)
	by := title.Actor{Kind: title.ByKey, ID: key.ID}
	events := len(logged(t, v, 100))
	for name, verb := range map[string]func() error{
		"trash abstract": func() error { return v.Abstracts.Trash(t.Context(), by, 1, vault.Match{}) },
		"detach":         func() error { return v.Abstracts.Detach(t.Context(), by, 1, 1) },
		"trash file":     func() error { return v.Files.Trash(t.Context(), by, 1, vault.Match{}) },
		"trash order":    func() error { return v.Orders.Trash(t.Context(), by, 1, vault.Match{}) },
		"restore order":  func() error { _, err := v.Orders.Restore(t.Context(), by, 2, vault.Keep[title.Order]{}); return err },
		"patch order": func() error {
			_, err := v.Orders.Patch(t.Context(), by, 1, title.OrderPatch{Number: sent("x")}, vault.Match{})
			return err
		},
		"remove folder": func() error { return v.Folders.Remove(t.Context(), by, 1, vault.Match{}) },
	} {
		kind(t, name, verb(), title.Unauthenticated)
	}
	if n := len(logged(t, v, 100)); n != events {
		t.Errorf("%d events were written", n-events)
	}
}

// Documents are processed in the trash too: what comes back is as if it had stayed.
func TestProcessingInTheTrash(t *testing.T) {
	t.Parallel()
	f := &fakeReader{}
	v, _ := opened(t, faked(f))
	file := upload(t, v, pdf("1.pdf", "1"))[0]
	done(t, v.Files.Trash(t.Context(), clerk, file.ID, vault.Match{}))
	v.Start(1 << 40)
	idle(t, v)
	back, err := v.Files.Restore(t.Context(), clerk, file.ID, vault.Keep[title.File]{})
	if err != nil || back.Processing || back.Failure != "" || f.count(texts) != 1 {
		t.Errorf("%+v, %v, %d texts", back, err, f.count(texts))
	}
}

// A document is purged, and its bytes swept, while the reader has it in hand:
// nothing of it stays, and the queue goes on.
func TestPurgedWhileProcessed(t *testing.T) {
	t.Parallel()
	f := &fakeReader{}
	clock := vaulttest.NewClock()
	v, opts := opened(t, func(o *vault.Options) { faked(f)(o); o.Now = clock.Now })
	file := upload(t, v, pdf("1.pdf", "1"))[0]
	f.replies(onceDone(func() {
		done(t, v.Files.Trash(t.Context(), clerk, file.ID, vault.Match{}))
		clock.Move(trashKeep)
		done(t, v.Purge(t.Context()))
		done(t, v.Sweep(t.Context()))
	}))
	v.Start(1 << 40)
	idle(t, v)
	eventually(t, "the end of what was derived", func() bool { return len(previews(t, opts.Dir)) == 0 })
	upload(t, v, pdf("2.pdf", "2"))
	idle(t, v)
	nothing := len(under(t, opts.Dir, "blobs"))
	if nothing != 1 {
		t.Errorf("%d documents on the disk", nothing)
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
	many(t, v, create(t, v, pdf("1.pdf", "1")), 4999)
	const patience = 20 * time.Second // a hundred times what it takes
	began := time.Now()
	done(t, v.Abstracts.Trash(t.Context(), clerk, 1, vault.Match{}))
	gone := time.Since(began)
	back, err := v.Abstracts.Restore(t.Context(), clerk, 1, vault.Keep[vault.Filed]{})
	if err != nil || len(back.Files) != 5000 {
		t.Fatalf("%d files, %v", len(back.Files), err)
	}
	restored := time.Since(began)
	done(t, v.Abstracts.Trash(t.Context(), clerk, 1, vault.Match{}))
	clock.Move(trashKeep)
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
func many(t *testing.T, v *vault.Vault, filed vault.Filed, count int) {
	t.Helper()
	done(t, v.Store().Update(t.Context(), nil, func(tx *store.Tx) error {
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
			if err := tx.AddTask(title.Task{FileID: file.ID}); err != nil {
				return err
			}
			abstract.Files = append(abstract.Files, file.ID)
		}
		return tx.PutAbstract(abstract)
	}))
}

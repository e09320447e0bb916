package purge_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"deedkeep/app/backup"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vault/purge"
	"deedkeep/app/vaulttest"
)

// A manual purge immediately removes a record and its blobs. The audit log contains the record's name and the actor.
func TestPurgeManually(t *testing.T) {
	t.Parallel()
	v, opts, clock := vaulttest.OpenWithRetention(t)
	order, loose := vaulttest.CreateOrder(t, v, "A-1"),
		vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("loose.pdf", "loose"), vaulttest.PDFDoc("live.pdf", "both"),
			vaulttest.PDFDoc("dead.pdf", "both"))
	created := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"))
	for _, row := range []struct {
		kind string
		id   uint64
	}{{"order", order.ID}, {"file", loose[0].ID}, {"abstract", 1}, {"file", 99}, {"folder", 1}, {"", 0}} {
		t.Run(fmt.Sprintf("not in the trash: %s %d", row.kind, row.id), func(t *testing.T) {
			_, err := v.Purger.Purge(t.Context(), vaulttest.Operator, row.kind, row.id, "")
			vaulttest.WantKind(t, "Purger.Purge", err, errs.NotFound)
		})
	}
	vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, order.ID, vault.Match{}))
	vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, loose[0].ID, vault.Match{}))
	vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, loose[2].ID, vault.Match{}))
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))

	_, err := v.Purger.Purge(t.Context(), vaulttest.Operator, "file", created.Files[0].ID, "a reason")
	vaulttest.WantKind(t, "purge a document of an abstract in the trash", err, errs.NotFound)
	_, err = v.Purger.Purge(t.Context(), vaulttest.Operator, "abstract", 1, " ")
	vaulttest.WantKind(t, "purge during the retention period", err, errs.Conflict)
	if until := created.Abstract.CreatedAt.AddDate(20, 0, 0).Format("Jan 2, 2006"); !strings.Contains(err.Error(), until) {
		t.Errorf("got error %q, want one that contains %s", err, until)
	}
	for _, reason := range []string{"two\nlines", strings.Repeat("x", model.MaxLineLength+1), "\xff"} {
		_, err = v.Purger.Purge(t.Context(), vaulttest.Operator, "abstract", 1, reason)
		vaulttest.WantKind(t, fmt.Sprintf("purge with reason %.10q", reason), err, errs.Invalid)
	}
	vaulttest.WantTrash(t, v, "abstract 1 "+v.Heading(model.Abstract{ID: 1}, model.Template{}), "order 1 A-1", "file 1 loose.pdf",
		"file 3 dead.pdf")

	purgeRecord := func(kind string, id uint64, reason string, want purge.Result) {
		t.Helper()
		got, err := v.Purger.Purge(t.Context(), vaulttest.Operator, kind, id, reason)
		if err != nil || got != want {
			t.Errorf("purge %s %d: got %+v, %v, want %+v", kind, id, got, err, want)
		}
		_, err = v.Purger.Purge(t.Context(), vaulttest.Operator, kind, id, reason)
		vaulttest.WantKind(t, "purge a purged record", err, errs.NotFound)
		vaulttest.Verify(t, v)
	}
	size := func(i int) int64 { return created.Files[i].Size }
	purgeRecord("order", order.ID, "", purge.Result{Records: 1})
	purgeRecord("file", loose[0].ID, "", purge.Result{Records: 1, Files: 1, FreedBytes: loose[0].Size})
	purgeRecord("file", loose[2].ID, "", purge.Result{Records: 1, Files: 1}) // a live document has the same content
	purgeRecord("abstract", 1, "  court order 26-1 ", purge.Result{Records: 3, Files: 2, FreedBytes: size(0) + size(1)})
	if n := len(vaulttest.FilesUnder(t, opts.Dir, "blobs")); n != 1 {
		t.Errorf("blobs: got %d, want 1, of the live file", n)
	}
	vaulttest.WantTrash(t, v)
	vaulttest.WantLogged(t, v, "abstract.purged abstract:1", fmt.Sprintf("file.purged file:%d", created.Files[1].ID),
		fmt.Sprintf("file.purged file:%d", created.Files[0].ID),
		"retention.lifted abstract:1", "file.purged file:3", "file.purged file:1", "order.purged order:1")
	entries := vaulttest.AuditEntries(t, v, 7)
	for i, want := range []map[string]string{
		{"name": v.Heading(model.Abstract{ID: 1}, model.Template{}), "files": "2"}, {"name": "2.pdf", "abstract": "abstract:1"},
		{"name": "1.pdf"},
		{"reason": "court order 26-1", "until": "2046-05-29T04:00:00Z", "name": v.Heading(model.Abstract{ID: 1}, model.Template{})},
		{"name": "dead.pdf", "sha256": loose[2].Digest}, {"name": "loose.pdf"}, {"name": "A-1"},
	} {
		for name, text := range want {
			if entries[i].Detail[name] != text || entries[i].Actor.Record() != vaulttest.Operator.Record() {
				t.Errorf("%s: got %+v by %s, want %s %q by %s", entries[i].Kind, entries[i].Detail, entries[i].Actor.Record(), name, text,
					vaulttest.Operator.Record())
			}
		}
	}
	clock.Advance(vaulttest.TrashPeriod)
	if live := vaulttest.Content(t, v, loose[1].ID); len(live) == 0 {
		t.Error("content of the live document: got 0 bytes, want more")
	}
}

// Empty purges all records in the trash except those in their retention period, even if this takes several pages and
// transactions.
func TestEmptyTrash(t *testing.T) {
	t.Parallel()
	v, opts, _ := vaulttest.OpenWithRetention(t)
	if got, err := v.Purger.Empty(t.Context(), vaulttest.Operator); err != nil || got != (purge.Result{}) {
		t.Errorf("Purger.Empty of an empty trash: got %+v, %v, want nothing purged", got, err)
	}
	before := len(vaulttest.AuditEntries(t, v, 100))
	vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("kept.pdf", "kept"))
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	for i := range 300 {
		order := vaulttest.CreateOrder(t, v, fmt.Sprint(i))
		vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, order.ID, vault.Match{}))
	}
	f := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("gone.pdf", "gone"))[0]
	vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, f.ID, vault.Match{}))
	if due, retained, err := v.Purger.Purgeable(t.Context()); due != 301 || retained != 1 || err != nil {
		t.Errorf("Purger.Purgeable: got %d, %d retained, %v, want 301, 1 retained", due, retained, err)
	}
	got, err := v.Purger.Empty(t.Context(), vaulttest.Operator)
	if want := (purge.Result{Records: 301, Files: 1, Kept: 1, FreedBytes: f.Size}); err != nil || got != want {
		t.Errorf("Purger.Empty: got %+v, %v, want %+v", got, err, want)
	}
	vaulttest.WantTrash(t, v, "abstract 1 "+v.Heading(model.Abstract{ID: 1}, model.Template{}))
	vaulttest.WantLogged(t, v, "trash.emptied ", fmt.Sprintf("file.purged file:%d", f.ID), "order.purged order:300")
	if e := vaulttest.AuditEntries(t, v, 1)[0]; before != 1 || e.Detail["records"] != "301" || e.Detail["files"] != "1" ||
		e.Detail["kept"] != "1" {
		t.Errorf("got audit entry %+v, %d entries before, want 301 records, 1 file, 1 kept, 1 entry before", e, before)
	}
	if n := len(vaulttest.FilesUnder(t, opts.Dir, "blobs")); n != 1 {
		t.Errorf("blobs: got %d, want 1, of the retained document", n)
	}
	vaulttest.Verify(t, v)
}

// Only administrators and the operator can purge. The current role is checked, not the role when the page was
// rendered.
func TestPurgePermission(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	vaulttest.CreateOrder(t, p.Instance, "A-1")
	vaulttest.NoError(t, p.Orders.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	for _, role := range model.Roles() {
		p.CreateUser(t, string(role), role)
	}
	_, key, err := p.Keys.Create(t.Context(), vaulttest.Operator, model.KeyDraft{Name: "k"})
	vaulttest.NoError(t, err)
	for _, row := range []struct {
		name  string
		actor model.Actor
		want  errs.Kind
	}{
		{"viewer", p.Actor(t, "viewer"), errs.Forbidden},
		{"staff", p.Actor(t, "staff"), errs.Forbidden},
		{"key", model.Actor{Kind: model.ActorKey, ID: key.ID}, errs.Forbidden},
		{"ended session", model.Actor{Kind: model.ActorUser, ID: 1, Session: "00"}, errs.Unauthenticated},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := p.Purger.Purge(t.Context(), row.actor, "order", 1, "")
			vaulttest.WantKind(t, "Purger.Purge", err, row.want)
			_, err = p.Purger.Empty(t.Context(), row.actor)
			vaulttest.WantKind(t, "Purger.Empty", err, row.want)
		})
	}
	vaulttest.WantTrash(t, p.Instance, "order 1 A-1")
	if got, err := p.Purger.Purge(t.Context(), p.Actor(t, "admin"), "order", 1, ""); err != nil || got.Records != 1 {
		t.Errorf("Purger.Purge by an administrator: got %+v, %v, want 1 record", got, err)
	}
}

// A purge during a backup doesn't remove blobs that the backup may need. These blobs are swept automatically after the
// backup.
func TestPurgeDuringBackup(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"))[0]
	v.Start(1 << 40)
	vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, file.ID, vault.Match{}))
	purged := false
	_, err := v.Backups.Create(t.Context(), vaulttest.Operator, t.TempDir()+"/b", func(backup.Progress) {
		if purged {
			return
		}
		purged = true
		want := purge.Result{Records: 1, Files: 1, Deferred: true}
		if got, err := v.Purger.Purge(t.Context(), vaulttest.Operator, "file", file.ID, ""); err != nil || got != want {
			t.Errorf("Purger.Purge: got %+v, %v, want %+v", got, err, want)
		}
	})
	if err != nil || !purged {
		t.Fatalf("Backups.Create: got %v, purged %t, want a purge during the backup", err, purged)
	}
	vaulttest.Eventually(t, "the sweep after the backup", func() bool { return len(vaulttest.FilesUnder(t, opts.Dir, "blobs")) == 0 })
}

// A purge doesn't remove a blob that a concurrent upload needs.
func TestPurgeDuringUploadOfSameContent(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"))[0]
	vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, file.ID, vault.Match{}))
	staged := vaulttest.StageDocs(t, v, vaulttest.PDFDoc("again.pdf", "1"))
	if got, err := v.Purger.Purge(t.Context(), vaulttest.Operator, "file", file.ID, ""); err != nil || got.Records != 1 {
		t.Fatalf("Purger.Purge: got %+v, %v, want 1 record", got, err)
	}
	uploaded, err := v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{}, staged, vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.NoError(t, err)
	if string(vaulttest.Content(t, v, uploaded.Files[0].ID)) != string(vaulttest.PDF(1, "1")) {
		t.Error("content of the upload: got other bytes than were uploaded")
	}
}

// If the database was replaced with an older copy, a manual purge doesn't remove any blobs, because newer records may
// need them.
func TestPurgeInOlderDatabaseKeepsBlobs(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v, err := instance.Open(t.Context(), opts)
	vaulttest.NoError(t, err)
	v.Start(1 << 40)
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"))[0]
	vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, file.ID, vault.Match{}))
	vaulttest.Close(t, v)
	old, err := os.ReadFile(opts.Dir + "/vault.db")
	vaulttest.NoError(t, err)
	v, err = instance.Open(t.Context(), opts)
	vaulttest.NoError(t, err)
	v.Start(1 << 40)
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("2.pdf", "2"))
	vaulttest.Close(t, v)
	vaulttest.NoError(t, os.WriteFile(opts.Dir+"/vault.db", old, 0o600))
	v, err = instance.Open(t.Context(), opts)
	vaulttest.NoError(t, err)
	defer vaulttest.Close(t, v)
	want := purge.Result{Records: 1, Files: 1, Deferred: true}
	if got, err := v.Purger.Purge(t.Context(), vaulttest.Operator, "file", file.ID, ""); err != nil || got != want {
		t.Errorf("Purger.Purge: got %+v, %v, want %+v", got, err, want)
	}
	if n := len(vaulttest.FilesUnder(t, opts.Dir, "blobs")); n != 2 {
		t.Errorf("blobs: got %d, want 2", n)
	}
}

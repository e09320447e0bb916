package vault_test

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
	"deedkeep/app/vaulttest"
)

// By hand one record goes at once, and its bytes with it; the log names it and who did it.
func TestPurgeByHand(t *testing.T) {
	t.Parallel()
	v, opts, clock := retaining(t)
	order, loose := vaulttest.CreateOrder(t, v, "A-1"), vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("loose.pdf", "loose"), vaulttest.PDFDoc("live.pdf", "both"), vaulttest.PDFDoc("dead.pdf", "both"))
	filed := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"))
	for _, row := range []struct {
		noun string
		id   uint64
	}{{"order", order.ID}, {"file", loose[0].ID}, {"abstract", 1}, {"file", 99}, {"folder", 1}, {"", 0}} {
		_, err := v.Trash.Purge(t.Context(), vaulttest.Operator, row.noun, row.id, "")
		vaulttest.WantKind(t, "what is not in the trash: "+row.noun, err, errs.NotFound)
	}
	vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, order.ID, vault.Match{}))
	vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, loose[0].ID, vault.Match{}))
	vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, loose[2].ID, vault.Match{}))
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))

	_, err := v.Trash.Purge(t.Context(), vaulttest.Operator, "file", filed.Files[0].ID, "a reason")
	vaulttest.WantKind(t, "a document that went along with its abstract", err, errs.NotFound)
	_, err = v.Trash.Purge(t.Context(), vaulttest.Operator, "abstract", 1, " ")
	vaulttest.WantKind(t, "under the retention", err, errs.Conflict)
	if until := filed.Abstract.CreatedAt.AddDate(20, 0, 0).Format("Jan 2, 2006"); !strings.Contains(err.Error(), until) {
		t.Errorf("%q does not say %s", err, until)
	}
	for _, reason := range []string{"two\nlines", strings.Repeat("x", model.MaxLineLength+1), "\xff"} {
		_, err = v.Trash.Purge(t.Context(), vaulttest.Operator, "abstract", 1, reason)
		vaulttest.WantKind(t, fmt.Sprintf("reason %.10q", reason), err, errs.Invalid)
	}
	vaulttest.WantTrash(t, v, "abstract 1 "+v.Heading(model.Abstract{ID: 1}, model.Template{}), "order 1 A-1", "file 1 loose.pdf", "file 3 dead.pdf")

	purge := func(noun string, id uint64, reason string, want vault.Purged) {
		t.Helper()
		gone, err := v.Trash.Purge(t.Context(), vaulttest.Operator, noun, id, reason)
		if err != nil || gone != want {
			t.Errorf("purge %s %d: %+v, %v, want %+v", noun, id, gone, err, want)
		}
		_, err = v.Trash.Purge(t.Context(), vaulttest.Operator, noun, id, reason)
		vaulttest.WantKind(t, "twice", err, errs.NotFound)
		vaulttest.Verify(t, v)
	}
	size := func(i int) int64 { return filed.Files[i].Size }
	purge("order", order.ID, "", vault.Purged{Records: 1})
	purge("file", loose[0].ID, "", vault.Purged{Records: 1, Files: 1, FreedBytes: loose[0].Size})
	purge("file", loose[2].ID, "", vault.Purged{Records: 1, Files: 1}) // its bytes are another's too
	purge("abstract", 1, "  court order 26-1 ", vault.Purged{Records: 3, Files: 2, FreedBytes: size(0) + size(1)})
	if n := len(vaulttest.FilesUnder(t, opts.Dir, "blobs")); n != 1 {
		t.Errorf("%d documents on the disk, want the live one", n)
	}
	vaulttest.WantTrash(t, v)
	wantLogged(t, v, "abstract.purged abstract:1", fmt.Sprintf("file.purged file:%d", filed.Files[1].ID), fmt.Sprintf("file.purged file:%d", filed.Files[0].ID),
		"retention.lifted abstract:1", "file.purged file:3", "file.purged file:1", "order.purged order:1")
	log := vaulttest.AuditEntries(t, v, 7)
	for i, want := range []map[string]string{
		{"name": v.Heading(model.Abstract{ID: 1}, model.Template{}), "files": "2"}, {"name": "2.pdf", "abstract": "abstract:1"}, {"name": "1.pdf"},
		{"reason": "court order 26-1", "until": "2046-05-29T04:00:00Z", "name": v.Heading(model.Abstract{ID: 1}, model.Template{})},
		{"name": "dead.pdf", "sha256": loose[2].Digest}, {"name": "loose.pdf"}, {"name": "A-1"},
	} {
		for name, text := range want {
			if log[i].Detail[name] != text || log[i].Actor.Record() != vaulttest.Operator.Record() {
				t.Errorf("%s: %+v by %s, want %s %q", log[i].Kind, log[i].Detail, log[i].Actor.Record(), name, text)
			}
		}
	}
	clock.Advance(vaulttest.TrashKeep)
	if live := vaulttest.Content(t, v, loose[1].ID); len(live) == 0 {
		t.Error("the live document is empty")
	}
}

// Empty takes all but what the retention keeps, also more than one look and one commit.
func TestEmptyTheTrash(t *testing.T) {
	t.Parallel()
	v, opts, _ := retaining(t)
	if gone, err := v.Trash.Empty(t.Context(), vaulttest.Operator); err != nil || gone != (vault.Purged{}) {
		t.Errorf("an empty trash: %+v, %v", gone, err)
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
	if due, kept, err := v.Trash.Purgeable(t.Context()); due != 301 || kept != 1 || err != nil {
		t.Errorf("%d may go, %d stay, %v", due, kept, err)
	}
	gone, err := v.Trash.Empty(t.Context(), vaulttest.Operator)
	if want := (vault.Purged{Records: 301, Files: 1, Kept: 1, FreedBytes: f.Size}); err != nil || gone != want {
		t.Errorf("%+v, %v, want %+v", gone, err, want)
	}
	vaulttest.WantTrash(t, v, "abstract 1 "+v.Heading(model.Abstract{ID: 1}, model.Template{}))
	wantLogged(t, v, "trash.emptied ", fmt.Sprintf("file.purged file:%d", f.ID), "order.purged order:300")
	if e := vaulttest.AuditEntries(t, v, 1)[0]; before != 1 || e.Detail["records"] != "301" || e.Detail["files"] != "1" || e.Detail["kept"] != "1" {
		t.Errorf("%+v, and %d entries before", e, before)
	}
	if n := len(vaulttest.FilesUnder(t, opts.Dir, "blobs")); n != 1 {
		t.Errorf("%d documents on the disk, want the one that is kept", n)
	}
	vaulttest.Verify(t, v)
}

// Only administrators and the operator purge, whatever they were when the page was shown.
func TestWhoMayPurge(t *testing.T) {
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
		{"a viewer", p.Actor(t, "viewer"), errs.Forbidden}, {"staff", p.Actor(t, "staff"), errs.Forbidden},
		{"a key", model.Actor{Kind: model.ActorKey, ID: key.ID}, errs.Forbidden}, {"a session that ended", model.Actor{Kind: model.ActorUser, ID: 1, Session: "00"}, errs.Unauthenticated},
	} {
		_, err := p.Trash.Purge(t.Context(), row.actor, "order", 1, "")
		vaulttest.WantKind(t, row.name+" purges", err, row.want)
		_, err = p.Trash.Empty(t.Context(), row.actor)
		vaulttest.WantKind(t, row.name+" empties", err, row.want)
	}
	vaulttest.WantTrash(t, p.Instance, "order 1 A-1")
	if gone, err := p.Trash.Purge(t.Context(), p.Actor(t, "admin"), "order", 1, ""); err != nil || gone.Records != 1 {
		t.Errorf("an administrator: %+v, %v", gone, err)
	}
}

// Bytes that a backup under way may need stay until it ends; then they go without being
// asked for. So do bytes that an upload brings at the same time.
func TestPurgeDuringABackup(t *testing.T) {
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
		if gone, err := v.Trash.Purge(t.Context(), vaulttest.Operator, "file", file.ID, ""); err != nil || gone != (vault.Purged{Records: 1, Files: 1, Deferred: true}) {
			t.Errorf("%+v, %v", gone, err)
		}
	})
	if err != nil || !purged {
		t.Fatalf("purged: %v, %v", purged, err)
	}
	vaulttest.Eventually(t, "the sweep after the backup", func() bool { return len(vaulttest.FilesUnder(t, opts.Dir, "blobs")) == 0 })
}

func TestPurgeDuringAnUploadOfTheSameBytes(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"))[0]
	vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, file.ID, vault.Match{}))
	arriving := vaulttest.StageDocs(t, v, vaulttest.PDFDoc("again.pdf", "1"))
	if gone, err := v.Trash.Purge(t.Context(), vaulttest.Operator, "file", file.ID, ""); err != nil || gone.Records != 1 {
		t.Fatalf("%+v, %v", gone, err)
	}
	filed, err := v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{}, arriving, vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.NoError(t, err)
	if string(vaulttest.Content(t, v, filed.Files[0].ID)) != string(vaulttest.PDF(1, "1")) {
		t.Error("the document differs")
	}
}

// By the word of an older database that was put back nothing is swept, also not by hand.
func TestPurgeInAnOlderDatabaseSweepsNothing(t *testing.T) {
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
	if gone, err := v.Trash.Purge(t.Context(), vaulttest.Operator, "file", file.ID, ""); err != nil || gone != (vault.Purged{Records: 1, Files: 1, Deferred: true}) {
		t.Errorf("%+v, %v", gone, err)
	}
	if n := len(vaulttest.FilesUnder(t, opts.Dir, "blobs")); n != 2 {
		t.Errorf("%d documents on the disk, want both", n)
	}
}

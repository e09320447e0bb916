package instance_test

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
	order, loose := ordered(t, v, "A-1"), uploadDocs(t, v, pdf("loose.pdf", "loose"), pdf("live.pdf", "both"), pdf("dead.pdf", "both"))
	filed := create(t, v, pdf("1.pdf", "1"), pdf("2.pdf", "2"))
	for _, row := range []struct {
		noun string
		id   uint64
	}{{"order", order.ID}, {"file", loose[0].ID}, {"abstract", 1}, {"file", 99}, {"folder", 1}, {"", 0}} {
		_, err := v.Trash.Purge(t.Context(), clerk, row.noun, row.id, "")
		kind(t, "what is not in the trash: "+row.noun, err, errs.NotFound)
	}
	done(t, v.Orders.Trash(t.Context(), clerk, order.ID, vault.Match{}))
	done(t, v.Files.Trash(t.Context(), clerk, loose[0].ID, vault.Match{}))
	done(t, v.Files.Trash(t.Context(), clerk, loose[2].ID, vault.Match{}))
	done(t, v.Abstracts.Trash(t.Context(), clerk, 1, vault.Match{}))

	_, err := v.Trash.Purge(t.Context(), clerk, "file", filed.Files[0].ID, "a reason")
	kind(t, "a document that went along with its abstract", err, errs.NotFound)
	_, err = v.Trash.Purge(t.Context(), clerk, "abstract", 1, " ")
	kind(t, "under the retention", err, errs.Conflict)
	if until := filed.Abstract.CreatedAt.AddDate(20, 0, 0).Format("Jan 2, 2006"); !strings.Contains(err.Error(), until) {
		t.Errorf("%q does not say %s", err, until)
	}
	for _, reason := range []string{"two\nlines", strings.Repeat("x", model.MaxLineLength+1), "\xff"} {
		_, err = v.Trash.Purge(t.Context(), clerk, "abstract", 1, reason)
		kind(t, fmt.Sprintf("reason %.10q", reason), err, errs.Invalid)
	}
	wantTrash(t, v, "abstract 1 "+v.Heading(model.Abstract{ID: 1}, model.Template{}), "order 1 A-1", "file 1 loose.pdf", "file 3 dead.pdf")

	purge := func(noun string, id uint64, reason string, want vault.Purged) {
		t.Helper()
		gone, err := v.Trash.Purge(t.Context(), clerk, noun, id, reason)
		if err != nil || gone != want {
			t.Errorf("purge %s %d: %+v, %v, want %+v", noun, id, gone, err, want)
		}
		_, err = v.Trash.Purge(t.Context(), clerk, noun, id, reason)
		kind(t, "twice", err, errs.NotFound)
		vaulttest.Verify(t, v)
	}
	size := func(i int) int64 { return filed.Files[i].Size }
	purge("order", order.ID, "", vault.Purged{Records: 1})
	purge("file", loose[0].ID, "", vault.Purged{Records: 1, Files: 1, FreedBytes: loose[0].Size})
	purge("file", loose[2].ID, "", vault.Purged{Records: 1, Files: 1}) // its bytes are another's too
	purge("abstract", 1, "  court order 26-1 ", vault.Purged{Records: 3, Files: 2, FreedBytes: size(0) + size(1)})
	if n := len(under(t, opts.Dir, "blobs")); n != 1 {
		t.Errorf("%d documents on the disk, want the live one", n)
	}
	wantTrash(t, v)
	wantLogged(t, v, "abstract.purged abstract:1", fmt.Sprintf("file.purged file:%d", filed.Files[1].ID), fmt.Sprintf("file.purged file:%d", filed.Files[0].ID),
		"retention.lifted abstract:1", "file.purged file:3", "file.purged file:1", "order.purged order:1")
	log := logged(t, v, 7)
	for i, want := range []map[string]string{
		{"name": v.Heading(model.Abstract{ID: 1}, model.Template{}), "files": "2"}, {"name": "2.pdf", "abstract": "abstract:1"}, {"name": "1.pdf"},
		{"reason": "court order 26-1", "until": "2046-05-29T04:00:00Z", "name": v.Heading(model.Abstract{ID: 1}, model.Template{})},
		{"name": "dead.pdf", "sha256": loose[2].Digest}, {"name": "loose.pdf"}, {"name": "A-1"},
	} {
		for name, text := range want {
			if log[i].Detail[name] != text || log[i].Actor.Record() != clerk.Record() {
				t.Errorf("%s: %+v by %s, want %s %q", log[i].Kind, log[i].Detail, log[i].Actor.Record(), name, text)
			}
		}
	}
	clock.Advance(trashKeep)
	if live := content(t, v, loose[1].ID); len(live) == 0 {
		t.Error("the live document is empty")
	}
}

// Empty takes all but what the retention keeps, also more than one look and one commit.
func TestEmptyTheTrash(t *testing.T) {
	t.Parallel()
	v, opts, _ := retaining(t)
	if gone, err := v.Trash.Empty(t.Context(), clerk); err != nil || gone != (vault.Purged{}) {
		t.Errorf("an empty trash: %+v, %v", gone, err)
	}
	before := len(logged(t, v, 100))
	create(t, v, pdf("kept.pdf", "kept"))
	done(t, v.Abstracts.Trash(t.Context(), clerk, 1, vault.Match{}))
	for i := range 300 {
		order := ordered(t, v, fmt.Sprint(i))
		done(t, v.Orders.Trash(t.Context(), clerk, order.ID, vault.Match{}))
	}
	f := uploadDocs(t, v, pdf("gone.pdf", "gone"))[0]
	done(t, v.Files.Trash(t.Context(), clerk, f.ID, vault.Match{}))
	if due, kept, err := v.Trash.Purgeable(t.Context()); due != 301 || kept != 1 || err != nil {
		t.Errorf("%d may go, %d stay, %v", due, kept, err)
	}
	gone, err := v.Trash.Empty(t.Context(), clerk)
	if want := (vault.Purged{Records: 301, Files: 1, Kept: 1, FreedBytes: f.Size}); err != nil || gone != want {
		t.Errorf("%+v, %v, want %+v", gone, err, want)
	}
	wantTrash(t, v, "abstract 1 "+v.Heading(model.Abstract{ID: 1}, model.Template{}))
	wantLogged(t, v, "trash.emptied ", fmt.Sprintf("file.purged file:%d", f.ID), "order.purged order:300")
	if e := logged(t, v, 1)[0]; before != 1 || e.Detail["records"] != "301" || e.Detail["files"] != "1" || e.Detail["kept"] != "1" {
		t.Errorf("%+v, and %d entries before", e, before)
	}
	if n := len(under(t, opts.Dir, "blobs")); n != 1 {
		t.Errorf("%d documents on the disk, want the one that is kept", n)
	}
	vaulttest.Verify(t, v)
}

// Only administrators and the operator purge, whatever they were when the page was shown.
func TestWhoMayPurge(t *testing.T) {
	t.Parallel()
	p := peopled(t, nil)
	ordered(t, p.Instance, "A-1")
	done(t, p.Orders.Trash(t.Context(), clerk, 1, vault.Match{}))
	for _, role := range model.Roles() {
		p.user(t, string(role), role)
	}
	_, key, err := p.Keys.Create(t.Context(), clerk, model.KeyDraft{Name: "k"})
	done(t, err)
	for _, row := range []struct {
		name  string
		actor model.Actor
		want  errs.Kind
	}{
		{"a viewer", p.actor(t, "viewer"), errs.Forbidden}, {"staff", p.actor(t, "staff"), errs.Forbidden},
		{"a key", model.Actor{Kind: model.ActorKey, ID: key.ID}, errs.Forbidden}, {"a session that ended", model.Actor{Kind: model.ActorUser, ID: 1, Session: "00"}, errs.Unauthenticated},
	} {
		_, err := p.Trash.Purge(t.Context(), row.actor, "order", 1, "")
		kind(t, row.name+" purges", err, row.want)
		_, err = p.Trash.Empty(t.Context(), row.actor)
		kind(t, row.name+" empties", err, row.want)
	}
	wantTrash(t, p.Instance, "order 1 A-1")
	if gone, err := p.Trash.Purge(t.Context(), p.actor(t, "admin"), "order", 1, ""); err != nil || gone.Records != 1 {
		t.Errorf("an administrator: %+v, %v", gone, err)
	}
}

// Bytes that a backup under way may need stay until it ends; then they go without being
// asked for. So do bytes that an upload brings at the same time.
func TestPurgeDuringABackup(t *testing.T) {
	t.Parallel()
	v, opts := opened(t, nil)
	file := uploadDocs(t, v, pdf("1.pdf", "1"))[0]
	v.Start(1 << 40)
	done(t, v.Files.Trash(t.Context(), clerk, file.ID, vault.Match{}))
	purged := false
	_, err := v.Backups.Create(t.Context(), clerk, t.TempDir()+"/b", func(backup.Progress) {
		if purged {
			return
		}
		purged = true
		if gone, err := v.Trash.Purge(t.Context(), clerk, "file", file.ID, ""); err != nil || gone != (vault.Purged{Records: 1, Files: 1, Deferred: true}) {
			t.Errorf("%+v, %v", gone, err)
		}
	})
	if err != nil || !purged {
		t.Fatalf("purged: %v, %v", purged, err)
	}
	eventually(t, "the sweep after the backup", func() bool { return len(under(t, opts.Dir, "blobs")) == 0 })
}

func TestPurgeDuringAnUploadOfTheSameBytes(t *testing.T) {
	t.Parallel()
	v, _ := opened(t, nil)
	file := uploadDocs(t, v, pdf("1.pdf", "1"))[0]
	done(t, v.Files.Trash(t.Context(), clerk, file.ID, vault.Match{}))
	arriving := tray(t, v, pdf("again.pdf", "1"))
	if gone, err := v.Trash.Purge(t.Context(), clerk, "file", file.ID, ""); err != nil || gone.Records != 1 {
		t.Fatalf("%+v, %v", gone, err)
	}
	filed, err := v.Files.Upload(t.Context(), clerk, model.UploadDraft{}, arriving, vault.Idempotency[vault.AbstractWithFiles]{})
	done(t, err)
	if string(content(t, v, filed.Files[0].ID)) != string(vaulttest.PDF(1, "1")) {
		t.Error("the document differs")
	}
}

// By the word of an older database that was put back nothing is swept, also not by hand.
func TestPurgeInAnOlderDatabaseSweepsNothing(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v, err := instance.Open(t.Context(), opts)
	done(t, err)
	v.Start(1 << 40)
	file := uploadDocs(t, v, pdf("1.pdf", "1"))[0]
	done(t, v.Files.Trash(t.Context(), clerk, file.ID, vault.Match{}))
	closed(t, v)
	old, err := os.ReadFile(opts.Dir + "/vault.db")
	done(t, err)
	v, err = instance.Open(t.Context(), opts)
	done(t, err)
	v.Start(1 << 40)
	uploadDocs(t, v, pdf("2.pdf", "2"))
	closed(t, v)
	done(t, os.WriteFile(opts.Dir+"/vault.db", old, 0o600))
	v, err = instance.Open(t.Context(), opts)
	done(t, err)
	defer closed(t, v)
	if gone, err := v.Trash.Purge(t.Context(), clerk, "file", file.ID, ""); err != nil || gone != (vault.Purged{Records: 1, Files: 1, Deferred: true}) {
		t.Errorf("%+v, %v", gone, err)
	}
	if n := len(under(t, opts.Dir, "blobs")); n != 2 {
		t.Errorf("%d documents on the disk, want both", n)
	}
}

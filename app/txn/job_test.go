package txn_test

import (
	"path/filepath"
	"testing"
	"time"

	"deedkeep/app/backup"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

// A backup behind the page goes on without who asked for it, and one at a time.
func TestBeginBackup(t *testing.T) {
	opts := vaulttest.Options(t)
	opts.Settings.Backup = backup.Settings{To: filepath.Join(t.TempDir(), "nas")}
	clock := vaulttest.NewClock()
	opts.Now = clock.Now
	v := vaulttest.Open(t, opts)
	held, release := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	docs := vaulttest.StageDocs(t, v, vaulttest.PDFDoc("a.pdf", "a"))
	if _, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{}, docs, vault.Idempotency[vault.AbstractWithFiles]{}); err != nil {
		t.Fatal(err)
	}
	go func() {
		first := true
		_, err := v.Backups.Create(t.Context(), vaulttest.Operator, "", func(backup.Progress) {
			if first {
				first = false
				close(held)
				<-release
			}
		})
		done <- err
	}()
	<-held
	if err := v.Backups.StartCreate(t.Context(), vaulttest.Operator); errs.KindOf(err) != errs.Locked {
		t.Errorf("a second one: %v", err)
	}
	if at := v.Backups.Progress(); !at.Running || at.By.Kind != "operator" {
		t.Errorf("%+v", at)
	}
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Minute)
	if err := v.Backups.StartCreate(t.Context(), vaulttest.Operator); err != nil {
		t.Fatal(err)
	}
	until(t, "the backup does not end", func() bool { return !v.Backups.Progress().Running })
	if at := v.Backups.Progress(); at.Err != nil || at.Result.Snapshot == "" || at.Ended.IsZero() {
		t.Errorf("%+v", at)
	}
	place, err := v.Backups.Destination(t.Context(), vaulttest.Operator, 1)
	if err != nil || len(place.Snapshots) != 1 || place.More != 1 || place.Encrypted || place.Snapshots[0].Problem != "" {
		t.Errorf("%+v, %v", place, err)
	}
	if err := v.Backups.StartVerify(t.Context(), vaulttest.Operator, "20000101T000000Z"); errs.KindOf(err) != errs.NotFound {
		t.Errorf("a snapshot that is not there: %v", err)
	}
	if err := v.Backups.StartVerify(t.Context(), vaulttest.Operator, ""); err != nil {
		t.Fatal(err)
	}
	until(t, "the verification does not end", func() bool { return !v.Backups.VerifyProgress().Running })
	if at := v.Backups.VerifyProgress(); at.Err != nil || at.Result.Snapshots != 2 || len(at.Result.Findings) != 0 {
		t.Errorf("%+v", at)
	}
}

// Keys and staff begin nothing, and a vault that closes waits for what goes on.
func TestBeginRights(t *testing.T) {
	opts := vaulttest.Options(t)
	opts.Settings.Backup = backup.Settings{To: filepath.Join(t.TempDir(), "nas")}
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	key := model.Actor{Kind: model.ActorKey, ID: 1}
	for name, err := range map[string]error{
		"backup": v.Backups.StartCreate(t.Context(), key), "backups": v.Backups.StartVerify(t.Context(), key, ""), "log": v.Events.StartVerify(t.Context(), key),
	} {
		if err == nil {
			t.Errorf("%s: a key may", name)
		}
	}
	if err := v.Events.StartVerify(t.Context(), vaulttest.Operator); err != nil {
		t.Fatal(err)
	}
	if err := v.Backups.StartCreate(t.Context(), vaulttest.Operator); err != nil {
		t.Fatal(err)
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	if v.Backups.Progress().Running || v.Events.VerifyProgress().Running {
		t.Error("it goes on after the vault has closed")
	}
	if err := v.Events.StartVerify(t.Context(), vaulttest.Operator); err == nil {
		t.Error("a vault that is closed begins")
	}
}

// One that was seen is changed; another state of it is not.
func TestTemplateEdit(t *testing.T) {
	v := vaulttest.Open(t, vaulttest.Options(t))
	seen, err := v.Templates.Get(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	edit := func(name, mark string, dry bool) error {
		_, err := v.Templates.Edit(t.Context(), vaulttest.Operator, model.TemplateDraft{ID: 1, Name: name}, mark, dry)
		return err
	}
	for _, c := range []struct {
		name, mark string
		dry        bool
		kind       errs.Kind
	}{{"Tried", seen.Fingerprint(), true, -1}, {"First", seen.Fingerprint(), false, -1}, {"Second", seen.Fingerprint(), false, errs.PreconditionFailed}, {"Second", "", false, errs.PreconditionFailed}} {
		if err := edit(c.name, c.mark, c.dry); c.kind == -1 && err != nil || c.kind != -1 && errs.KindOf(err) != c.kind {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if now, _ := v.Templates.Get(t.Context(), 1); now.Name != "First" {
		t.Errorf("%+v", now)
	}
	if _, err := v.Templates.Edit(t.Context(), vaulttest.Operator, model.TemplateDraft{ID: 77, Name: "x"}, "", false); errs.KindOf(err) != errs.NotFound {
		t.Errorf("one that is not there: %v", err)
	}
	if _, err := v.Templates.Create(t.Context(), vaulttest.Operator, model.TemplateDraft{Name: "first"}); errs.KindOf(err) != errs.Invalid {
		t.Errorf("a name that is taken: %v", err)
	}
	if n, err := v.Templates.CountAbstracts(t.Context(), 1); n != 0 || err != nil {
		t.Error(n, err)
	}
	fields, _ := v.Orders.Fields(t.Context())
	if _, err := v.Orders.EditFields(t.Context(), vaulttest.Operator, fields[:1], "0000", false); errs.KindOf(err) != errs.PreconditionFailed {
		t.Error(err)
	}
	if _, err := v.Orders.EditStatuses(t.Context(), vaulttest.Operator, []string{"x"}, "0000", false); errs.KindOf(err) != errs.PreconditionFailed {
		t.Error(err)
	}
}

package instance_test

import (
	"path/filepath"
	"strings"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// Only a new vault becomes that of an example firm. Otherwise, nothing changes, not even the audit log.
func TestMarkExampleOnlyInNewVault(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(t *testing.T, v *instance.Instance)
		want   string // in the error; "" if it is marked
	}{
		"new": {func(*testing.T, *instance.Instance) {}, ""},
		"first administrator": {func(t *testing.T, v *instance.Instance) {
			_, _, err := v.Users.Create(t.Context(), vaulttest.Operator, model.UserDraft{Name: "owner", Role: model.RoleAdmin})
			vaulttest.NoError(t, err)
		}, ""},
		"order": {func(t *testing.T, v *instance.Instance) { vaulttest.CreateOrder(t, v, "1") },
			"1 orders, 0 abstracts, and 0 documents, and 0"},
		"document": {func(t *testing.T, v *instance.Instance) { vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1")) },
			"1 documents"},
		"trash": {func(t *testing.T, v *instance.Instance) {
			order := vaulttest.CreateOrder(t, v, "1")
			vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, order.ID, vault.Match{}))
		}, "1 in the trash"},
		"folder": {func(t *testing.T, v *instance.Instance) { vaulttest.CreateFolder(t, v, "Box 9", 0) }, "were changed"},
		"statuses": {func(t *testing.T, v *instance.Instance) {
			_, err := v.Orders.EditStatuses(t.Context(), vaulttest.Operator, []string{"New"}, "", false)
			vaulttest.NoError(t, err)
		}, "were changed"},
		"user with the name": {func(t *testing.T, v *instance.Instance) {
			_, _, err := v.Users.Create(t.Context(), vaulttest.Operator, model.UserDraft{Name: "Maya", Role: model.RoleAdmin})
			vaulttest.NoError(t, err)
		}, "already a user maya"},
		"marked": {func(t *testing.T, v *instance.Instance) {
			vaulttest.NoError(t, v.MarkExample(t.Context(), vaulttest.Operator))
		}, "already has the example firm"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, _ := vaulttest.OpenVerified(t, nil)
			row.change(t, v)
			marked, last := v.IsExample(), vaulttest.AuditEntries(t, v, 1)[0].Seq
			err := v.MarkExample(t.Context(), vaulttest.Operator, "maya")
			if row.want == "" {
				if err != nil || !v.IsExample() || vaulttest.AuditEntries(t, v, 1)[0].Kind != "vault.marked_example" {
					t.Errorf("MarkExample: got %v, IsExample %t, want the mark with an audit entry", err, v.IsExample())
				}
				return
			}
			if errs.KindOf(err) != errs.Conflict || !strings.Contains(err.Error(), row.want) {
				t.Errorf("MarkExample: got %v, want a conflict with %q", err, row.want)
			}
			if now := vaulttest.AuditEntries(t, v, 1)[0].Seq; v.IsExample() != marked || now != last {
				t.Errorf("after it: IsExample %t and %d audit entries, want %t and %d", v.IsExample(), now, marked, last)
			}
		})
	}
}

// The mark is kept by a restart and by a backup.
func TestExampleMarkIsKept(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v := vaulttest.OpenUnchecked(t, opts)
	vaulttest.NoError(t, v.MarkExample(t.Context(), vaulttest.Operator))
	to := filepath.Join(t.TempDir(), "backup")
	vaulttest.CreateBackup(t, v, to)
	vaulttest.Close(t, v)
	if v = vaulttest.Open(t, opts); !v.IsExample() {
		t.Error("IsExample after a restart = false, want true")
	}
	restore := vaulttest.RestoreOptions(t, to)
	if _, err := instance.Restore(t.Context(), restore); err != nil {
		t.Fatalf("restore: %v", err)
	}
	if !vaulttest.Open(t, restore.Vault).IsExample() {
		t.Error("IsExample after a restore = false, want true")
	}
}

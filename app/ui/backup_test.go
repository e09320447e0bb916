package ui_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deedkeep/app/backup"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

func newServerWithBackup(t *testing.T) (h *testServer, to string) {
	t.Helper()
	to = filepath.Join(t.TempDir(), "nas <1>")
	h = newEmptyTestServer(t, func(opts *instance.Options) {
		opts.Settings.Backup = backup.Settings{To: to, Every: 24 * time.Hour}
	})
	return h, to
}

// waitUntilStopped waits until the background task has finished.
func waitUntilStopped(t *testing.T, running func() bool) {
	t.Helper()
	for until := time.Now().Add(20 * time.Second); running(); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the background work doesn't stop")
		}
	}
}

func TestBackupsWithoutDirectory(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	admin := h.newUser(t, "ada", model.RoleAdmin)
	admin.get(t, 200, "/admin/backups", "No backup directory", "Add this to <code>/etc/deedkeep/own.yaml</code>",
		"DEEDKEEP_BACKUP_TO", "deedkeep restore latest --from /mnt/nas/deedkeep").lacks(t, "Back up now")
	admin.post(t, 409, "/admin/backups", nil).has(t, "No backup directory is set")
	admin.post(t, 409, "/admin/backups/verify", nil).has(t, "No backup directory is set")
	admin.get(t, 404, "/admin/backups/other")
}

func TestBackups(t *testing.T) {
	t.Parallel()
	h, to := newServerWithBackup(t)
	admin := h.newUser(t, "ada", model.RoleAdmin)
	h.upload(t, "a.pdf", vaulttest.PDF(1, "a"))
	shown := strings.ReplaceAll(to, "<1>", "&lt;1&gt;")
	admin.get(t, 200, "/admin/backups", shown, "Not encrypted", "No backups yet", "No backup exists. If this disk fails",
		"Back up now").lacks(t, "nas <1>")
	admin.get(t, 200, "/admin/users", "No backup exists")
	admin.get(t, 200, "/orders").lacks(t, "No backup exists")
	admin.post(t, 409, "/admin/backups/verify", nil).has(t, "no backup found")

	admin.post(t, 303, "/admin/backups", nil)
	waitUntilStopped(t, func() bool { return h.vault.Backups.Progress().Running })
	page := admin.get(t, 200, "/admin/backups", "Backup created", "1 document, ", "0 minutes ago", `name="snapshot"`)
	page.lacks(t, "No backup exists")
	state := h.vault.Backups.State()
	if state.LastGood == nil {
		t.Fatalf("Backups.State = %+v, want a good backup", state)
	}
	admin.post(t, 303, "/admin/backups/verify", url.Values{"snapshot": {state.LastGood.Snapshot}})
	waitUntilStopped(t, func() bool { return h.vault.Backups.VerifyProgress().Running })
	admin.get(t, 200, "/admin/backups", "No problems found", "1 backup, 1 document")
	admin.post(t, 409, "/admin/backups/verify", url.Values{"snapshot": {"20990101T000000Z"}})

	blobs, err := filepath.Glob(filepath.Join(to, "blobs", "*", "*"))
	if err != nil || len(blobs) != 1 {
		t.Fatalf("blobs in the backup = %q, %v, want 1", blobs, err)
	}
	if err := os.Remove(blobs[0]); err != nil {
		t.Fatalf("os.Remove: %v", err)
	}
	admin.post(t, 303, "/admin/backups/verify", nil)
	waitUntilStopped(t, func() bool { return h.vault.Backups.VerifyProgress().Running })
	admin.get(t, 200, "/admin/backups", "The backups are damaged", "1 problem")
	part := h.request(t, 200, "GET", "/admin/backups/check", admin.cookie, "HX-Request: true")
	part.has(t, `id="backup-check"`)
	part.lacks(t, "<html", "hx-trigger=\"load")
	part.checkHeaders(t, map[string]string{"Hx-Refresh": "true"})
}

// If a backup is already running, starting another one shows a message. All pages warn
// administrators until there is a backup.
func TestBackupTwice(t *testing.T) {
	t.Parallel()
	h, to := newServerWithBackup(t)
	admin := h.newUser(t, "ada", model.RoleAdmin)
	h.upload(t, "a.pdf", vaulttest.PDF(1, "a"))
	started, release := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		first := true
		_, err := h.vault.Backups.Create(t.Context(), model.Actor{Kind: "operator"}, "", func(backup.Progress) {
			if first {
				first = false
				close(started)
				<-release
			}
		})
		done <- err
	}()
	<-started
	admin.get(t, 200, "/admin/backups", "Backup started", "<progress", "You can leave this page")
	again := admin.post(t, 303, "/admin/backups", nil)
	admin.testServer.request(t, 200, "GET", "/admin/backups",
		admin.cookie+"; "+strings.Split(again.Header.Get("Set-Cookie"), ";")[0]).has(t, "A backup is already running.")
	part := h.request(t, 200, "GET", "/admin/backups/now", admin.cookie, "HX-Request: true")
	part.has(t, "load delay:1s")
	close(release)
	if err := <-done; err != nil {
		t.Fatalf("wait for backup: %v", err)
	}
	h.clock.Advance(time.Minute) // after this time, the cached warnings have expired
	admin.get(t, 200, "/trash").lacks(t, `class="warning"`)
	h.clock.Advance(50 * time.Hour)
	admin = h.newUser(t, "ben", model.RoleAdmin)
	staff := h.newUser(t, "tom", model.RoleStaff)
	admin.get(t, 200, "/admin/users", "The last successful backup is 2 days old.", `href="/admin/backups"`)
	staff.get(t, 200, "/trash").lacks(t, "backup")
	if err := os.RemoveAll(to); err != nil {
		t.Fatalf("os.RemoveAll: %v", err)
	}
	admin.post(t, 303, "/admin/backups", nil)
	waitUntilStopped(t, func() bool { return h.vault.Backups.Progress().Running })
	admin.get(t, 200, "/admin/backups", "failed: ", "the expected backups are missing")
	admin.get(t, 200, "/admin/users", "failed: ")
	admin.get(t, 200, "/admin/backups", `role="alert"`)
}

func TestSettings(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	admin := h.newUser(t, "ada", model.RoleAdmin)
	admin.get(t, 200, "/admin/settings", "9.9.9", "backup.passphrase", "limits.file_size", ">HTTPS<", "Not set",
		"Run check", h.dir, "<code>/etc/deedkeep/own.yaml</code>, environment variables").lacks(t, "config.yaml")
	admin.post(t, 200, "/admin/settings", nil).has(t, "Problems found", "disk &lt;1&gt;", "buy one",
		`<span class="badge bad">Error</span>`)
	for _, role := range []model.Role{model.RoleStaff, model.RoleViewer} {
		other := h.newUser(t, string(role), role)
		for _, target := range []string{"/admin/settings", "/admin/backups"} {
			other.get(t, 403, target)
			other.post(t, 403, target, nil)
		}
		other.post(t, 403, "/admin/backups/verify", nil)
	}
}

// All pages warn administrators if the disk is nearly full.
func TestDiskWarning(t *testing.T) {
	t.Parallel()
	h := newEmptyTestServer(t, func(opts *instance.Options) { opts.Settings.FileSize = 1 << 56 })
	admin := h.newUser(t, "ada", model.RoleAdmin)
	admin.get(t, 200, "/trash", "The disk is nearly full", "Documents of up to", "are still accepted.", `href="/admin/settings"`)
	admin.get(t, 200, "/admin/settings", "The disk is nearly full").lacks(t, `href="/admin/settings">Settings</a></p>`)
}

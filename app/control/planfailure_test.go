package control_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deedkeep/app/apitypes"
	"deedkeep/app/control"
	"deedkeep/app/vaulttest"
)

// A failed backup that a person requested is reported to that person; the status reports only scheduled backups.
func TestStatusReportsScheduledBackupFailures(t *testing.T) {
	taken := filepath.Join(t.TempDir(), "taken")
	if err := os.WriteFile(taken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	opts := vaulttest.Options(t)
	opts.Settings.Backup.To = filepath.Join(taken, "plan")
	handler := control.NewHandler(control.HandlerOptions{Vault: vaulttest.Open(t, opts), Log: slog.New(slog.DiscardHandler),
		Rand: vaulttest.Rand()})
	ask := func(method, path, body string) (s apitypes.Status) {
		t.Helper()
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body)))
		if path == "/control/status" {
			if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil {
				t.Fatal(err)
			}
		}
		return s
	}
	ask(http.MethodPost, "/control/backup", `{"to":`+pathJSON(t, filepath.Join(taken, "slip"))+`}`)
	if s := ask(http.MethodGet, "/control/status", ""); s.BackupFailure != nil {
		t.Errorf("a failed manual backup is in the status: %+v, want nil", s.BackupFailure)
	}
	ask(http.MethodPost, "/control/backup", `{"to":""}`)
	if s := ask(http.MethodGet, "/control/status", ""); s.BackupFailure == nil || s.BackupFailure.To != opts.Settings.Backup.To {
		t.Errorf("the failed scheduled backup is not in the status: %+v", s.BackupFailure)
	}
}

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

// The status reports only failures of scheduled backups. A manual backup reports its failure in its own response.
func TestStatusReportsScheduledBackupFailures(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "blocked")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	opts := vaulttest.Options(t)
	opts.Settings.Backup.To = filepath.Join(blocked, "plan")
	handler := control.NewHandler(control.HandlerOptions{App: vaulttest.Open(t, opts), Log: slog.New(slog.DiscardHandler),
		Rand: vaulttest.Rand()})
	send := func(method, path, body string) (s apitypes.Status) {
		t.Helper()
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body)))
		if path == "/control/status" {
			if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil {
				t.Fatalf("decode status: %v", err)
			}
		}
		return s
	}
	send(http.MethodPost, "/control/backup", `{"to":`+pathJSON(t, filepath.Join(blocked, "slip"))+`}`)
	if s := send(http.MethodGet, "/control/status", ""); s.BackupFailure != nil {
		t.Errorf("backup failure after a failed manual backup = %+v, want nil", s.BackupFailure)
	}
	send(http.MethodPost, "/control/backup", `{"to":""}`)
	if s := send(http.MethodGet, "/control/status", ""); s.BackupFailure == nil || s.BackupFailure.To != opts.Settings.Backup.To {
		t.Errorf("backup failure after a failed scheduled backup = %+v, want one to %s", s.BackupFailure, opts.Settings.Backup.To)
	}
}

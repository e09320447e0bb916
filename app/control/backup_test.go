package control_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"deedkeep/app/apitypes"
	"deedkeep/app/backup"
	"deedkeep/app/control"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// The last line of the response to a backup request contains either the result or the error.
func TestControlBackup(t *testing.T) {
	opts := vaulttest.Options(t)
	v := vaulttest.Open(t, opts)
	log := new(bytes.Buffer)
	handler := control.NewHandler(control.HandlerOptions{App: v, Log: slog.New(slog.NewTextHandler(log, nil)), Rand: vaulttest.Rand()})
	send := func(method, path, body string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body)))
		return w
	}
	to := filepath.Join(t.TempDir(), "b")
	target, err := json.Marshal(apitypes.BackupCreate{To: to})
	if err != nil {
		t.Fatalf("encode request: %v", err)
	}
	last := func(w *httptest.ResponseRecorder) (line apitypes.Line[apitypes.Backup]) {
		t.Helper()
		lines := strings.Split(strings.TrimSpace(w.Body.String()), "\n")
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &line); err != nil {
			t.Fatalf("decode the last line of %s: %v", w.Body, err)
		}
		return line
	}
	w := send(http.MethodPost, "/control/backup", string(target))
	if line := last(w); w.Code != 200 || w.Header().Get("Content-Type") != "application/x-ndjson" || line.Result == nil ||
		line.Result.To != to || line.Error != "" {
		t.Errorf("backup: got status %d, %s, want 200 and a result with the destination %s", w.Code, w.Body, to)
	}
	rows := []struct {
		name, body string
		code       int // HTTP status of the response
		status     int // status in the last line
		wantText   string
	}{
		{"no destination", `{"to":""}`, 200, 422, "--to"},
		{"into itself", `{"to":` + pathJSON(t, opts.Dir) + `}`, 200, 422, "overlaps with the data directory"},
		{"destination is a file", `{"to":` + pathJSON(t, filepath.Join(to, "deedkeep-backup")) + `}`, 200, 409, "can't be used"},
		{"no JSON", `words`, 400, 0, ""},
		{"a number", `{"to":7}`, 400, 0, ""},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			w := send(http.MethodPost, "/control/backup", row.body)
			if w.Code != row.code {
				t.Fatalf("got status %d, %s, want %d", w.Code, w.Body, row.code)
			}
			if line := last(w); row.code == 200 && (line.Status != row.status || !strings.Contains(line.Error, row.wantText) || line.Result != nil) {
				t.Errorf("got %s, want status %d with the text %q", w.Body, row.status, row.wantText)
			}
		})
	}
	var status apitypes.Status
	w = send(http.MethodGet, "/control/status", "")
	if err := json.Unmarshal(w.Body.Bytes(), &status); err != nil || status.LastBackup == nil || status.LastBackup.To != to ||
		status.LastBackupAt == nil || status.BackupFailure != nil {
		t.Errorf("status = %s, %v, want the backup to %s and no failure", w.Body, err, to)
	}
	t.Run("during another backup", func(t *testing.T) {
		_, err := v.Backups.Create(t.Context(), model.SystemActor(), to, func(backup.Progress) {
			if line := last(send(http.MethodPost, "/control/backup", string(target))); line.Status != http.StatusLocked ||
				line.Error != "A backup is already running." {
				t.Errorf("got %+v, want status 423", line)
			}
		})
		if err != nil {
			t.Errorf("create backup: %v", err)
		}
	})
}

func pathJSON(t *testing.T, text string) string {
	t.Helper()
	raw, err := json.Marshal(text)
	if err != nil {
		t.Fatalf("encode path: %v", err)
	}
	return string(raw)
}

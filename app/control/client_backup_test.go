package control_test

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"deedkeep/app/apitypes"
	"deedkeep/app/client"
)

func TestCreateBackup(t *testing.T) {
	const progress = `{"progress":{"done":1,"total":3,"unit":"bytes"}}` + "\n"
	const created = `{"result":{"snapshot":"20260529T040000Z","created_at":"2026-05-29T04:00:00.000000Z","to":"/b",` +
		`"files":1,"bytes":2,"bytes_written":3,"seconds":0.5}}` + "\n"
	c, sent := newCannedClient(t, 200, progress+created)
	var got []apitypes.Progress
	result, err := c.CreateBackup(t.Context(), apitypes.BackupCreate{To: "/b"}, func(p apitypes.Progress) { got = append(got, p) })
	if err != nil || result.Snapshot != "20260529T040000Z" || result.Files != 1 || result.BytesWritten != 3 || result.Seconds != 0.5 {
		t.Errorf("CreateBackup = %+v, %v, want the snapshot 20260529T040000Z", result, err)
	}
	if sent.body != `{"to":"/b"}` || sent.line != "POST /control/backup" {
		t.Errorf("sent %s with body %s, want POST /control/backup with the destination /b", sent.line, sent.body)
	}
	if want := []apitypes.Progress{{Done: 1, Total: 3, Unit: "bytes"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("progress = %v, want %v", got, want)
	}
	failed := newBodyClient(strings.NewReader(progress + `{"error":"The disk is full.","status":507}` + "\n"))
	_, err = failed.CreateBackup(t.Context(), apitypes.BackupCreate{}, nil)
	failure, ok := errors.AsType[*client.Error](err)
	if !ok || failure.Status != 507 || failure.Message != "The disk is full." || failure.RequestID != "req-1" {
		t.Errorf("CreateBackup = %v, want The disk is full. with status 507 and request ID req-1", err)
	}
	for _, truncated := range []string{"", progress, created[:40]} {
		_, err := newBodyClient(strings.NewReader(truncated)).CreateBackup(t.Context(), apitypes.BackupCreate{}, nil)
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("CreateBackup with the response %q = %v, want %v", truncated, err, io.ErrUnexpectedEOF)
		}
	}
}

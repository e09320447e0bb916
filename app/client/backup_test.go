package client_test

import (
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"deedkeep/app/apitypes"
	"deedkeep/app/client"
)

func TestCreateBackup(t *testing.T) {
	const one = `{"progress":{"done":1,"total":3,"unit":"bytes"}}` + "\n"
	const made = `{"result":{"snapshot":"20260529T040000Z","created_at":"2026-05-29T04:00:00.000000Z","to":"/b","files":1,"bytes":2,"bytes_written":3,"seconds":0.5}}` + "\n"
	var asked, path string
	c := client.New(client.ControlBaseURL, "", answers(func(r *http.Request) *http.Response {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		asked, path = string(body), r.Method+" "+r.URL.Path
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(one + made)), Request: r}
	}))
	var got []apitypes.Progress
	result, err := c.CreateBackup(t.Context(), apitypes.BackupCreate{To: "/b"}, func(p apitypes.Progress) { got = append(got, p) })
	if err != nil || result.Snapshot != "20260529T040000Z" || result.Files != 1 || result.BytesWritten != 3 || result.Seconds != 0.5 {
		t.Errorf("got %+v, %v", result, err)
	}
	if asked != `{"to":"/b"}` || path != "POST /control/backup" ||
		!reflect.DeepEqual(got, []apitypes.Progress{{Done: 1, Total: 3, Unit: "bytes"}}) {
		t.Errorf("asked %s of %s, progress %v", asked, path, got)
	}
	var failure *client.Error
	if _, err := stream(strings.NewReader(one+`{"error":"The disk is full.","status":507}`+"\n")).CreateBackup(t.Context(), apitypes.BackupCreate{}, nil); !errors.As(err, &failure) ||
		failure.Status != 507 || failure.Message != "The disk is full." || failure.RequestID != "req-1" {
		t.Errorf("err = %v", err)
	}
	for _, cut := range []string{"", one, made[:40]} {
		if _, err := stream(strings.NewReader(cut)).CreateBackup(t.Context(), apitypes.BackupCreate{}, nil); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: %v", cut, err)
		}
	}
}

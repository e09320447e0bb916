package client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"deedkeep/app/apitypes"
	"deedkeep/app/client"
)

func stream(body io.Reader) *client.Client {
	return client.New(client.ControlBaseURL, "", answers(func(r *http.Request) *http.Response {
		return &http.Response{StatusCode: 200, Header: http.Header{"X-Request-Id": {"req-1"}}, Body: io.NopCloser(body), Request: r}
	}))
}

func TestVerify(t *testing.T) {
	const one, two = `{"progress":{"done":1,"total":3,"unit":"records"}}` + "\n", `{"progress":{"done":3,"total":3,"unit":"bytes"}}` + "\n"
	want := apitypes.Verify{
		Records: 1, Files: 2, Blobs: 3, Bytes: 4, Events: 5, Orphans: 6, Leftovers: 7, SearchBytes: 8,
		Findings: apitypes.List[apitypes.Finding]{{Kind: "blob", Subject: "ab12", Problem: "its bytes differ"}},
	}
	var got []apitypes.Progress
	result, err := stream(strings.NewReader(one+two+`{"result":`+verifyJSON+"}\n")).Verify(t.Context(),
		func(p apitypes.Progress) { got = append(got, p) })
	if err != nil || !reflect.DeepEqual(result, want) {
		t.Errorf("got %+v, %v", result, err)
	}
	if !reflect.DeepEqual(got, []apitypes.Progress{{Done: 1, Total: 3, Unit: "records"}, {Done: 3, Total: 3, Unit: "bytes"}}) {
		t.Errorf("progress %v", got)
	}

	var failure *client.Error
	if _, err := stream(strings.NewReader(one+`{"error":"Server error."}`+"\n")).Verify(t.Context(), nil); !errors.As(err, &failure) ||
		failure.Status != 500 || failure.Message != "Server error." || failure.RequestID != "req-1" {
		t.Errorf("err = %v", err)
	}
}

func TestTruncatedVerify(t *testing.T) {
	const one = `{"progress":{"done":1,"total":3,"unit":"records"}}` + "\n"
	for _, row := range []struct {
		name string
		body io.Reader
		want error
	}{
		{"nothing", strings.NewReader(""), io.ErrUnexpectedEOF},
		{"after a line", strings.NewReader(one), io.ErrUnexpectedEOF},
		{"within a line", strings.NewReader(one + one[:20]), io.ErrUnexpectedEOF},
		{"within the result", strings.NewReader(`{"result":{"ok":true`), io.ErrUnexpectedEOF},
		{"by the network", io.MultiReader(strings.NewReader(one+one[:20]), broken{}), errBroken},
	} {
		t.Run(row.name, func(t *testing.T) {
			if result, err := stream(row.body).Verify(t.Context(), nil); !errors.Is(err, row.want) || result.OK {
				t.Errorf("got %+v, %v, want %v", result, err, row.want)
			}
		})
	}
	if _, err := stream(strings.NewReader("<html>")).Verify(t.Context(), nil); err == nil {
		t.Error("a page passed for a result")
	}
}

func TestRepair(t *testing.T) {
	srv, asked := serve(t, 200, `{"result":{"ok":true,"findings":[],"repaired":{"done":true,"tasks_added":2}}}`)
	result, err := client.New(srv.URL, "", nil).Repair(t.Context(), nil)
	if err != nil || !result.OK || result.Repaired == nil || !result.Repaired.Done || result.Repaired.TasksAdded != 2 {
		t.Errorf("%+v, %v", result, err)
	}
	if asked.request.Method != "POST" || asked.request.URL.Path != "/control/repair" {
		t.Errorf("asked %s %s", asked.request.Method, asked.request.URL)
	}
}

func TestVerifyError(t *testing.T) {
	srv, _ := serve(t, 503, `{"message":"The server is stopping."}`)
	var failure *client.Error
	if _, err := client.New(srv.URL, "", nil).Verify(t.Context(), nil); !errors.As(err, &failure) || failure.Status != 503 {
		t.Fatalf("err = %v", err)
	}
}

// A verification can take an hour, so Verify must return when its context is canceled.
func TestVerifyCanceled(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The server notices a closed connection only after it has read the request.
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"progress":{"done":1,"total":3,"unit":"records"}}`+"\n")
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		<-r.Context().Done()
	}))
	defer srv.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := client.New(srv.URL, "", nil).Verify(ctx, func(apitypes.Progress) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("err = %v", err)
	}
}

func FuzzVerify(f *testing.F) {
	for _, s := range []string{`{"progress":{"done":1,"total":2,"unit":"u"}}`, `{"result":{"ok":true}}`, `{"error":"e"}`,
		"null\n\n1", `{"result":null}`, `{`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		result, err := stream(bytes.NewReader(body)).Verify(t.Context(), func(apitypes.Progress) {})
		if err != nil && !reflect.DeepEqual(result, apitypes.Verify{}) {
			t.Fatalf("%+v beside %v", result, err)
		}
		if err == nil && !bytes.Contains(bytes.ToLower(body), []byte("result")) && !bytes.Contains(body, []byte(`\u`)) {
			t.Fatalf("%q has no result", body)
		}
	})
}

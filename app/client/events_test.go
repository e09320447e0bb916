package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/client"
)

// saying responds to every request with a text and records the requests.
func saying(t *testing.T, text string) (*client.Client, *string) {
	t.Helper()
	var asked string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.Method + " " + r.URL.String()
		w.Header().Set("X-Request-Id", "r-9")
		_, _ = io.WriteString(w, text) // a client that has gone is its own affair
	}))
	t.Cleanup(s.Close)
	return client.New(s.URL, "", nil), &asked
}

func eventLine(seq int) string {
	return fmt.Sprintf(`{"event":{"seq":%d,"at":"2026-05-29T04:00:00.000000Z","actor":{"kind":"system"},"kind":"x.y","hash":"h%d"}}`+
		"\n", seq, seq)
}

func TestExportEvents(t *testing.T) {
	t.Parallel()
	const damage, end = `{"damaged":{"kind":"event","subject":"2","problem":"broken"}}` + "\n", `{"end":{"entries":2}}` + "\n"
	for _, row := range []struct {
		name, text, got string
		is              error // in the chain of the error
		says            string
	}{
		{"all", eventLine(1) + damage + eventLine(3) + end + eventLine(4), "h1 !2 h3", nil, ""},
		{"none", end, "", nil, ""},
		{"an empty line is a line", "\n" + end, "", nil, ""},
		{"cut", eventLine(1) + damage, "h1 !2", io.ErrUnexpectedEOF, "/control/events/export"},
		{"cut within a line", eventLine(1) + end[:5], "h1", io.ErrUnexpectedEOF, ""},
		{"nothing", "", "", io.ErrUnexpectedEOF, ""},
		{"it could not be finished", eventLine(1) + `{"error":"the disk"}`, "h1", nil, "the disk"},
		{"no JSON", "<html>", "", nil, "read answer"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, asked := saying(t, row.text)
			var got []string
			err := c.ExportEvents(t.Context(), 7, func(e apitypes.Event) error { got = append(got, e.Hash); return nil },
				func(f apitypes.Finding) error { got = append(got, "!"+f.Subject); return nil })
			if strings.Join(got, " ") != row.got || *asked != "GET /control/events/export?from=7" {
				t.Errorf("got %q from %s", got, *asked)
			}
			wants := row.is != nil || row.says != ""
			if (err != nil) != wants || row.is != nil && !errors.Is(err, row.is) || err != nil && !strings.Contains(err.Error(), row.says) {
				t.Errorf("%v", err)
			}
		})
	}
	enough := errors.New("enough")
	c, _ := saying(t, eventLine(1)+damage+end)
	if err := c.ExportEvents(t.Context(), 1, func(apitypes.Event) error { return enough }, nil); !errors.Is(err, enough) {
		t.Errorf("%v", err)
	}
}

func TestVerifyEvents(t *testing.T) {
	t.Parallel()
	c, asked := saying(t, `{"progress":{"done":1,"total":2,"unit":"entries"}}`+"\n"+
		`{"result":{"ok":false,"entries":2,"last":3,"head":"ab","findings":[{"kind":"missing","subject":"2","problem":"p"}],"more":4}}`)
	var done []int64
	r, err := c.VerifyEvents(t.Context(), func(p apitypes.Progress) { done = append(done, p.Done) })
	if err != nil || *asked != "POST /control/events/verify" || r.OK || r.Last != 3 || r.More != 4 || len(r.Findings) != 1 ||
		!slices.Equal(done, []int64{1}) {
		t.Errorf("%+v, %v, progress %v, asked %s", r, err, done, *asked)
	}
	c, _ = saying(t, `{"error":"the disk"}`)
	_, err = c.VerifyEvents(t.Context(), func(apitypes.Progress) {})
	if failure, ok := errors.AsType[*client.Error](err); !ok || failure.Status != 500 || failure.RequestID != "r-9" {
		t.Errorf("%v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.VerifyEvents(gone, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestEventsSendsFilters(t *testing.T) {
	t.Parallel()
	c, asked := saying(t, `{"data":[]}`)
	at := apitypes.At(time.Date(2026, 5, 29, 4, 0, 0, 0, time.UTC))
	for _, row := range []struct {
		filter client.EventFilter
		query  string
	}{
		{client.EventFilter{Limit: 5}, "limit=5"},
		{client.EventFilter{Actor: "key:7", Kind: "file.opened", Record: "order:a&b", From: &at, To: &at, Limit: 1},
			"actor=key%3A7&from=2026-05-29T04%3A00%3A00.000000Z&kind=file.opened&limit=1&record=order%3Aa%26b&to=2026-05-29T04%3A00%3A00.000000Z"},
	} {
		if list, err := c.Events(t.Context(), row.filter); err != nil || len(list) != 0 || *asked != "GET /control/events?"+row.query {
			t.Errorf("%v, %v, asked %s", list, err, *asked)
		}
	}
}

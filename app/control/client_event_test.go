package control_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/client"
	"deedkeep/app/control"
)

func eventLine(seq int) string {
	return fmt.Sprintf(`{"event":{"seq":%d,"at":"2026-05-29T04:00:00.000000Z","actor":{"kind":"system"},"kind":"x.y","hash":"h%d"}}`+
		"\n", seq, seq)
}

func TestExportEvents(t *testing.T) {
	t.Parallel()
	const damage, end = `{"damaged":{"kind":"event","subject":"2","problem":"broken"}}` + "\n", `{"end":{"entries":2}}` + "\n"
	for _, row := range []struct {
		name, response string
		want           string // hashes; for a damaged entry, "!" and its number
		wantErr        error  // wrapped by the error
		wantText       string // contained in the text of the error
	}{
		{"complete", eventLine(1) + damage + eventLine(3) + end + eventLine(4), "h1 !2 h3", nil, ""},
		{"no entries", end, "", nil, ""},
		{"empty line", "\n" + end, "", nil, ""},
		{"truncated after a line", eventLine(1) + damage, "h1 !2", io.ErrUnexpectedEOF, "/control/events/export"},
		{"truncated within a line", eventLine(1) + end[:5], "h1", io.ErrUnexpectedEOF, ""},
		{"empty response", "", "", io.ErrUnexpectedEOF, ""},
		{"server error", eventLine(1) + `{"error":"the disk"}`, "h1", nil, "the disk"},
		{"not JSON", "<html>", "", nil, "read response"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, sent := newCannedClient(t, 200, row.response)
			var got []string
			err := c.ExportEvents(t.Context(), 7, func(e apitypes.Event) error { got = append(got, e.Hash); return nil },
				func(f apitypes.Finding) error { got = append(got, "!"+f.Subject); return nil })
			if got := strings.Join(got, " "); got != row.want || sent.line != "GET /control/events/export?from=7" {
				t.Errorf("ExportEvents(7) called back with %q after %s, want %q after GET /control/events/export?from=7", got, sent.line, row.want)
			}
			fails := row.wantErr != nil || row.wantText != ""
			if (err != nil) != fails || row.wantErr != nil && !errors.Is(err, row.wantErr) ||
				err != nil && !strings.Contains(err.Error(), row.wantText) {
				t.Errorf("ExportEvents(7) = %v, want %v with %q", err, row.wantErr, row.wantText)
			}
		})
	}
	errEnough := errors.New("enough")
	c, _ := newCannedClient(t, 200, eventLine(1)+damage+end)
	if err := c.ExportEvents(t.Context(), 1, func(apitypes.Event) error { return errEnough }, nil); !errors.Is(err, errEnough) {
		t.Errorf("ExportEvents = %v, want the callback's error", err)
	}
}

func TestVerifyEvents(t *testing.T) {
	t.Parallel()
	c, sent := newCannedClient(t, 200, `{"progress":{"done":1,"total":2,"unit":"entries"}}`+"\n"+
		`{"result":{"ok":false,"entries":2,"last":3,"head":"ab","findings":[{"kind":"missing","subject":"2","problem":"p"}],"more":4}}`)
	var done []int64
	r, err := c.VerifyEvents(t.Context(), func(p apitypes.Progress) { done = append(done, p.Done) })
	if err != nil || r.OK || r.Last != 3 || r.More != 4 || len(r.Findings) != 1 {
		t.Errorf("VerifyEvents = %+v, %v, want last 3, more 4, and one finding", r, err)
	}
	if sent.line != "POST /control/events/verify" || !slices.Equal(done, []int64{1}) {
		t.Errorf("sent %s, progress %v, want POST /control/events/verify, progress [1]", sent.line, done)
	}
	c, _ = newCannedClient(t, 200, `{"error":"the disk"}`)
	_, err = c.VerifyEvents(t.Context(), func(apitypes.Progress) {})
	if failure, ok := errors.AsType[*client.Error](err); !ok || failure.Status != 500 || failure.RequestID != "req-1" {
		t.Errorf("VerifyEvents = %v, want status 500 with request ID req-1", err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.VerifyEvents(canceled, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("VerifyEvents = %v, want %v", err, context.Canceled)
	}
}

func TestEventsSendsFilter(t *testing.T) {
	t.Parallel()
	c, sent := newCannedClient(t, 200, `{"data":[]}`)
	at := apitypes.At(time.Date(2026, 5, 29, 4, 0, 0, 0, time.UTC))
	for _, row := range []struct {
		name   string
		filter control.EventFilter
		query  string
	}{
		{"limit only", control.EventFilter{Limit: 5}, "limit=5"},
		{"after a sequence number", control.EventFilter{After: new(int64(7)), Limit: 5}, "after=7&limit=5"},
		{"all fields", control.EventFilter{Actor: "key:7", Kind: "file.opened", Record: "order:a&b", From: &at, To: &at, Limit: 1},
			"actor=key%3A7&from=2026-05-29T04%3A00%3A00.000000Z&kind=file.opened&limit=1&record=order%3Aa%26b&to=2026-05-29T04%3A00%3A00.000000Z"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if list, err := c.Events(t.Context(), row.filter); err != nil || len(list) != 0 || sent.line != "GET /control/events?"+row.query {
				t.Errorf("Events(%+v) = %v, %v after %s, want no events after the query %s", row.filter, list, err, sent.line, row.query)
			}
		})
	}
}

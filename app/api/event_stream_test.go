package api_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"deedkeep/app/apitypes"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// eventStream is an open stream of events.
type eventStream struct {
	body  io.ReadCloser
	lines *bufio.Scanner
}

// openStream opens the stream with a key. after is the ID of the last event that the client has, or "".
func (srv *testServer) openStream(t *testing.T, as, after string) eventStream {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.server.URL+"/v1/events/stream", nil)
	srv.must(err)
	req.Header.Set("Authorization", "Bearer "+srv.keys[as])
	if after != "" {
		req.Header.Set("Last-Event-ID", after)
	}
	resp, err := http.DefaultClient.Do(req)
	srv.must(err)
	t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("got status %d and type %s, want 200 and a stream", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	return eventStream{resp.Body, bufio.NewScanner(resp.Body)}
}

// next returns the next event and its ID. ok is false at the end of the stream.
func (s eventStream) next(t *testing.T) (e apitypes.Event, id string, ok bool) {
	t.Helper()
	for s.lines.Scan() {
		line := s.lines.Text()
		if value, found := strings.CutPrefix(line, "id: "); found {
			id = value
		}
		if value, found := strings.CutPrefix(line, "data: "); found {
			if err := json.Unmarshal([]byte(value), &e); err != nil {
				t.Fatalf("decode event %s: %v", value, err)
			}
			return e, id, true
		}
	}
	return e, id, false
}

// A stream has the entries of the audit log as they are added, in the form of the list. A client that was disconnected
// continues after the last one that it got.
func TestEventStream(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	go srv.vault.Events.Publish(t.Context())
	last := srv.lastSeq(t)
	stream := srv.openStream(t, "events", "")
	for n := range 3 {
		srv.do(t, orderCall(fmt.Sprintf(`{"order_number":"T-%d"}`, n), 201, ""))
	}
	list, _ := srv.eventsAfter(t, fmt.Sprintf("/v1/events?after=%d", last))
	for _, want := range list.Data {
		e, id, ok := stream.next(t)
		if !ok || e.Seq != want.Seq || e.Hash != want.Hash || *e.Record != *want.Record || id != fmt.Sprint(e.Seq) {
			t.Errorf("got %+v with ID %s, want %+v", e, id, want)
		}
	}
	again := srv.openStream(t, "events", fmt.Sprint(last+1))
	srv.do(t, orderCall(`{"order_number":"T-9"}`, 201, ""))
	for seq := last + 2; seq <= last+4; seq++ {
		if e, _, ok := again.next(t); !ok || e.Seq != seq {
			t.Errorf("after a reconnection, got %d (%v), want %d", e.Seq, ok, seq)
		}
	}
	srv.do(t, call{as: "events", method: "HEAD", path: "/v1/events/stream", status: 200, media: "text/event-stream"})
	for _, as := range []string{"full", "read", "metrics"} {
		srv.do(t, call{as: as, method: "GET", path: "/v1/events/stream", status: 403})
	}
	srv.do(t, call{as: "events", method: "GET", path: "/v1/events/stream", status: 400, header: []string{"Last-Event-ID: x"}})
}

// A stream ends when its key is revoked, and when the server stops.
func TestEventStreamEnds(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	go srv.vault.Events.Publish(t.Context())
	text, _, err := srv.vault.Keys.Create(t.Context(), vaulttest.Operator,
		model.KeyDraft{Name: "other events", Abilities: []string{model.AbilityEvents}})
	srv.must(err)
	srv.keys["other events"] = text
	revoked, stopped := srv.openStream(t, "events", ""), srv.openStream(t, "other events", "")
	keys, err := srv.vault.Keys.List(t.Context())
	srv.must(err)
	for _, key := range keys {
		if key.Name == "events" {
			_, err := srv.vault.Keys.Revoke(t.Context(), vaulttest.Operator, key.ID)
			srv.must(err)
		}
	}
	if e, _, ok := revoked.next(t); ok {
		t.Errorf("got %+v after the key was revoked, want the end", e)
	}
	if e, _, ok := stopped.next(t); !ok || e.Kind != "key.revoked" {
		t.Errorf("got %+v (%v), want the entry for another key", e, ok)
	}
	srv.vault.Events.EndFollowing()
	if e, _, ok := stopped.next(t); ok {
		t.Errorf("got %+v after the server stopped, want the end", e)
	}
}

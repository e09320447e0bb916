package ui_test

import (
	"bufio"
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// changeStream is an open stream of changes.
type changeStream struct{ lines *bufio.Scanner }

// openChanges opens the stream of a user.
func (tu *testUser) openChanges(t *testing.T) changeStream {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, tu.testServer.server.URL+"/changes", nil)
	if err != nil {
		t.Fatalf("create request: %v", err)
	}
	name, value, _ := strings.Cut(tu.cookie, ": ")
	req.Header.Set(name, value)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("open stream: %v", err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	if got := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || got != "text/event-stream" {
		t.Fatalf("got status %d and type %s, want 200 and a stream", resp.StatusCode, got)
	}
	stream := changeStream{bufio.NewScanner(resp.Body)}
	var ping struct{ Since *uint64 }
	if kind := stream.next(t, &ping); kind != "ping" || ping.Since == nil {
		t.Fatalf("got %s %+v first, want a ping with the newest entry of the audit log", kind, ping)
	}
	return stream
}

// next decodes the next event and returns its kind, or "" at the end of the stream.
func (s changeStream) next(t *testing.T, into any) (kind string) {
	t.Helper()
	for s.lines.Scan() {
		if value, ok := strings.CutPrefix(s.lines.Text(), "event: "); ok {
			kind = value
		}
		if value, ok := strings.CutPrefix(s.lines.Text(), "data: "); ok {
			if err := json.Unmarshal([]byte(value), into); err != nil {
				t.Fatalf("decode %s: %v", value, err)
			}
			return kind
		}
	}
	return ""
}

type changeEvent struct {
	Records []string
	By      string
	Mine    bool
	Fields  []string
}

// Pages learn which records others change, including the abstract that an instrument belongs to. They don't learn what people read.
func TestChanges(t *testing.T) {
	h := newTestServer(t)
	go h.vault.Events.Publish(t.Context())
	kim, lee := h.newUser(t, "Kim", model.RoleStaff), h.newUser(t, "Lee", model.RoleViewer)
	stream := lee.openChanges(t)
	order := h.createOrder(t, "T-1", 3, nil)
	var got changeEvent
	record := "order:" + h.vault.Secrets.IDs("orders").Encode(order.ID)
	if kind := stream.next(t, &got); kind != "change" || !slices.Equal(got.Records, []string{record}) {
		t.Errorf("got %s %+v, want the order", kind, got)
	}
	patch := model.OrderPatch{Fields: model.Inputs{"status": model.StringInput("completed")}}
	if _, err := h.vault.Orders.Edit(t.Context(), kim.actor, order.ID, patch); err != nil {
		t.Fatalf("change order: %v", err)
	}
	if stream.next(t, &got); got.By != "Kim" || got.Mine || !slices.Equal(got.Fields, []string{"status"}) {
		t.Errorf("got %+v, want Kim's change of the status", got)
	}
	abstract := h.createAbstractAt(t, kim.actor, "12 Mill Road")
	stream.next(t, &got)
	h.vault.Events.RecordAccess(kim.actor, "file.opened", "file:1", nil)
	if err := h.vault.Events.Flush(t.Context()); err != nil {
		t.Fatalf("flush: %v", err)
	}
	created, err := h.vault.Instruments.Create(t.Context(), kim.actor, abstract.Abstract.ID,
		vault.InstrumentPatch{Input: model.Inputs{"remarks": model.StringInput("See plat")}}, vault.Idempotency[vault.InstrumentView]{})
	if err != nil {
		t.Fatalf("create instrument: %v", err)
	}
	want := []string{"instrument:" + strconv.FormatUint(created.ID, 10),
		"abstract:" + h.vault.Secrets.IDs("abstracts").Encode(abstract.Abstract.ID)}
	if stream.next(t, &got); !slices.Equal(got.Records, want) {
		t.Errorf("got %+v, want %q", got, want)
	}
	h.request(t, http.StatusNoContent, http.MethodGet, "/changes")

	// A move concerns the abstract that a document leaves and the one that it is moved to.
	_, from := h.createAbstract(t, kim.actor, nil, model.Property{}, "a.pdf")
	move := vault.MoveRequest{Files: []uint64{from.Files[0].ID}, To: vault.Destination{Abstract: abstract.Abstract.ID}}
	if _, err := h.vault.Files.Move(t.Context(), kim.actor, move); err != nil {
		t.Fatalf("move document: %v", err)
	}
	for !slices.Contains(got.Fields, "abstract_id") {
		stream.next(t, &got)
	}
	for _, of := range []uint64{from.Abstract.ID, abstract.Abstract.ID} {
		if record := "abstract:" + h.vault.Secrets.IDs("abstracts").Encode(of); !slices.Contains(got.Records, record) {
			t.Errorf("a move concerns %q, want %s, too", got.Records, record)
		}
	}
}

// A stream ends when its session ends or the user is disabled, and when the server stops.
func TestChangesEnd(t *testing.T) {
	h := newTestServer(t)
	go h.vault.Events.Publish(t.Context())
	kim, lee, sam := h.newUser(t, "Kim", model.RoleStaff), h.newUser(t, "Lee", model.RoleStaff), h.newUser(t, "Sam", model.RoleStaff)
	ofKim, ofLee, ofSam := kim.openChanges(t), lee.openChanges(t), sam.openChanges(t)
	kim.post(t, http.StatusSeeOther, "/sign-out", url.Values{})
	var got changeEvent
	if kind := ofKim.next(t, &got); kind != "end" {
		t.Errorf("after signing out, got %s %+v, want the end", kind, got)
	}
	if _, err := h.vault.Users.Disable(t.Context(), model.Actor{Kind: "operator"}, lee.actor.ID); err != nil {
		t.Fatalf("disable user: %v", err)
	}
	if kind := ofLee.next(t, &got); kind != "end" {
		t.Errorf("after being disabled, got %s %+v, want the end", kind, got)
	}
	h.vault.Events.EndFollowing()
	if kind := ofSam.next(t, &got); kind != "" {
		t.Errorf("after the server stopped, got %s %+v, want the end", kind, got)
	}
}

type hereReply struct {
	Page   string
	People []struct{ Name, Field string }
}

func (tu *testUser) report(t *testing.T, tab, path, field string) (r hereReply) {
	t.Helper()
	got := tu.post(t, http.StatusOK, "/changes/here", url.Values{"tab": {tab}, "page": {path}, "field": {field}})
	if err := json.Unmarshal(got.body, &r); err != nil {
		t.Fatalf("decode %s: %v", got.body, err)
	}
	return r
}

// People see who else has the same page open, and which field they edit, until they leave.
func TestWhoIsHere(t *testing.T) {
	h := newTestServer(t)
	go h.vault.Events.Publish(t.Context())
	kim, lee := h.newUser(t, "Kim", model.RoleStaff), h.newUser(t, "Lee", model.RoleViewer)
	stream := kim.openChanges(t)
	if r := kim.report(t, "1", "/orders/a", ""); len(r.People) != 0 {
		t.Errorf("alone: got %+v", r)
	}
	var news hereReply
	stream.next(t, &news) // Kim's own page
	if r := lee.report(t, "1", "/orders/a", ""); len(r.People) != 1 || r.People[0].Name != "Kim" {
		t.Errorf("Lee got %+v, want Kim", r)
	}
	if kind := stream.next(t, &news); kind != "here" || news.Page != "/orders/a" || len(news.People) != 1 || news.People[0].Name != "Lee" {
		t.Errorf("Kim got %s %+v, want Lee", kind, news)
	}
	lee.report(t, "2", "/orders/a", "status") // another tab of the same person
	if stream.next(t, &news); len(news.People) != 1 || news.People[0].Field != "status" {
		t.Errorf("Kim got %+v, want Lee who edits the status", news)
	}
	lee.report(t, "1", "", "")
	stream.next(t, &news)
	lee.report(t, "2", "/orders/b", "")
	stream.next(t, &news)
	if r := kim.report(t, "1", "/orders/a", ""); len(r.People) != 0 {
		t.Errorf("after Lee left: got %+v, want no one", r)
	}
	lee.report(t, "3", "/orders/a", "")
	h.clock.Advance(80 * time.Second)
	if r := kim.report(t, "1", "/orders/a", ""); len(r.People) != 0 {
		t.Errorf("after Lee's browser is gone: got %+v, want no one", r)
	}
	for _, form := range []url.Values{{}, {"tab": {"1"}, "page": {"x"}}, {"tab": {strings.Repeat("1", 201)}}} {
		kim.post(t, http.StatusBadRequest, "/changes/here", form)
	}
}

// Requests in the background neither extend a session nor use up a notice.
func TestBackgroundRequests(t *testing.T) {
	h := newTestServer(t)
	kim := h.newUser(t, "Kim", model.RoleStaff)
	order := h.createOrder(t, "T-1", 3, nil)
	path := h.orderPath(order)
	other := h.orderPath(h.createOrder(t, "T-2", 3, nil))
	trashed := kim.post(t, http.StatusSeeOther, other+"/trash", url.Values{})
	notice := kim.cookie
	for _, cookie := range trashed.Header.Values("Set-Cookie") {
		first, _, _ := strings.Cut(cookie, ";")
		notice += "; " + first
	}
	text := h.noticeOf(t, trashed)
	background := h.request(t, http.StatusOK, http.MethodGet, "/orders", notice, "Deedkeep-Background: refresh")
	if background.Header.Get("Set-Cookie") != "" || text == "" || strings.Contains(string(background.body), text) {
		t.Error("a request in the background used up the notice")
	}
	shown := h.request(t, http.StatusOK, http.MethodGet, "/orders", notice)
	if !strings.Contains(html.UnescapeString(string(shown.body)), text) {
		t.Error("the notice isn't shown afterward")
	}
	const idle = 12 * time.Hour // by default
	h.clock.Advance(idle / 2)
	h.request(t, http.StatusOK, http.MethodGet, path, kim.cookie, "Deedkeep-Background: refresh")
	kim.report(t, "1", path, "")
	h.clock.Advance(idle/2 + time.Minute)
	h.request(t, http.StatusSeeOther, http.MethodGet, "/orders", kim.cookie)
}

// The script of a runsheet gets the row of an instrument that someone else changed, or all rows.
func TestSheetState(t *testing.T) {
	h := newTestServer(t)
	lee := h.newUser(t, "Lee", model.RoleViewer)
	abstract := h.createAbstractAt(t, model.Actor{Kind: "operator"}, "12 Mill Road").Abstract.ID
	path := "/abstracts/" + h.vault.Secrets.IDs("abstracts").Encode(abstract) + "/instruments/state"
	var ids []uint64
	for _, remarks := range []string{"First", "Second"} {
		i, err := h.vault.Instruments.Create(t.Context(), model.Actor{Kind: "operator"}, abstract,
			vault.InstrumentPatch{Input: model.Inputs{"remarks": model.StringInput(remarks)}}, vault.Idempotency[vault.InstrumentView]{})
		if err != nil {
			t.Fatalf("create instrument: %v", err)
		}
		ids = append(ids, i.ID)
	}
	for query, want := range map[string][]uint64{"": ids, "?instrument=" + strconv.FormatUint(ids[1], 10): ids[1:], "?instrument=99": ids} {
		var state struct {
			Rows []struct {
				ID   uint64
				HTML string
			}
			Sequence []uint64
		}
		if err := json.Unmarshal(lee.get(t, http.StatusOK, path+query).body, &state); err != nil {
			t.Fatalf("decode: %v", err)
		}
		var got []uint64
		for _, row := range state.Rows {
			got = append(got, row.ID)
		}
		if !slices.Equal(got, want) || !slices.Equal(state.Sequence, ids) || !strings.Contains(state.Rows[len(state.Rows)-1].HTML, "Second") {
			t.Errorf("%s: got rows %v, sequence %v; want %v of %v", query, got, state.Sequence, want, ids)
		}
	}
}

// A page learns what changed while it was loading, or while a proxy in front of the server held back its stream.
func TestMissedChanges(t *testing.T) {
	h := newTestServer(t)
	kim := h.newUser(t, "Kim", model.RoleStaff)
	since := regexp.MustCompile(`data-since="(\d+)"`).FindSubmatch(kim.get(t, http.StatusOK, "/orders").body)
	if since == nil {
		t.Fatal("the page doesn't say what it shows")
	}
	type missed struct {
		Since   uint64
		Missed  []changeEvent
		Changed bool
	}
	report := func(since string) (m missed) {
		t.Helper()
		got := kim.post(t, http.StatusOK, "/changes/here", url.Values{"tab": {"1"}, "page": {""}, "since": {since}})
		if err := json.Unmarshal(got.body, &m); err != nil {
			t.Fatalf("decode %s: %v", got.body, err)
		}
		return m
	}
	h.newUser(t, "Lee", model.RoleStaff) // which pages of records don't show
	if m := report(string(since[1])); len(m.Missed) > 0 || m.Changed {
		t.Errorf("got %+v, want no change", m)
	}
	order := h.createOrder(t, "T-1", 3, nil)
	m := report(string(since[1]))
	if want := "order:" + h.vault.Secrets.IDs("orders").Encode(order.ID); len(m.Missed) != 1 || !slices.Contains(m.Missed[0].Records, want) {
		t.Errorf("got %+v, want the new order", m)
	}
	last := strconv.FormatUint(m.Since, 10)
	if m := report(last); len(m.Missed) > 0 || m.Changed {
		t.Errorf("after the last entry, got %+v, want no change", m)
	}
	for n := range 101 {
		patch := model.OrderPatch{Fields: model.Inputs{"city": model.StringInput(strconv.Itoa(n))}}
		if _, err := h.vault.Orders.Edit(t.Context(), kim.actor, order.ID, patch); err != nil {
			t.Fatalf("change order: %v", err)
		}
	}
	for _, since := range []string{last, "9999"} { // many changes, and the audit log before a backup was restored
		if m := report(since); len(m.Missed) > 0 || !m.Changed {
			t.Errorf("since %s, got %d changes, want only that there are changes", since, len(m.Missed))
		}
	}
}

//go:build browser

package cmd_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"deedkeep/app/apitypes"
	"deedkeep/app/vaulttest/client"
)

// Two users have the same abstract open. Each sees what the other changes, and which field they edit, without losing what
// they type, the focus, or the place in the runsheet.
func testLivePages(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	f := &firm{testServer: srv, client: srv.apiClient()}
	created, err := f.client.CreateAbstract(t.Context(), client.AbstractDraft{})
	f.must(err)
	release := f.createRunsheet(t.Context(), created.Data.ID)
	const (
		borrower = "#group-details [name='custom_fields.borrower']"
		vesting  = "#group-details [name='custom_fields.vesting']"
		note     = "#notes textarea"
	)
	one, two := env.newTab(t, srv.origin), env.newTab(t, srv.origin)
	for b, user := range map[*tab]string{one: admin, two: staff} {
		b.signIn(user)
		b.goTo("/abstracts/" + created.Data.ID)
		b.waitVisible("h1")
	}
	one.waitVisible("#here | Also here: " + staff)
	two.waitVisible("#here | Also here: " + admin)

	// A change appears while the other user types elsewhere.
	two.fill(note, "Call the county")
	one.click("#edit-details")
	one.waitVisible(vesting)
	one.fill(vesting, "Ann Poe")
	two.waitVisible("#here | (editing Vesting")
	two.checkAccessible(t, "someone else edits")
	two.screenshot("scene-also-here")
	one.press(kb.Enter)
	two.waitVisible("#group-details dd | Ann Poe")
	two.waitFor(findJS(note) + `.value == "Call the county" && document.activeElement == ` + findJS(note))

	two.click("#notes button | Add note")
	two.waitVisible("#notes li | Call the county")
	one.waitVisible("#notes li | Call the county")

	// A field that is being edited is marked, and what was typed stays.
	two.click("#edit-details")
	two.waitVisible(borrower)
	two.fill(borrower, "Dana Birch")
	one.click("#edit-details")
	one.waitVisible(borrower)
	one.fill(borrower, "D. Birch")
	one.press(kb.Enter)
	two.waitVisible(".changed-by | " + admin + " changed this field while you were editing.")
	two.waitFor(findJS(borrower) + `.value == "Dana Birch"`)
	two.checkAccessible(t, "field that someone else changed")
	two.screenshot("scene-changed-by")
	two.click("#group-details [data-cancel]")
	two.waitVisible("#group-details dd | D. Birch")

	// The runsheet keeps the cell that is selected, and the text in the one that is edited.
	two.goTo("/orders")
	two.goTo(fmt.Sprintf("/abstracts/%s#instrument-%d", created.Data.ID, release))
	two.waitFor(fmt.Sprintf(`document.activeElement.closest("#instrument-%d")`, release))
	two.press(kb.Enter)
	two.press("Quit")
	address := fmt.Sprintf("/v1/instruments/%d", release)
	var saved apitypes.InstrumentBody
	f.must(f.client.Do(t.Context(), http.MethodPatch, address, map[string]any{"remarks": "Seen at the county", "book": "77"}, &saved))
	two.waitVisible("td.remarks | Seen at the county")
	two.waitFor(`(document.activeElement.value ?? "").endsWith("Quit")`)
	two.press(kb.Escape)
	var added apitypes.InstrumentBody
	f.must(f.client.Do(t.Context(), http.MethodPost, "/v1/abstracts/"+created.Data.ID+"/instruments",
		map[string]any{"type_id": 7, "remarks": "Added by another person"}, &added))
	two.waitVisible("td.remarks | Added by another person")

	// Lists and the desk follow, too, and one connection serves all tabs of a browser.
	two.goTo("/orders")
	_, err = f.client.CreateOrder(t.Context(), client.OrderDraft{OrderNumber: "26-77", Address: "14 Orchard Ridge Road", City: "Harlow"})
	f.must(err)
	two.waitVisible("#results a | 26-77")
	one.goTo("/abstracts/" + created.Data.ID)
	one.waitFor(`!document.querySelector("#here")?.textContent`)
	f.must(f.client.TrashAbstract(t.Context(), created.Data.ID))
	one.expect("status of 404")
	one.waitVisible("#live-note | This record was moved to the trash")
	one.checkAccessible(t, "record in the trash")
	one.screenshot("scene-live-gone")
	t.Run("connections", func(t *testing.T) { f.testConnections(t, two) })
}

// follow changes an order as another user, and waits until pages that list it show that.
func (f *firm) follow(t *testing.T, what, order string, tabs ...*tab) {
	t.Helper()
	number := strings.ReplaceAll(what, " ", "-")
	var saved apitypes.OrderBody
	f.must(f.client.Do(t.Context(), http.MethodPatch, "/v1/orders/"+order, map[string]any{"order_number": number}, &saved))
	began := time.Now()
	for _, b := range tabs {
		b.waitVisible("#results a | " + number)
	}
	t.Logf("%s: shown after %d ms", what, time.Since(began).Milliseconds())
	if time.Since(began) > 5*time.Second {
		t.Errorf("%s: shown after %v, want about a second", what, time.Since(began))
	}
}

// waitStreams waits until the server has exactly want streams of changes open.
func (f *firm) waitStreams(t *testing.T, what string, want int) {
	t.Helper()
	var got string
	for end := time.Now().Add(tabTimeout); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		resp, err := http.Get(f.origin + "/metrics")
		f.must(err)
		text, err := io.ReadAll(resp.Body)
		f.must(errors.Join(err, resp.Body.Close()))
		_, after, _ := strings.Cut(string(text), "\ndeedkeep_http_requests_in_flight ")
		if got, _, _ = strings.Cut(after, "\n"); got == strconv.Itoa(want+1) { // and that of the metrics
			return
		}
	}
	t.Fatalf("%s: got %s requests in progress, want %d streams and one for the metrics", what, got, want)
}

// One connection serves all tabs of a browser. If its tab is closed, another one takes over. Without locks, and with a proxy
// that holds back the stream or rejects it, pages follow, too.
func (f *firm) testConnections(t *testing.T, b *tab) {
	order, err := f.client.CreateOrder(t.Context(), client.OrderDraft{OrderNumber: "26-90", Address: "8 Ferry Street", City: "Harlow"})
	f.must(err)
	f.waitStreams(t, "before", 2) // those of the two users
	b.goTo("/me")                 // which follows nothing
	f.waitStreams(t, "one user left", 1)
	leader := b.newTab(t)
	leader.goTo("/orders")
	f.waitStreams(t, "first tab", 2)
	b.goTo("/orders")
	f.follow(t, "both tabs", order.ID, leader, b)
	f.waitStreams(t, "second tab", 2)
	leader.close()
	f.follow(t, "the tab that is left", order.ID, b)
	f.waitStreams(t, "the tab that is left", 2)

	b.goTo("/me")
	const everySecond = `{ const real = window.setInterval; window.setInterval = (act, pause) => real(act, pause / 30) }`
	withoutLocks := b.newTab(t)
	withoutLocks.onNewPage(`Object.defineProperty(Navigator.prototype, "locks", {get: () => undefined})`)
	withoutLocks.goTo("/orders")
	withoutLocks.waitFor("!navigator.locks")
	f.follow(t, "without locks", order.ID, withoutLocks)
	withoutLocks.close()
	f.waitStreams(t, "after the tab without locks", 1)

	held := b.newTab(t)
	held.onNewPage(everySecond)
	held.interceptChanges(func(fetch.RequestID) {})
	held.goTo("/orders")
	f.follow(t, "with a proxy that holds back the stream", order.ID, held)
	held.close()

	rejected := b.newTab(t)
	rejected.onNewPage(everySecond)
	attempts := rejected.interceptChanges(func(id fetch.RequestID) {
		_, _ = chromedp.Call(rejected.ctx, fetch.FulfillRequest, fetch.FulfillRequestParams{RequestID: id, ResponseCode: 502})
	})
	rejected.expect("502")
	rejected.goTo("/orders")
	f.follow(t, "with a proxy that rejects the stream", order.ID, rejected)
	f.follow(t, "with a proxy that still rejects it", order.ID, rejected)
	if n := attempts.Load(); n != 1 {
		t.Errorf("got %d attempts to connect, want 1 in a minute", n)
	}
	rejected.close()

	cut := b.newTab(t)
	cut.onNewPage(everySecond)
	attempts = cut.interceptChanges(func(id fetch.RequestID) {
		_, _ = chromedp.Call(cut.ctx, fetch.FailRequest, fetch.FailRequestParams{RequestID: id, ErrorReason: network.ErrorReasonTimedOut})
	})
	cut.expect("ERR_TIMED_OUT")
	cut.goTo("/orders")
	f.follow(t, "with a proxy that ends the stream", order.ID, cut)
	time.Sleep(5 * time.Second)
	if n := attempts.Load(); n < 2 || n > 4 {
		t.Errorf("got %d attempts to connect in 5 seconds, want 2 to 4", n)
	}
	cut.close()
}

// interceptChanges passes requests for the stream of changes to act instead of sending them. It returns their number.
func (ta *tab) interceptChanges(act func(fetch.RequestID)) *atomic.Int32 {
	ta.t.Helper()
	count := &atomic.Int32{}
	err := chromedp.Listen(ta.ctx, func(event any) {
		if e, ok := event.(*fetch.EventRequestPaused); ok {
			count.Add(1)
			go act(e.RequestID)
		}
	})
	if err != nil {
		ta.t.Fatalf("listen for requests: %v", err)
	}
	call(ta, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: "*/changes"}}})
	return count
}

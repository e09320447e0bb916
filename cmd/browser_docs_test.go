//go:build browser

package cmd_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// An integrator tries the interface on /docs: with a key, in a browser in which somebody
// is signed in besides, whose cookie must not count.
func docsAreTried(t *testing.T, on *bench) {
	h := on.house(t)
	h.user("Kim Lee", "admin")
	key := h.command("", "keys", "create", "docs", "--quiet")
	b := on.tab(t, h.origin)
	b.signIn("Kim Lee")
	sent := b.sentToV1()

	// An address that names another description changes nothing: the watch sees who is asked.
	b.goTo("/docs?url=http://127.0.0.1:9/other.json&configUrl=http://127.0.0.1:9/other.json#/Orders/createOrder")
	const order = "#operations-Orders-createOrder"
	b.sees(order + " .execute")
	b.noBarriers(t, "an operation in the address")
	b.expect("401")
	b.click(order + " .execute")
	b.reads("Unauthenticated.")

	b.fill("#key", key)
	const list = "#operations-Abstracts-listAbstractTemplates"
	b.tabTo(list + " .opblock-summary-control") // by keyboard alone
	b.press(kb.Enter)
	b.tabTo(list + " .execute")
	b.press(kb.Enter)
	b.sees(list + " .live-responses-table .response-col_status | 200")
	b.sees(list + ` .live-responses-table pre | "templates": [`)
	b.sees(list + " .curl | curl -X 'GET'")

	b.click(order + " .execute")
	b.sees(order + " .live-responses-table .response-col_status | 201")
	b.sees(order + " .live-responses-table pre | T-2026-0417")

	const abstract = "#operations-Abstracts-createAbstract"
	b.click(abstract + " .opblock-summary-control")
	b.click(abstract + " .json-schema-form-item-add")
	b.attach(abstract+" input[type=file]", sampleFile(t, "title/open-end-mortgage.pdf"))
	b.click(abstract + " .execute")
	b.sees(abstract + " .live-responses-table .response-col_status | 201")
	b.sees(abstract + ` .live-responses-table pre | "filename": "open-end-mortgage.pdf"`)
	b.noBarriers(t, "tried")
	if shown := value[string](b, "document.body.innerText"); strings.Contains(shown, key) || !strings.Contains(shown, "Bearer YOUR_KEY") {
		t.Error("the key is shown")
	}
	if kept := value[string](b, "JSON.stringify([localStorage, sessionStorage, document.cookie])"); strings.Contains(kept, "dk_live_") || !strings.HasPrefix(kept, "[{},") {
		t.Errorf("the page keeps %s", kept)
	}
	for _, look := range []struct {
		name, theme string
		width       int64
	}{{"docs-tried", "light", 1280}, {"docs-tried-dark", "dark", 1280}, {"docs-tried-phone", "light", 360}} {
		b.size(look.width, 740)
		b.theme(look.theme)
		if wide := b.tooWide(int(look.width)); len(wide) > 0 {
			t.Errorf("%s: too wide: %q", look.name, wide)
		}
		b.noBarriers(t, look.name)
		b.screenshot(look.name)
	}
	b.size(1280, 900)
	b.goTo("/docs#/File%20vault/downloadFile")
	const download = "#operations-File_vault-downloadFile"
	b.sees(download + " .execute")
	if held := value[string](b, `document.querySelector("#key").value`); held != "" {
		t.Error("the key outlives its page")
	}
	b.fill("#key", key)
	b.fill(download+" [data-param-name=n] input", "1")
	b.click(download + " .execute")
	b.sees(download + " a[download='open-end-mortgage.pdf'] | Download file")
	b.sees(download + " .curl | curl -L -O -J -X 'GET'") // else what is pasted gets the redirect alone
	for request, cookies := range sent() {
		if cookies > 0 {
			t.Errorf("%s was sent with %d cookies", request, cookies)
		}
	}
	if n := len(sent()); n < 4 {
		t.Errorf("%d requests were seen", n)
	}
	t.Run("under another name", func(t *testing.T) { triedUnderAnotherName(t, on) })
}

// Where the public address is not that in the browser, what is tried goes to the one in
// the browser, and what is copied names the public one.
func triedUnderAnotherName(t *testing.T, on *bench) {
	h := on.house(t, "DEEDKEEP_PUBLIC_URL=https://deeds.example")
	key := h.command("", "keys", "create", "docs", "--quiet")
	b := on.tab(t, h.origin)
	b.goTo("/docs#/Abstracts/listAbstractTemplates")
	const list = "#operations-Abstracts-listAbstractTemplates"
	b.sees(list + " .docs-samples pre | https://deeds.example/v1/abstract-templates")
	b.fill("#key", key)
	b.click(list + " .execute")
	b.sees(list + " .live-responses-table .response-col_status | 200")
	b.sees(list + " .request-url pre | " + h.origin + "/v1/abstract-templates")
	b.screenshot("docs-under-another-name")
}

// sentToV1 listens from now on for requests to /v1, and tells with how many cookies each
// was sent.
func (b *tab) sentToV1() func() map[string]int {
	b.t.Helper()
	var mu sync.Mutex
	asked, cookies := map[network.RequestID]string{}, map[network.RequestID]int{}
	err := chromedp.Listen(b.ctx, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if strings.HasPrefix(e.Request.URL, b.origin+"/v1/") {
				asked[e.RequestID] = fmt.Sprintf("%s %s (%s)", e.Request.Method, e.Request.URL, e.RequestID)
			}
		case *network.EventRequestWillBeSentExtraInfo:
			for name := range e.Headers {
				if strings.EqualFold(name, "cookie") {
					cookies[e.RequestID]++
				}
			}
		}
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return func() map[string]int {
		mu.Lock()
		defer mu.Unlock()
		seen := map[string]int{}
		for id, request := range asked {
			seen[request] = cookies[id]
		}
		return seen
	}
}

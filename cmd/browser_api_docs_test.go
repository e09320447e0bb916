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
func testAPIDocs(t *testing.T, env *browserEnv) {
	srv := env.newServer(t)
	srv.createUser("Kim Lee", "admin")
	key := srv.command("", "keys", "create", "docs", "--quiet")
	b := env.newTab(t, srv.origin)
	b.signIn("Kim Lee")
	sent := b.recordRequests()

	// An address that names another description changes nothing: the watch sees who is asked.
	b.goTo("/docs?url=http://127.0.0.1:9/other.json&configUrl=http://127.0.0.1:9/other.json#/Orders/createOrder")
	const order = "#operations-Orders-createOrder"
	b.waitVisible(order + " .execute")
	b.checkAccessible(t, "an operation in the address")
	b.expect("401")
	b.click(order + " .execute")
	b.waitText("Unauthenticated.")

	b.fill("#key", key)
	const list = "#operations-Abstracts-listAbstractTemplates"
	b.tabTo(list + " .opblock-summary-control") // by keyboard alone
	b.press(kb.Enter)
	b.tabTo(list + " .execute")
	b.press(kb.Enter)
	b.waitVisible(list + " .live-responses-table .response-col_status | 200")
	b.waitVisible(list + ` .live-responses-table pre | "templates": [`)
	b.waitVisible(list + " .curl | curl -X 'GET'")

	b.click(order + " .execute")
	b.waitVisible(order + " .live-responses-table .response-col_status | 201")
	b.waitVisible(order + " .live-responses-table pre | T-2026-0417")

	const abstract = "#operations-Abstracts-createAbstract"
	b.click(abstract + " .opblock-summary-control")
	b.click(abstract + " .json-schema-form-item-add")
	b.attachFiles(abstract+" input[type=file]", sampleFile(t, "title/open-end-mortgage.pdf"))
	b.click(abstract + " .execute")
	b.waitVisible(abstract + " .live-responses-table .response-col_status | 201")
	b.waitVisible(abstract + ` .live-responses-table pre | "filename": "open-end-mortgage.pdf"`)
	b.checkAccessible(t, "tried")
	if shown := eval[string](b, "document.body.innerText"); strings.Contains(shown, key) || !strings.Contains(shown, "Bearer YOUR_KEY") {
		t.Error("the key is shown")
	}
	if kept := eval[string](b, "JSON.stringify([localStorage, sessionStorage, document.cookie])"); strings.Contains(kept, "dk_live_") || !strings.HasPrefix(kept, "[{},") {
		t.Errorf("the page keeps %s", kept)
	}
	for _, look := range []struct {
		name, theme string
		width       int64
	}{{"docs-tried", "light", 1280}, {"docs-tried-dark", "dark", 1280}, {"docs-tried-phone", "light", 360}} {
		b.setSize(look.width, 740)
		b.setTheme(look.theme)
		if wide := b.overflow(int(look.width)); len(wide) > 0 {
			t.Errorf("%s: too wide: %q", look.name, wide)
		}
		b.checkAccessible(t, look.name)
		b.screenshot(look.name)
	}
	b.setSize(1280, 900)
	b.goTo("/docs#/File%20vault/downloadFile")
	const download = "#operations-File_vault-downloadFile"
	b.waitVisible(download + " .execute")
	if held := eval[string](b, `document.querySelector("#key").value`); held != "" {
		t.Error("the key outlives its page")
	}
	b.fill("#key", key)
	b.fill(download+" [data-param-name=n] input", "1")
	b.click(download + " .execute")
	b.waitVisible(download + " a[download='open-end-mortgage.pdf'] | Download file")
	b.waitVisible(download + " .curl | curl -L -O -J -X 'GET'") // else what is pasted gets the redirect alone
	for request, cookies := range sent() {
		if cookies > 0 {
			t.Errorf("%s was sent with %d cookies", request, cookies)
		}
	}
	if n := len(sent()); n < 4 {
		t.Errorf("%d requests were seen", n)
	}
	t.Run("under another name", func(t *testing.T) { testDocsWithPublicURL(t, env) })
}

// Where the public address is not that in the browser, what is tried goes to the one in
// the browser, and what is copied names the public one.
func testDocsWithPublicURL(t *testing.T, env *browserEnv) {
	srv := env.newServer(t, "DEEDKEEP_PUBLIC_URL=https://deeds.example")
	key := srv.command("", "keys", "create", "docs", "--quiet")
	b := env.newTab(t, srv.origin)
	b.goTo("/docs#/Abstracts/listAbstractTemplates")
	const list = "#operations-Abstracts-listAbstractTemplates"
	b.waitVisible(list + " .docs-samples pre | https://deeds.example/v1/abstract-templates")
	b.fill("#key", key)
	b.click(list + " .execute")
	b.waitVisible(list + " .live-responses-table .response-col_status | 200")
	b.waitVisible(list + " .request-url pre | " + srv.origin + "/v1/abstract-templates")
	b.screenshot("docs-under-another-name")
}

// recordRequests listens from now on for requests to /v1, and tells with how many cookies each
// was sent.
func (b *tab) recordRequests() func() map[string]int {
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

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

// A user can try the API on /docs with a key. Requests don't include the session cookie,
// even though the user is signed in.
func testAPIDocs(t *testing.T, env *browserEnv) {
	srv := env.newServer(t)
	srv.createUser("Kim Lee", "admin")
	key := srv.command("", "keys", "create", "docs", "--quiet")
	b := env.newTab(t, srv.origin)
	b.signIn("Kim Lee")
	requests := b.recordRequests()

	// URL parameters that make Swagger UI load a different API description have no effect.
	// The monitor would report the request to another origin.
	b.goTo("/docs?url=http://127.0.0.1:9/other.json&configUrl=http://127.0.0.1:9/other.json#/Orders/createOrder")
	const order = "#operations-Orders-createOrder"
	b.waitVisible(order + " .execute")
	b.checkAccessible(t, "operation in the address")
	b.expect("401")
	b.click(order + " .execute")
	b.waitText("Unauthenticated.")

	b.fill("#key", key)
	const list = "#operations-Abstracts-listAbstractTemplates"
	b.tabTo(list + " .opblock-summary-control") // use only the keyboard
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
	b.checkAccessible(t, "responses")
	text := eval[string](b, "document.body.innerText")
	if strings.Contains(text, key) || !strings.Contains(text, "Bearer YOUR_KEY") {
		t.Errorf("text of the page: got %q, want \"Bearer YOUR_KEY\" and not the key", text)
	}
	stored := eval[string](b, "JSON.stringify([localStorage, sessionStorage, document.cookie])")
	if strings.Contains(stored, "dk_live_") || !strings.HasPrefix(stored, "[{},") {
		t.Errorf("stored by the page: got %s, want no key", stored)
	}
	for _, row := range []struct {
		name, theme string
		width       int64
	}{{"docs-tried", "light", 1280}, {"docs-tried-dark", "dark", 1280}, {"docs-tried-phone", "light", 360}} {
		t.Run(row.name, func(t *testing.T) {
			b.setSize(row.width, 740)
			b.setTheme(row.theme)
			if wide := b.overflow(int(row.width)); len(wide) > 0 {
				t.Errorf("elements wider than the window: got %q, want none", wide)
			}
			b.checkAccessible(t, row.name)
			b.screenshot(row.name)
		})
	}
	b.setSize(1280, 900)
	b.goTo("/docs#/File%20vault/downloadFile")
	const download = "#operations-File_vault-downloadFile"
	b.waitVisible(download + " .execute")
	if got := eval[string](b, `document.querySelector("#key").value`); got != "" {
		t.Errorf("key field after a navigation: got %q, want it empty", got)
	}
	b.fill("#key", key)
	b.fill(download+" [data-param-name=n] input", "1")
	b.click(download + " .execute")
	b.waitVisible(download + " a[download='open-end-mortgage.pdf'] | Download file")
	b.waitVisible(download + " .curl | curl -L -O -J -X 'GET'") // without -L, curl would get only the redirect
	for request, cookies := range requests() {
		if cookies > 0 {
			t.Errorf("%s: got %d cookies, want none", request, cookies)
		}
	}
	if n := len(requests()); n < 4 {
		t.Errorf("got %d requests to the API, want at least 4", n)
	}
	t.Run("with a public URL", func(t *testing.T) { testDocsWithPublicURL(t, env) })
}

// If the public URL differs from the address in the browser, requests go to the address in
// the browser, while the code samples contain the public URL.
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

// recordRequests records all requests to /v1 from now on. The returned function returns the
// number of cookies that each of them sent.
func (ta *tab) recordRequests() func() map[string]int {
	ta.t.Helper()
	var mu sync.Mutex
	requests, cookies := map[network.RequestID]string{}, map[network.RequestID]int{}
	err := chromedp.Listen(ta.ctx, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if strings.HasPrefix(e.Request.URL, ta.origin+"/v1/") {
				requests[e.RequestID] = fmt.Sprintf("%s %s (%s)", e.Request.Method, e.Request.URL, e.RequestID)
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
		ta.t.Fatalf("listen for requests: %v", err)
	}
	return func() map[string]int {
		mu.Lock()
		defer mu.Unlock()
		counts := map[string]int{}
		for id, request := range requests {
			counts[request] = cookies[id]
		}
		return counts
	}
}

//go:build browser

package cmd_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	pageproto "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// tabTimeout is the timeout for each wait in a tab.
const tabTimeout = 30 * time.Second

// tab is a browser tab with its own cookies. Its monitor fails the test if a page has
// problems.
type tab struct {
	t     *testing.T
	ctx   context.Context
	close context.CancelFunc
	*monitor
	declines atomic.Bool // dialogs are declined
}

// newTab opens a tab for the pages of an origin, such as http://host:port.
func (env *browserEnv) newTab(t *testing.T, origin string) *tab {
	t.Helper()
	return openTab(env.browser, t, origin, chromedp.WithNewBrowserContext())
}

// newTab opens another tab with the same cookies.
func (ta *tab) newTab(t *testing.T) *tab {
	t.Helper()
	return openTab(ta.ctx, t, ta.origin)
}

func openTab(parent context.Context, t *testing.T, origin string, options ...chromedp.ContextOption) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(parent, options...)
	b := &tab{t: t, ctx: ctx, close: cancel, monitor: &monitor{origin: origin}}
	t.Cleanup(func() {
		cancel()
		b.check(t.Error)
	})
	if err := chromedp.Do(ctx); err != nil { // opens the tab, which exists until ctx is canceled
		t.Fatalf("open tab: %v", err)
	}
	call(b, audits.Enable, noParams)
	if err := chromedp.Listen(ctx, b.handle); err != nil {
		t.Fatalf("listen for events: %v", err)
	}
	b.acceptDialogs()
	b.setSize(1280, 900)
	return b
}

// acceptDialogs accepts or declines all dialogs, because an open dialog blocks the page.
func (ta *tab) acceptDialogs() {
	ctx, stop := context.WithCancel(ta.ctx)
	dialogs, done := chromedp.Events(ctx, pageproto.JavascriptDialogOpening), make(chan struct{})
	go func() {
		defer close(done)
		for _, err := range dialogs {
			if err != nil {
				return
			}
			params := pageproto.HandleJavaScriptDialogParams{Accept: !ta.declines.Load()}
			_, _ = chromedp.Call(ctx, pageproto.HandleJavaScriptDialog, params) // the tab may already be closed
		}
	}()
	ta.t.Cleanup(func() {
		stop()
		<-done
	})
}

// run runs actions with a timeout of tabTimeout.
func (ta *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	ta.t.Helper()
	ctx, cancel := context.WithTimeout(ta.ctx, tabTimeout)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		ta.t.Fatalf("run actions: %v\n%s", err, ta.describe())
	}
}

// onNewPage runs a script in each page that is opened from now on, before the scripts of the page.
func (ta *tab) onNewPage(script string) {
	ta.t.Helper()
	call(ta, pageproto.AddScriptToEvaluateOnNewDocument, pageproto.AddScriptToEvaluateOnNewDocumentParams{Source: script})
}

// noParams is the parameter of commands that have no parameters.
var noParams cdp.Empty

// call runs a DevTools protocol command and returns its result.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, tabTimeout)
	defer cancel()
	result, err := chromedp.Call(ctx, command, params)
	if err != nil {
		b.t.Fatalf("%s: %v", command.Method, err)
	}
	return result
}

// eval evaluates a JavaScript expression in the page and returns its value. If the value is
// a promise, eval waits for it.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, tabTimeout)
	defer cancel()
	got, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v\n%s", expression, err, b.describe())
	}
	return got
}

// waitFor waits until a JavaScript expression is true. It keeps waiting if the browser
// navigates to another page in the meantime.
func (ta *tab) waitFor(expression string) {
	ta.t.Helper()
	var last error
	for end := time.Now().Add(tabTimeout); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(ta.ctx, tabTimeout)
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		cancel()
		if ok {
			return
		}
		last = err // expected during a navigation
	}
	ta.t.Fatalf("not true after %v: %s (%v)\n%s", tabTimeout, expression, last, ta.describe())
}

// describe returns the page's URL, visible text, and problems for failure messages.
func (ta *tab) describe() string {
	ctx, cancel := context.WithTimeout(ta.ctx, 2*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText.slice(0, 1500)`))
	if err != nil {
		return fmt.Sprint("no page: ", err)
	}
	return text + "\n" + ta.problemText()
}

// pageLoaded is a JavaScript expression that is true when a new page is loaded.
// waitNavigation sets leftBehind on the old one.
const pageLoaded = `document.readyState == "complete" && !window.leftBehind`

// goTo opens a path of the server, whatever the status of the response.
func (ta *tab) goTo(path string) {
	ta.t.Helper()
	ta.run(chromedp.Navigate(ta.origin + path))
	ta.waitFor(pageLoaded)
}

// waitNavigation calls act, which must open another page or reload this one, and waits
// until that page is loaded.
func (ta *tab) waitNavigation(act func()) {
	ta.t.Helper()
	eval[bool](ta, `window.leftBehind = true`)
	act()
	ta.waitFor(pageLoaded)
}

// findJS returns a JavaScript expression for the first visible element that matches a
// selector of the form "CSS | TEXT". TEXT is optional. It must be part of the element's
// text, label, or value.
func findJS(selector string) string {
	css, text, _ := strings.Cut(selector, " | ")
	return fmt.Sprintf(`[...document.querySelectorAll(%s)].find(e => e.checkVisibility({visibilityProperty: true}) && %s)`,
		strconv.Quote(css), hasTextJS("e", text))
}

// hasTextJS returns a JavaScript expression that is true if an element's text, label, or
// value contains text.
func hasTextJS(element, text string) string {
	return fmt.Sprintf(`[%[1]s.innerText, %[1]s.ariaLabel, %[1]s.value].some(s => (s || "").replace(/\s+/g, " ").includes(%s))`,
		element, strconv.Quote(text))
}

// waitVisible waits until an element is visible.
func (ta *tab) waitVisible(selector string) {
	ta.t.Helper()
	ta.waitFor(findJS(selector))
}

// waitText waits until text appears anywhere on the page.
func (ta *tab) waitText(text string) {
	ta.t.Helper()
	ta.waitFor(fmt.Sprintf(`document.body.innerText.replace(/\s+/g, " ").includes(%s)`, strconv.Quote(text)))
}

// waitSettled waits until an element is visible and htmx has swapped in all pending parts
// of the page, which moves the focus.
func (ta *tab) waitSettled(selector string) {
	ta.t.Helper()
	ta.waitFor(`!document.querySelector(".htmx-request, .htmx-swapping, .htmx-settling, .htmx-added") && ` + findJS(selector))
}

// click waits until an element no longer moves and clicks its center. No other element may
// cover it.
func (ta *tab) click(selector string) {
	ta.t.Helper()
	ta.waitSettled(selector)
	var at, before []float64
	for end := time.Now().Add(tabTimeout); ; before = at {
		at = eval[[]float64](ta, `(() => { const e = `+findJS(selector)+`; if (!e) return [];
			e.scrollIntoView({block: "center", behavior: "instant"});
			const r = e.getClientRects()[0], x = r.x + r.width / 2, y = r.y + r.height / 2, top = document.elementFromPoint(x, y);
			return top && (e.contains(top) || top.contains(e)) ? [x, y] : [] })()`)
		if len(at) > 0 && slices.Equal(at, before) {
			break
		}
		if time.Now().After(end) {
			ta.t.Fatalf("%s is covered\n%s", selector, ta.describe())
		}
	}
	ta.run(chromedp.MouseClickXY(at[0], at[1]))
}

// clickLink clicks a link or button and waits until the page that it opens is loaded.
func (ta *tab) clickLink(selector string) {
	ta.t.Helper()
	ta.waitNavigation(func() { ta.click(selector) })
}

// fill types text into a field, or sets the value of a list, date field, or number field.
func (ta *tab) fill(selector, text string) {
	ta.t.Helper()
	ta.waitSettled(selector)
	typed := eval[bool](ta, fmt.Sprintf(`(() => { const e = %s; e.scrollIntoView({block: "center"}); e.focus();
		if (e.matches("textarea, input:not([type=date], [type=number], [type=datetime-local])")) { e.select(); return true }
		e.value = %s; e.dispatchEvent(new Event("input", {bubbles: true})); e.dispatchEvent(new Event("change", {bubbles: true}));
		return false })()`,
		findJS(selector), strconv.Quote(text)))
	if typed {
		call(ta, input.InsertText, input.InsertTextParams{Text: text})
	}
	if got := eval[string](ta, findJS(selector+" | "+text)+`?.value ?? ""`); got != text {
		ta.t.Fatalf("value of %s: got %q, want %q", selector, got, text)
	}
}

// press presses keys one after another, like a keyboard. If the page handles a key as a
// shortcut, the letter isn't entered into the field.
func (ta *tab) press(keys string) {
	ta.t.Helper()
	for _, r := range keys {
		events := kb.Encode(r)
		if len(events) == 3 { // key down, character, key up
			events[0].Type, events[0].Text = input.DispatchKeyEventTypeKeyDown, events[1].Text
			events = []*input.DispatchKeyEventParams{events[0], events[2]}
		}
		for _, event := range events {
			call(ta, input.DispatchKeyEvent, *event)
		}
	}
}

// fetchSignIn signs a user in with a request sent by the page, without leaving the page.
func (ta *tab) fetchSignIn(name string) {
	ta.t.Helper()
	eval[bool](ta, fmt.Sprintf(`fetch("/sign-in", {method: "POST", redirect: "manual",
		body: new URLSearchParams({name: %q, password: %q})}).then(() => true)`, name, password))
}

// signIn signs a user in on the sign-in page and waits for the desk.
func (ta *tab) signIn(name string) {
	ta.t.Helper()
	ta.goTo("/sign-in")
	ta.fill("input[name=name]", name)
	ta.fill("input[name=password]", password)
	ta.clickLink("main button | Sign in")
	if at := eval[string](ta, "location.pathname"); at != "/" {
		ta.t.Fatalf("after signing in: got page %s, want /\n%s", at, ta.describe())
	}
}

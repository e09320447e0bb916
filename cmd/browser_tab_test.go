//go:build browser

package cmd_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	pageproto "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// tabTimeout is how long a tab waits for what must come.
const tabTimeout = 30 * time.Second

// tab is one page of the browser, with cookies of its own. What goes wrong in it fails
// the test, whatever the test looks at: see watch.
type tab struct {
	t   *testing.T
	ctx context.Context
	*monitor
}

// newTab opens one for the pages of an origin, as http://host:port.
func (env *browserEnv) newTab(t *testing.T, origin string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(env.browser, chromedp.WithNewBrowserContext())
	b := &tab{t: t, ctx: ctx, monitor: &monitor{origin: origin}}
	t.Cleanup(func() {
		cancel()
		b.check(t.Error)
	})
	if err := chromedp.Do(ctx); err != nil { // makes it; it lives as long as this context
		t.Fatal(err)
	}
	call(b, audits.Enable, noParams)
	if err := chromedp.Listen(ctx, b.handle); err != nil {
		t.Fatal(err)
	}
	b.acceptDialogs()
	b.setSize(1280, 900)
	return b
}

// acceptDialogs says yes to whatever a page asks, so that it goes on.
func (b *tab) acceptDialogs() {
	ctx, stop := context.WithCancel(b.ctx)
	dialogs, done := chromedp.Events(ctx, pageproto.JavascriptDialogOpening), make(chan struct{})
	go func() {
		defer close(done)
		for _, err := range dialogs {
			if err != nil {
				return
			}
			_, _ = chromedp.Call(ctx, pageproto.HandleJavaScriptDialog, pageproto.HandleJavaScriptDialogParams{Accept: true}) // the tab may be gone
		}
	}()
	b.t.Cleanup(func() {
		stop()
		<-done
	})
}

// run runs steps, which end within the patience.
func (b *tab) run(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, tabTimeout)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("%v\n%s", err, b.describe())
	}
}

// noParams are the parameters of a command that has none.
var noParams cdp.Empty

// call is one command of the protocol.
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

// eval is what an expression gives in the page; a promise is waited for.
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

// waitFor waits until an expression is true in the page, through any number of pages.
func (b *tab) waitFor(expression string) {
	b.t.Helper()
	var last error
	for end := time.Now().Add(tabTimeout); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(b.ctx, tabTimeout)
		yes, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		cancel()
		if yes {
			return
		}
		last = err // while a page gives way to the next, none may be there to ask
	}
	b.t.Fatalf("never: %s (%v)\n%s", expression, last, b.describe())
}

// describe is what a person would see, for a failure's message.
func (b *tab) describe() string {
	ctx, cancel := context.WithTimeout(b.ctx, 2*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText.slice(0, 1500)`))
	if err != nil {
		return fmt.Sprint("no page: ", err)
	}
	return text + "\n" + b.problemText()
}

// pageLoaded says that the page is whole, and another than the one that was marked.
const pageLoaded = `document.readyState == "complete" && !window.leftBehind`

// goTo opens a page of the house, whatever its status.
func (b *tab) goTo(path string) {
	b.t.Helper()
	b.run(chromedp.Navigate(b.origin + path))
	b.waitFor(pageLoaded)
}

// waitNavigation does what leads to another page (or the same, loaded anew), and waits for it.
func (b *tab) waitNavigation(act func()) {
	b.t.Helper()
	eval[bool](b, `window.leftBehind = true`)
	act()
	b.waitFor(pageLoaded)
}

// findJS is the first visible element that a selector finds; after " | " follows what its
// text, label or value says.
func findJS(selector string) string {
	css, text, _ := strings.Cut(selector, " | ")
	return fmt.Sprintf(`[...document.querySelectorAll(%s)].find(e => e.checkVisibility({visibilityProperty: true}) && %s)`, strconv.Quote(css), hasTextJS("e", text))
}

// hasTextJS is true where an element's text, label or value has the words.
func hasTextJS(element, words string) string {
	return fmt.Sprintf(`[%[1]s.innerText, %[1]s.ariaLabel, %[1]s.value].some(s => (s || "").replace(/\s+/g, " ").includes(%s))`, element, strconv.Quote(words))
}

// waitVisible waits for an element that can be seen.
func (b *tab) waitVisible(selector string) {
	b.t.Helper()
	b.waitFor(findJS(selector))
}

// waitText waits for words anywhere on the page.
func (b *tab) waitText(words string) {
	b.t.Helper()
	b.waitFor(fmt.Sprintf(`document.body.innerText.replace(/\s+/g, " ").includes(%s)`, strconv.Quote(words)))
}

// waitSettled waits for an element, and for a part of the page that is being put into its
// place: that moves the focus.
func (b *tab) waitSettled(selector string) {
	b.t.Helper()
	b.waitFor(`!document.querySelector(".htmx-request, .htmx-swapping, .htmx-settling, .htmx-added") && ` + findJS(selector))
}

// click presses the mouse in the middle of an element, which nothing may cover, once
// it stands still.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.waitSettled(selector)
	var at, before []float64
	for end := time.Now().Add(tabTimeout); ; before = at {
		at = eval[[]float64](b, `(() => { const e = `+findJS(selector)+`; if (!e) return []; e.scrollIntoView({block: "center", behavior: "instant"});
			const r = e.getClientRects()[0], x = r.x + r.width / 2, y = r.y + r.height / 2, top = document.elementFromPoint(x, y);
			return top && (e.contains(top) || top.contains(e)) ? [x, y] : [] })()`)
		if len(at) > 0 && slices.Equal(at, before) {
			break
		}
		if time.Now().After(end) {
			b.t.Fatalf("%s is covered\n%s", selector, b.describe())
		}
	}
	b.run(chromedp.MouseClickXY(at[0], at[1]))
}

// clickLink clicks what leads to another page.
func (b *tab) clickLink(selector string) {
	b.t.Helper()
	b.waitNavigation(func() { b.click(selector) })
}

// fill types a text into a field, or picks it in one that is not typed into.
func (b *tab) fill(selector, text string) {
	b.t.Helper()
	b.waitSettled(selector)
	typed := eval[bool](b, fmt.Sprintf(`(() => { const e = %s; e.scrollIntoView({block: "center"}); e.focus();
		if (e.matches("textarea, input:not([type=date], [type=number], [type=datetime-local])")) { e.select(); return true }
		e.value = %s; e.dispatchEvent(new Event("input", {bubbles: true})); e.dispatchEvent(new Event("change", {bubbles: true})); return false })()`,
		findJS(selector), strconv.Quote(text)))
	if typed {
		call(b, input.InsertText, input.InsertTextParams{Text: text})
	}
	if got := eval[string](b, findJS(selector+" | "+text)+`?.value ?? ""`); got != text {
		b.t.Fatalf("%s holds %q, not %q", selector, got, text)
	}
}

// press presses keys one after another, as on a real keyboard: a page that takes a key
// for itself keeps its letter out of the field.
func (b *tab) press(keys string) {
	b.t.Helper()
	for _, r := range keys {
		events := kb.Encode(r)
		if len(events) == 3 { // down, letter, up
			events[0].Type, events[0].Text = input.DispatchKeyEventTypeKeyDown, events[1].Text
			events = []*input.DispatchKeyEventParams{events[0], events[2]}
		}
		for _, event := range events {
			call(b, input.DispatchKeyEvent, *event)
		}
	}
}

// signIn signs somebody in, and comes to the desk.
func (b *tab) signIn(name string) {
	b.t.Helper()
	b.goTo("/sign-in")
	b.fill("input[name=name]", name)
	b.fill("input[name=password]", password)
	b.clickLink("main button | Sign in")
	if at := eval[string](b, "location.pathname"); at != "/" {
		b.t.Fatalf("signed in, and at %s\n%s", at, b.describe())
	}
}

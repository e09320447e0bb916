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

// patience is how long a tab waits for what must come.
const patience = 30 * time.Second

// tab is one page of the browser, with cookies of its own. What goes wrong in it fails
// the test, whatever the test looks at: see watch.
type tab struct {
	t   *testing.T
	ctx context.Context
	*watch
}

// tab opens one for the pages of an origin, as http://host:port.
func (on *bench) tab(t *testing.T, origin string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(on.browser, chromedp.WithNewBrowserContext())
	b := &tab{t: t, ctx: ctx, watch: &watch{origin: origin}}
	t.Cleanup(func() {
		cancel()
		b.judge(t.Error)
	})
	if err := chromedp.Do(ctx); err != nil { // makes it; it lives as long as this context
		t.Fatal(err)
	}
	call(b, audits.Enable, none)
	if err := chromedp.Listen(ctx, b.event); err != nil {
		t.Fatal(err)
	}
	b.answerDialogs()
	b.size(1280, 900)
	return b
}

// answerDialogs says yes to whatever a page asks, so that it goes on.
func (b *tab) answerDialogs() {
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

// do runs steps, which end within the patience.
func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("%v\n%s", err, b.state())
	}
}

// none are the parameters of a command that has none.
var none cdp.Empty

// call is one command of the protocol.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	result, err := chromedp.Call(ctx, command, params)
	if err != nil {
		b.t.Fatalf("%s: %v", command.Method, err)
	}
	return result
}

// value is what an expression gives in the page; a promise is waited for.
func value[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	got, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v\n%s", expression, err, b.state())
	}
	return got
}

// until waits until an expression is true in the page, through any number of pages.
func (b *tab) until(expression string) {
	b.t.Helper()
	var last error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(b.ctx, patience)
		yes, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		cancel()
		if yes {
			return
		}
		last = err // while a page gives way to the next, none may be there to ask
	}
	b.t.Fatalf("never: %s (%v)\n%s", expression, last, b.state())
}

// state is what a person would see, for a failure's message.
func (b *tab) state() string {
	ctx, cancel := context.WithTimeout(b.ctx, 2*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText.slice(0, 1500)`))
	if err != nil {
		return fmt.Sprint("no page: ", err)
	}
	return text + "\n" + b.said()
}

// loaded says that the page is whole, and another than the one that was marked.
const loaded = `document.readyState == "complete" && !window.leftBehind`

// goTo opens a page of the house, whatever its status.
func (b *tab) goTo(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.origin + path))
	b.until(loaded)
}

// leave does what leads to another page (or the same, loaded anew), and waits for it.
func (b *tab) leave(act func()) {
	b.t.Helper()
	value[bool](b, `window.leftBehind = true`)
	act()
	b.until(loaded)
}

// pick is the first visible element that a selector finds; after " | " follows what its
// text, label or value says.
func pick(selector string) string {
	css, text, _ := strings.Cut(selector, " | ")
	return fmt.Sprintf(`[...document.querySelectorAll(%s)].find(e => e.checkVisibility({visibilityProperty: true}) && %s)`, strconv.Quote(css), says("e", text))
}

// says is true where an element's text, label or value has the words.
func says(element, words string) string {
	return fmt.Sprintf(`[%[1]s.innerText, %[1]s.ariaLabel, %[1]s.value].some(s => (s || "").replace(/\s+/g, " ").includes(%s))`, element, strconv.Quote(words))
}

// sees waits for an element that can be seen.
func (b *tab) sees(selector string) {
	b.t.Helper()
	b.until(pick(selector))
}

// reads waits for words anywhere on the page.
func (b *tab) reads(words string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`document.body.innerText.replace(/\s+/g, " ").includes(%s)`, strconv.Quote(words)))
}

// settled waits for an element, and for a part of the page that is being put into its
// place: that moves the focus.
func (b *tab) settled(selector string) {
	b.t.Helper()
	b.until(`!document.querySelector(".htmx-request, .htmx-swapping, .htmx-settling, .htmx-added") && ` + pick(selector))
}

// click presses the mouse in the middle of an element, which nothing may cover, once
// it stands still.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.settled(selector)
	var at, before []float64
	for end := time.Now().Add(patience); ; before = at {
		at = value[[]float64](b, `(() => { const e = `+pick(selector)+`; if (!e) return []; e.scrollIntoView({block: "center", behavior: "instant"});
			const r = e.getClientRects()[0], x = r.x + r.width / 2, y = r.y + r.height / 2, top = document.elementFromPoint(x, y);
			return top && (e.contains(top) || top.contains(e)) ? [x, y] : [] })()`)
		if len(at) > 0 && slices.Equal(at, before) {
			break
		}
		if time.Now().After(end) {
			b.t.Fatalf("%s is covered\n%s", selector, b.state())
		}
	}
	b.do(chromedp.MouseClickXY(at[0], at[1]))
}

// follow clicks what leads to another page.
func (b *tab) follow(selector string) {
	b.t.Helper()
	b.leave(func() { b.click(selector) })
}

// fill types a text into a field, or picks it in one that is not typed into.
func (b *tab) fill(selector, text string) {
	b.t.Helper()
	b.settled(selector)
	typed := value[bool](b, fmt.Sprintf(`(() => { const e = %s; e.scrollIntoView({block: "center"}); e.focus();
		if (e.matches("textarea, input:not([type=date], [type=number], [type=datetime-local])")) { e.select(); return true }
		e.value = %s; e.dispatchEvent(new Event("input", {bubbles: true})); e.dispatchEvent(new Event("change", {bubbles: true})); return false })()`,
		pick(selector), strconv.Quote(text)))
	if typed {
		call(b, input.InsertText, input.InsertTextParams{Text: text})
	}
	if got := value[string](b, pick(selector+" | "+text)+`?.value ?? ""`); got != text {
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
	b.follow("main button | Sign in")
	if at := value[string](b, "location.pathname"); at != "/" {
		b.t.Fatalf("signed in, and at %s\n%s", at, b.state())
	}
}

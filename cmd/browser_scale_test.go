//go:build browser && scale

package cmd_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp/kb"

	"deedkeep/app/vaulttest"
)

// TestBrowserScaleFind types into the find box above a page of the vault that
// TestScaleSearch has made and indexed, by keyboard alone, and says how long it is from
// each letter until what was found by it is on the screen:
//
//	DEEDKEEP_TEST_VAULT=DIR go test -tags 'browser scale' -run BrowserScaleFind -v ./cmd
func TestBrowserScaleFind(t *testing.T) {
	dir := os.Getenv("DEEDKEEP_TEST_VAULT")
	if dir == "" {
		t.Fatal("DEEDKEEP_TEST_VAULT names the vault that TestScaleSearch has made")
	}
	env := newBrowserEnv(t)
	srv := &testServer{t: t, program: env.binary(t), dir: dir, address: "127.0.0.1:0", env: []string{"DEEDKEEP_READER_CACHE=" + vaulttest.CacheDir()}}
	srv.start()
	t.Cleanup(srv.kill)
	who := fmt.Sprintf("Finder %d", time.Now().Unix())
	srv.createUser(who, "admin")
	b := env.newTab(t, srv.origin)
	b.setSize(1280, 800)
	b.signIn(who)
	b.waitIndexed()
	m, words := readMix(t, dir), vaulttest.NewVocabulary()
	owner := strings.ToLower(m.Abstract(m.Orders / 2).Owner)
	name := owner[strings.LastIndexByte(owner, ' ')+1:]
	rarest := words.Word(int(slices.Max(words.Ranks(m.Texts/2, nil))))
	fmt.Printf("\n| typed | until it is seen, ms, of which the box waits 80 for the next letter | found |\n| --- | --- | --- |\n")
	for n, text := range []string{
		m.Order(m.Orders / 2).Number, m.Abstract(m.Orders / 3).Number, m.Abstract(0).Parcel, "Bk 1022 Pg 3", owner, name[:2] + name[3:],
		words.Word(4), `"` + strings.Join([]string{words.Word(1), words.Word(0), words.Word(4)}, " ") + `"`, rarest,
	} {
		b.measureTyping(n+1, text)
	}
	b.openFirstResult(rarest)
}

// readMix is what the vault was made of.
func readMix(t *testing.T, dir string) vaulttest.Mix {
	t.Helper()
	said, err := os.ReadFile(dir + ".mix")
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	m := vaulttest.Mix{Until: vaulttest.MixUntil}
	if _, err := fmt.Sscanf(string(said), "%d moments, %d texts", &m.Orders, &m.Texts); err != nil {
		t.Fatalf("parse mix: %v", err)
	}
	return m
}

// waitIndexed asks by hand until words are looked at, and not numbers alone.
func (b *tab) waitIndexed() {
	b.t.Helper()
	const asks = `fetch("/find/box?q=grantor", {headers: {"HX-Request": "true"}}).then(r => r.text()).then(html => html.includes("palette-list") && !html.includes("found-note"))`
	for end := time.Now().Add(time.Hour); !eval[bool](b, asks); time.Sleep(time.Second) {
		if time.Now().After(end) {
			b.t.Fatal("there is no index")
		}
	}
}

// recordTimings notes when a text was typed and when what was found by it stood on the screen.
const recordTimings = `(() => {
	window.typed = [];
	document.addEventListener("input", e => { if (e.target.id === "palette-q") typed.push({text: e.target.value, at: performance.now(), ms: 0}) }, true);
	new MutationObserver(() => {
		const last = typed.at(-1);
		if (!last || last.ms) return;
		requestAnimationFrame(() => setTimeout(() => {
			last.rows = document.querySelectorAll("#palette [role=option]").length;
			last.first = (document.querySelector("#palette [role=option] .found-name") || document.querySelector("#palette .palette-found"))?.innerText || "";
			last.ms = performance.now() - last.at;
		}));
	}).observe(document.querySelector("#palette .palette-found"), {childList: true});
	return true })()`

type keystroke struct {
	Text  string
	MS    float64
	Rows  int
	First string
}

// openFindBox opens the find box with Ctrl-K, empty.
func (b *tab) openFindBox() {
	b.t.Helper()
	b.goTo("/orders")
	eval[bool](b, `(sessionStorage.removeItem("find"), `+recordTimings+`)`)
	const control = 2
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown, input.DispatchKeyEventTypeKeyUp} {
		call(b, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Modifiers: control, Key: "k", Code: "KeyK", WindowsVirtualKeyCode: 'K'})
	}
	b.waitFor(`document.querySelector("#palette").open && document.activeElement.id == "palette-q"`)
}

// waitLastKey is what came of the last letter, once it is on the screen.
func (b *tab) waitLastKey(text string) keystroke {
	b.t.Helper()
	b.waitFor(fmt.Sprintf(`typed.at(-1)?.text === %q && typed.at(-1).ms > 0`, text))
	return eval[keystroke](b, `(k => ({Text: k.text, MS: k.ms, Rows: k.rows, First: k.first}))(typed.at(-1))`)
}

func (b *tab) measureTyping(n int, text string) {
	b.t.Helper()
	b.openFindBox()
	var slowest keystroke
	for i := range text {
		if b.press(text[i : i+1]); text[i] == ' ' {
			continue // which is nothing else to look for
		}
		key := b.waitLastKey(text[:i+1])
		if key.MS > slowest.MS {
			slowest = key
		}
		fmt.Printf("| `%s` | %.0f | %d: %.60s |\n", key.Text, key.MS, key.Rows, strings.ReplaceAll(key.First, "\n", " "))
		if n == 1 || i == len(text)-1 {
			b.screenshot(fmt.Sprintf("find-%02d-%02d", n, i+1))
		}
	}
	// As quickly as people type, without waiting for an answer.
	b.openFindBox()
	for i := range text {
		b.press(text[i : i+1])
		time.Sleep(90 * time.Millisecond)
	}
	key := b.waitLastKey(text)
	fmt.Printf("| `%s` typed at once | %.0f after the last letter; the slowest letter %.0f, at `%s` | %d |\n", text, key.MS, slowest.MS, slowest.Text, key.Rows)
	if key.Rows == 0 {
		b.t.Errorf("nothing is found by %q: %s", text, key.First)
	}
}

// openFirstResult goes with an arrow and Enter to the document that has a word, on its
// page, where it is marked.
func (b *tab) openFirstResult(word string) {
	b.t.Helper()
	b.openFindBox()
	b.press(word)
	b.waitLastKey(word)
	b.press(kb.ArrowDown)
	b.screenshot("find-chosen")
	begun := time.Now()
	b.waitNavigation(func() { b.press(kb.Enter) })
	page := eval[int](b, `Number(new URL(location.href).searchParams.get("page"))`)
	if page < 1 {
		b.t.Fatalf("%s\n%s", eval[string](b, "location.href"), b.describe())
	}
	b.waitPageImage(page)
	fmt.Printf("| `%s`, arrow down, Enter | %d until page %d of the document is there | %s |\n", word, time.Since(begun).Milliseconds(), page, eval[string](b, "location.pathname"))
	b.waitVisible("mark, .mark, [class*=mark]")
	b.screenshot("find-opened")
}

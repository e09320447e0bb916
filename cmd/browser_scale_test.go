//go:build browser && scale

package cmd_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"deedkeep/app/vaulttest"
)

// TestBrowserScaleFind types searches into the find box. It uses the vault that
// TestScaleSearch created and indexed. For each letter, it prints how long it takes until
// the results are displayed:
//
//	DEEDKEEP_TEST_VAULT=DIR go test -tags 'browser scale' -run BrowserScaleFind -v ./cmd
func TestBrowserScaleFind(t *testing.T) {
	dir := os.Getenv("DEEDKEEP_TEST_VAULT")
	if dir == "" {
		t.Fatal("DEEDKEEP_TEST_VAULT: got nothing, want the directory of the vault that TestScaleSearch created")
	}
	env := newBrowserEnv(t)
	srv := &testServer{
		t: t, program: env.binary(t), dir: dir, address: "127.0.0.1:0", env: []string{"DEEDKEEP_READER_CACHE=" + vaulttest.CacheDir()},
	}
	srv.start()
	t.Cleanup(srv.kill)
	user := fmt.Sprintf("Finder %d", time.Now().Unix())
	srv.createUser(user, "admin")
	b := env.newTab(t, srv.origin)
	b.setSize(1280, 800)
	b.signIn(user)
	b.waitIndexed()
	m, words := readMix(t, dir), vaulttest.NewVocabulary()
	owner := strings.ToLower(m.Abstract(m.Orders / 2).Owner)
	name := owner[strings.LastIndexByte(owner, ' ')+1:]
	rarest := words.Word(int(slices.Max(words.Ranks(m.Texts/2, nil))))
	fmt.Printf("\n| typed | ms until visible, including the 80 ms that the box waits for another letter | found |\n| --- | --- | --- |\n")
	for n, text := range []string{
		m.Order(m.Orders / 2).Number, m.Abstract(m.Orders / 3).Number, m.Abstract(0).Parcel, "Bk 1022 Pg 3", owner, name[:2] + name[3:],
		words.Word(4), fmt.Sprintf(`"%s %s %s"`, words.Word(1), words.Word(0), words.Word(4)), rarest,
	} {
		b.measureTyping(n+1, text)
	}
	b.openFirstResult(rarest)
}

// readMix returns the mix of records that TestScaleSearch used to create the vault.
func readMix(t *testing.T, dir string) vaulttest.Mix {
	t.Helper()
	text, err := os.ReadFile(dir + ".mix")
	if err != nil {
		t.Fatalf("read mix: %v", err)
	}
	m := vaulttest.Mix{Until: vaulttest.MixUntil}
	if _, err := fmt.Sscanf(string(text), "%d moments, %d texts", &m.Orders, &m.Texts); err != nil {
		t.Fatalf("parse mix: %v", err)
	}
	return m
}

// waitIndexed waits until a search finds words and not just numbers. Then the search index
// is complete.
func (ta *tab) waitIndexed() {
	ta.t.Helper()
	const indexed = `fetch("/find/box?q=grantor", {headers: {"HX-Request": "true"}}).then(r => r.text())
		.then(html => html.includes("palette-list") && !html.includes("found-note"))`
	for end := time.Now().Add(time.Hour); !eval[bool](ta, indexed); time.Sleep(time.Second) {
		if time.Now().After(end) {
			ta.t.Fatal("got no complete search index after an hour")
		}
	}
}

// recordTimings is a script that records when each text was typed and how long it took until
// its results were displayed.
const recordTimings = `(() => {
	window.typed = [];
	document.addEventListener("input", e => {
		if (e.target.id === "palette-q") typed.push({text: e.target.value, at: performance.now(), ms: 0});
	}, true);
	new MutationObserver(() => {
		const last = typed.at(-1);
		if (!last || last.ms) return;
		requestAnimationFrame(() => setTimeout(() => {
			last.rows = document.querySelectorAll("#palette [role=option]").length;
			const first = document.querySelector("#palette [role=option] .found-name") || document.querySelector("#palette .palette-found");
			last.first = first?.innerText || "";
			last.ms = performance.now() - last.at;
		}));
	}).observe(document.querySelector("#palette .palette-found"), {childList: true});
	return true })()`

// keystroke contains the measurements for one typed letter.
type keystroke struct {
	Text  string
	MS    float64
	Rows  int
	First string
}

// openFindBox opens an empty find box with Ctrl+K.
func (ta *tab) openFindBox() {
	ta.t.Helper()
	ta.goTo("/orders")
	eval[bool](ta, `(sessionStorage.removeItem("find"), `+recordTimings+`)`)
	ta.pressCtrl("k", "KeyK", 'K')
	ta.waitFor(findBoxOpen)
}

// waitLastKey waits until the results for the last letter are displayed, and returns the
// measurements.
func (ta *tab) waitLastKey(text string) keystroke {
	ta.t.Helper()
	ta.waitFor(fmt.Sprintf(`typed.at(-1)?.text === %q && typed.at(-1).ms > 0`, text))
	return eval[keystroke](ta, `(k => ({Text: k.text, MS: k.ms, Rows: k.rows, First: k.first}))(typed.at(-1))`)
}

// measureTyping types text one letter at a time and prints how long the results took. It
// does this twice: waiting for the results of each letter, and without waiting.
func (ta *tab) measureTyping(n int, text string) {
	ta.t.Helper()
	ta.openFindBox()
	var slowest keystroke
	for i := range text {
		if ta.press(text[i : i+1]); text[i] == ' ' {
			continue // a space doesn't change the search
		}
		key := ta.waitLastKey(text[:i+1])
		if key.MS > slowest.MS {
			slowest = key
		}
		fmt.Printf("| `%s` | %.0f | %d: %.60s |\n", key.Text, key.MS, key.Rows, strings.ReplaceAll(key.First, "\n", " "))
		if n == 1 || i == len(text)-1 {
			ta.screenshot(fmt.Sprintf("find-%02d-%02d", n, i+1))
		}
	}
	// Type at the speed of a fast typist, without waiting for results.
	ta.openFindBox()
	for i := range text {
		ta.press(text[i : i+1])
		time.Sleep(90 * time.Millisecond)
	}
	key := ta.waitLastKey(text)
	fmt.Printf("| `%s` without waiting | %.0f after the last letter; the slowest letter %.0f, at `%s` | %d |\n",
		text, key.MS, slowest.MS, slowest.Text, key.Rows)
	if key.Rows == 0 {
		ta.t.Errorf("search for %q: got no results and %q, want results", text, key.First)
	}
}

// openFirstResult searches for a word, opens the first result with Down and Enter, and waits
// for the page of the document that contains the word.
func (ta *tab) openFirstResult(word string) {
	ta.t.Helper()
	ta.openFindBox()
	ta.press(word)
	ta.waitLastKey(word)
	ta.press(kb.ArrowDown)
	ta.screenshot("find-chosen")
	start := time.Now()
	ta.waitNavigation(func() { ta.press(kb.Enter) })
	page := eval[int](ta, `Number(new URL(location.href).searchParams.get("page"))`)
	if page < 1 {
		ta.t.Fatalf("address after Enter: got %s, want a page of a document\n%s", eval[string](ta, "location.href"), ta.describe())
	}
	ta.waitPageImage(page)
	fmt.Printf("| `%s`, Down, Enter | %d until page %d of the document is visible | %s |\n",
		word, time.Since(start).Milliseconds(), page, eval[string](ta, "location.pathname"))
	ta.waitVisible("mark, .mark, [class*=mark]")
	ta.screenshot("find-opened")
}

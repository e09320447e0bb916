//go:build browser

package cmd_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// names are the documents of the page, in the order in which they are shown.
const names = `[...document.querySelectorAll(".documents .document-name")].map(e => e.innerText.trim())`

// drag takes an element by the mouse and lets it go in the middle of another.
func (b *tab) drag(from, to string) {
	b.t.Helper()
	b.sees(from)
	b.sees(to)
	at := value[[]float64](b, `(() => { const f = `+pick(from)+`, t = `+pick(to)+`; f.scrollIntoView({block: "center", behavior: "instant"});
		const a = f.getBoundingClientRect(), b = t.getBoundingClientRect(); return [a.x + a.width / 2, a.y + a.height / 2, b.x + b.width / 2, b.y + b.height / 2] })()`)
	b.do(chromedp.DragAndDropXY(at[0], at[1], at[2], at[3]))
}

// An abstract is worked on without its page being loaded anew: its status, a field,
// the order and the names of its documents, the trash and back.
func abstractIsWorkedOn(t *testing.T, on *bench) {
	f := on.firm(t)
	b := on.tab(t, f.origin)
	b.signIn(staff)
	b.goTo("/abstracts/" + f.abstract)
	value[bool](b, `window.stays = true`)

	b.click("button | In Exam")
	b.until(pick("button | In Exam") + `.ariaPressed == "true"`)
	b.click("#group-property a | Edit")
	b.fill("#group-property [name=city]", "Nether Gossamer")
	b.press(kb.Enter)
	b.sees("#group-property dd | Nether Gossamer")
	if got, err := f.client.Abstract(t.Context(), f.abstract); err != nil || *got.Status != "In Exam" || *got.City != "Nether Gossamer" {
		t.Errorf("%+v, %v", got, err)
	}

	before := value[[]string](b, names)
	b.click(fmt.Sprintf("#document-%d button[name=down]", f.files[chain[0].name]))
	b.until(names + `[1] == "` + before[0] + `"`)
	b.drag(fmt.Sprintf("#document-%d .handle", f.files[chain[0].name]), fmt.Sprintf("#document-%d .handle", f.files[chain[4].name]))
	b.until(names + `[1] != "` + before[0] + `"`)
	moved := value[[]string](b, names)
	b.sees(".timeline, #history | order")

	b.click(fmt.Sprintf("#rename-%d", f.files[chain[6].name]))
	b.noBarriers(t, "renaming")
	b.fill(".document-name input", "07_Judgments and liens")
	b.press(kb.Enter)
	b.sees(".document-name | 07_Judgments and liens.txt")
	trash := fmt.Sprintf("#document-%d button.danger", f.files[chain[7].name])
	b.click(trash)
	b.sees(".document-name | is in the trash")
	b.click("button | Undo")
	b.sees(trash)
	b.screenshot("scene-abstract")
	if !value[bool](b, `window.stays`) {
		t.Error("the page was loaded anew")
	}

	// All of it is there for the next who comes.
	b.goTo("/abstracts/" + f.abstract)
	want := strings.Replace(strings.Join(moved, "\n"), chain[6].name, "07_Judgments and liens.txt", 1)
	if got := strings.Join(value[[]string](b, names), "\n"); got != want {
		t.Errorf("the order is\n%s\nnot\n%s", got, want)
	}
	if slices.Equal(moved, before) {
		t.Error("the order stayed")
	}
	if got := value[string](b, `fetch(`+pick("a | Download all")+`.href).then(r => r.blob()).then(z => z.slice(0, 2).text())`); got != "PK" {
		t.Errorf("the archive begins with %q", got)
	}
}

// Folders are made, filled and emptied: by dropping, choosing and dragging.
func folderIsWorkedOn(t *testing.T, on *bench) {
	h := on.staffed(t)
	c := h.api()
	b := on.tab(t, h.origin)
	b.signIn(staff)
	b.goTo("/vault")
	b.follow("a | New folder")
	b.fill("#folder-name", "Plats of 2026")
	b.follow("button | Make the folder")
	b.sees("h1 | Plats of 2026")
	paths := lay(t, []filing{chain[5], chain[6], chain[8]})
	b.drop("h1", paths...)
	for _, f := range []filing{chain[5], chain[6], chain[8]} {
		b.sees(".documents .document-name | " + f.name)
	}
	b.noBarriers(t, "a folder with documents")
	b.screenshot("scene-folder")
	// The same bytes again: filed, and said so.
	b.drop("h1", lay(t, []filing{{"Copy.txt", chain[6].sample}})...)
	b.sees("li.upload | " + chain[6].name)
	b.sees(".documents .document-name | Copy.txt")

	// One is renamed where it stands, goes to the trash and comes back.
	b.goTo(value[string](b, "location.pathname"))
	value[bool](b, `window.stays = true`)
	b.click("a | Rename " + chain[5].name)
	b.expect("status of 422")
	b.fill(".document-name input[name=name]", " ")
	b.press(kb.Enter)
	b.sees(".document-name .problem | is required")
	b.noBarriers(t, "a name that is refused")
	b.fill(".document-name input[name=name]", "Tax map")
	b.press(kb.Enter)
	renamed := "Tax map" + filepath.Ext(chain[5].name)
	b.sees(".document-name a | " + renamed)
	b.until(`document.activeElement.textContent == "` + renamed + `"`)
	b.click("button | Move " + renamed + " to the trash")
	b.sees(".document-name | is in the trash")
	b.until(`document.activeElement.textContent == "Undo"`)
	b.click("button | Undo")
	b.sees(".document-name a | " + renamed)
	if !value[bool](b, `window.stays`) {
		t.Error("the page was loaded anew")
	}

	// Several at once, with the boxes, into another folder.
	b.goTo(value[string](b, "location.pathname"))
	for _, name := range []string{chain[6].name, "Copy.txt"} {
		b.click(".document label | Choose " + name)
	}
	folders, err := c.Folders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	inbox := ""
	for _, folder := range folders {
		if folder.Name == "Inbox" {
			inbox = fmt.Sprint(folder.ID)
		}
	}
	b.fill("#to", inbox)
	b.follow("button | Move")
	b.until(`!` + pick(".documents .document-name | Copy.txt"))
	// One by the mouse, onto a folder of the tree.
	b.leave(func() { b.drag(".document-name | "+chain[8].name, ".tree a | Inbox") })
	b.until(`!` + pick(".documents .document-name | "+chain[8].name))
	b.follow(".tree a | Inbox")
	for _, name := range []string{chain[6].name, "Copy.txt", chain[8].name} {
		b.sees(".documents .document-name | " + name)
	}
}

// Whoever closes the page in the middle of an upload is warned.
func leavingIsWarnedOf(t *testing.T, on *bench) {
	h := on.staffed(t)
	id := newAbstract(t, h.api())
	b := on.tab(t, h.origin)
	b.signIn(staff)
	b.goTo("/abstracts/" + id)
	b.sends(64 << 10)
	b.drop("h1", words(t, "Long.txt", 4<<20))
	b.until(progressOf + " > 0")
	b.click("h1") // a browser asks only for somebody who has touched the page
	b.expect("dialog: beforeunload")
	b.follow("nav a | Abstracts")
	b.sends(0)
}

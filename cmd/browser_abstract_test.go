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

// documentNames are the documents of the page, in the order in which they are shown.
const documentNames = `[...document.querySelectorAll(".documents .document-name")].map(e => e.innerText.trim())`

// drag takes an element by the mouse and lets it go in the middle of another.
func (b *tab) drag(from, to string) {
	b.t.Helper()
	b.waitVisible(from)
	b.waitVisible(to)
	at := eval[[]float64](b, `(() => { const f = `+findJS(from)+`, t = `+findJS(to)+`; f.scrollIntoView({block: "center", behavior: "instant"});
		const a = f.getBoundingClientRect(), b = t.getBoundingClientRect(); return [a.x + a.width / 2, a.y + a.height / 2, b.x + b.width / 2, b.y + b.height / 2] })()`)
	b.run(chromedp.DragAndDropXY(at[0], at[1], at[2], at[3]))
}

// An abstract is worked on without its page being loaded anew: its status, a field,
// the order and the names of its documents, the trash and back.
func testEditAbstract(t *testing.T, env *browserEnv) {
	f := env.newFirm(t)
	b := env.newTab(t, f.origin)
	b.signIn(staff)
	b.goTo("/abstracts/" + f.abstract)
	eval[bool](b, `window.stays = true`)

	b.click("button | In Exam")
	b.waitFor(findJS("button | In Exam") + `.ariaPressed == "true"`)
	b.click("#group-property a | Edit")
	b.fill("#group-property [name=city]", "Nether Gossamer")
	b.press(kb.Enter)
	b.waitVisible("#group-property dd | Nether Gossamer")
	if got, err := f.client.Abstract(t.Context(), f.abstract); err != nil || *got.Status != "In Exam" || *got.City != "Nether Gossamer" {
		t.Errorf("%+v, %v", got, err)
	}

	before := eval[[]string](b, documentNames)
	b.click(fmt.Sprintf("#document-%d button[name=down]", f.files[chainDocuments[0].name]))
	b.waitFor(documentNames + `[1] == "` + before[0] + `"`)
	b.drag(fmt.Sprintf("#document-%d .handle", f.files[chainDocuments[0].name]), fmt.Sprintf("#document-%d .handle", f.files[chainDocuments[4].name]))
	b.waitFor(documentNames + `[1] != "` + before[0] + `"`)
	moved := eval[[]string](b, documentNames)
	b.waitVisible(".timeline, #history | order")

	b.click(fmt.Sprintf("#rename-%d", f.files[chainDocuments[6].name]))
	b.checkAccessible(t, "renaming")
	b.fill(".document-name input", "07_Judgments and liens")
	b.press(kb.Enter)
	b.waitVisible(".document-name | 07_Judgments and liens.txt")
	trash := fmt.Sprintf("#document-%d button.danger", f.files[chainDocuments[7].name])
	b.click(trash)
	b.waitVisible(".document-name | is in the trash")
	b.click("button | Undo")
	b.waitVisible(trash)
	b.screenshot("scene-abstract")
	if !eval[bool](b, `window.stays`) {
		t.Error("the page was loaded anew")
	}

	// All of it is there for the next who comes.
	b.goTo("/abstracts/" + f.abstract)
	want := strings.Replace(strings.Join(moved, "\n"), chainDocuments[6].name, "07_Judgments and liens.txt", 1)
	if got := strings.Join(eval[[]string](b, documentNames), "\n"); got != want {
		t.Errorf("the order is\n%s\nnot\n%s", got, want)
	}
	if slices.Equal(moved, before) {
		t.Error("the order stayed")
	}
	if got := eval[string](b, `fetch(`+findJS("a | Download all")+`.href).then(r => r.blob()).then(z => z.slice(0, 2).text())`); got != "PK" {
		t.Errorf("the archive begins with %q", got)
	}
}

// Folders are made, filled and emptied: by dropping, choosing and dragging.
func testEditFolder(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	c := srv.apiClient()
	b := env.newTab(t, srv.origin)
	b.signIn(staff)
	b.goTo("/vault")
	b.clickLink("a | New folder")
	b.fill("#folder-name", "Plats of 2026")
	b.clickLink("button | Make the folder")
	b.waitVisible("h1 | Plats of 2026")
	paths := copySamples(t, []namedSample{chainDocuments[5], chainDocuments[6], chainDocuments[8]})
	b.dropFiles("h1", paths...)
	for _, f := range []namedSample{chainDocuments[5], chainDocuments[6], chainDocuments[8]} {
		b.waitVisible(".documents .document-name | " + f.name)
	}
	b.checkAccessible(t, "a folder with documents")
	b.screenshot("scene-folder")
	// The same bytes again: filed, and said so.
	b.dropFiles("h1", copySamples(t, []namedSample{{"Copy.txt", chainDocuments[6].sample}})...)
	b.waitVisible("li.upload | " + chainDocuments[6].name)
	b.waitVisible(".documents .document-name | Copy.txt")

	// One is renamed where it stands, goes to the trash and comes back.
	b.goTo(eval[string](b, "location.pathname"))
	eval[bool](b, `window.stays = true`)
	b.click("a | Rename " + chainDocuments[5].name)
	b.expect("status of 422")
	b.fill(".document-name input[name=name]", " ")
	b.press(kb.Enter)
	b.waitVisible(".document-name .problem | is required")
	b.checkAccessible(t, "a name that is refused")
	b.fill(".document-name input[name=name]", "Tax map")
	b.press(kb.Enter)
	renamed := "Tax map" + filepath.Ext(chainDocuments[5].name)
	b.waitVisible(".document-name a | " + renamed)
	b.waitFor(`document.activeElement.textContent == "` + renamed + `"`)
	b.click("button | Move " + renamed + " to the trash")
	b.waitVisible(".document-name | is in the trash")
	b.waitFor(`document.activeElement.textContent == "Undo"`)
	b.click("button | Undo")
	b.waitVisible(".document-name a | " + renamed)
	if !eval[bool](b, `window.stays`) {
		t.Error("the page was loaded anew")
	}

	// Several at once, with the boxes, into another folder.
	b.goTo(eval[string](b, "location.pathname"))
	for _, name := range []string{chainDocuments[6].name, "Copy.txt"} {
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
	b.clickLink("button | Move")
	b.waitFor(`!` + findJS(".documents .document-name | Copy.txt"))
	// One by the mouse, onto a folder of the tree.
	b.waitNavigation(func() { b.drag(".document-name | "+chainDocuments[8].name, ".tree a | Inbox") })
	b.waitFor(`!` + findJS(".documents .document-name | "+chainDocuments[8].name))
	b.clickLink(".tree a | Inbox")
	for _, name := range []string{chainDocuments[6].name, "Copy.txt", chainDocuments[8].name} {
		b.waitVisible(".documents .document-name | " + name)
	}
}

// Whoever closes the page in the middle of an upload is warned.
func testLeaveWarning(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	id := createAbstract(t, srv.apiClient())
	b := env.newTab(t, srv.origin)
	b.signIn(staff)
	b.goTo("/abstracts/" + id)
	b.limitUpload(64 << 10)
	b.dropFiles("h1", writeTextFile(t, "Long.txt", 4<<20))
	b.waitFor(progressJS + " > 0")
	b.click("h1") // a browser asks only for somebody who has touched the page
	b.expect("dialog: beforeunload")
	b.clickLink("nav a | Abstracts")
	b.limitUpload(0)
}

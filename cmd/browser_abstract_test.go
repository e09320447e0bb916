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

// documentNames is a JavaScript expression that returns the names of the documents in the
// order in which the page lists them.
const documentNames = `[...document.querySelectorAll(".documents .document-name")].map(e => e.innerText.trim())`

// drag drags an element onto the middle of another one with the mouse.
func (ta *tab) drag(from, to string) {
	ta.t.Helper()
	ta.waitVisible(from)
	ta.waitVisible(to)
	ta.waitFor(`document.readyState == "complete"`)
	at := eval[[]float64](ta, `(() => { const f = `+findJS(from)+`, t = `+findJS(to)+`;
		f.scrollIntoView({block: "center", behavior: "instant"});
		const a = f.getBoundingClientRect(), b = t.getBoundingClientRect();
		return [a.x + a.width / 2, a.y + a.height / 2, b.x + b.width / 2, b.y + b.height / 2] })()`)
	ta.run(chromedp.DragAndDropXY(at[0], at[1], at[2], at[3]))
}

// dragRow drags a row of a list to another row's position. It waits for the script that makes the list sortable, which
// runs a moment after the rows appear.
func (ta *tab) dragRow(from, to string) {
	ta.t.Helper()
	ta.waitFor(`(() => { for (let e = ` + findJS(from) + `; e; e = e.parentElement) if (Sortable.get(e)) return true; return false })()`)
	ta.drag(from, to)
}

// Editing an abstract doesn't reload the page. That includes changing the status, a field,
// and the sequence and names of documents, and moving a document to the trash and back.
func testEditAbstract(t *testing.T, env *browserEnv) {
	f := env.newFirm(t)
	b := env.newTab(t, f.origin)
	b.signIn(staff)
	b.goTo("/abstracts/" + f.abstract)
	eval[bool](b, `window.notReloaded = true`)

	b.click("button | In Exam")
	b.waitFor(findJS("button | In Exam") + `.ariaPressed == "true"`)
	b.click("#group-property a | Edit")
	b.fill("#group-property [name=city]", "Nether Gossamer")
	b.press(kb.Enter)
	b.waitVisible("#group-property dd | Nether Gossamer")
	if got, err := f.client.Abstract(t.Context(), f.abstract); err != nil || *got.Status != "In Exam" || *got.City != "Nether Gossamer" {
		t.Errorf("saved abstract: got %+v, %v, want status \"In Exam\" and city \"Nether Gossamer\"", got, err)
	}

	before := eval[[]string](b, documentNames)
	b.click(fmt.Sprintf("#document-%d button[name=down]", f.files[chainDocuments[0].name]))
	b.waitFor(documentNames + `[1] == "` + before[0] + `"`)
	handle := func(n int) string { return fmt.Sprintf("#document-%d .handle", f.files[chainDocuments[n].name]) }
	b.dragRow(handle(0), handle(4))
	b.waitFor(documentNames + `[1] != "` + before[0] + `"`)
	moved := eval[[]string](b, documentNames)
	b.waitVisible(".timeline, #history | from 2 to ")

	b.click(fmt.Sprintf("#rename-%d", f.files[chainDocuments[6].name]))
	b.checkAccessible(t, "renaming")
	b.fill(".document-name input", "07_Judgments and liens")
	b.press(kb.Enter)
	b.waitVisible(".document-name | 07_Judgments and liens.txt")
	trash := fmt.Sprintf("#document-%d button.danger", f.files[chainDocuments[7].name])
	b.click(trash)
	b.waitVisible(".document-name | is in the trash")
	b.click(".document button[formaction] | Undo")
	b.waitVisible(trash)
	b.screenshot("scene-abstract")
	if !eval[bool](b, `window.notReloaded`) {
		t.Error("got a page that was reloaded, want the same page")
	}

	// After a reload, the page shows all changes.
	b.goTo("/abstracts/" + f.abstract)
	want := strings.Replace(strings.Join(moved, "\n"), chainDocuments[6].name, "07_Judgments and liens.txt", 1)
	if got := strings.Join(eval[[]string](b, documentNames), "\n"); got != want {
		t.Errorf("documents after a reload: got\n%s\nwant\n%s", got, want)
	}
	if slices.Equal(moved, before) {
		t.Errorf("documents after dragging: got the sequence from before, %q", moved)
	}
	archive := `fetch(` + findJS("a | Download all") + `.href).then(r => r.blob()).then(z => z.slice(0, 2).text())`
	if got := eval[string](b, archive); got != "PK" {
		t.Errorf("first bytes of the archive: got %q, want PK", got)
	}

	// Several documents are selected and moved to the trash, and come back with Undo.
	count := len(moved)
	b.click(fmt.Sprintf("#document-%d input[name=file]", f.files[chainDocuments[1].name]))
	b.click(fmt.Sprintf("#document-%d input[name=file]", f.files[chainDocuments[2].name]))
	b.waitVisible("#documents-selected output | 2 selected")
	b.checkAccessible(t, "selected documents")
	b.screenshot("scene-abstract-selected")
	b.click("#documents-selected button | Trash")
	b.clickLink("dialog button | Trash")
	b.waitVisible(".notice | 2 documents were moved to the trash.")
	b.waitFor(fmt.Sprintf(`%s.length == %d`, documentNames, count-2))
	b.clickLink(".notice button | Undo")
	b.waitFor(fmt.Sprintf(`%s.length == %d`, documentNames, count))
	b.click(fmt.Sprintf("#document-%d input[name=file]", f.files[chainDocuments[2].name]))
	b.clickLink("#documents-selected button | Move")
	b.waitVisible("main | " + chainDocuments[2].name)
}

// Documents can be added to a folder by dropping files, and moved to another one by
// selecting or dragging them.
func testEditFolder(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	c := srv.apiClient()
	b := env.newTab(t, srv.origin)
	b.signIn(staff)
	b.goTo("/vault")
	b.clickLink("a | New folder")
	b.fill("#folder-name", "Plats of 2026")
	b.clickLink("button | Create folder")
	b.waitVisible("h1 | Plats of 2026")
	paths := copySamples(t, []namedSample{chainDocuments[5], chainDocuments[6], chainDocuments[8]})
	b.dropFiles("h1", paths...)
	for _, f := range []namedSample{chainDocuments[5], chainDocuments[6], chainDocuments[8]} {
		b.waitVisible(".documents .document-name | " + f.name)
	}
	b.checkAccessible(t, "folder with documents")
	b.screenshot("scene-folder")
	// A duplicate is stored, and the page names the original document.
	b.dropFiles("h1", copySamples(t, []namedSample{{"Copy.txt", chainDocuments[6].sample}})...)
	b.waitVisible("li.upload | " + chainDocuments[6].name)
	b.waitVisible(".documents .document-name | Copy.txt")

	// Rename a document in its row, move it to the trash, and restore it.
	b.goTo(eval[string](b, "location.pathname"))
	eval[bool](b, `window.notReloaded = true`)
	b.click("a | Rename " + chainDocuments[5].name)
	b.expect("status of 422")
	b.fill(".document-name input[name=name]", " ")
	b.press(kb.Enter)
	b.waitVisible(".document-name .problem | is required")
	b.checkAccessible(t, "rejected name")
	b.fill(".document-name input[name=name]", "Tax map")
	b.press(kb.Enter)
	renamed := "Tax map" + filepath.Ext(chainDocuments[5].name)
	b.waitVisible(".document-name a | " + renamed)
	b.waitFor(`document.activeElement.textContent == "` + renamed + `"`)
	b.click("button | Move " + renamed + " to trash")
	b.waitVisible(".document-name | is in the trash")
	b.waitFor(`document.activeElement.textContent == "Undo"`)
	b.click(".document button[formaction] | Undo")
	b.waitVisible(".document-name a | " + renamed)
	if !eval[bool](b, `window.notReloaded`) {
		t.Error("got a page that was reloaded, want the same page")
	}

	// Move several documents to another folder by selecting their check boxes.
	b.goTo(eval[string](b, "location.pathname"))
	for _, name := range []string{chainDocuments[6].name, "Copy.txt"} {
		b.click(".document label | Select " + name)
	}
	folders, err := c.Folders(t.Context())
	if err != nil {
		t.Fatalf("list folders: %v", err)
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
	// Drag a document onto a folder in the tree.
	b.waitNavigation(func() { b.drag(".document-name | "+chainDocuments[8].name, ".tree a | Inbox") })
	b.waitFor(`!` + findJS(".documents .document-name | "+chainDocuments[8].name))
	b.clickLink(".tree a | Inbox")
	for _, name := range []string{chainDocuments[6].name, "Copy.txt", chainDocuments[8].name} {
		b.waitVisible(".documents .document-name | " + name)
	}
}

// If a user leaves the page during an upload, the browser shows a warning.
func testLeaveWarning(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	id := createAbstract(t, srv.apiClient())
	b := env.newTab(t, srv.origin)
	b.signIn(staff)
	b.goTo("/abstracts/" + id)
	b.limitUpload(64 << 10)
	b.dropFiles("h1", writeTextFile(t, "Long.txt", 4<<20))
	b.waitFor(progressJS + " > 0")
	b.click("h1") // browsers show the warning only if the user has clicked or pressed a key on the page
	b.expect("dialog: beforeunload")
	b.clickLink("nav a | Abstracts")
	b.limitUpload(0)

	// Changes of a form that could not be saved are not lost either.
	b.goTo("/abstracts/" + id)
	b.click("#edit-details")
	b.fill("#group-details [name='custom_fields.vesting']", "Ann Poe")
	b.allow("net::ERR_CONNECTION_REFUSED", "net::ERR_EMPTY_RESPONSE", "net::ERR_CONNECTION_RESET", "htmx:")
	srv.stop()
	b.click("#group-details button | Save")
	b.waitVisible("#page-problem | The server isn't responding. What you typed is still here.")
	b.checkWarned("after a failed save", true)
	srv.start()
	b.click("#group-details button | Save")
	b.waitVisible("#group-details dd | Ann Poe")
	b.checkWarned("after a save", false)
}

//go:build browser

package cmd_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
	"github.com/xuri/excelize/v2"

	"deedkeep/app/vaulttest/client"
)

// A day in an office of two, each in their own browser: forty orders, twelve of them changed at once of which one fails,
// some exported and opened again, a view saved and shared, five documents moved from the Inbox, and one moved on and back
// by undo. The second person watches, and sees each change without a click.
func testOfficeDay(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	c := srv.apiClient()
	f := &firm{testServer: srv, client: c, files: map[string]int64{}}
	last := ""
	for n := range 40 {
		draft := client.OrderDraft{OrderNumber: fmt.Sprintf("26-%02d", n), County: []string{"Wexcombe", "Harlow"}[n%2], City: "Harlow",
			DueDate: time.Now().AddDate(0, 0, n-2).Format(time.DateOnly)}
		o, err := c.CreateOrder(t.Context(), draft)
		f.must(err)
		last = o.ID
	}
	kim, lee := env.newTab(t, srv.origin), env.newTab(t, srv.origin)
	kim.signIn(staff)
	lee.signIn(admin)
	lee.goTo("/orders")
	lee.waitVisible("#results a | 26-39")

	// Twelve orders at once: two clicks for the rows, one for the status, one to change.
	kim.goTo("/orders")
	kim.waitVisible("th label | Select 26-39")
	kim.click("th label | Select 26-39")
	eval[bool](kim, findJS("th label | Select 26-28")+`.dispatchEvent(new MouseEvent("click", {shiftKey: true, bubbles: true}))`)
	kim.waitVisible("#bulk output | 12 selected")
	f.must(c.TrashOrder(t.Context(), last)) // someone deletes one of them
	kim.fill("#bulk-status", "completed")
	kim.clickLink("#bulk button[value=set]")
	kim.waitVisible(".notice | 11 orders changed. One order failed: Not found.")
	const completed = `[...document.querySelectorAll("td[data-label=Status]")].filter(e => e.innerText.trim() == "Completed").length == `
	lee.waitFor(completed + "11")

	// A view of the three that are due, as a file, and for the colleague.
	kim.goTo("/orders?county=Wexcombe&due_to=" + time.Now().AddDate(0, 0, 2).Format(time.DateOnly) + "&sort=order_number")
	kim.waitVisible(".filters-set a | County is Wexcombe")
	kim.click("summary | Save view")
	kim.fill("#view-new", "Wexcombe this week")
	kim.click(".list-tools label | Share with everyone")
	kim.clickLink(".list-tools button | Save view")
	kim.waitVisible(".chips [aria-current] | Wexcombe this week 3")
	encoded := eval[string](kim, `fetch(document.querySelector('a[download][href*=".xlsx"]').href).then(r => r.arrayBuffer())`+
		`.then(b => btoa(String.fromCharCode(...new Uint8Array(b))))`)
	raw, err := base64.StdEncoding.DecodeString(encoded)
	f.must(err)
	book, err := excelize.OpenReader(bytes.NewReader(raw))
	f.must(err)
	if rows, err := book.GetRows(book.GetSheetName(0)); err != nil || len(rows) != 4 || rows[1][0] != "26-00" || rows[3][0] != "26-04" {
		t.Errorf("the workbook has %q, %v, want three orders", rows, err)
	}
	lee.goTo("/orders")
	lee.clickLink(".chips a | Wexcombe this week")
	lee.waitVisible(".filters-set a | County is Wexcombe")
	kim.screenshot("scene-day-view")

	// Five scans of the Inbox, two keys each, while the colleague has the first abstract open.
	var abstracts []string
	var uploads []client.Upload
	for n := range 5 {
		created, err := c.CreateAbstract(t.Context(), client.AbstractDraft{CustomFields: map[string]any{
			"file_number": fmt.Sprintf("26-014%d", n)}})
		f.must(err)
		abstracts = append(abstracts, created.Data.ID)
		sample := chainDocuments[[]int{1, 4, 6, 8, 1}[n]]
		for _, path := range copySamples(t, []namedSample{{fmt.Sprintf("26-014%d scan%s", n, filepath.Ext(sample.name)), sample.sample}}) {
			file, err := os.Open(path)
			f.must(err)
			defer file.Close()
			uploads = append(uploads, client.Upload{Filename: filepath.Base(path), Reader: file})
		}
	}
	inbox := int64(1)
	lee.goTo("/vault/1")
	lee.waitVisible("#documents h2")
	uploaded, err := c.Upload(t.Context(), &inbox, uploads)
	f.must(err)
	for _, file := range uploaded.Files {
		f.files[file.Filename] = file.ID
	}
	lee.waitVisible("#documents a | 26-0144 scan")
	f.waitProcessed(t.Context())
	lee.goTo("/abstracts/" + abstracts[0])
	kim.goTo("/vault/1")
	kim.clickLink("a | Move to abstracts")
	for n := range 5 {
		kim.waitVisible(".to-choice .reasons li | " + fmt.Sprintf("File number 26-014%d in the document name", n))
		kim.press("1")
		kim.waitNavigation(func() { kim.press(kb.Enter) })
		kim.waitVisible(".notice | " + fmt.Sprintf("was moved to “26-014%d”", n))
	}
	lee.waitVisible("#documents a | 26-0140 scan")

	// The last one is moved back by Ctrl+Z, and moved again.
	kim.goTo("/abstracts/" + abstracts[4])
	kim.waitVisible("#documents a | 26-0144 scan")
	lee.goTo("/abstracts/" + abstracts[4])
	lee.waitVisible("#documents a | 26-0144 scan")
	kim.waitNavigation(func() { kim.pressWith(withCtrl, "z") })
	lee.waitFor(`!document.querySelector("#documents")?.innerText.includes("26-0144 scan")`)
	for n, id := range abstracts {
		a, err := c.Abstract(t.Context(), id)
		f.must(err)
		if want := 1 - n/4; len(a.Files) != want {
			t.Errorf("abstract %d has %d documents, want %d", n, len(a.Files), want)
		}
	}
	kim.checkAccessible(t, "end of the day")
}

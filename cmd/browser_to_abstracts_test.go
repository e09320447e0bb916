//go:build browser

package cmd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"deedkeep/app/vaulttest/client"
)

// Five documents of the Inbox are moved to their abstracts with two keys each. One of the moves is undone, and the document is
// found another abstract. Another one is moved without scripts.
func testMoveToAbstracts(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	c := srv.apiClient()
	abstracts := make([]string, 6)
	for n := range abstracts {
		fields := map[string]any{"file_number": fmt.Sprintf("26-014%d", n)}
		created, err := c.CreateAbstract(t.Context(), client.AbstractDraft{CustomFields: fields})
		if err != nil {
			t.Fatalf("create abstract: %v", err)
		}
		abstracts[n] = created.Data.ID
	}
	inbox := int64(1)
	var samples []namedSample
	for n, sample := range []int{1, 4, 6, 8, 1} {
		name := fmt.Sprintf("26-014%d scan%s", n, filepath.Ext(chainDocuments[sample].name))
		samples = append(samples, namedSample{name, chainDocuments[sample].sample})
	}
	var uploads []client.Upload
	for _, path := range copySamples(t, samples) {
		f, err := os.Open(path)
		if err != nil {
			t.Fatalf("open sample: %v", err)
		}
		defer f.Close()
		uploads = append(uploads, client.Upload{Filename: filepath.Base(path), Reader: f})
	}
	uploaded, err := c.Upload(t.Context(), &inbox, uploads)
	if err != nil || len(uploaded.Files) != len(samples) {
		t.Fatalf("upload: %+v, %v", uploaded, err)
	}
	files := map[string]int64{}
	for _, f := range uploaded.Files {
		files[f.Filename] = f.ID
	}
	(&firm{testServer: srv, client: c, files: files}).waitProcessed(t.Context())
	names := func(id string) (list []string) {
		a, err := c.Abstract(t.Context(), id)
		if err != nil {
			t.Fatalf("get abstract: %v", err)
		}
		for _, f := range a.Files {
			list = append(list, f.Filename)
		}
		return list
	}

	b := env.newTab(t, srv.origin)
	b.signIn(staff)
	b.goTo("/vault/1")
	b.clickLink("a | Move to abstracts")
	for n, sample := range samples {
		b.waitVisible("h2 | " + sample.name)
		b.waitVisible(".page-head p | " + fmt.Sprintf("%d of 5", n+1))
		b.waitVisible(".to-choice .reasons li | " + fmt.Sprintf("File number 26-014%d in the document name", n))
		if n == 0 {
			b.waitImages()
			b.checkAccessible(t, "move to abstracts")
			b.screenshot("scene-to-abstracts")
			b.setSize(360, 740)
			b.checkFits(360)
			b.screenshot("scene-to-abstracts-narrow")
			b.setSize(1440, 900)
		}
		b.press("1")
		b.waitFor(`document.activeElement.matches("[data-key='1']:checked")`)
		b.waitNavigation(func() { b.press(kb.Enter) })
		b.waitVisible(".notice | " + fmt.Sprintf("was moved to “26-014%d”", n))
		if got := names(abstracts[n]); len(got) != 1 || got[0] != sample.name {
			t.Fatalf("documents of abstract %d = %q, want %q", n, got, sample.name)
		}
	}
	b.waitVisible("h2 | Inbox has no documents to move")
	b.checkAccessible(t, "no documents to move")
	b.screenshot("scene-to-abstracts-end")

	// Undo shows the document again. Search finds another abstract for it.
	b.waitNavigation(func() { b.press("z") })
	b.waitVisible("h2 | " + samples[4].name)
	if got := names(abstracts[4]); len(got) != 0 {
		t.Errorf("documents after the undo = %q, want none", got)
	}
	b.press("f")
	b.waitFor(`document.activeElement.id == "to-q"`)
	b.press("26-0145")
	b.waitVisible("#to-choices legend | Abstracts found")
	b.waitVisible(".to-choice b | 26-0145")
	b.checkAccessible(t, "abstracts found")
	b.press(kb.Enter)
	b.waitFor(`document.activeElement.matches("[data-key='1']:checked")`)
	b.waitNavigation(func() { b.press(kb.Enter) })
	b.waitVisible(".notice | was moved to “26-0145”")
	if got := names(abstracts[5]); len(got) != 1 {
		t.Errorf("documents of the abstract that was found = %q, want one", got)
	}

	// Skip, and everything without scripts.
	b.waitNavigation(func() { b.press("z") })
	b.waitNavigation(func() { b.press("s") })
	b.waitVisible("h2 | This was the last document")
	b.enableScripts(false)
	b.clickLink("a | Start again")
	b.fill("#to-q", "26-0143")
	b.clickLink("button | Search")
	b.waitText("Abstracts found")
	b.click(`[data-key="1"]`)
	b.clickLink("button | Move and continue")
	b.waitText("was moved to “26-0143”")
	if got := names(abstracts[3]); len(got) != 2 {
		t.Errorf("documents of the abstract = %q, want two", got)
	}
}

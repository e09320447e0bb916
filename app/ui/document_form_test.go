package ui_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

func TestDocumentForms(t *testing.T) {
	t.Parallel()
	h, _, files := newServerWithDocuments(t)
	deed := files[1]
	g := h.openBrowser(t, model.RoleStaff)
	name := func() string {
		f, err := h.vault.Files.Get(t.Context(), deed.ID)
		if err != nil {
			t.Fatalf("Files.Get: %v", err)
		}
		return f.Filename
	}
	for _, c := range []struct {
		typed, want string
		status      int
	}{
		{"02 Deed.pdf", "02 Deed.pdf", 303}, {"03 Deed", "03 Deed.pdf", 303}, {"04_Deed Bk. 12", "04_Deed Bk. 12.pdf", 303},
		{" ", "04_Deed Bk. 12.pdf", 422},
	} {
		t.Run(c.typed, func(t *testing.T) {
			got := g.post(t, c.status, documentPath(deed, "/rename"), url.Values{"name": {c.typed}, "back": {documentPath(deed, "?page=2")}})
			if name() != c.want || c.status == 303 && got.Header.Get("Location") != documentPath(deed, "?page=2") {
				t.Errorf("filename %q, Location %q, want %q", name(), got.Header.Get("Location"), c.want)
			}
		})
	}
	g.post(t, 422, documentPath(deed, "/rename"), url.Values{"name": {" "}, "back": {documentPath(deed, "?page=2")}}).has(t,
		`data-dialog="rename" aria-labelledby="rename-heading" open`,
		`value=" "`, `aria-invalid="true"`, "field is required", documentPath(deed, "/pages/2?w=1275"),
		`name="back" value="`+documentPath(deed, "?page=2"))
	g.get(t, 200, documentPath(deed, "?page=2&rename=1")).has(t, ` open>`, `name="back" value="`+documentPath(deed, `?page=2"`))
	g.get(t, 200, documentPath(deed, "?page=2")).lacks(t, ` open>`)
	g.post(t, 303, documentPath(deed, "/trash"), url.Values{})
	g.get(t, 200, documentPath(deed, "")).has(t, "is in the trash", documentPath(deed, "/restore"))
	h.openBrowser(t, model.RoleViewer).get(t, 404, documentPath(deed, ""))
	g.get(t, 404, documentPath(deed, "/pages/1"))
	g.post(t, 404, documentPath(deed, "/trash"), url.Values{})
	g.post(t, 303, documentPath(deed, "/restore"), url.Values{"back": {"https://elsewhere.example"}})
	g.get(t, 200, documentPath(deed, "")).has(t, "04_Deed Bk. 12.pdf")
}

// A document's forms work the same in every list, and so do their audit entries.
func TestDocumentFormsAnywhere(t *testing.T) {
	t.Parallel()
	h, abstract, files := newServerWithDocuments(t)
	g := h.openBrowser(t, model.RoleStaff)
	loose, foldered := h.upload(t, "loose.pdf", vaulttest.PDF(1, "1")), h.upload(t, "foldered.pdf", vaulttest.PDF(1, "2"))
	if _, err := h.vault.Files.Move(t.Context(), model.Actor{Kind: "operator"},
		vault.MoveRequest{Files: []uint64{foldered.ID}, To: vault.Destination{Folder: 2}}); err != nil {
		t.Fatalf("Files.Move: %v", err)
	}
	for _, c := range []struct {
		file model.File
		list string
	}{{files[1], "/abstracts/" + abstract}, {foldered, "/vault/2?dir=down&sort=date"}, {loose, "/vault"}} {
		t.Run(c.list, func(t *testing.T) {
			script := []string{"HX-Request", "true", "HX-Current-URL", h.server.URL + c.list}
			row := fmt.Sprintf(`id="document-%d"`, c.file.ID)
			back := url.Values{"back": {c.list}}
			at := func(verb string) string { return documentPath(c.file, verb) }
			checkLastEvent := func(want string) {
				t.Helper()
				kind := ""
				err := h.vault.Events.Each(t.Context(), 1, func(e model.Event, err error) error { kind = e.Kind; return err })
				if err != nil || kind != want {
					t.Errorf("last event of %s = %s, %v, want %s", c.file.Filename, kind, err, want)
				}
			}
			got := g.send(t, 200, "GET", at("/row?rename=1"), nil, script)
			got.has(t, row, "data-stem", `value="`+c.file.Filename+`"`, `name="back" value="`+strings.ReplaceAll(c.list, "&", "&amp;")+`"`)
			got.lacks(t, "<html")
			for _, headers := range [][]string{nil, script} {
				got = g.send(t, 422, "POST", at("/rename"), url.Values{"name": {" "}, "back": {c.list}}, headers)
				got.has(t, row, `value=" "`, `aria-invalid="true"`, "field is required")
			}
			g.send(t, 200, "POST", at("/rename"), url.Values{"name": {"New & name"}}, script).has(t, row, "New &amp; name.pdf", "autofocus")
			checkLastEvent("file.changed")
			deleted := g.send(t, 200, "POST", at("/trash"), nil, script)
			deleted.has(t, row, "is in the trash.", `hx-post="`+at("/restore")+`"`, "autofocus")
			checkLastEvent("file.trashed")
			g.send(t, 200, "POST", at("/restore"), nil, script).has(t, row, "New &amp; name.pdf", "autofocus")
			checkLastEvent("file.restored")
			plain := g.post(t, 303, at("/trash"), back)
			if to := plain.Header.Get("Location"); to != c.list {
				t.Errorf("Location after deleting = %q, want %q", to, c.list)
			}
			checkLastEvent("file.trashed")
			h.request(t, 200, "GET", c.list, "Cookie: deedkeep="+g.token+"; "+strings.Split(plain.Header.Get("Set-Cookie"), ";")[0]).has(t,
				`action="`+at("/restore")+`"`, "is in the trash.")
			if to := g.post(t, 303, at("/restore"), back).Header.Get("Location"); to != fmt.Sprintf("%s#document-%d", c.list, c.file.ID) {
				t.Errorf("Location after restoring = %q, want the document in %q", to, c.list)
			}
		})
	}
}

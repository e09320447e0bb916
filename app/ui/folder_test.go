package ui_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

func TestFolderPages(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff, viewer := h.openBrowser(t, model.RoleStaff), h.openBrowser(t, model.RoleViewer)
	staff.get(t, 200, "/vault").has(t, "<h1>Vault</h1>", "Inbox", "Plats &amp; Surveys", "No documents outside folders.",
		`data-to="none"`, `action="/vault/documents"`, "New folder")

	path := staff.post(t, 303, "/vault", url.Values{"name": {"Book <10>"}, "parent": {"1"}}).Header.Get("Location")
	if path != "/vault/5" {
		t.Fatalf("Location of the new folder = %q, want /vault/5", path)
	}
	staff.get(t, 200, path).has(t, "<h1>Book &lt;10&gt;</h1>", "This folder is empty",
		`<a href="/vault/1" data-folder="1">Inbox</a>`, `data-to="folder:5"`, `aria-current="page"`)
	staff.get(t, 200, "/vault/1").has(t, "Book &lt;10&gt;", "No documents")
	staff.post(t, 422, "/vault", url.Values{"name": {"book <10>"}, "parent": {"1"}}).has(t, "has already been taken",
		`value="book &lt;10&gt;"`, `aria-invalid="true"`)
	staff.post(t, 422, "/vault", url.Values{"name": {""}}).has(t, "The name field is required.")

	for i, name := range []string{"Deed 10.pdf", "Deed 9.pdf", "<b>.pdf"} {
		content := vaulttest.PDF(2, name)
		body, kind := multipartForm(name, string(content))
		h.sendBody(t, 303, "POST", path+"/documents", body, "Cookie: deedkeep="+staff.token, kind)
		if i == 0 {
			staff.get(t, 200, path).has(t, "Deed 10.pdf", "2 pages", "Processing", "every 2s", `/documents/1?in=folder:5`)
		}
	}
	page := string(staff.get(t, 200, path).body)
	if !(strings.Index(page, "&lt;b&gt;.pdf") < strings.Index(page, "Deed 9.pdf") &&
		strings.Index(page, "Deed 9.pdf") < strings.Index(page, "Deed 10.pdf")) {
		t.Errorf("documents are not sorted by name:\n%s", page)
	}
	staff.get(t, 200, path+"?sort=date&dir=down&rename=1").has(t, `name="name" value="Deed 10.pdf"`, `value="/vault/5?dir=down&amp;sort=date"`)
	part := staff.get(t, 200, path, "HX-Request", "true")
	if strings.Contains(string(part.body), "<html") || !strings.Contains(string(part.body), "Deed 9.pdf") {
		t.Errorf("partial response = %s, want only the list", part.body)
	}
	viewer.get(t, 200, path).lacks(t, "data-upload", "New folder", `type="checkbox"`, "/rename", "upload.js")

	got := staff.post(t, 303, "/documents/move", url.Values{"file": {"1", "2", "77"}, "to": {"2"}, "back": {path + "?sort=date"}})
	if notice := h.noticeOf(t, got); got.Header.Get("Location") != path+"?sort=date" ||
		notice != "2 documents were moved. “document 77” was skipped: The document was deleted." {
		t.Errorf("unexpected Location %q or notice %q", got.Header.Get("Location"), notice)
	}
	staff.get(t, 200, "/vault/2").has(t, "Deed 9.pdf", "Deed 10.pdf")
	got = staff.post(t, 303, "/documents/trash", url.Values{"file": {"1"}, "back": {"//elsewhere"}})
	if notice := h.noticeOf(t, got); got.Header.Get("Location") != "/" || notice != "1 document was moved to the trash." {
		t.Errorf("unexpected Location %q or notice %q", got.Header.Get("Location"), notice)
	}
	for _, row := range []struct{ path, want string }{{"/documents/move", "No documents were selected."},
		{"/documents/trash", "No documents were selected."}} {
		t.Run(row.path, func(t *testing.T) {
			if notice := h.noticeOf(t, staff.post(t, 303, row.path, nil)); notice != row.want {
				t.Errorf("notice = %q, want %q", notice, row.want)
			}
		})
	}
	notice := h.noticeOf(t, staff.post(t, 303, "/documents/move", url.Values{"file": {"2"}, "to": {""}}))
	if notice != "Select a folder to move the documents to." {
		t.Errorf("notice = %q, want %q", notice, "Select a folder to move the documents to.")
	}
	staff.post(t, 422, "/documents/move", url.Values{"file": {"x"}, "to": {"2"}})
	staff.post(t, 404, "/documents/move", url.Values{"file": {"2"}, "to": {"99"}})
	viewer.post(t, 403, "/documents/move", url.Values{"file": {"2"}, "to": {"1"}})
	viewer.post(t, 403, "/documents/trash", url.Values{"file": {"2"}})

	staff.post(t, 422, path+"/move", url.Values{"parent": {"5"}}).has(t, "is invalid")
	staff.post(t, 303, path+"/move", url.Values{"parent": {"2"}})
	staff.post(t, 422, path+"/rename", url.Values{"name": {""}}).has(t, "The name field is required.")
	staff.post(t, 303, path+"/rename", url.Values{"name": {"Book 11"}})
	staff.get(t, 200, path).has(t, "<h1>Book 11</h1>", `<a href="/vault/2" data-folder="2">`)
	staff.post(t, 422, path+"/remove", nil).has(t, "The folder is not empty.")
	staff.post(t, 303, "/documents/trash", url.Values{"file": {"3"}})
	if got := staff.post(t, 303, path+"/remove", nil); got.Header.Get("Location") != "/vault/2" {
		t.Errorf("Location = %q, want /vault/2", got.Header.Get("Location"))
	}
	staff.get(t, 200, "/vault/1?do=move").has(t, "Move this folder into", "Plats &amp; Surveys")
	staff.get(t, 200, "/vault?do=new").has(t, "Name of the new folder")
	viewer.get(t, 200, "/vault?do=new").lacks(t, "Name of the new folder")
	staff.get(t, 404, path)
	staff.get(t, 404, "/vault/05")
	viewer.post(t, 403, "/vault", url.Values{"name": {"x"}})
}

func TestFolderZip(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	g := h.openBrowser(t, model.RoleViewer)
	inner, err := h.vault.Folders.Create(t.Context(), model.Actor{Kind: "operator"},
		model.FolderDraft{Name: model.StringInput("Inner"), ParentID: model.IDInput{Present: true, Valid: true, Value: 1}},
		vault.Idempotency[model.Folder]{})
	if err != nil {
		t.Fatalf("Folders.Create: %v", err)
	}
	for i, folder := range []uint64{1, inner.ID, 2} {
		file := h.upload(t, fmt.Sprintf("%d.pdf", i), vaulttest.PDF(1, fmt.Sprint(i)))
		if _, err := h.vault.Files.Move(t.Context(), model.Actor{Kind: "operator"},
			vault.MoveRequest{Files: []uint64{file.ID}, To: vault.Destination{Folder: folder}}); err != nil {
			t.Fatalf("Files.Move: %v", err)
		}
	}
	got := g.get(t, 200, "/vault/1/zip")
	z, err := zip.NewReader(bytes.NewReader(got.body), int64(len(got.body)))
	if err != nil {
		t.Fatalf("zip.NewReader: %v", err)
	}
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	if strings.Join(names, ",") != "0.pdf,Inner/1.pdf" {
		t.Errorf("names in the zip = %q, want 0.pdf and Inner/1.pdf", names)
	}
	g.get(t, 409, "/vault/3/zip")
	g.get(t, 404, "/vault/99/zip")
}

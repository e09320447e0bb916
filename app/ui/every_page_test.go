package ui_test

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/ui"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// As an administrator, request every page once with an existing record and once with a missing one.
// No page may respond with an internal error.
func TestEveryPageOpens(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	cookie := h.cookieFor(t, "Owner")
	h.vault.Events.EndFollowing() // otherwise, the stream of changes wouldn't end
	filled := h.createRecords(t)
	for _, r := range ui.Routes() {
		method, path, _ := strings.Cut(r.Pattern, " ")
		if method != http.MethodGet {
			continue
		}
		path = strings.ReplaceAll(path, "{$}", "")
		existing := placeholder.ReplaceAllStringFunc(path, func(name string) string { return filled(path, strings.Trim(name, "{}.")) })
		got := h.send(t, method, existing, cookie)
		if !slices.Contains([]int{200, 303}, got.StatusCode) {
			if !slices.Contains(otherStatusPages, r.Pattern) {
				t.Errorf("GET %s (%s): status %d, want 200 or 303\n%s", existing, r.Pattern, got.StatusCode, got.body)
			}
		}
		if page := strings.HasPrefix(got.Header.Get("Content-Type"), "text/html") || got.StatusCode == 303; page &&
			got.Header.Get("Cross-Origin-Opener-Policy") != "same-origin" {
			t.Errorf("GET %s: Cross-Origin-Opener-Policy = %q, want same-origin", existing, got.Header.Get("Cross-Origin-Opener-Policy"))
		}
		if got.StatusCode != 303 && (got.Header.Get("Cross-Origin-Resource-Policy") != "same-origin" ||
			!strings.Contains(got.Header.Get("Permissions-Policy"), "camera=(), ")) {
			t.Errorf("GET %s: Cross-Origin-Resource-Policy = %q, Permissions-Policy = %q, want same-origin and camera=()", existing,
				got.Header.Get("Cross-Origin-Resource-Policy"), got.Header.Get("Permissions-Policy"))
		}
		if path == existing {
			continue
		}
		for _, id := range []string{"999999", "0", "-1", "01", "x", "%2e%2e", "ABCDEFGH"} {
			missing := placeholder.ReplaceAllString(path, id)
			if got := h.send(t, method, missing, cookie); got.StatusCode >= 500 {
				t.Errorf("GET %s: status %d, want below 500\n%s", missing, got.StatusCode, got.body)
			}
		}
	}
}

// Every page of the vault of an example firm says so, with or without a session, also those for printing.
func TestEveryPageShowsExample(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	vaulttest.NoError(t, h.vault.MarkExample(t.Context(), model.Actor{Kind: "operator"}))
	cookie := h.cookieFor(t, "Owner")
	h.vault.Events.EndFollowing() // otherwise, the stream of changes wouldn't end
	filled := h.createRecords(t)
	pages := 0
	check := func(path, cookie string) {
		t.Helper()
		text := string(h.send(t, http.MethodGet, path, cookie).body)
		if !strings.Contains(text, "<html") {
			return
		}
		pages++
		const link = `<a href="/help/example">Start with your own data</a>`
		if !strings.Contains(text, "Example firm: invented names and documents.") ||
			strings.Contains(text, link) != (cookie != "" && path != "/docs") {
			t.Errorf("GET %s: got %s, want that it is an example, and the link for users", path, text)
		}
	}
	for _, r := range ui.Routes() {
		if method, path, _ := strings.Cut(r.Pattern, " "); method == http.MethodGet {
			path = strings.ReplaceAll(path, "{$}", "")
			check(placeholder.ReplaceAllStringFunc(path, func(name string) string { return filled(path, strings.Trim(name, "{}.")) }), cookie)
		}
	}
	for _, path := range []string{"/sign-in", "/join/x", "/no-such-page"} {
		check(path, "")
	}
	if pages < 50 {
		t.Errorf("got %d pages, want at least 50", pages)
	}
}

// otherStatusPages lists the pages that respond with a different status in this test.
var otherStatusPages = []string{
	"GET /documents/{n}/pages/{page}",       // the test worker doesn't render images
	"GET /documents/{n}/pages/{page}/marks", // the test worker doesn't find matches
	"GET /documents/{n}/thumbnail",
	"GET /documents/{n}/searchable.pdf", // OCR hasn't read the document
	"GET /admin/trash/purge",            // the request doesn't specify a record
	"GET /uploads/{id}",                 // there is no upload
	"GET /join/{token}",                 // the link is invalid
	"GET /side-by-side",                 // the request doesn't say what to show
	"GET /vault/{n}/zip",                // the folder is empty
	"GET /logo/{version}",               // there is no logo
}

// createRecords creates a record of each type. It returns a function that replaces the placeholders
// in a page's path.
func (ts *testServer) createRecords(t *testing.T) func(path, name string) string {
	t.Helper()
	operator := model.Actor{Kind: "operator"}
	file := ts.upload(t, "deed.pdf", vaulttest.PDF(2, "matrix"))
	_, key, err := ts.vault.Keys.Create(t.Context(), operator, model.KeyDraft{Name: "closing"})
	if err != nil {
		t.Fatalf("Keys.Create: %v", err)
	}
	user := ts.createUser(t, "ann", model.RoleViewer)
	folder := ts.createFolder(t)
	abstract, attached := ts.createAbstractWithDocument(t)
	order := ts.createNumberedOrder(t)
	instrument := ts.createInstrument(t, ts.abstractID(t, abstract), `{"type":"Mortgage"}`)
	numbers := map[string]uint64{"documents": file.ID, "vault": folder, "users": user.ID, "keys": key.ID, "templates": 1,
		"instruments": instrument}
	return func(path, name string) string {
		switch {
		case name == "part":
			return "now" // for the backups page
		case name == "group":
			return "backup"
		case name == "step":
			return "access"
		case name == "topic":
			return "working"
		case path == "/help/screenshots/{name}":
			return "desk.png"
		case name == "n" && strings.HasPrefix(path, "/abstracts/"):
			return strconv.FormatUint(attached, 10)
		}
		for section, id := range numbers {
			if name == "n" && strings.Contains(path, "/"+section+"/{n}") {
				return strconv.FormatUint(id, 10)
			}
		}
		switch {
		case strings.HasPrefix(path, "/abstracts/{id}") && name == "id":
			return abstract
		case strings.HasPrefix(path, "/orders/{id}") && name == "id":
			return order
		}
		return "1"
	}
}

// createAbstractWithDocument creates an abstract with a document. It returns the abstract's opaque
// ID and the document's ID.
func (ts *testServer) createAbstractWithDocument(t *testing.T) (string, uint64) {
	t.Helper()
	staged, err := ts.vault.Files.Stage(t.Context())
	if err != nil {
		t.Fatalf("Files.Stage: %v", err)
	}
	defer staged.Discard()
	if err := staged.Add("plat.pdf", bytes.NewReader(vaulttest.PDF(1, "plat"))); err != nil {
		t.Fatalf("stage file: %v", err)
	}
	created, err := ts.vault.Abstracts.Create(t.Context(), model.Actor{Kind: "operator"}, model.AbstractDraft{}, staged,
		vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("Abstracts.Create: %v", err)
	}
	return ts.vault.Secrets.IDs("abstracts").Encode(created.Abstract.ID), created.Files[0].ID
}

func (ts *testServer) createNumberedOrder(t *testing.T) string {
	t.Helper()
	order, err := ts.vault.Orders.Create(t.Context(), model.Actor{Kind: "operator"},
		model.OrderDraft{Fields: model.Inputs{"order_number": model.StringInput("2026-1")}},
		vault.Idempotency[model.Order]{})
	if err != nil {
		t.Fatalf("Orders.Create: %v", err)
	}
	return ts.vault.Secrets.IDs("orders").Encode(order.ID)
}

func (ts *testServer) createFolder(t *testing.T) uint64 {
	t.Helper()
	folder, err := ts.vault.Folders.Create(t.Context(), model.Actor{Kind: "operator"},
		model.FolderDraft{Name: model.StringInput("Deeds")}, vault.Idempotency[model.Folder]{})
	if err != nil {
		t.Fatalf("Folders.Create: %v", err)
	}
	return folder.ID
}

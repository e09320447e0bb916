package ui_test

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/ui"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

const formula = `=HYPERLINK("http://evil.example")`

func (ts *testServer) createAbstractAt(t *testing.T, actor model.Actor, address string) vault.AbstractWithFiles {
	t.Helper()
	staged, err := ts.vault.Files.Stage(t.Context())
	if err != nil {
		t.Fatalf("Files.Stage: %v", err)
	}
	defer staged.Discard()
	created, err := ts.vault.Abstracts.Create(t.Context(), actor,
		model.AbstractDraft{Fields: model.Inputs{"address": model.StringInput(address)}}, staged,
		vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("Abstracts.Create: %v", err)
	}
	return created
}

func TestActivity(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	h.clock.Advance(24 * time.Hour)
	admin := h.newUser(t, "ada", model.RoleAdmin)
	h.newUser(t, formula, model.RoleStaff)
	id := h.createAbstractAt(t, admin.actor, `12 <b>Mill</b> Road`).Abstract.ID
	patch := model.AbstractPatch{Fields: model.Inputs{"county": model.StringInput("Ada")}}
	if _, err := h.vault.Abstracts.Patch(t.Context(), admin.actor, id, patch, vault.Match{}); err != nil {
		t.Fatalf("Abstracts.Patch: %v", err)
	}
	file := h.upload(t, "deed <1>.pdf", vaulttest.PDF(1, "a"))
	h.vault.Events.RecordAccess(admin.actor, "file.opened", fmt.Sprintf("file:%d", file.ID), nil)
	admin.submitChange(t, 303, "/admin/statuses", "do", "status-add", "name", "Sent")
	order := h.createOrder(t, "26-7", 1, model.Inputs{})
	h.createOrder(t, "26-8", 1, model.Inputs{})
	duplicate := h.createOrder(t, "26-8", 1, model.Inputs{})
	h.vault.Events.RecordAccess(admin.actor, "search.asked", "", nil)

	path := "/abstracts/" + h.vault.Secrets.IDs("abstracts").Encode(id)
	all := admin.get(t, 200, "/admin/activity", `created abstract <a href="`+path+`">12 &lt;b&gt;Mill&lt;/b&gt; Road</a>`,
		`<li>County: (blank) → Ada</li>`,
		`opened document <a href="/documents/1">deed &lt;1&gt;.pdf</a>`, "changed the order statuses", "signed in",
		"An administrator (command line)", ">System<")
	all.lacks(t, "<b>Mill", "abstract.created<")
	for _, c := range []struct {
		name, query string
		has, lacks  []string
	}{
		{"by user", "who=operator", []string{"uploaded document"}, []string{"created abstract <a"}},
		{"by kind", "kind=file.opened", []string{"opened document"}, []string{"uploaded document"}},
		{"by record, as address of its page", "record=" + url.QueryEscape("https://vault.test"+path+"?x=1"),
			[]string{"created abstract <a", "changed abstract <a"}, []string{"uploaded document"}},
		{"by record, as name", "record=file:1", []string{"uploaded document"}, []string{"created abstract <a"}},
		{"by an invalid record", "record=%3Cscript%3E", []string{"No record has this number", `value="&lt;script&gt;"`}, []string{"<script>"}},
		{"by an invalid ID", "record=/abstracts/nothing", []string{"No record has this number"}, nil},
		{"by ID", "record=" + strings.TrimPrefix(path, "/abstracts/"),
			[]string{"created abstract <a", "Entries about abstract <a href=\"" + path}, []string{"uploaded document"}},
		{"by property address", "record=12+mill+road", []string{"No record"}, nil},
		{"by order number", "record=26-7", []string{"created order <a",
			`Entries about order <a href="` + h.orderPath(order) + `">26-7</a>`}, []string{"created abstract <a"}},
		{"by the number of two orders", "record=26-8",
			[]string{"Several records match", "Matching records",
				`record=order%3A` + strings.TrimPrefix(h.orderPath(duplicate), "/orders/"), "created abstract <a"}, nil},
		{"by username", "record=ADA", []string{"Entries about user <a href=", "created user"}, []string{"created abstract <a"}},
		{"searches", "kind=search.asked", []string{"search terms are not logged"}, nil},
		{"from a day", "from=2026-05-30", []string{"created abstract <a"}, []string{"initialized the data directory"}},
		{"to a day", "to=2026-05-29", []string{"initialized the data directory"}, []string{"created abstract <a"}},
		{"invalid date", "from=yesterday", []string{"isn&#39;t a date. Write it like 3/9/1998."}, nil},
		{"no results", "who=user:99", []string{"No matching entries"}, nil},
		{"two filters", fmt.Sprintf("who=user:%d&kind=abstract.changed", admin.actor.ID), []string{"changed abstract"},
			[]string{"created abstract <a"}},
		{"invalid cursor", "at=AAAA", []string{"created abstract <a"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := admin.get(t, 200, "/admin/activity?"+c.query, c.has...)
			got.lacks(t, c.lacks...)
		})
	}
}

func TestActivityPaging(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	admin := h.newUser(t, "ada", model.RoleAdmin)
	for i := range 120 {
		h.vault.Events.RecordAccess(admin.actor, "file.downloaded", fmt.Sprint("file:", i+1000), nil)
	}
	number := regexp.MustCompile(`<b>(1\d\d\d)</b>`)
	next, prev := regexp.MustCompile(`href="([^"]+)" rel="next"`), regexp.MustCompile(`href="([^"]+)" rel="prev"`)
	seen, target, pages := map[string]int{}, "/admin/activity?kind=file.downloaded", 0
	var last reply
	for ; target != "" && pages < 9; pages++ {
		last = admin.get(t, 200, target)
		for _, m := range number.FindAllSubmatch(last.body, -1) {
			seen[string(m[1])]++
		}
		target = ""
		if m := next.FindSubmatch(last.body); m != nil {
			target = strings.ReplaceAll(string(m[1]), "&amp;", "&")
		}
	}
	if len(seen) != 120 || pages != 3 {
		t.Errorf("%d entries on %d pages, want 120 on 3", len(seen), pages)
	}
	m := prev.FindSubmatch(last.body)
	if m == nil {
		t.Fatal("the last page has no link to the previous page")
	}
	admin.get(t, 200, strings.ReplaceAll(string(m[1]), "&amp;", "&"), "<b>1020</b>", "<b>1069</b>")
}

func TestActivityCSV(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	admin := h.newUser(t, "ada", model.RoleAdmin)
	bad := h.newUser(t, formula, model.RoleStaff)
	for i := range 700 { // more than fit in one batch
		h.vault.Events.RecordAccess(bad.actor, "file.downloaded", fmt.Sprint("abstract:", i+1), nil)
	}
	got := admin.get(t, 200, "/admin/activity.csv?kind=file.downloaded")
	got.checkHeaders(t, map[string]string{"Content-Type": "text/csv; charset=utf-8", "X-Content-Type-Options": "nosniff",
		"Cache-Control": "no-store"})
	text, hasBOM := strings.CutPrefix(string(got.body), "\ufeff")
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || !hasBOM || len(rows) != 701 {
		t.Fatalf("CSV with %d rows, BOM %t, %v, want 701 rows, BOM true", len(rows), hasBOM, err)
	}
	if first := rows[1]; first[4] != "'"+formula || first[6] != "file.downloaded" || !strings.HasPrefix(first[7], "abstract:") ||
		first[7] == "abstract:1" || len(first[11]) != 64 || len(first) != 14 {
		t.Errorf("unexpected first row: %q", first)
	}
	for i, row := range rows {
		for _, cell := range row {
			if strings.IndexAny(cell, "=+-@\t\r") == 0 {
				t.Errorf("row %d has the formula %q", i, cell)
			}
		}
	}
	admin.get(t, 422, "/admin/activity.csv?from=never", "isn&#39;t a date. Write it like 3/9/1998.")
	if empty := admin.get(t, 200, "/admin/activity.csv?who=user:99"); strings.Count(string(empty.body), "\n") != 1 {
		t.Errorf("CSV without entries = %q, want only the heading", empty.body)
	}
}

func TestActivityVerify(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	admin := h.newUser(t, "ada", model.RoleAdmin)
	admin.get(t, 200, "/admin/activity", "Audit log integrity", "Each entry contains a hash")
	admin.post(t, 303, "/admin/activity/verify", nil)
	waitUntilStopped(t, func() bool { return h.vault.Events.VerifyProgress().Running })
	admin.get(t, 200, "/admin/activity", "Verified: all", "with the hash <code>")
	part := admin.testServer.request(t, 200, http.MethodGet, "/admin/activity/verify", admin.cookie, "HX-Request: true")
	part.has(t, `id="log-check"`, "Verified: all")
	part.lacks(t, "<html", "hx-trigger")
	admin.get(t, 303, "/admin/activity/verify")
}

var eventKindPattern = regexp.MustCompile(
	`"((?:abstract|order|file|folder|user|key|template|session|backup|vault|search|order_fields|order_statuses)\.[a-z_]{5,})"`)

// There is a text for every event kind that the vault writes.
func TestEventKindsHaveText(t *testing.T) {
	t.Parallel()
	known := ui.EventKinds()
	for _, pattern := range []string{"../vault/*.go", "../vault/purge/*.go", "../store/bucket.go", "../api/*.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("filepath.Glob(%q) = %q, %v, want some files", pattern, names, err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatalf("os.ReadFile: %v", err)
			}
			for _, m := range eventKindPattern.FindAllSubmatch(text, -1) {
				if kind := string(m[1]); !known[kind] {
					t.Errorf("%s: event kind %s has no text", name, kind)
				}
			}
		}
	}
}

// The export has a column for the record's name and one for the local time. Both are escaped.
func TestActivityCSVNames(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	admin := h.newUser(t, "ada", model.RoleAdmin)
	order := h.createOrder(t, formula, 1, model.Inputs{})
	created := order.CreatedAt.In(time.Local).Format(time.DateTime)
	got := admin.get(t, 200, "/admin/activity.csv?kind=order.created")
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(got.body), "\ufeff"))).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatalf("CSV with %d rows, %v, want 2", len(rows), err)
	}
	for at, want := range map[int][2]string{1: {"at", order.CreatedAt.UTC().Format("2006-01-02T15:04:05.000000Z")},
		12: {"record_name", "'" + formula}, 13: {"local_time", created}} {
		if rows[0][at] != want[0] || rows[1][at] != want[1] {
			t.Errorf("column %d is %q: %q, want %q: %q", at, rows[0][at], rows[1][at], want[0], want[1])
		}
	}
}

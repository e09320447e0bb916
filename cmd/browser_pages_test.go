//go:build browser

package cmd_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
)

// screen is a page as one user sees it.
type screen struct {
	name, path string
	as         string // username; "" if signed out
	status     int    // expected status; 200 if not set
}

// screens returns every page. TestEveryPageIsListed fails if a page is missing.
func (f *firm) screens() []screen {
	abstract, order, folder := "/abstracts/"+f.abstract, "/orders/"+f.order, "/vault/"+f.folder
	document := func(name string) string { return fmt.Sprintf("/documents/%d", f.files[name]) }
	return []screen{
		{name: "sign-in", path: "/sign-in"},
		{name: "sign-in-code", path: "/sign-in/code"},
		{name: "join", path: f.inviteLink},
		{name: "join-gone", path: "/join/gone", status: 404},
		{name: "docs", path: "/docs"},
		{name: "nowhere", path: "/nowhere", as: staff, status: 404},
		{name: "forbidden", path: "/admin/users", as: viewer, status: 403},
		{name: "desk", path: "/", as: admin},
		{name: "desk-viewer", path: "/", as: viewer},
		{name: "find", path: "/find?q=quillfeather", as: staff},
		{name: "find-numbers", path: "/find?q=2026", as: staff},
		{name: "find-start", path: "/find", as: viewer},
		{name: "find-nothing", path: "/find?q=nowhere+at+all", as: viewer},
		{name: "find-how", path: "/find/how", as: viewer},
		{name: "find-lists", path: "/find?county=St.+Tammany&state=LA", as: viewer},
		{name: "abstracts", path: "/abstracts", as: staff},
		{name: "instruments", path: "/instruments", as: staff},
		{name: "instruments-filtered", path: "/instruments?q=smith&county=Warren&recorded_from=2001-01-01", as: viewer},
		{name: "abstracts-new", path: "/abstracts/new", as: staff},
		{name: "abstract", path: abstract, as: staff},
		{name: "abstract-viewer", path: abstract, as: viewer},
		{name: "abstract-bare", path: "/abstracts/" + f.emptyAbstract, as: staff},
		{name: "abstract-edit", path: abstract + "?edit=property", as: staff},
		{name: "abstract-history", path: abstract + "/history", as: staff},
		{name: "abstract-prior-searches", path: abstract + "/prior-searches", as: staff},
		{name: "runsheet-upload", path: abstract + "/runsheet/upload", as: staff},
		{name: "abstract-people", path: abstract + "/people?edit=1", as: staff},
		{name: "abstract-order-link", path: abstract + "/order-link", as: staff},
		{name: "abstract-names-run", path: abstract + "/names-run?edit=1", as: staff},
		{name: "abstract-requirements", path: abstract + "/requirements?edit=1", as: staff},
		{name: "abstract-certificates", path: abstract + "/certificates?edit=1", as: staff},
		{name: "abstract-notes", path: abstract + "/notes", as: staff},
		{name: "abstract-printed", path: abstract + "/print", as: viewer},
		{name: "work", path: "/work", as: staff},
		{name: "failed", path: "/documents/failed", as: staff},
		{name: "runsheet", path: "/abstracts/" + f.sheetAbstract, as: staff},
		{name: "runsheet-viewer", path: "/abstracts/" + f.sheetAbstract, as: viewer},
		{name: "instrument-new", path: abstract + "/instruments/new", as: staff},
		{name: "suggestions", path: abstract + "/suggestions", as: staff},
		{name: "instrument-paste", path: abstract + "/instruments/paste", as: staff},
		{name: "instrument-edit", path: fmt.Sprintf("/instruments/%d/edit", max(f.instrument, 1)), as: staff},
		{name: "orders", path: "/orders", as: staff},
		{name: "orders-new", path: "/orders/new", as: staff},
		{name: "order", path: order, as: staff},
		{name: "order-viewer", path: order, as: viewer},
		{name: "order-history", path: order + "/history", as: staff},
		{name: "order-prior-searches", path: order + "/prior-searches", as: staff},
		{name: "order-notes", path: order + "/notes", as: staff},
		{name: "order-abstract-link", path: order + "/abstract-link", as: staff},
		{name: "vault", path: "/vault", as: staff},
		{name: "folder", path: folder, as: staff},
		{name: "folder-new", path: folder + "?do=new", as: staff},
		{name: "folder-rename", path: folder + "?do=rename", as: staff},
		{name: "folder-move", path: folder + "?do=move", as: staff},
		{name: "folder-to-abstracts", path: folder + "/to-abstracts", as: staff},
		{name: "vault-to-abstracts", path: "/vault/to-abstracts", as: staff},
		{name: "document", path: document(chainDocuments[1].name) + "?in=abstract:" + f.abstract, as: staff},
		{name: "runsheet-alone", path: "/abstracts/" + f.sheetAbstract + "/runsheet", as: staff},
		{name: "side-by-side", as: staff, path: fmt.Sprintf("/side-by-side?left=document-%d&right=runsheet-%s",
			f.files[chainDocuments[1].name], f.sheetAbstract)},
		{name: "side-by-side-choose", as: viewer, path: fmt.Sprintf("/side-by-side?left=document-%d", f.files[chainDocuments[1].name])},
		{name: "document-of-words", path: document(chainDocuments[6].name), as: viewer},
		{name: "document-sheet", path: document(chainDocuments[8].name), as: viewer},
		{name: "document-text", path: document(chainDocuments[4].name) + "/text?find=grantors", as: staff},
		{name: "document-print", path: document(chainDocuments[6].name) + "/print", as: staff},
		{name: "document-broken", path: document(brokenName), as: staff},
		{name: "document-packet", path: document(chainDocuments[1].name) + "/packet", as: staff},
		{name: "document-notes", path: document(chainDocuments[1].name) + "/notes", as: staff},
		{name: "document-move", path: document(chainDocuments[1].name) + "/move", as: staff},
		{name: "documents-move", path: fmt.Sprintf("/documents/move?files=%d", f.files[chainDocuments[1].name]), as: staff},
		{name: "document-trashed", path: document(trashedName), as: staff},
		{name: "trash", path: "/trash", as: staff},
		{name: "help", path: "/help", as: viewer},
		{name: "help-results", path: "/help?q=backup+disk", as: viewer},
		{name: "help-working", path: "/help/working", as: staff},
		{name: "help-security", path: "/help/security", as: admin},
		{name: "help-api", path: "/help/api", as: staff},
		{name: "me", path: "/me", as: staff},
		{name: "admin", path: "/admin", as: admin},
		{name: "admin-templates", path: "/admin/templates", as: admin},
		{name: "admin-template", path: "/admin/templates/1", as: admin},
		{name: "admin-fields", path: "/admin/fields", as: admin},
		{name: "admin-statuses", path: "/admin/statuses", as: admin},
		{name: "admin-types", path: "/admin/types", as: admin},
		{name: "admin-type", path: "/admin/types?type=7", as: admin},
		{name: "admin-phrases", path: "/admin/phrases", as: admin},
		{name: "admin-phrase", path: "/admin/phrases?phrase=Easement", as: admin},
		{name: "admin-users", path: "/admin/users", as: admin},
		{name: "admin-users-new", path: "/admin/users/new", as: admin},
		{name: "admin-user", path: fmt.Sprintf("/admin/users/%d", f.viewerID), as: admin},
		{name: "admin-keys", path: "/admin/keys", as: admin},
		{name: "admin-keys-new", path: "/admin/keys/new", as: admin},
		{name: "admin-key", path: "/admin/keys/1", as: admin},
		{name: "admin-activity", path: "/admin/activity", as: admin},
		{name: "admin-activity-verify", path: "/admin/activity/verify", as: admin},
		{name: "admin-backups", path: "/admin/backups", as: admin},
		{name: "admin-settings", path: "/admin/settings", as: admin},
		{name: "admin-setup", path: "/admin/setup/firm", as: admin},
		{name: "admin-setup-two-factor", path: "/admin/setup/two-factor", as: admin},
		{name: "admin-setup-access", path: "/admin/setup/access", as: admin},
		{name: "admin-setup-backup", path: "/admin/setup/backup", as: admin},
		{name: "admin-setup-done", path: "/admin/setup/done", as: admin},
		{name: "admin-setup-example", path: "/admin/setup/example", as: admin},
		{name: "admin-settings-firm", path: "/admin/settings/firm", as: admin},
		{name: "admin-settings-access", path: "/admin/settings/access", as: admin},
		{name: "admin-settings-backup", path: "/admin/settings/backup", as: admin},
		{name: "admin-settings-users", path: "/admin/settings/users", as: admin},
		{name: "admin-settings-patterns", path: "/admin/settings/patterns", as: admin},
	}
}

// nonPageRoutes maps the ends of route patterns that aren't pages to what they return.
var nonPageRoutes = map[string]string{
	"/changes":           "stream of changes",
	"/instruments/state": "runsheet as JSON",
	"/pages/{page}":      "image", "/thumbnail": "image", "/download": "document", "/original": "document", "/searchable.pdf": "document",
	"/marks": "part of a page", "/progress": "part of a page", "GET /find/box": "part of a page", "GET /find/recent": "part of a page",
	"GET /orders/number": "part of a page",
	"GET /admin/search":  "part of a page", "/latest": "part of a page", "/documents/{n}/row": "part of a page",
	"/{part}": "part of a page", "GET /abstracts/{id}/documents": "part of a page", "GET /documents/{n}/find": "part of a page",
	"GET /documents/{n}/instruments":        "part of a page",
	"GET /documents/{n}/areas":              "areas of pages",
	"GET /documents/{n}/pages/{page}/text":  "text of a page",
	"GET /documents/{n}/pages/{page}/words": "words of a page",
	"/screenshots/{name}":                   "image", "/zip": "archive", ".csv": "CSV", ".xlsx": "Excel",
	"/logo/{version}": "image", "GET /instruments/{n}": "redirect", "GET /admin/settings/restart": "redirect", "/uploads/{id}": "resumable upload",
}

// Every route for a page is listed in screens, so every page is tested.
func TestEveryPageIsListed(t *testing.T) {
	sources, err := filepath.Glob("../app/ui/*/routes.go")
	parts, _ := filepath.Glob("../app/ui/*/*/routes.go") // the pattern is valid
	sources = append(sources, parts...)
	if err != nil || len(sources) < 4 {
		t.Fatalf("route tables of the pages: got %q, %v, want at least 4", sources, err)
	}
	mux := http.NewServeMux()
	missing := map[string]bool{}
	for _, source := range append(sources, "../app/ui/ui.go") {
		table, err := os.ReadFile(source)
		if err != nil {
			t.Fatalf("read route table: %v", err)
		}
		found := regexp.MustCompile(`NewRoute\("(GET /[^"]*)"`).FindAllStringSubmatch(string(table), -1)
		if len(found) == 0 {
			t.Errorf("%s: got no routes", source)
		}
		for _, route := range found {
			mux.Handle(route[1], http.NotFoundHandler())
			missing[route[1]] = true
		}
	}
	for suffix := range nonPageRoutes {
		for pattern := range missing {
			if strings.HasSuffix(pattern, suffix) {
				delete(missing, pattern)
			}
		}
	}
	f := &firm{
		inviteLink: "/join/first", abstract: "ABCDEFGH", emptyAbstract: "BCDEFGHI", sheetAbstract: "DEFGHIJK", order: "CDEFGHIJ", folder: "1", viewerID: 1,
		files: map[string]int64{brokenName: 1, trashedName: 1},
	}
	for _, n := range []int{1, 4, 6, 8} {
		f.files[chainDocuments[n].name] = 1
	}
	for _, s := range f.screens() {
		r, err := http.NewRequest(http.MethodGet, s.path, http.NoBody)
		if err != nil {
			t.Fatalf("create request: %v", err)
		}
		_, pattern := mux.Handler(r)
		delete(missing, pattern)
	}
	for pattern := range missing {
		t.Errorf("route %s: got no screen, want one in screens or an entry in nonPageRoutes", pattern)
	}
}

// sessionCookies signs in as each of the users and returns their cookies by username.
func (f *firm) sessionCookies(b *tab, names ...string) map[string][]*network.CookieParam {
	f.t.Helper()
	cookies := map[string][]*network.CookieParam{}
	for _, name := range names {
		b.signIn(name)
		for _, c := range call(b, network.GetCookies, network.GetCookiesParams{}).Cookies {
			cookies[name] = append(cookies[name], &network.CookieParam{
				Name: c.Name, Value: c.Value, URL: b.origin, HTTPOnly: c.HTTPOnly, SameSite: c.SameSite,
			})
		}
		b.allow("/changes/here") // which the open page may send without a session now
		call(b, network.ClearBrowserCookies, noParams)
	}
	return cookies
}

// setSession signs the tab in by setting the cookies of a session.
func (ta *tab) setSession(cookies []*network.CookieParam) {
	ta.t.Helper()
	if len(cookies) > 0 {
		call(ta, network.SetCookies, network.SetCookiesParams{Cookies: cookies})
	}
}

// Every page is accessible in both themes, fits on a phone, and causes none of the problems
// that the monitor records. If DEEDKEEP_SCREENSHOTS is set, the test saves screenshots.
func TestScreens(t *testing.T) {
	env := newBrowserEnv(t)
	f := env.newFirm(t)
	sessions := f.sessionCookies(env.newTab(t, f.origin), admin, staff, viewer)
	finder := env.newTab(t, f.origin)
	finder.setSession(sessions[staff])
	finder.goTo("/")
	f.waitSearchable(finder, "lien satisfied")
	for _, s := range f.screens() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			b := env.newTab(t, f.origin)
			b.setSession(sessions[s.as])
			b.checkScreen(s)
		})
	}
}

// checkScreen checks a page in both themes and at two window widths.
func (ta *tab) checkScreen(s screen) {
	ta.t.Helper()
	ta.openScreen(s)
	ta.setTheme("light")
	ta.checkAccessible(ta.t, "light")
	ta.screenshot(s.name + "-wide-light")
	ta.setTheme("dark")
	ta.checkColors(ta.t, "dark")
	ta.screenshot(s.name + "-wide-dark")
	ta.setSize(360, 740)
	ta.openScreen(s) // reload, because some parts depend on the window width when the page loads
	for _, theme := range []string{"dark", "light"} {
		ta.setTheme(theme)
		ta.checkFits(360)
		ta.screenshot(s.name + "-narrow-" + theme)
	}
	ta.checkControlsApart()
	// Also check the page with all menus and sections open.
	eval[bool](ta, `document.querySelectorAll("details").forEach(d => { d.removeAttribute("name"); d.open = true }) || true`)
	ta.checkAccessible(ta.t, "narrow, menus open", "target-size") // open menus cover other targets
	ta.checkFits(360)
}

// openScreen opens a page, checks its status, and waits until it is fully loaded.
func (ta *tab) openScreen(s screen) {
	ta.t.Helper()
	status := max(s.status, http.StatusOK)
	if status != http.StatusOK {
		ta.expect(strconv.Itoa(status))
	}
	ta.goTo(s.path)
	if got := eval[int](ta, `performance.getEntriesByType("navigation")[0].responseStatus`); got != status {
		ta.t.Fatalf("status of %s: got %d, want %d\n%s", s.path, got, status, ta.describe())
	}
	ta.waitImages()
}

// waitImages waits until all fonts and all images in the window are loaded.
func (ta *tab) waitImages() {
	ta.t.Helper()
	ta.waitFor(`[...document.images].every(i => i.complete || i.loading == "lazy" && i.getBoundingClientRect().top > innerHeight)`)
	eval[bool](ta, `document.fonts.ready.then(() => true)`)
}

// checkFits reports a test error if the page scrolls horizontally.
func (ta *tab) checkFits(width int) {
	ta.t.Helper()
	if wide := ta.overflow(width); len(wide) > 0 {
		ta.t.Errorf("elements wider than %d px: got %s, want none", width, strings.Join(wide, ", "))
	}
}

// checkControlsApart checks that no two controls of a bar overlap, with controls of the size that
// touch screens get and a document of many pages, and that no check box of a row is over its text.
func (ta *tab) checkControlsApart() {
	ta.t.Helper()
	overlaps := eval[[]string](ta, `(() => {
		document.documentElement.style.setProperty("--control", "2.5rem");
		document.querySelectorAll(".viewer-number span").forEach(e => { e.textContent = "of 1,500" });
		const found = [];
		for (const bar of document.querySelectorAll(".viewer-bar, .actions")) {
			const controls = [...bar.querySelectorAll("a, button, input, summary")].filter(
				e => e.checkVisibility() && !e.closest(".menu > :not(summary)"));
			const name = e => e.getAttribute("aria-label") || e.textContent.trim() || e.name;
			controls.forEach((e, n) => controls.slice(n + 1).forEach(other => {
				const a = e.getBoundingClientRect(), b = other.getBoundingClientRect();
				const beside = a.left >= b.right - 1 || b.left >= a.right - 1;
				if (!beside && a.top < b.bottom - 1 && b.top < a.bottom - 1) found.push(name(e) + " over " + name(other));
			}));
		}
		for (const box of document.querySelectorAll(".list.stack td > input[type=checkbox]:only-child")) {
			const cell = box.parentElement.nextElementSibling, a = box.getBoundingClientRect(), b = cell.getBoundingClientRect();
			const end = b.right - parseFloat(getComputedStyle(cell).paddingRight);
			if (box.checkVisibility() && a.left > b.left && a.left < end - 1 && a.top < b.bottom && b.top < a.bottom)
				found.push("check box over " + cell.textContent);
		}
		document.documentElement.style.removeProperty("--control");
		return found;
	})()`)
	if len(overlaps) > 0 {
		ta.t.Errorf("controls at 360 px: got %s, want none over another", strings.Join(overlaps, ", "))
	}
}

// overflow returns nothing if the page fits the window. Otherwise, it returns the width of
// the page and up to six elements that are too wide.
func (ta *tab) overflow(width int) []string {
	ta.t.Helper()
	return eval[[]string](ta, fmt.Sprintf(`(() => {
		if (document.scrollingElement.scrollWidth <= %d) return [];
		const wide = [...document.body.querySelectorAll("*")].filter(e => {
			const r = e.getBoundingClientRect(); return r.right > %[1]d + 0.5 && r.width > 0 });
		return [document.scrollingElement.scrollWidth + " px wide"].concat(wide.slice(0, 6).map(e =>
			e.tagName.toLowerCase() + "." + e.className + " " + Math.round(e.getBoundingClientRect().right)));
	})()`, width))
}

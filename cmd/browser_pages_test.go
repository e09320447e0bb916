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

// screen is one page, where it is, and who looks at it.
type screen struct {
	name, path, as string
	status         int // 200 when not set
}

// screens is every page. A page of app/ui/routes.go that is missing here fails
// TestEveryPageIsListed.
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
		{name: "abstracts-new", path: "/abstracts/new", as: staff},
		{name: "abstract", path: abstract, as: staff},
		{name: "abstract-viewer", path: abstract, as: viewer},
		{name: "abstract-bare", path: "/abstracts/" + f.emptyAbstract, as: staff},
		{name: "abstract-edit", path: abstract + "?edit=property", as: staff},
		{name: "abstract-history", path: abstract + "/history", as: staff},
		{name: "orders", path: "/orders", as: staff},
		{name: "orders-new", path: "/orders/new", as: staff},
		{name: "order", path: order, as: staff},
		{name: "order-viewer", path: order, as: viewer},
		{name: "order-history", path: order + "/history", as: staff},
		{name: "vault", path: "/vault", as: staff},
		{name: "folder", path: folder, as: staff},
		{name: "folder-new", path: folder + "?do=new", as: staff},
		{name: "folder-rename", path: folder + "?do=rename", as: staff},
		{name: "folder-move", path: folder + "?do=move", as: staff},
		{name: "document", path: document(chainDocuments[1].name) + "?in=abstract:" + f.abstract, as: staff},
		{name: "document-of-words", path: document(chainDocuments[6].name), as: viewer},
		{name: "document-sheet", path: document(chainDocuments[8].name), as: viewer},
		{name: "document-text", path: document(chainDocuments[4].name) + "/text?find=grantors", as: staff},
		{name: "document-print", path: document(chainDocuments[6].name) + "/print", as: staff},
		{name: "document-broken", path: document(brokenName), as: staff},
		{name: "document-trashed", path: document(trashedName), as: staff},
		{name: "trash", path: "/trash", as: staff},
		{name: "me", path: "/me", as: staff},
		{name: "admin", path: "/admin", as: admin},
		{name: "admin-templates", path: "/admin/templates", as: admin},
		{name: "admin-template", path: "/admin/templates/1", as: admin},
		{name: "admin-fields", path: "/admin/fields", as: admin},
		{name: "admin-statuses", path: "/admin/statuses", as: admin},
		{name: "admin-users", path: "/admin/users", as: admin},
		{name: "admin-users-new", path: "/admin/users/new", as: admin},
		{name: "admin-user", path: fmt.Sprintf("/admin/users/%d", f.lastUser), as: admin},
		{name: "admin-keys", path: "/admin/keys", as: admin},
		{name: "admin-keys-new", path: "/admin/keys/new", as: admin},
		{name: "admin-key", path: "/admin/keys/1", as: admin},
		{name: "admin-activity", path: "/admin/activity", as: admin},
		{name: "admin-activity-verify", path: "/admin/activity/verify", as: admin},
		{name: "admin-backups", path: "/admin/backups", as: admin},
		{name: "admin-settings", path: "/admin/settings", as: admin},
	}
}

// nonPageRoutes are the routes that are no page, by how their pattern ends.
var nonPageRoutes = map[string]string{
	"/pages/{page}": "a picture", "/thumbnail": "a picture", "/download": "a document", "/original": "a document",
	"/marks": "a part", "GET /find/box": "a part", "GET /orders/number": "a part", "GET /admin/search": "a part", "/latest": "a part", "/documents/{n}/row": "a part", "/{part}": "a part", "GET /abstracts/{id}/documents": "a part", "GET /documents/{n}/find": "a part", "/zip": "an archive", ".csv": "a table for programs", "/uploads/{id}": "resumed uploads",
}

// Every route that is looked at is among the screens: so no page goes untested.
func TestEveryPageIsListed(t *testing.T) {
	sources, err := filepath.Glob("../app/ui/*/routes.go")
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
	for ending := range nonPageRoutes {
		for pattern := range missing {
			if strings.HasSuffix(pattern, ending) {
				delete(missing, pattern)
			}
		}
	}
	some := &firm{inviteLink: "/join/first", abstract: "ABCDEFGH", emptyAbstract: "BCDEFGHI", order: "CDEFGHIJ", folder: "1", lastUser: 1, files: map[string]int64{}}
	for _, name := range []string{chainDocuments[1].name, chainDocuments[4].name, chainDocuments[6].name, chainDocuments[8].name, brokenName, trashedName} {
		some.files[name] = 1
	}
	for _, s := range some.screens() {
		r, err := http.NewRequest(http.MethodGet, s.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		_, pattern := mux.Handler(r)
		delete(missing, pattern)
	}
	for pattern := range missing {
		t.Errorf("%s is in no list of screens", pattern)
	}
}

// sessionCookies are the cookies of people who have signed in, by name.
func (f *firm) sessionCookies(b *tab, names ...string) map[string][]*network.CookieParam {
	f.t.Helper()
	kept := map[string][]*network.CookieParam{}
	for _, name := range names {
		b.signIn(name)
		for _, c := range call(b, network.GetCookies, network.GetCookiesParams{}).Cookies {
			kept[name] = append(kept[name], &network.CookieParam{Name: c.Name, Value: c.Value, URL: b.origin, HTTPOnly: c.HTTPOnly, SameSite: c.SameSite})
		}
		call(b, network.ClearBrowserCookies, noParams)
	}
	return kept
}

// setSession lets a tab go on with somebody's session.
func (b *tab) setSession(cookies []*network.CookieParam) {
	b.t.Helper()
	if len(cookies) > 0 {
		call(b, network.SetCookies, network.SetCookiesParams{Cookies: cookies})
	}
}

// Every page in both themes has no barrier, fits a phone, and does nothing that a page
// must not do; with DEEDKEEP_SCREENSHOTS set there are pictures of each.
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

// checkScreen looks at a page in every theme and at two widths.
func (b *tab) checkScreen(s screen) {
	b.t.Helper()
	b.openScreen(s)
	for _, theme := range []string{"light", "dark"} {
		b.setTheme(theme)
		b.checkAccessible(b.t, theme)
		b.screenshot(s.name + "-wide-" + theme)
	}
	b.setSize(360, 740)
	b.openScreen(s) // as a phone does: some of it depends on the width when it begins
	for _, theme := range []string{"dark", "light"} {
		b.setTheme(theme)
		b.checkFits(360)
		b.screenshot(s.name + "-narrow-" + theme)
	}
	// With every menu and every fold open, as far as that can be at once.
	eval[bool](b, `document.querySelectorAll("details").forEach(d => { d.removeAttribute("name"); d.open = true }) || true`)
	b.checkAccessible(b.t, "narrow, menus open", "target-size") // a menu covers what lies under it
	b.checkFits(360)
}

// openScreen opens a page, which answers with its status, and waits until it is whole.
func (b *tab) openScreen(s screen) {
	b.t.Helper()
	status := max(s.status, http.StatusOK)
	if status != http.StatusOK {
		b.expect(strconv.Itoa(status))
	}
	b.goTo(s.path)
	if got := eval[int](b, `performance.getEntriesByType("navigation")[0].responseStatus`); got != status {
		b.t.Fatalf("%s answers %d, want %d\n%s", s.path, got, status, b.describe())
	}
	b.waitImages()
}

// waitImages waits until every picture that is to be seen is there.
func (b *tab) waitImages() {
	b.t.Helper()
	b.waitFor(`[...document.images].every(i => i.complete || i.loading == "lazy" && i.getBoundingClientRect().top > innerHeight)`)
	eval[bool](b, `document.fonts.ready.then(() => true)`)
}

// checkFits fails where the page as a whole scrolls sideways.
func (b *tab) checkFits(width int) {
	b.t.Helper()
	if wide := b.overflow(width); len(wide) > 0 {
		b.t.Errorf("scrolls sideways at %d px: %s", width, strings.Join(wide, ", "))
	}
}

// overflow names what makes the page wider than the window; nothing where it is not.
func (b *tab) overflow(width int) []string {
	b.t.Helper()
	return eval[[]string](b, fmt.Sprintf(`(() => {
		if (document.scrollingElement.scrollWidth <= %d) return [];
		const found = [...document.body.querySelectorAll("*")].filter(e => e.getBoundingClientRect().right > %[1]d + 0.5 && e.getBoundingClientRect().width > 0);
		return [document.scrollingElement.scrollWidth + " px wide"].concat(found.slice(0, 6).map(e => e.tagName.toLowerCase() + "." + e.className + " " + Math.round(e.getBoundingClientRect().right)));
	})()`, width))
}

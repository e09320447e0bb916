//go:build browser

package cmd_test

import (
	"fmt"
	"net/http"
	"os"
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
		{name: "join", path: f.invited},
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
		{name: "abstract-bare", path: "/abstracts/" + f.bare, as: staff},
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
		{name: "document", path: document(chain[1].name) + "?in=abstract:" + f.abstract, as: staff},
		{name: "document-of-words", path: document(chain[6].name), as: viewer},
		{name: "document-sheet", path: document(chain[8].name), as: viewer},
		{name: "document-text", path: document(chain[4].name) + "/text?find=grantors", as: staff},
		{name: "document-print", path: document(chain[6].name) + "/print", as: staff},
		{name: "document-broken", path: document(broken), as: staff},
		{name: "document-trashed", path: document(lost), as: staff},
		{name: "trash", path: "/trash", as: staff},
		{name: "me", path: "/me", as: staff},
		{name: "admin", path: "/admin", as: admin},
		{name: "admin-templates", path: "/admin/templates", as: admin},
		{name: "admin-template", path: "/admin/templates/1", as: admin},
		{name: "admin-fields", path: "/admin/fields", as: admin},
		{name: "admin-statuses", path: "/admin/statuses", as: admin},
		{name: "admin-users", path: "/admin/users", as: admin},
		{name: "admin-users-new", path: "/admin/users/new", as: admin},
		{name: "admin-user", path: fmt.Sprintf("/admin/users/%d", f.user), as: admin},
		{name: "admin-keys", path: "/admin/keys", as: admin},
		{name: "admin-keys-new", path: "/admin/keys/new", as: admin},
		{name: "admin-key", path: "/admin/keys/1", as: admin},
		{name: "admin-activity", path: "/admin/activity", as: admin},
		{name: "admin-activity-verify", path: "/admin/activity/verify", as: admin},
		{name: "admin-backups", path: "/admin/backups", as: admin},
		{name: "admin-settings", path: "/admin/settings", as: admin},
	}
}

// noScreens are the routes that are no page, by how their pattern ends.
var noScreens = map[string]string{
	"/pages/{page}": "a picture", "/thumbnail": "a picture", "/download": "a document", "/original": "a document",
	"/marks": "a part", "GET /find/box": "a part", "GET /orders/number": "a part", "GET /admin/search": "a part", "/latest": "a part", "/documents/{n}/row": "a part", "/{part}": "a part", "GET /abstracts/{id}/documents": "a part", "GET /documents/{n}/find": "a part", "/zip": "an archive", ".csv": "a table for programs", "/uploads/{id}": "resumed uploads",
}

// Every route that is looked at is among the screens: so no page goes untested.
func TestEveryPageIsListed(t *testing.T) {
	table, err := os.ReadFile("../app/ui/routes.go")
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	missing := map[string]bool{}
	for _, found := range regexp.MustCompile(`"(GET /[^"]*)"`).FindAllStringSubmatch(string(table), -1) {
		mux.Handle(found[1], http.NotFoundHandler())
		missing[found[1]] = true
	}
	if len(missing) < 2 {
		t.Fatalf("routes.go reads otherwise than before: %v", missing)
	}
	for ending := range noScreens {
		for pattern := range missing {
			if strings.HasSuffix(pattern, ending) {
				delete(missing, pattern)
			}
		}
	}
	some := &firm{invited: "/join/first", abstract: "ABCDEFGH", bare: "BCDEFGHI", order: "CDEFGHIJ", folder: "1", user: 1, files: map[string]int64{}}
	for _, name := range []string{chain[1].name, chain[4].name, chain[6].name, chain[8].name, broken, lost} {
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

// sessions are the cookies of people who have signed in, by name.
func (f *firm) sessions(b *tab, names ...string) map[string][]*network.CookieParam {
	f.t.Helper()
	kept := map[string][]*network.CookieParam{}
	for _, name := range names {
		b.signIn(name)
		for _, c := range call(b, network.GetCookies, network.GetCookiesParams{}).Cookies {
			kept[name] = append(kept[name], &network.CookieParam{Name: c.Name, Value: c.Value, URL: b.origin, HTTPOnly: c.HTTPOnly, SameSite: c.SameSite})
		}
		call(b, network.ClearBrowserCookies, none)
	}
	return kept
}

// resume lets a tab go on with somebody's session.
func (b *tab) resume(cookies []*network.CookieParam) {
	b.t.Helper()
	if len(cookies) > 0 {
		call(b, network.SetCookies, network.SetCookiesParams{Cookies: cookies})
	}
}

// Every page in both themes has no barrier, fits a phone, and does nothing that a page
// must not do; with DEEDKEEP_SCREENSHOTS set there are pictures of each.
func TestScreens(t *testing.T) {
	on := openBench(t)
	f := on.firm(t)
	sessions := f.sessions(on.tab(t, f.origin), admin, staff, viewer)
	finder := on.tab(t, f.origin)
	finder.resume(sessions[staff])
	finder.goTo("/")
	f.searched(finder, "lien satisfied")
	for _, s := range f.screens() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			b := on.tab(t, f.origin)
			b.resume(sessions[s.as])
			b.look(s)
		})
	}
}

// look looks at a page in every theme and at two widths.
func (b *tab) look(s screen) {
	b.t.Helper()
	b.enter(s)
	for _, theme := range []string{"light", "dark"} {
		b.theme(theme)
		b.noBarriers(b.t, theme)
		b.screenshot(s.name + "-wide-" + theme)
	}
	b.size(360, 740)
	b.enter(s) // as a phone does: some of it depends on the width when it begins
	for _, theme := range []string{"dark", "light"} {
		b.theme(theme)
		b.fits(360)
		b.screenshot(s.name + "-narrow-" + theme)
	}
	// With every menu and every fold open, as far as that can be at once.
	value[bool](b, `document.querySelectorAll("details").forEach(d => { d.removeAttribute("name"); d.open = true }) || true`)
	b.noBarriers(b.t, "narrow, menus open", "target-size") // a menu covers what lies under it
	b.fits(360)
}

// enter opens a page, which answers with its status, and waits until it is whole.
func (b *tab) enter(s screen) {
	b.t.Helper()
	status := max(s.status, http.StatusOK)
	if status != http.StatusOK {
		b.expect(strconv.Itoa(status))
	}
	b.goTo(s.path)
	if got := value[int](b, `performance.getEntriesByType("navigation")[0].responseStatus`); got != status {
		b.t.Fatalf("%s answers %d, want %d\n%s", s.path, got, status, b.state())
	}
	b.still()
}

// still waits until every picture that is to be seen is there.
func (b *tab) still() {
	b.t.Helper()
	b.until(`[...document.images].every(i => i.complete || i.loading == "lazy" && i.getBoundingClientRect().top > innerHeight)`)
	value[bool](b, `document.fonts.ready.then(() => true)`)
}

// fits fails where the page as a whole scrolls sideways.
func (b *tab) fits(width int) {
	b.t.Helper()
	if wide := b.tooWide(width); len(wide) > 0 {
		b.t.Errorf("scrolls sideways at %d px: %s", width, strings.Join(wide, ", "))
	}
}

// tooWide names what makes the page wider than the window; nothing where it is not.
func (b *tab) tooWide(width int) []string {
	b.t.Helper()
	return value[[]string](b, fmt.Sprintf(`(() => {
		if (document.scrollingElement.scrollWidth <= %d) return [];
		const found = [...document.body.querySelectorAll("*")].filter(e => e.getBoundingClientRect().right > %[1]d + 0.5 && e.getBoundingClientRect().width > 0);
		return [document.scrollingElement.scrollWidth + " px wide"].concat(found.slice(0, 6).map(e => e.tagName.toLowerCase() + "." + e.className + " " + Math.round(e.getBoundingClientRect().right)));
	})()`, width))
}

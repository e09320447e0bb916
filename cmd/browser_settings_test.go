//go:build browser

package cmd_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// With the keyboard only, the first administrator creates the account and goes through the setup, on a phone and on a wide
// screen.
func testSetupByKeyboard(t *testing.T, env *browserEnv) {
	for _, width := range []int64{360, 1440} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			srv := env.newServer(t)
			b := env.newTab(t, srv.origin)
			b.setSize(width, 800)
			step := func(heading string) {
				t.Helper()
				b.waitVisible("h1 | " + heading)
				b.checkAccessible(t, heading)
				if width == 360 {
					b.checkFits(360)
				}
				b.screenshot(fmt.Sprintf("scene-setup-%s-%d", heading, width))
			}
			b.goTo(srv.setupLink())
			step("Create the administrator account")
			b.tabTo("input[name=name]")
			b.press(admin + kb.Tab + password)
			b.tabTo("input[name=again]")
			b.press(password)
			b.waitNavigation(func() { b.press(kb.Enter) })

			step("Your firm")
			b.tabTo(`[name="firm.name"]`)
			b.press("Kern & Vail Title" + kb.Tab + "100 Main St, Springfield, IL 62701" + kb.Tab + "(217) 555-0100")
			b.tabTo(`[name="firm.email"]`)
			b.press("office")
			b.expect("422")
			b.waitNavigation(func() { b.press(kb.Enter) })
			b.waitVisible(`[role=alert]`)
			b.checkAccessible(t, "a problem with the firm")
			b.tabTo(`[name="firm.email"]`)
			b.press(kb.End + "@example.com")
			b.waitNavigation(func() { b.press(kb.Enter) })

			step("Two-factor authentication")
			b.tabTo("main a | Continue")
			b.waitNavigation(func() { b.press(kb.Enter) })

			step("Access")
			b.tabTo("input[name=reach]")
			b.press(kb.ArrowDown)
			b.waitFor(`document.querySelector("input[name=reach][value=office]").checked`)
			b.waitNavigation(func() { b.press(kb.Enter) })

			step("Backups")
			b.tabTo(`[name="backup.to"]`)
			b.press(filepath.Join(filepath.Dir(srv.dir), "backups"))
			b.tabTo("button | Save and test backup now")
			b.waitNavigation(func() { b.press(kb.Enter) })
			b.waitText("The test backup is in")
			b.tabTo("main a | Skip")
			b.waitNavigation(func() { b.press(kb.Enter) })

			step("Retention")
			b.tabTo(`[name="trash.keep"]`)
			b.waitNavigation(func() { b.press(kb.Enter) })

			step("Ready")
			b.waitText("HTTPS with a self-signed certificate, Folder for backups")
			b.tabTo("button | Restart the server")
			b.waitNavigation(func() { b.press(kb.Enter) })
			step("Restarting")
			b.waitVisible("main a | https://")
		})
	}
}

// With JavaScript disabled, an administrator changes settings, gets their problems, tries county patterns, and has a
// backup tested.
func testSettingsWithoutScripts(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	b := env.newTab(t, srv.origin)
	b.enableScripts(false)
	b.signIn(admin)
	b.goTo("/admin/settings")
	b.clickLink("main a | Trash and retention")
	b.fill(`[name="trash.keep"]`, "soon")
	b.expect("422")
	b.clickLink("main button | Save")
	b.waitVisible("[role=alert] | is not a valid duration")
	b.fill(`[name="trash.keep"]`, "9d")
	b.clickLink("main button | Save")
	b.waitText("Settings saved.")
	b.waitFor(`!document.getElementById("restart")`)

	b.clickLink("main a | County patterns")
	b.fill("[name=patterns]", "- {county: Kanawha, find: 'Kanawha ['}")
	b.expect("422")
	b.clickLink("main button | Save")
	b.waitVisible("[role=alert] | Line 1: ")
	b.fill("[name=patterns]", "- {county: Kanawha, find: 'Kanawha Mark (?P<instrument_number>[0-9]{4})'}")
	b.fill("[name=county]", "Kanawha")
	b.fill("[name=sample]", "Kanawha Mark 4711")
	b.clickLink("main button | Try patterns")
	b.waitVisible("#found td | 4711 From your patterns")
	b.screenshot("scene-county-patterns")
	b.clickLink("main button | Save")
	b.waitText("County patterns saved.")

	b.goTo("/admin/settings/firm")
	b.fill(`[name="firm.name"]`, "Kern & Vail Title")
	b.clickLink("main button | Save")
	b.waitText("Settings saved.")
	b.goTo("/admin/settings/backup")
	b.fill(`[name="backup.to"]`, filepath.Join(filepath.Dir(srv.dir), "backups"))
	b.clickLink("main button | Save and test backup now")
	b.waitText("The test backup is in")
	b.goTo("/admin/settings")
	b.waitVisible("#restart button | Restart the server")
}

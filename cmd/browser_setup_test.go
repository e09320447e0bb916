//go:build browser

package cmd_test

import "testing"

// The setup link of a new vault opens a form to create the first administrator, who is then
// signed in.
func testFirstRun(t *testing.T, env *browserEnv) {
	srv := env.newServer(t)
	b := env.newTab(t, srv.origin)
	for _, path := range []string{"/", "/sign-in", "/abstracts", "/nothing"} {
		b.expect("status of 503")
		b.goTo(path)
		b.waitVisible("h1 | deedkeep is not set up yet")
		b.waitText("open the setup link that deedkeep serve printed")
	}
	b.checkAccessible(t, "before the first administrator")
	b.screenshot("scene-not-set-up")
	b.goTo(srv.setupLink())
	b.waitVisible("h1 | Create the administrator account")
	b.fill("input[name=name]", admin)
	b.fill("input[name=password]", password)
	b.fill("input[name=again]", "another")
	b.expect("422")
	b.clickLink("main button")
	b.waitVisible("[role=alert] | The passwords don't match.")
	b.fill("input[name=password]", password)
	b.fill("input[name=again]", password)
	b.clickLink("main button")
	b.waitVisible(".person | " + admin)
	b.waitVisible("h1 | Your firm")
	b.checkAccessible(t, "the first step of the setup")
	b.screenshot("scene-setup")
	b.goTo("/")
	b.waitVisible("h1 | Desk")
	b.screenshot("scene-first-run")
	b.expect("404")
	b.goTo(srv.setupLink())
	b.waitVisible("h1 | Link not valid")
}

// After a restart, the page leads back to the settings, with and without scripts. The session continues.
func testRestart(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	srv.stop()
	srv.start() // with the same port, which the restart keeps
	b := env.newTab(t, srv.origin)
	b.signIn(admin)
	for _, pages := range []string{"70", "80"} {
		b.goTo("/admin/settings/documents")
		b.fill(`[name="limits.pdf_pages"]`, pages)
		b.clickLink("main button.primary")
		b.waitVisible("h2 | Restart to apply")
		if pages == "70" {
			b.checkAccessible(t, "before a restart") // needs scripts
		}
		b.goTo("/admin/keys")
		b.waitText("1 setting needs a restart to apply.")
		b.clickLink("main a | Restart")
		b.allow("status of 503")
		b.allow("ERR_CONNECTION_REFUSED")
		b.clickLink("button | Restart the server")
		if pages == "70" {
			b.waitVisible("main | The server has restarted.")
			srv.waitRestarted()
			b.enableScripts(false)
			continue
		}
		b.waitText("The server is restarting.")
		srv.waitRestarted()
		b.clickLink("main a | Continue")
		b.waitVisible("main | The server has restarted.")
	}
	b.goTo("/admin/settings/documents")
	b.waitVisible(`[name="limits.pdf_pages"][value="80"]`)
}

// Without cached files, the sign-in page and the desk load only a small amount of data. The
// monitor checks that they don't load anything from other origins.
func testFirstPageSize(t *testing.T, env *browserEnv) {
	srv := env.newServer(t)
	srv.createUser(admin, "admin")
	b := env.newTab(t, srv.origin)
	signIn := b.bytesLoaded(func() { b.goTo("/sign-in") })
	desk := b.bytesLoaded(func() { b.signIn(admin) })
	t.Logf("sign-in %.0f bytes, desk %.0f bytes", signIn, desk)
	if signIn < 1000 || desk < 1000 || signIn+desk > 150_000 {
		t.Errorf("sign-in page and desk: got %.0f and %.0f bytes, want at least 1,000 each and at most 150,000 in total", signIn, desk)
	}
}

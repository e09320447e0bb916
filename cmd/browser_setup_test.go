//go:build browser

package cmd_test

import "testing"

// From the first start of the program to a signed-in administrator.
func testFirstRun(t *testing.T, env *browserEnv) {
	srv := env.newServer(t)
	b := env.newTab(t, srv.origin)
	for _, path := range []string{"/", "/sign-in", "/abstracts", "/nothing"} {
		b.expect("status of 503")
		b.goTo(path)
		b.waitVisible("h1 | deedkeep is not set up yet")
		b.waitText("look for “make the first administrator”")
	}
	b.checkAccessible(t, "before the first administrator")
	b.screenshot("scene-not-set-up")
	b.goTo(srv.setupLink())
	b.waitVisible("h1 | Make the first administrator")
	b.fill("input[name=name]", admin)
	b.fill("input[name=password]", password)
	b.fill("input[name=again]", "another")
	b.expect("422")
	b.clickLink("main button")
	b.waitVisible("[role=alert] | The two passwords differ.")
	b.fill("input[name=password]", password)
	b.fill("input[name=again]", password)
	b.clickLink("main button")
	b.waitVisible(".person | " + admin)
	b.waitVisible("h1 | Desk")
	b.screenshot("scene-first-run")
	b.expect("404")
	b.goTo(srv.setupLink())
	b.waitVisible("h1 | This link does not work")
}

// What a person waits for first is small, and comes from nowhere else (the watch sees
// that): the page of signing in and the desk together, of which nothing was known.
func testFirstPageSize(t *testing.T, env *browserEnv) {
	srv := env.newServer(t)
	srv.createUser(admin, "admin")
	b := env.newTab(t, srv.origin)
	in := b.bytesLoaded(func() { b.goTo("/sign-in") })
	desk := b.bytesLoaded(func() { b.signIn(admin) })
	t.Logf("sign-in %.0f bytes, desk %.0f bytes", in, desk)
	if in < 1000 || desk < 1000 || in+desk > 150_000 {
		t.Errorf("%.0f bytes over the network, of 150,000", in+desk)
	}
}

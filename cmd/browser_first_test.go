//go:build browser

package cmd_test

import "testing"

// From the first start of the program to a signed-in administrator.
func firstRun(t *testing.T, on *bench) {
	h := on.house(t)
	b := on.tab(t, h.origin)
	for _, path := range []string{"/", "/sign-in", "/abstracts", "/nothing"} {
		b.expect("status of 503")
		b.goTo(path)
		b.sees("h1 | deedkeep is not set up yet")
		b.reads("look for “make the first administrator”")
	}
	b.noBarriers(t, "before the first administrator")
	b.screenshot("scene-not-set-up")
	b.goTo(h.firstLink())
	b.sees("h1 | Make the first administrator")
	b.fill("input[name=name]", admin)
	b.fill("input[name=password]", password)
	b.fill("input[name=again]", "another")
	b.expect("422")
	b.follow("main button")
	b.sees("[role=alert] | The two passwords differ.")
	b.fill("input[name=password]", password)
	b.fill("input[name=again]", password)
	b.follow("main button")
	b.sees(".person | " + admin)
	b.sees("h1 | Desk")
	b.screenshot("scene-first-run")
	b.expect("404")
	b.goTo(h.firstLink())
	b.sees("h1 | This link does not work")
}

// What a person waits for first is small, and comes from nowhere else (the watch sees
// that): the page of signing in and the desk together, of which nothing was known.
func firstPagesAreSmall(t *testing.T, on *bench) {
	h := on.house(t)
	h.user(admin, "admin")
	b := on.tab(t, h.origin)
	in := b.loads(func() { b.goTo("/sign-in") })
	desk := b.loads(func() { b.signIn(admin) })
	t.Logf("sign-in %.0f bytes, desk %.0f bytes", in, desk)
	if in < 1000 || desk < 1000 || in+desk > 150_000 {
		t.Errorf("%.0f bytes over the network, of 150,000", in+desk)
	}
}

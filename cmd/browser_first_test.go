//go:build browser

// Real-browser tests: Debian's Chromium, driven over its own protocol, uses the real
// program as people do.
//
//	go test -tags browser ./cmd
//
//	DEEDKEEP_SCREENSHOTS   a folder for pictures of every page
package cmd_test

import "testing"

// From the first start of the program to a signed-in administrator.
func TestFirstRun(t *testing.T) {
	h := newHouse(t)
	b := openTab(t, openChromium(t), h.origin)
	b.goTo(h.firstLink())
	b.sees("h1 | Make the first administrator")
	b.fill("input[name=name]", "Kim Lee")
	b.fill("input[name=password]", password)
	b.fill("input[name=again]", password)
	b.follow("main button")
	b.reads("You sign in as Kim Lee")
	b.screenshot("first")
}

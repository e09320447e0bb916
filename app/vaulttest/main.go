// Package vaulttest is what tests of several packages share: nothing of it is
// part of the product.
package vaulttest

import (
	"os"
	"testing"

	"deedkeep/app/sandbox"
	"deedkeep/web"
)

// Main is what TestMain calls in every package whose tests open documents: a
// test binary that was started as a child is one, and runs no tests.
func Main(m *testing.M) {
	if sandbox.IsWorker(os.Args) {
		os.Exit(sandbox.RunWorker(web.PDFium))
	}
	os.Exit(m.Run())
}

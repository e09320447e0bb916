// Package vaulttest contains test support that several packages share. It is not part of the product.
package vaulttest

import (
	"os"
	"testing"

	"deedkeep/app/sandbox"
	"deedkeep/web"
)

// Main runs the tests of m. Every package whose tests open documents calls it in TestMain, because the tests start
// their own binary again as a worker process.
func Main(m *testing.M) {
	if sandbox.IsWorker(os.Args) {
		os.Exit(sandbox.RunWorker(web.PDFium))
	}
	os.Exit(m.Run())
}

// Package vaulttest contains test support that several packages share. It is not part of the product.
package vaulttest

import (
	"os"
	"testing"

	"deedkeep/app/sandbox"
	"deedkeep/web"
)

// Main runs the tests of m. Packages whose tests open documents must call it in TestMain, because the tests run their
// own binary as a worker process.
func Main(m *testing.M) {
	if sandbox.IsWorker(os.Args) {
		os.Exit(sandbox.RunWorker(sandbox.Assets{PDFium: web.PDFium, Tesseract: web.Tesseract, English: web.English}))
	}
	os.Exit(m.Run())
}

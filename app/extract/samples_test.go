//go:build !race

// Compiling PDFium takes ten seconds under the race detector, so this test runs without it.

package extract_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"deedkeep/app/extract"
	"deedkeep/app/model"
	"deedkeep/app/pdf"
	"deedkeep/app/vaulttest"
	"deedkeep/web"
)

// TestSampleDocuments reads the parties in the text of sample documents, as it is and with double spacing.
func TestSampleDocuments(t *testing.T) {
	code, err := web.PDFium()
	vaulttest.NoError(t, err)
	engine, err := pdf.New(t.Context(), pdf.Options{Wasm: code, CacheDir: vaulttest.CacheDir()})
	vaulttest.NoError(t, err)
	t.Cleanup(func() { vaulttest.NoError(t, engine.Close(context.Background())) })
	samples := map[string]string{}
	for _, s := range vaulttest.Samples(t) {
		samples[path.Base(s.Path)] = s.File
	}
	for _, c := range []struct{ name, grantors, grantees string }{
		{"open-end-mortgage.pdf", "BRINDLEWOOD ORCHARD HOLDINGS, LLC", "TOLLGATE SAVINGS BANK"},
		{"warranty-deed-g4-ocr-layer.pdf", "HARLAN T. QUILLFEATHER|ODESSA M. QUILLFEATHER", "BRINDLEWOOD ORCHARD HOLDINGS, LLC"},
	} {
		raw, err := os.ReadFile(samples[c.name])
		vaulttest.NoError(t, err)
		document, err := engine.Open(t.Context(), bytes.NewReader(raw), int64(len(raw)))
		vaulttest.NoError(t, err)
		for _, spacing := range []string{"\n", "\n\n"} {
			t.Run(fmt.Sprintf("%s %q", c.name, spacing), func(t *testing.T) {
				var pages []extract.Page
				for n := range document.Pages() {
					text, err := document.Text(t.Context(), n+1, 0)
					vaulttest.NoError(t, err)
					pages = append(pages, extract.PlainText(strings.ReplaceAll(text, "\n", spacing)))
				}
				fields := extract.ReadAll(pages, extract.DefaultRules(), model.NewDocumentTypes(), time.Now())[0].Fields
				for name, want := range map[string]string{extract.Grantors: c.grantors, extract.Grantees: c.grantees} {
					if got := strings.Join(fields[name].Values, "|"); got != want {
						t.Errorf("%s are %q, want %q", name, got, want)
					}
				}
			})
		}
		vaulttest.NoError(t, document.Close(t.Context()))
	}
}

package ui_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"deedkeep/app/document"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/ocr"
	"deedkeep/app/sandbox"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// grantText is long enough to be the complete text of a page.
var grantText = strings.Repeat("The grantor does hereby grant and convey the land. ", 8)

// partialTextReader returns text for no page, one page, or all pages of a document, depending on
// the document's content.
type partialTextReader struct{ vaulttest.Reader }

func (partialTextReader) Text(_ context.Context, r sandbox.Request, _ document.ExtractLimits, emit func(int, string) error) error {
	content, err := io.ReadAll(io.NewSectionReader(r.Doc, 0, r.Size))
	switch {
	case err != nil:
		return err
	case strings.HasPrefix(r.MIME, "image/"):
		return document.ErrUnsupported
	case strings.Contains(string(content), "none"):
		return nil
	case strings.Contains(string(content), "one"):
		return emit(1, grantText)
	}
	for page := 1; page <= 3; page++ {
		if err := emit(page, grantText); err != nil {
			return err
		}
	}
	return nil
}

// idleOCR doesn't return until the server stops.
type idleOCR struct{}

func (idleOCR) ReadPage(ctx context.Context, _ sandbox.Request, _ int, _ document.ExtractLimits) (ocr.Page, error) {
	<-ctx.Done()
	return ocr.Page{}, ctx.Err()
}

func TestDocumentsWithoutText(t *testing.T) {
	t.Parallel()
	h := newEmptyTestServer(t, func(o *instance.Options) { o.Reader, o.OCRReader = partialTextReader{}, idleOCR{} })
	h.createUser(t, "Owner", model.RoleAdmin)
	g := h.openBrowser(t, model.RoleStaff)
	scan := h.upload(t, "Scan.pdf", vaulttest.PDF(3, "none"))
	g.get(t, 200, "/vault").lacks(t, "ot searchable") // unknown until the document has been processed
	partly, all, picture := h.upload(t, "Partly.pdf", vaulttest.PDF(3, "one")), h.upload(t, "All.pdf", vaulttest.PDF(3, "each")),
		h.upload(t, "Plat.png", []byte(onePixel))
	// The text is read because the document has no count of pages with text yet.
	g.get(t, 200, documentPath(scan, "/find?q=grant")).has(t, `"textless":true`)
	h.vault.Start(time.Hour)
	h.waitForProcessing(t)
	for _, row := range []struct {
		file        model.File
		badge, find string // text in the document's row and in a search without results
	}{
		{scan, "Waiting for OCR", `{"hits":[],"more":false,"waiting":3}`},
		{partly, "2 pages waiting for OCR", `{"hits":[],"more":false,"waiting":2}`},
		{all, "", `{"hits":[],"more":false}`},
		{picture, "Waiting for OCR", ""},
	} {
		t.Run(row.badge, func(t *testing.T) {
			got := g.get(t, 200, documentPath(row.file, "/row"), "HX-Request", "true")
			if row.badge == "" {
				got.lacks(t, "ot searchable")
			} else {
				got.has(t, ">"+row.badge+"</span>")
			}
			if row.find != "" {
				if found := g.get(t, 200, documentPath(row.file, "/find?q=lien")); string(found.body) != row.find {
					t.Errorf("search in %s = %s, want %s", row.file.Filename, found.body, row.find)
				}
			}
		})
	}
	g.get(t, 200, documentPath(partly, "/find?q=grant")).has(t, `"waiting":2`, `"match":"grant"`)
	scanned := g.get(t, 200, documentPath(scan, "/text?find=grant"))
	scanned.has(t, "This document is not searchable yet. The server hasn't read its scanned pages.")
	scanned.lacks(t, "is not in this text")
	const notSearchable = "3 scans are not searchable yet. You can find them by name."
	g.get(t, 200, "/find?q=quillfeather").has(t, notSearchable)
	g.get(t, 200, "/find?q=quillfeather&kind=file").has(t, notSearchable)
	g.get(t, 200, "/find?q=quillfeather&kind=order").lacks(t, "not searchable yet")
	g.get(t, 200, "/find?q=quillfeather&county=Essex").lacks(t, "ot searchable")
	g.get(t, 200, documentPath(scan, "")).has(t, "<dt>Searchable text</dt><dd>Waiting for OCR</dd>")
	if err := h.vault.Files.Trash(t.Context(), model.Actor{Kind: "operator"}, scan.ID, vault.Match{}); err != nil {
		t.Fatalf("Files.Trash: %v", err)
	}
	g.get(t, 200, "/find?q=quillfeather").has(t, "2 scans are not searchable yet.")
}

// With a filter by county, the notice counts the scans of the county.
func TestUnreadScansOfCounty(t *testing.T) {
	t.Parallel()
	h := newEmptyTestServer(t, func(o *instance.Options) { o.Reader, o.OCRReader = partialTextReader{}, idleOCR{} })
	h.createUser(t, "Owner", model.RoleAdmin)
	g := h.openBrowser(t, model.RoleStaff)
	h.vault.Start(time.Hour)
	h.upload(t, "Blank.txt", []byte("none"))
	h.waitForProcessing(t)
	g.get(t, 200, "/find?q=quillfeather").has(t, "1 document has no searchable text, such as photos.")
	h.upload(t, "Scan.pdf", vaulttest.PDF(3, "none"))
	h.createAbstract(t, model.Actor{Kind: "operator"}, nil, model.Property{County: "Rensselaer", State: "NY"}, "none.pdf")
	h.waitForProcessing(t)
	for address, want := range map[string]string{
		"/find?q=quillfeather":                                      "2 scans are not searchable yet. You can find them by name.",
		"/find?q=quillfeather&county=rensselaer":                    "1 scan in this county is not searchable yet. You can find it by name.",
		"/find?q=quillfeather&county=rensselaer&state=NY&kind=file": "1 scan with these filters is not searchable yet.",
		"/find?q=quillfeather&county=rensselaer&state=VT&kind=file": "",
		"/find?q=quillfeather&county=Essex":                         "",
		"/find?q=quillfeather&county=rensselaer&kind=instrument":    "",
	} {
		t.Run(address, func(t *testing.T) {
			if want == "" {
				g.get(t, 200, address).lacks(t, "ot searchable")
			} else {
				g.get(t, 200, address).has(t, want)
			}
		})
	}
}

// If OCR is off, no text promises that scans become searchable.
func TestScansIfOCRIsOff(t *testing.T) {
	t.Parallel()
	h := newEmptyTestServer(t, func(o *instance.Options) { o.Reader = partialTextReader{} })
	h.createUser(t, "Owner", model.RoleAdmin)
	g := h.openBrowser(t, model.RoleStaff)
	h.vault.Start(time.Hour)
	scan, partly := h.upload(t, "Scan.pdf", vaulttest.PDF(3, "none")), h.upload(t, "Partly.pdf", vaulttest.PDF(3, "one"))
	h.waitForProcessing(t)
	for address, want := range map[string]string{
		"/find?q=quillfeather":                 "2 scans can&#39;t be searched: OCR is off. An administrator can turn it on with the setting ocr.enabled.",
		documentPath(scan, "/row"):             ">OCR off</span>",
		documentPath(partly, "/row"):           ">OCR off for 2 pages</span>",
		documentPath(scan, ""):                 "<dt>Searchable text</dt><dd>OCR off</dd>",
		documentPath(partly, ""):               "OCR off for 2 pages",
		documentPath(scan, "/text"):            "and OCR is off.",
		documentPath(scan, "/text?find=grant"): "This document can't be searched: OCR is off.",
		documentPath(scan, "/find?q=grant"):    `{"hits":[],"more":false,"off":true,"waiting":3}`,
	} {
		t.Run(address, func(t *testing.T) {
			got := g.get(t, 200, address, "HX-Request", "true")
			got.has(t, want)
			got.lacks(t, "ot searchable yet", "No text yet", "hasn't read", "Not yet", "after the server has read")
		})
	}
}

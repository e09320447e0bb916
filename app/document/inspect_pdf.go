package document

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gabriel-vasile/mimetype"

	"deedkeep/app/document/docio"
	"deedkeep/app/pdf"
)

// inspectPDF applies the limits to what isPDF has accepted.
func inspectPDF(ctx context.Context, doc io.ReaderAt, size int64, engine PDFEngine, lim InspectLimits) (Report, error) {
	report := Report{MIME: mimePDF}
	opened, err := engine.Open(ctx, doc, size)
	switch {
	case errors.Is(err, pdf.ErrPassword):
		report.Rejection = ReasonPDFPassword
		return report, nil
	case errors.Is(err, pdf.ErrUnreadable):
		report.Rejection = ReasonPDFUnreadable
		return report, nil
	case err != nil:
		return Report{}, fmt.Errorf("open pdf: %w", err)
	}
	// An error of Close changes no result, and a broken engine shows on the next Open. The
	// document is closed even if the context has ended.
	defer func() { _ = opened.Close(context.WithoutCancel(ctx)) }()

	pages := opened.Pages()
	if pages <= 0 {
		report.Rejection = ReasonPDFUnreadable
		return report, nil
	}
	report.Pages = &pages
	if pages > lim.MaxPDFPages {
		report.Rejection = reasonTooManyPages(lim.MaxPDFPages)
		return report, nil
	}
	if size <= lim.MaxImageHeavySize && pages <= lim.MaxImageHeavyPages {
		return report, nil
	}
	heavy, err := opened.ImageHeavy(ctx)
	if err != nil && !errors.Is(err, pdf.ErrUnreadable) {
		return Report{}, fmt.Errorf("look for scans: %w", err)
	}
	// A PDF whose pages can be counted but not examined is accepted: no rule rejects it.
	switch {
	case !heavy || err != nil:
	case size > lim.MaxImageHeavySize:
		report.Rejection = reasonImageHeavySize(lim.MaxImageHeavySize)
	default:
		report.Rejection = reasonImageHeavyPages(lim.MaxImageHeavyPages)
	}
	return report, nil
}

// pdfHeaderWindow is how many bytes at the beginning of a file PDF readers search for the
// header (implementation notes of the PDF reference 1.7, appendix H.3.4.1).
const pdfHeaderWindow = 1024

// isPDF reports whether "%PDF-" begins within the first 1,024 bytes and what comes before it
// isn't a type of its own, such as HTML.
func isPDF(doc *docio.Reader) bool {
	mark := []byte("%PDF-")
	head := doc.Head(pdfHeaderWindow - 1 + len(mark))
	i := bytes.Index(head, mark)
	return i >= 0 && !isOtherType(head[:i])
}

// markup lists beginnings of what a browser may treat as a page, even if text comes first
// and mimetype therefore sees plain text.
var markup = [][]byte{
	[]byte("<!doctype"), []byte("<html"), []byte("<head"), []byte("<body"), []byte("<script"),
	[]byte("<iframe"), []byte("<svg"), []byte("<?xml"), []byte("<?php"), []byte("<!--"),
}

// isOtherType reports whether the bytes in front of a document's own header make the file
// another type: anything but a byte order mark, white space, binary noise (a MacBinary
// header), plain text, or mail and printer headers.
func isOtherType(prefix []byte) bool {
	prefix = bytes.TrimPrefix(prefix, []byte("\xef\xbb\xbf"))
	prefix = bytes.TrimSpace(prefix)
	if len(prefix) == 0 {
		return false
	}
	lower := bytes.ToLower(prefix)
	for _, tag := range markup {
		if bytes.Contains(lower, tag) {
			return true
		}
	}
	found := mimetype.Detect(prefix)
	for _, harmless := range []string{"application/octet-stream", "text/plain", "text/csv", "text/tab-separated-values", "message/rfc822"} {
		if found.Is(harmless) {
			return false
		}
	}
	return true
}

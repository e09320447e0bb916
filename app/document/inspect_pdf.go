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

// inspectPDF applies the limits to a file that isPDF has accepted.
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
	// An error of Close doesn't change the result. If the engine is broken, the next Open fails.
	// Close the document even if the context has ended.
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
		return Report{}, fmt.Errorf("detect scanned pages: %w", err)
	}
	// Accept a PDF whose pages can be counted but not examined.
	switch {
	case !heavy || err != nil:
	case size > lim.MaxImageHeavySize:
		report.Rejection = reasonImageHeavySize(lim.MaxImageHeavySize)
	default:
		report.Rejection = reasonImageHeavyPages(lim.MaxImageHeavyPages)
	}
	return report, nil
}

// pdfHeaderWindow is the number of bytes at the start of a file in which PDF readers search for the
// header (implementation notes of the PDF reference 1.7, appendix H.3.4.1).
const pdfHeaderWindow = 1024

// isPDF reports whether "%PDF-" starts within the first 1,024 bytes and the bytes before it don't
// belong to another type, such as HTML.
func isPDF(doc *docio.Reader) bool {
	mark := []byte("%PDF-")
	head := doc.Head(pdfHeaderWindow - 1 + len(mark))
	i := bytes.Index(head, mark)
	return i >= 0 && !isOtherType(head[:i])
}

// markup lists strings that may make a browser treat a file as a web page. If text precedes them,
// mimetype reports plain text.
var markup = [][]byte{
	[]byte("<!doctype"), []byte("<html"), []byte("<head"), []byte("<body"), []byte("<script"),
	[]byte("<iframe"), []byte("<svg"), []byte("<?xml"), []byte("<?php"), []byte("<!--"),
}

// isOtherType reports whether the bytes before a document's own header make the file another type.
// They don't if they are a byte order mark, whitespace, binary noise (a MacBinary header), plain
// text, or mail or printer headers.
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

package document

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gabriel-vasile/mimetype"
)

// The two findings of a InspectPDF engine about a document; any other error of it is
// a fault of our own.
var (
	// ErrPassword: the document does not open without a password.
	ErrPassword = errors.New("document needs a password")
	// ErrUnreadable: no page count can be had of the document.
	ErrUnreadable = errors.New("document cannot be read")
)

// InspectPDF is the engine that opens PDFs. Open returns ErrPassword, ErrUnreadable,
// or an error that is not the document's fault.
type InspectPDF interface {
	Open(ctx context.Context, doc io.ReaderAt, size int64) (PDFDocument, error)
}

// PDFDocument is an open InspectPDF: its number of pages (0 counts as unreadable), and
// whether at least 80 % of them are scans (API.md), which may take a while.
type PDFDocument interface {
	Pages() int
	ImageHeavy(ctx context.Context) (bool, error)
	Close(ctx context.Context) error
}

// inspectPDF judges what isPDF has let through.
func inspectPDF(ctx context.Context, doc io.ReaderAt, size int64, pdf InspectPDF, lim InspectLimits) (Report, error) {
	report := Report{MIME: mimePDF}
	opened, err := pdf.Open(ctx, doc, size)
	switch {
	case errors.Is(err, ErrPassword):
		report.Rejection = ReasonPDFPassword
		return report, nil
	case errors.Is(err, ErrUnreadable):
		report.Rejection = ReasonPDFUnreadable
		return report, nil
	case err != nil:
		return Report{}, fmt.Errorf("open pdf: %w", err)
	}
	// Whether closing works changes no verdict, and an engine that broke shows
	// it on the next Open. A context that has ended must not keep it open.
	defer func() { _ = opened.Close(context.WithoutCancel(ctx)) }()

	pages := opened.Pages()
	if pages <= 0 {
		report.Rejection = ReasonPDFUnreadable
		return report, nil
	}
	report.Pages = &pages
	if pages > lim.MaxPDFPages {
		report.Rejection = tooManyPages(lim.MaxPDFPages)
		return report, nil
	}
	if size <= lim.MaxImageHeavySize && pages <= lim.MaxImageHeavyPages {
		return report, nil
	}
	heavy, err := opened.ImageHeavy(ctx)
	if err != nil && !errors.Is(err, ErrUnreadable) {
		return Report{}, fmt.Errorf("look for scans: %w", err)
	}
	// Pages that cannot be looked at are no scans, and their count was had:
	// API.md names no refusal for them.
	switch {
	case !heavy || err != nil:
	case size > lim.MaxImageHeavySize:
		report.Rejection = heavyTooLarge(lim.MaxImageHeavySize)
	default:
		report.Rejection = heavyTooManyPages(lim.MaxImageHeavyPages)
	}
	return report, nil
}

// pdfWindow is how far into a file readers of InspectPDF look for its header (the
// implementation notes of the InspectPDF reference 1.7, appendix H.3.4.1).
const pdfWindow = 1024

// isPDF reports whether "%InspectPDF-" begins within the first 1,024 bytes and what
// stands before it is not a kind of its own, such as HTML (API.md).
func isPDF(src *inspectSource) bool {
	mark := []byte("%PDF-")
	head := src.head(pdfWindow - 1 + len(mark))
	i := bytes.Index(head, mark)
	return i >= 0 && !ownKind(head[:i])
}

// markup begins what a browser may take for a page even where mimetype sees
// plain text, since other text comes first.
var markup = [][]byte{
	[]byte("<!doctype"), []byte("<html"), []byte("<head"), []byte("<body"), []byte("<script"),
	[]byte("<iframe"), []byte("<svg"), []byte("<?xml"), []byte("<?php"), []byte("<!--"),
}

// ownKind reports whether the bytes before a document's own first byte are of a
// kind of their own: anything but a mark, blanks, binary noise (a MacBinary
// header), plain text, or mail and printer headers.
func ownKind(before []byte) bool {
	before = bytes.TrimPrefix(before, []byte("\xef\xbb\xbf"))
	before = bytes.TrimSpace(before)
	if len(before) == 0 {
		return false
	}
	lower := bytes.ToLower(before)
	for _, tag := range markup {
		if bytes.Contains(lower, tag) {
			return true
		}
	}
	found := mimetype.Detect(before)
	for _, harmless := range []string{"application/octet-stream", "text/plain", "text/csv", "text/tab-separated-values", "message/rfc822"} {
		if found.Is(harmless) {
			return false
		}
	}
	return true
}

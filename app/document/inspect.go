package document

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"deedkeep/app/document/docio"
	"deedkeep/app/document/office"
)

// InspectLimits holds the limits that Inspect applies. A document that is exactly at a limit is
// accepted. A PDF is image-heavy if at least 80% of its pages are scans.
type InspectLimits struct {
	MaxPDFPages        int   `json:"max_pdf_pages"`         // maximum number of pages of any PDF
	MaxImageHeavySize  int64 `json:"max_image_heavy_size"`  // maximum size of an image-heavy PDF in bytes
	MaxImageHeavyPages int   `json:"max_image_heavy_pages"` // maximum number of pages of an image-heavy PDF
	MaxZipEntries      int   `json:"max_zip_entries"`       // maximum number of entries in an Office document's zip directory
}

// DefaultInspectLimits returns the default limits: 500 pages, or 300 pages and 50 MiB if the PDF is
// image-heavy, and 10,000 zip entries.
func DefaultInspectLimits() InspectLimits {
	return InspectLimits{MaxPDFPages: 500, MaxImageHeavySize: 50 << 20, MaxImageHeavyPages: 300, MaxZipEntries: 10_000}
}

// Report is the result of an inspection.
type Report struct {
	// MIME is the media type of the content, without parameters. It is empty if the content doesn't
	// match the extension.
	MIME string `json:"mime"`
	// Pages is the number of pages of a PDF or of images in a TIFF. It is nil for other types.
	Pages *int `json:"pages"`
	// Rejection is the sentence that the client gets, from one of the Reason functions or
	// constants. It is empty if the document is accepted.
	Rejection string `json:"rejection"`
}

// Inspect checks the first size bytes of doc. ext is the extension as Extension returns it. The
// checks run in this order: empty file, unsupported extension, content of another type, password,
// unreadable file, limits. Inspect does not check the maximum file size, which is checked when the
// file is uploaded. It uses engine only to open PDFs. It returns an error only if doc fails or is
// shorter than size, ctx ends, or the engine breaks.
func Inspect(ctx context.Context, doc io.ReaderAt, size int64, ext string, engine PDFEngine, lim InspectLimits) (Report, error) {
	ext = strings.ToLower(ext)
	if size <= 0 {
		return Report{Rejection: ReasonEmpty}, nil
	}
	t := typeByExtension(ext)
	if t.inspect == nil {
		return Report{Rejection: ReasonUnsupportedType}, nil
	}
	r := docio.NewCachedReader(ctx, doc, size)
	report := t.inspect(r, t.mime, lim)
	if r.Err() != nil {
		return Report{}, fmt.Errorf("inspect %s: %w", ext, r.Err())
	}
	if report.MIME == "" {
		return Report{Rejection: ReasonMismatch(ext)}, nil
	}
	if ext == "pdf" {
		return inspectPDF(ctx, doc, size, engine, lim)
	}
	return report, nil
}

// contentOnly returns an inspect function that checks only the type of the content, using is.
func contentOnly(is func(*docio.Reader) bool) func(*docio.Reader, string, InspectLimits) Report {
	return func(doc *docio.Reader, mime string, _ InspectLimits) Report {
		if is(doc) {
			return Report{MIME: mime}
		}
		return Report{}
	}
}

// Extension returns the part of filename after the last dot, in lowercase ("tif" for "Deed.TIF").
// It returns "" if there is no dot. ok reports whether documents with that extension are accepted.
func Extension(filename string) (ext string, ok bool) {
	dot := strings.LastIndexByte(filename, '.')
	if dot < 0 {
		return "", false
	}
	ext = strings.ToLower(filename[dot+1:])
	return ext, typeByExtension(ext).inspect != nil
}

// inspectOLE recognizes old Office files, and checks whether they need a password.
func inspectOLE(doc *docio.Reader, mime string, _ InspectLimits) Report {
	found, locked := office.OLEType(doc)
	switch {
	case found != mime:
		return Report{}
	case locked:
		return Report{MIME: mime, Rejection: ReasonDocumentPassword}
	}
	return Report{MIME: mime}
}

// inspectOOXML recognizes Office Open XML packages. An encrypted package is a compound file that
// doesn't say what it contains, so inspectOOXML trusts its extension.
func inspectOOXML(doc *docio.Reader, mime string, lim InspectLimits) Report {
	if office.IsOLE(doc) {
		if office.IsEncryptedPackage(doc) {
			return Report{MIME: mime, Rejection: ReasonDocumentPassword}
		}
		return Report{}
	}
	prefix, _, _ := bytes.Cut(doc.Head(pdfHeaderWindow), []byte("PK\x03\x04"))
	if !isOtherType(prefix) && office.PackageType(doc, lim.MaxZipEntries) == mime {
		return Report{MIME: mime}
	}
	return Report{}
}

package document

import (
	"context"
	"fmt"
	"io"
	"strings"

	"deedkeep/app/document/docio"
)

// InspectLimits are the settings that Inspect applies. A document exactly at a limit is
// accepted. A PDF is image-heavy if at least 80 % of its pages are scans.
type InspectLimits struct {
	MaxPDFPages        int   `json:"pdf_pages"`   // pages of any PDF
	MaxImageHeavySize  int64 `json:"heavy_size"`  // bytes of an image-heavy PDF
	MaxImageHeavyPages int   `json:"heavy_pages"` // pages of an image-heavy PDF
	MaxZipEntries      int   `json:"zip_entries"` // entries of an Office document's zip directory
}

// DefaultInspectLimits returns the defaults of the settings: 500 pages, or 300 pages and 50
// MiB if the PDF is image-heavy, and 10,000 zip entries.
func DefaultInspectLimits() InspectLimits {
	return InspectLimits{MaxPDFPages: 500, MaxImageHeavySize: 50 << 20, MaxImageHeavyPages: 300, MaxZipEntries: 10_000}
}

// Report is the result of an inspection.
type Report struct {
	// MIME is the type of the content, without parameters. It is empty if the content
	// doesn't match the extension.
	MIME string `json:"mime"`
	// Pages is the number of pages of a PDF or of images of a TIFF, nil for other types.
	Pages *int `json:"pages"`
	// Rejection is the sentence the client gets, one of the Reason functions and
	// constants. It is empty if the document is accepted.
	Rejection string `json:"refusal"`
}

// Inspect checks the first size bytes of doc under an extension as Extension returns it, in
// this order: empty, unsupported extension, content of another type, password, unreadable,
// limits. The size of the file is checked where it is received. Only PDFs are opened with
// engine. An error isn't a result: doc failed or was shorter than size, ctx ended, or the
// engine broke.
func Inspect(ctx context.Context, doc io.ReaderAt, size int64, ext string, engine PDFEngine, lim InspectLimits) (Report, error) {
	ext = strings.ToLower(ext)
	if size <= 0 {
		return Report{Rejection: ReasonEmpty}, nil
	}
	t, ok := acceptedTypes[ext]
	if !ok {
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

// acceptedType describes the content that an extension must have.
type acceptedType struct {
	mime string
	// inspect returns a Report with this MIME type, or the zero Report if the content has
	// another type. The Reader remembers failed reads.
	inspect func(doc *docio.Reader, mime string, lim InspectLimits) Report
}

// acceptedTypes maps extensions to types.
var acceptedTypes = map[string]acceptedType{
	"pdf":  {mimePDF, contentOnly(isPDF)},
	"docx": {mimeDOCX, inspectOOXML},
	"xlsx": {mimeXLSX, inspectOOXML},
	"pptx": {mimePPTX, inspectOOXML},
	"doc":  {mimeDOC, inspectOLE},
	"xls":  {mimeXLS, inspectOLE},
	"ppt":  {mimePPT, inspectOLE},
	"txt":  {mimeText, contentOnly(isText)},
	"png":  {mimePNG, contentOnly(isPNG)},
	"jpg":  {mimeJPEG, contentOnly(isJPEG)},
	"jpeg": {mimeJPEG, contentOnly(isJPEG)},
	"tif":  {mimeTIFF, inspectTIFF},
	"tiff": {mimeTIFF, inspectTIFF},
	"gif":  {mimeGIF, contentOnly(isGIF)},
	"bmp":  {mimeBMP, contentOnly(isBMP)},
	"webp": {mimeWEBP, contentOnly(isWEBP)},
}

const (
	mimePDF  = "application/pdf"
	mimeDOC  = "application/msword"
	mimeXLS  = "application/vnd.ms-excel"
	mimePPT  = "application/vnd.ms-powerpoint"
	mimeDOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	mimeXLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	mimePPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
	mimeText = "text/plain"
	mimePNG  = "image/png"
	mimeJPEG = "image/jpeg"
	mimeTIFF = "image/tiff"
	mimeGIF  = "image/gif"
	mimeBMP  = "image/bmp"
	mimeWEBP = "image/webp"
)

// contentOnly returns the inspection of a type for which only the content matters.
func contentOnly(is func(*docio.Reader) bool) func(*docio.Reader, string, InspectLimits) Report {
	return func(doc *docio.Reader, mime string, _ InspectLimits) Report {
		if is(doc) {
			return Report{MIME: mime}
		}
		return Report{}
	}
}

// Extension returns what follows the last dot of filename, in lower case and without the
// dot ("tif" for "Deed.TIF", "" if there is no dot), and reports whether documents with it
// are accepted.
func Extension(filename string) (ext string, ok bool) {
	dot := strings.LastIndexByte(filename, '.')
	if dot < 0 {
		return "", false
	}
	ext = strings.ToLower(filename[dot+1:])
	_, ok = acceptedTypes[ext]
	return ext, ok
}

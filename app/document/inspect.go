package document

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// InspectLimits are the settings that a verdict depends on; a document exactly at a
// limit is accepted (API.md).
type InspectLimits struct {
	MaxPDFPages        int   `json:"pdf_pages"`   // pages of any InspectPDF
	MaxImageHeavySize  int64 `json:"heavy_size"`  // bytes of an image-heavy InspectPDF
	MaxImageHeavyPages int   `json:"heavy_pages"` // pages of an image-heavy InspectPDF
	MaxZipEntries      int   `json:"zip_entries"` // entries of an Office document's zip directory
}

// DefaultInspectLimits returns the limits of SPEC.md, and 10,000 zip entries.
func DefaultInspectLimits() InspectLimits {
	return InspectLimits{MaxPDFPages: 500, MaxImageHeavySize: 50 << 20, MaxImageHeavyPages: 300, MaxZipEntries: 10_000}
}

// Report is the verdict on one document.
type Report struct {
	// MIME is what the content is, without parameters; empty when it is not of
	// the extension's kind.
	MIME string `json:"mime"`
	// Pages is the number of pages of a InspectPDF or images of a TIFF, else nil.
	Pages *int `json:"pages"`
	// Rejection is the sentence of API.md; empty means accepted.
	Rejection string `json:"refusal"`
}

// Inspect judges the size bytes of doc under an extension as Extension gives
// it, in the order of API.md's table from "empty" on (the limit of the file's
// size is the receiver's: he counts while reading). Only PDFs reach pdf. An
// error is our own fault and no verdict: doc failed or was shorter than size,
// ctx ended, or the engine broke.
func Inspect(ctx context.Context, doc io.ReaderAt, size int64, ext string, pdf InspectPDF, lim InspectLimits) (Report, error) {
	ext = strings.ToLower(ext)
	if size <= 0 {
		return Report{Rejection: ReasonEmpty}, nil
	}
	k, ok := kinds[ext]
	if !ok {
		return Report{Rejection: ReasonUnsupportedType}, nil
	}
	src := newSource(ctx, doc, size)
	report := k.check(src, k.mime, lim)
	if src.err != nil {
		return Report{}, fmt.Errorf("inspect %s: %w", ext, src.err)
	}
	if report.MIME == "" {
		return Report{Rejection: ReasonMismatch(ext)}, nil
	}
	if ext == "pdf" {
		return inspectPDF(ctx, doc, size, pdf, lim)
	}
	return report, nil
}

// kind is one row of the accepted list.
type kind struct {
	mime string
	// check returns a Report with this MIME, or the zero Report when the
	// content is of another kind. Failed reads stay in the source.
	check func(src *inspectSource, mime string, lim InspectLimits) Report
}

var kinds = map[string]kind{
	"pdf":  {mimePDF, only(isPDF)},
	"docx": {mimeDOCX, checkOOXML},
	"xlsx": {mimeXLSX, checkOOXML},
	"pptx": {mimePPTX, checkOOXML},
	"doc":  {mimeDOC, checkOLE},
	"xls":  {mimeXLS, checkOLE},
	"ppt":  {mimePPT, checkOLE},
	"txt":  {"text/plain", only(isText)},
	"png":  {"image/png", only(isPNG)},
	"jpg":  {"image/jpeg", only(isJPEG)},
	"jpeg": {"image/jpeg", only(isJPEG)},
	"tif":  {"image/tiff", checkTIFF},
	"tiff": {"image/tiff", checkTIFF},
	"gif":  {"image/gif", only(isGIF)},
	"bmp":  {"image/bmp", only(isBMP)},
	"webp": {"image/webp", only(isWEBP)},
}

const (
	mimePDF  = "application/pdf"
	mimeDOC  = "application/msword"
	mimeXLS  = "application/vnd.ms-excel"
	mimePPT  = "application/vnd.ms-powerpoint"
	mimeDOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	mimeXLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	mimePPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
)

// only makes a check of a kind about which there is nothing more to say.
func only(is func(*inspectSource) bool) func(*inspectSource, string, InspectLimits) Report {
	return func(src *inspectSource, mime string, _ InspectLimits) Report {
		if is(src) {
			return Report{MIME: mime}
		}
		return Report{}
	}
}

// Extension returns what follows the last dot of filename in lower case and
// without the dot ("tif" for "Deed.TIF", "" where there is none), and whether
// it is of the accepted list (SPEC.md, and tif as API.md has it).
func Extension(filename string) (ext string, ok bool) {
	dot := strings.LastIndexByte(filename, '.')
	if dot < 0 {
		return "", false
	}
	ext = strings.ToLower(filename[dot+1:])
	_, ok = kinds[ext]
	return ext, ok
}

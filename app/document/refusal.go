package document

import (
	"fmt"
	"strings"
)

// The sentences of API.md, "Files: what is accepted", that no setting changes.
const (
	// ReasonTooManyFiles refuses each file part of a request after the last allowed one.
	ReasonTooManyFiles = "Too many files in one request"
	// ReasonAbstractFull refuses each file above those an abstract may have.
	ReasonAbstractFull = "Too many files in this abstract"
	// ReasonEmpty refuses a file of no bytes.
	ReasonEmpty = "File is empty"
	// ReasonUnsupportedType refuses an extension outside the accepted list.
	ReasonUnsupportedType = "File type not supported. Accepted types: PDF, DOCX, DOC, PPTX, PPT, TXT, XLSX, XLS, PNG, JPG, JPEG, TIFF, GIF, BMP, WEBP"
	// ReasonPDFPassword refuses a InspectPDF that does not open without a password.
	ReasonPDFPassword = "PDF is password-protected"
	// ReasonDocumentPassword refuses an Office document that does not open without a password.
	ReasonDocumentPassword = "Document is password-protected"
	// ReasonPDFUnreadable refuses a InspectPDF that no page count can be had of within the
	// limits of time and memory; who stops an inspection at such a limit says it too.
	ReasonPDFUnreadable = "PDF could not be read"
)

// ReasonTooLarge refuses a file of more than limit bytes (API.md; a MB is 1,048,576 bytes).
func ReasonTooLarge(limit int64) string {
	return fmt.Sprintf("File exceeds %s limit", inUnits(limit))
}

// ReasonMismatch refuses content of another kind than the extension, which is said as
// sent, lower-cased and without a dot in ext (API.md).
func ReasonMismatch(ext string) string {
	return fmt.Sprintf("File content does not match its .%s extension", strings.ToLower(ext))
}

func tooManyPages(limit int) string {
	return fmt.Sprintf("PDF exceeds %d page limit", limit)
}

func heavyTooLarge(limit int64) string {
	return fmt.Sprintf("Image-heavy PDF exceeds %s limit", inUnits(limit))
}

func heavyTooManyPages(limit int) string {
	return fmt.Sprintf("Image-heavy PDF exceeds %d page limit", limit)
}

// inUnits says a limit exactly, in the largest unit that does so with at most
// one decimal: a rounded limit would refuse what its own sentence allows.
func inUnits(n int64) string {
	const kb, mb = 1 << 10, 1 << 20
	switch {
	case n >= mb && n%mb == 0:
		return fmt.Sprintf("%d MB", n/mb)
	case n >= mb && n%(mb/2) == 0:
		return fmt.Sprintf("%d.5 MB", n/mb)
	case n >= kb && n%kb == 0:
		return fmt.Sprintf("%d KB", n/kb)
	default:
		return fmt.Sprintf("%d B", n)
	}
}

package document

import (
	"fmt"
	"strings"
)

// Sentences that explain why a file was rejected. They are part of the API, and clients may compare
// them.
const (
	// ReasonTooManyFiles rejects files beyond the maximum number of files in one request.
	ReasonTooManyFiles = "Too many files in one request"
	// ReasonAbstractFull rejects files beyond the maximum number of files in an abstract.
	ReasonAbstractFull = "Too many files in this abstract"
	// ReasonEmpty rejects a file of 0 bytes.
	ReasonEmpty = "File is empty"
	// ReasonUnsupportedType rejects files whose extension is not accepted (see Extension).
	ReasonUnsupportedType = "File type not supported. " +
		"Accepted types: PDF, DOCX, DOC, PPTX, PPT, TXT, XLSX, XLS, PNG, JPG, JPEG, TIFF, GIF, BMP, WEBP"
	// ReasonPDFPassword rejects a PDF that can't be opened without a password.
	ReasonPDFPassword = "PDF is password-protected"
	// ReasonDocumentPassword rejects an Office document that can't be opened without a password.
	ReasonDocumentPassword = "Document is password-protected"
	// ReasonPDFUnreadable rejects a PDF whose pages can't be counted, or can't be counted within
	// the time and memory limits of a worker process.
	ReasonPDFUnreadable = "PDF could not be read"
)

// ReasonTooLarge returns the reason for rejecting a file that is larger than limit bytes. One MB is
// 1,048,576 bytes.
func ReasonTooLarge(limit int64) string {
	return fmt.Sprintf("File exceeds %s limit", formatSize(limit))
}

// ReasonMismatch returns the reason for rejecting a file whose content doesn't match its extension.
// ext is the extension without the dot.
func ReasonMismatch(ext string) string {
	return fmt.Sprintf("File content does not match its .%s extension", strings.ToLower(ext))
}

func reasonTooManyPages(limit int) string {
	return fmt.Sprintf("PDF exceeds %d page limit", limit)
}

func reasonImageHeavySize(limit int64) string {
	return fmt.Sprintf("Image-heavy PDF exceeds %s limit", formatSize(limit))
}

func reasonImageHeavyPages(limit int) string {
	return fmt.Sprintf("Image-heavy PDF exceeds %d page limit", limit)
}

// formatSize returns n bytes in the largest unit in which n is exact with at most one decimal. It
// doesn't round because then the sentence might allow a size that is rejected.
func formatSize(n int64) string {
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

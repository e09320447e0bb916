package document_test

import (
	"testing"

	"deedkeep/app/document"
)

func TestExtension(t *testing.T) {
	for _, row := range []struct {
		filename, ext string
		ok            bool
	}{
		{"Deed.TIF", "tif", true},
		{"deed.tiff", "tiff", true},
		{"deed.jpg", "jpg", true},
		{"deed.jpeg", "jpeg", true},
		{"02_Deed_2019-03-14_Bk1022-Pg311.v2.pdf", "pdf", true},
		{".pdf", "pdf", true},
		{"deed.docm", "docm", false},
		{"deed.pdf.exe", "exe", false},
		{"deed.pdf ", "pdf ", false},
		{"deed.", "", false},
		{"deed", "", false},
		{"", "", false},
	} {
		if ext, ok := document.Extension(row.filename); ext != row.ext || ok != row.ok {
			t.Errorf("Extension(%q) = %q, %v, want %q, %v", row.filename, ext, ok, row.ext, row.ok)
		}
	}
}

func TestReasons(t *testing.T) {
	for _, row := range []struct{ got, want string }{
		{document.ReasonTooLarge(100 << 20), "File exceeds 100 MB limit"},
		{document.ReasonTooLarge(2 << 30), "File exceeds 2048 MB limit"},
		{document.ReasonTooLarge(3 << 19), "File exceeds 1.5 MB limit"},
		{document.ReasonTooLarge(1_500 << 10), "File exceeds 1500 KB limit"},
		{document.ReasonTooLarge(1_000_000), "File exceeds 1000000 B limit"},
		{document.ReasonMismatch("pdf"), "File content does not match its .pdf extension"},
		{document.ReasonMismatch("TIF"), "File content does not match its .tif extension"},
		{document.ReasonTooManyFiles, "Too many files in one request"},
		{document.ReasonEmpty, "File is empty"},
		{document.ReasonPDFUnreadable, "PDF could not be read"},
	} {
		if row.got != row.want {
			t.Errorf("reason %q, want %q", row.got, row.want)
		}
	}
}

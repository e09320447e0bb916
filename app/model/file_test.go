package model

import "testing"

func TestCompleteFilename(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, typed, want string }{
		{"Deed.pdf", "Plat", "Plat.pdf"},
		{"Deed.pdf", " Plat.pdf ", "Plat.pdf"},
		{"Deed.pdf", "Plat.PDF", "Plat.PDF"},
		{"Deed.PDF", "Plat", "Plat.PDF"},
		{"Deed.pdf", "Book 1022.311", "Book 1022.311.pdf"},
		{"Deed.pdf", "Plat.docx", "Plat.docx.pdf"},
		{"Deed.pdf", "pdf", "pdf.pdf"},
		{"Scan.jpg", "Photo.jpeg", "Photo.jpeg"},
		{"Scan.tiff", "Photo.tif", "Photo.tif"},
		{"Deed.pdf", " \t", ""},
	} {
		if got := (File{Filename: c.name}).CompleteFilename(c.typed); got != c.want {
			t.Errorf("CompleteFilename of %s with %q = %q, want %q", c.name, c.typed, got, c.want)
		}
	}
}

func TestFileTypeName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Deed 1.2.pdf": "PDF", "a.JPEG": "JPEG", "a.docx": "Word", "a.xls": "Excel", "a.pptx": "PowerPoint", "a.txt": "Text",
		".tif": "TIFF", "bare": "BARE", "": "",
	} {
		if got := (File{Filename: name}).TypeName(); got != want {
			t.Errorf("TypeName of %q = %q, want %q", name, got, want)
		}
	}
}

func TestFileHasPreview(t *testing.T) {
	t.Parallel()
	pages := 3
	for _, c := range []struct {
		file       File
		images     bool // shown as images
		hasPreview bool
		pages      int
	}{
		{File{MIME: MIMEPDF, Pages: &pages}, true, true, 3},
		{File{MIME: "image/tiff"}, true, true, 0},
		{File{MIME: "image/png", Processing: true}, true, false, 0},
		{File{MIME: MIMEPDF, Failure: "It is damaged."}, true, false, 0},
		{File{MIME: "text/plain"}, false, false, 0},
	} {
		if f := c.file; f.ShownAsImages() != c.images || f.HasPreview() != c.hasPreview || f.PageCount() != c.pages {
			t.Errorf("%+v: ShownAsImages %v, HasPreview %v, PageCount %d; want %v, %v, %d", f, f.ShownAsImages(), f.HasPreview(), f.PageCount(),
				c.images, c.hasPreview, c.pages)
		}
	}
}

// Documents uploaded before pages with text were counted don't have that count. Of these, only
// images are known to have no text.
func TestUnsearchable(t *testing.T) {
	t.Parallel()
	some, none, three := 1, 0, 3
	for _, row := range []struct {
		name  string
		file  File
		want  bool
		pages int
	}{
		{"an old PDF", File{MIME: MIMEPDF, Pages: &three}, false, 0},
		{"an old image", File{MIME: "image/tiff", Pages: &three}, true, 0},
		{"an old text file", File{MIME: "text/plain"}, false, 0},
		{"a scan", File{MIME: MIMEPDF, Pages: &three, TextPages: &none}, true, 0},
		{"a scan that is processed again", File{MIME: MIMEPDF, Pages: &three, TextPages: &none, Processing: true}, false, 0},
		{"partly scanned", File{MIME: MIMEPDF, Pages: &three, TextPages: &some}, false, 2},
		{"a text file", File{MIME: "text/plain", TextPages: &some}, false, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got, pages := row.file.Unsearchable(), row.file.PagesWithoutText(); got != row.want || pages != row.pages {
				t.Errorf("Unsearchable = %t, PagesWithoutText = %d; want %t, %d", got, pages, row.want, row.pages)
			}
		})
	}
}

func TestFileExtension(t *testing.T) {
	for name, want := range map[string]string{"a.PDF": "pdf", "a.b.TiF": "tif", "Übersicht.ÄÖ": "äö", "README": "readme", "a.": ""} {
		if got := (File{Filename: name}).Extension(); got != want {
			t.Errorf("Extension of %s = %q, want %q", name, got, want)
		}
	}
}

func TestFailureReasons(t *testing.T) {
	for failure, want := range map[string]struct{ retryable, noPreview, noText bool }{
		"": {},
		"No picture: the document is beyond the limits.":                                    {noPreview: true},
		"No text: the document is damaged.":                                                 {noText: true},
		"No text: the document takes too long.":                                             {retryable: true, noText: true},
		"No text: the document is damaged. No picture: the document takes too much memory.": {retryable: true, noPreview: true, noText: true},
		"It could not be opened here; it can be tried again.":                               {retryable: true, noText: true},
	} {
		f := File{Failure: failure}
		if f.Retryable() != want.retryable || f.CannotPreview() != want.noPreview || f.MissingText() != want.noText {
			t.Errorf("%q: Retryable %v, CannotPreview %v, MissingText %v; want %+v", failure, f.Retryable(), f.CannotPreview(),
				f.MissingText(), want)
		}
	}
}

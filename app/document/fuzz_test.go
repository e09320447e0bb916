package document_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"deedkeep/app/document"
)

// checkReport inspects a document and checks the properties that every report must have.
func checkReport(t *testing.T, ext string, doc []byte) document.Report {
	t.Helper()
	report := inspect(t, ext, doc)
	if again := inspect(t, ext, doc); again.MIME != report.MIME || again.Rejection != report.Rejection {
		t.Errorf("second report = %+v, want the MIME type and rejection of the first, %+v", again, report)
	}
	if report.Rejection == "" && report.MIME == "" {
		t.Error("got neither a rejection nor a MIME type, want one of them")
	}
	if counted := report.MIME == "image/tiff" || report.MIME == "application/pdf"; (report.Pages != nil) != counted {
		t.Errorf("pages %v of %q, want some: %v", report.Pages, report.MIME, counted)
	}
	if report.Pages != nil && *report.Pages < 1 {
		t.Errorf("%d pages, want at least 1", *report.Pages)
	}
	return report
}

func FuzzInspect(f *testing.F) {
	var exts []string
	for ext := range samplesByExtension() {
		exts = append(exts, ext)
	}
	slices.Sort(exts)
	for i, ext := range exts {
		f.Add(uint8(i), samplesByExtension()[ext])
	}
	f.Fuzz(func(t *testing.T, which uint8, doc []byte) {
		checkReport(t, exts[int(which)%len(exts)], doc)
	})
}

func FuzzOOXML(f *testing.F) {
	for _, ext := range []string{"docx", "xlsx", "pptx"} {
		f.Add(samplesByExtension()[ext])
	}
	f.Add(buildZip(contentTypes(byDefault("xml", wordMain)), part("word/document.xml")))
	f.Add(buildOLE(stream("EncryptedPackage", nil)))
	f.Fuzz(func(t *testing.T, doc []byte) {
		accepted := 0
		for _, ext := range []string{"docx", "xlsx", "pptx"} {
			if checkReport(t, ext, doc).Rejection == "" {
				accepted++
			}
		}
		if accepted > 1 {
			t.Errorf("accepted as %d types, want at most 1", accepted)
		}
	})
}

// FuzzText compares the streaming text check with a simple implementation.
func FuzzText(f *testing.F) {
	f.Add([]byte("Ib\xc3\xa1\xc3\xb1ez"), uint8(0))
	f.Add([]byte("Ib\xe1\xf1ez \x93deed\x94"), uint8(3))
	f.Add(units(binary.LittleEndian, "\ufeffIbáñez 𝄞"), uint8(0))
	f.Add(units(binary.BigEndian, "\ufeffdeed"), uint8(0))
	f.Add([]byte("%PDF-1.7\n"), uint8(0))
	f.Add([]byte("\xe8\xaa\x9e\xf0\x9d\x84\x9e"), uint8(2))
	f.Fuzz(func(t *testing.T, text []byte, shift uint8) {
		report := checkReport(t, "txt", text)
		if len(text) == 0 {
			return
		}
		if got, want := report.Rejection == "", plainText(text); got != want {
			t.Errorf("accepted = %v, want %v", got, want)
		}
		if bytes.HasPrefix(text, []byte{0xFF, 0xFE}) || bytes.HasPrefix(text, []byte{0xFE, 0xFF}) {
			return
		}
		// The result must not depend on the chunk boundaries.
		far := append(bytes.Repeat([]byte("x"), 64<<10-int(shift%8)), text...)
		if got, want := checkReport(t, "txt", far).Rejection == "", plainText(far); got != want {
			t.Errorf("accepted across two chunks = %v, want %v", got, want)
		}
	})
}

func FuzzOLE(f *testing.F) {
	for _, ext := range []string{"doc", "xls", "ppt"} {
		f.Add(samplesByExtension()[ext])
	}
	f.Add(buildOLE(storage("MBD", stream("WordDocument", fib(0))), stream("Workbook", biff(record{0x0809, bof}, record{0x002F, nil}))))
	f.Fuzz(func(t *testing.T, doc []byte) {
		known := 0
		for _, ext := range []string{"doc", "xls", "ppt"} {
			if checkReport(t, ext, doc).MIME != "" {
				known++
			}
		}
		if known > 1 {
			t.Errorf("recognized as %d types, want at most 1", known)
		}
	})
}

// small holds limits that are low enough for fuzzing to be fast.
var small = document.ExtractLimits{MaxPixels: 1 << 16, MaxWidth: 64, MaxTextBytes: 1 << 12, MaxPages: 20, MaxUnpackedBytes: 1 << 16}

// FuzzContainer passes files to the functions for each type. If a library panics, the document counts
// as damaged.
func FuzzContainer(f *testing.F) {
	mimes := make(map[string]bool)
	for ext, doc := range samplesByExtension() {
		f.Add(doc)
		mimes[inspect(f, ext, doc).MIME] = ext != "pdf"
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for mime, included := range mimes {
			if !included {
				continue
			}
			src := document.Source{Doc: bytes.NewReader(b), Size: int64(len(b)), MIME: mime}
			_, sizesErr := document.PageSizes(t.Context(), src, small)
			img, imageErr := document.PageImage(t.Context(), src, 1, 50, small)
			if img.Width > small.MaxWidth || img.Height > 4*small.MaxWidth {
				t.Errorf("PageImage of %s has %d x %d pixels, want an image within the limits", mime, img.Width, img.Height)
			}
			textErr := document.Text(t.Context(), src, small, func(int, string) error { return nil })
			for _, err := range []error{sizesErr, imageErr, textErr} {
				if err != nil && !isDocumentError(err) {
					t.Errorf("%s: got %v, want an error of the document", mime, err)
				}
			}
		}
	})
}

func isDocumentError(err error) bool {
	return errors.Is(err, document.ErrUnsupported) || errors.Is(err, document.ErrTooLarge) || errors.Is(err, document.ErrDamaged)
}

func FuzzPlain(f *testing.F) {
	f.Add([]byte("plain\r\n"))
	f.Add([]byte("\xff\xfea\x00\x3d\xd8"))
	f.Add([]byte("\xfe\xff\x00a\x00"))
	f.Add([]byte("caf\xe9 \x93\x94"))
	f.Fuzz(func(t *testing.T, b []byte) {
		src := document.Source{Doc: bytes.NewReader(b), Size: int64(len(b)), MIME: "text/plain"}
		err := document.Text(t.Context(), src, small, func(page int, text string) error {
			if page != 1 || !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\r\x1b\x7f") || int64(len(text)) > small.MaxTextBytes {
				t.Errorf("text of page %d = %q, want UTF-8 without control characters within the limits", page, text)
			}
			return nil
		})
		if err != nil && !errors.Is(err, document.ErrTooLarge) {
			t.Errorf("document.Text: %v", err)
		}
	})
}

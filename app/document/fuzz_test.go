package document_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"deedkeep/app/document"
)

// sound judges fuzzed bytes and holds what is true of every report.
func sound(t *testing.T, ext string, doc []byte) document.Report {
	t.Helper()
	report := judge(t, ext, doc)
	if again := judge(t, ext, doc); again.MIME != report.MIME || again.Rejection != report.Rejection {
		t.Errorf("%+v, then %+v", report, again)
	}
	if report.Rejection == "" && report.MIME == "" {
		t.Error("accepted without a kind")
	}
	if counted := report.MIME == "image/tiff" || report.MIME == "application/pdf"; (report.Pages != nil) != counted {
		t.Errorf("pages %v of %q", report.Pages, report.MIME)
	}
	if report.Pages != nil && *report.Pages < 1 {
		t.Errorf("%d pages", *report.Pages)
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
		sound(t, exts[int(which)%len(exts)], doc)
	})
}

func FuzzTIFF(f *testing.F) {
	for _, big := range []bool{false, true} {
		f.Add(buildTIFF(binary.LittleEndian, big, 3))
		f.Add(buildTIFF(binary.BigEndian, big, 2))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		report := sound(t, "tif", doc)
		if report.Pages != nil && *report.Pages > len(doc)/6 {
			t.Errorf("%d pages in %d bytes", *report.Pages, len(doc))
		}
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
			if sound(t, ext, doc).Rejection == "" {
				accepted++
			}
		}
		if accepted > 1 {
			t.Errorf("of %d kinds at once", accepted)
		}
	})
}

// FuzzText holds the streaming check against a plain one.
func FuzzText(f *testing.F) {
	f.Add([]byte("Ib\xc3\xa1\xc3\xb1ez"), uint8(0))
	f.Add([]byte("Ib\xe1\xf1ez \x93deed\x94"), uint8(3))
	f.Add(units(binary.LittleEndian, "\ufeffIbáñez 𝄞"), uint8(0))
	f.Add(units(binary.BigEndian, "\ufeffdeed"), uint8(0))
	f.Add([]byte("%PDF-1.7\n"), uint8(0))
	f.Add([]byte("\xe8\xaa\x9e\xf0\x9d\x84\x9e"), uint8(2))
	f.Fuzz(func(t *testing.T, text []byte, shift uint8) {
		report := sound(t, "txt", text)
		if len(text) == 0 {
			return
		}
		if got, want := report.Rejection == "", plainText(text); got != want {
			t.Errorf("text %v, want %v", got, want)
		}
		if bytes.HasPrefix(text, []byte{0xFF, 0xFE}) || bytes.HasPrefix(text, []byte{0xFE, 0xFF}) {
			return
		}
		// Across the border of two chunks it must be the same.
		far := append(bytes.Repeat([]byte("x"), 64<<10-int(shift%8)), text...)
		if got, want := sound(t, "txt", far).Rejection == "", plainText(far); got != want {
			t.Errorf("text %v over two chunks, want %v", got, want)
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
			if sound(t, ext, doc).MIME != "" {
				known++
			}
		}
		if known > 1 {
			t.Errorf("of %d kinds at once", known)
		}
	})
}

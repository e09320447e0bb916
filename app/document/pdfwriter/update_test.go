package pdfwriter_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"deedkeep/app/document/docio"
	"deedkeep/app/document/pdfwriter"
	"deedkeep/app/ocr"
	"deedkeep/app/pdf"
)

// copied returns a document as pdf.Document.Save writes it. page are more entries of its only page,
// object 3, and size is the number of its objects according to the trailer.
func copied(page string, size int) string {
	var b strings.Builder
	b.WriteString("%PDF-1.7\n%\xA1\xB3\xC5\xD7\n")
	offsets := []int{}
	object := func(body string) {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", len(offsets), body)
	}
	object("<< /Type /Catalog /Pages 2 0 R >>")
	object("<< /Type /Pages /Kids [3 0 R] /Count 1 /Resources << /Font << /F1 5 0 R /InvisibleText0 6 0 R >> >> >>")
	object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R " + page + ">>")
	stream := "0 0 m endstream 9 0 obj ( l"
	object(fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(stream), stream))
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman >>")
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>")
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, at := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&b, "trailer\n<< /Root 1 0 R /Size %d >>\nstartxref\n%d\n%%%%EOF\n", size, start)
	return b.String()
}

// update writes the document in parts of the given length and adds words to its page.
func update(document string, part int) (string, error) {
	var out bytes.Buffer
	u := pdfwriter.NewUpdate(&out)
	for rest := []byte(document); len(rest) > 0; {
		n := min(part, len(rest))
		if _, err := u.Write(rest[:n]); err != nil {
			return "", err
		}
		rest = rest[n:]
	}
	words := ocr.Page{Words: []ocr.Word{{Text: "Grantor", Box: ocr.Box{Left: 100, Top: 100, Right: 900, Bottom: 200}}}}
	place := pdf.PagePlace{Object: 3, Matrix: [6]float64{1, 0, 0, 1, 0, 0}, Width: 612, Height: 792}
	if err := u.AddText(place, words); err != nil {
		return "", err
	}
	err := u.Close()
	return out.String(), err
}

func TestUpdate(t *testing.T) {
	document := copied("", 7)
	whole, err := update(document, len(document))
	if err != nil || !strings.HasPrefix(whole, document) {
		t.Fatalf("the document isn't at the start of the copy, %v:\n%s", err, whole)
	}
	added := whole[len(document):]
	for _, want := range []string{
		"\n3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents [", " 0 R 4 0 R 7 0 R]",
		"/Font << /F1 5 0 R /InvisibleText0 9 0 R ",
		fmt.Sprintf("/Prev %d >>", strings.Index(document, "xref\n")),
	} {
		if !strings.Contains(added, want) {
			t.Errorf("the update doesn't contain %q:\n%s", want, added)
		}
	}
	if n := strings.Count(added, "/InvisibleText0 "); n != 1 {
		t.Errorf("the page has %d fonts of that name, want 1:\n%s", n, added)
	}
	for part := 1; part < len(document); part++ {
		if got, err := update(document, part); err != nil || got != whole {
			t.Fatalf("in parts of %d bytes: %v, or another copy:\n%s", part, err, got)
		}
	}
}

// Numbers below the size in the trailer may be used by objects that were deleted.
func TestNewObjectsFollowSizeOfTrailer(t *testing.T) {
	got, err := update(copied("", 40), 4096)
	if err != nil || !strings.Contains(got, "\n40 0 obj\n") || strings.Contains(got, "\n39 0 obj\n") || !strings.Contains(got, "/Size 44 ") {
		t.Errorf("Update = %v, want new objects 40 to 43:\n%s", err, got)
	}
}

// A long dictionary isn't read again with each part of it.
func BenchmarkLongDictionary(b *testing.B) {
	document := copied("/Long ["+strings.Repeat("0 ", 6<<20)+"] ", 7)
	b.SetBytes(int64(len(document)))
	for b.Loop() {
		if _, err := update(document, 32<<10); err != nil {
			b.Fatal(err)
		}
	}
}

func TestUpdateRejectsOtherText(t *testing.T) {
	document := copied("", 7)
	for name, change := range map[string]func(string) string{
		"cut off before the trailer": func(s string) string { return s[:strings.Index(s, "trailer")] },
		"trailer without a size":     func(s string) string { return strings.Replace(s, "/Size 7", "", 1) },
		"stream without a length":    func(s string) string { return strings.Replace(s, "/Length 27", "", 1) },
		"not a PDF":                  func(string) string { return "<html></html>\n" },
		"object number too large":    func(s string) string { return strings.Replace(s, "5 0 obj", strings.Repeat("9", 30)+" 0 obj", 1) },
		"nested too deeply":          func(s string) string { return strings.Replace(s, "/Count 1", "/Count "+strings.Repeat("[", 300), 1) },
	} {
		if got, err := update(change(document), 32<<10); err == nil {
			t.Errorf("%s: no error, got %.300q", name, got)
		}
	}
	if _, err := update(copied("/Long ["+strings.Repeat("0 ", 9<<20)+"] ", 7), 32<<10); !errors.Is(err, docio.ErrTooLarge) {
		t.Errorf("object of 18 MB: %v, want ErrTooLarge", err)
	}
}

func FuzzUpdate(f *testing.F) {
	f.Add(copied("", 7), 100)
	f.Add(copied("/Resources 5 0 R /Contents [4 0 R 4 0 R] ", 12), 1)
	f.Add("%PDF-1.7\n1 0 obj\n(a\\)b(c))\nendobj\ntrailer\n<</Size 9>>\nstartxref\n4\n%%EOF", 3)
	f.Fuzz(func(t *testing.T, document string, part int) {
		if len(document) > 64<<10 {
			return
		}
		whole, wholeErr := update(document, max(len(document), 1))
		if wholeErr == nil && !strings.HasPrefix(whole, document) {
			t.Errorf("the document isn't at the start of the copy")
		}
		got, err := update(document, 1+max(part, -part)%1000)
		if (err == nil) != (wholeErr == nil) || got != whole {
			t.Errorf("in parts: %v, in one piece: %v", err, wholeErr)
		}
	})
}

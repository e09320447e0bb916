//go:build browser

package cmd_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

// canaryScript is a script that must never run. The monitor detects its dialog and its
// requests, and checkNotRun detects its change of the title.
const canaryScript = `document.title="canary";new Image().src="/canary";alert("canary")`

const (
	canaryHTML = `<!doctype html><html><body onload='` + canaryScript + `'><script>` + canaryScript + `</script>` +
		`<img src=x onerror='` + canaryScript + `'></body></html>`
	canarySVG = `<svg xmlns="http://www.w3.org/2000/svg" onload='` + canaryScript + `'><script>` + canaryScript + `</script></svg>`
	canaryXML = `<?xml version="1.0"?><x:script xmlns:x="http://www.w3.org/1999/xhtml">` + canaryScript + `</x:script>`
)

// maliciousFile is a document whose content or name tries to run a script.
type maliciousFile struct {
	name    string
	content []byte
}

// maliciousFiles returns documents that would run a script if the server sent them with the
// wrong content type or didn't escape their names in pages.
func maliciousFiles(t *testing.T) []maliciousFile {
	t.Helper()
	list := []maliciousFile{
		{"page.txt", []byte(canaryHTML)}, {"drawing.txt", []byte(canarySVG)}, {"xml.txt", []byte(canaryXML)},
		{"script.txt", []byte(canaryScript)},
		{"bom.txt", []byte("\ufeff" + canaryHTML)}, {"utf7.txt", []byte("+ADw-script+AD4-alert(+ACI-canary+ACI-)+ADw-/script+AD4-")},
		{"mail.txt", []byte("MIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n" + canaryHTML)},
		{`<img src=x onerror=alert("canary")>.txt`, []byte("a name")}, {`"><script>alert("canary")</script>.txt`, []byte("another name")},
		{`{{constructor.constructor('alert("canary")')()}}.txt`, []byte("a third name")}, {"javascript:alert(1).txt", []byte("a fourth name")},
	}
	var utf16LE bytes.Buffer
	for _, unit := range utf16.Encode([]rune("\ufeff" + canaryHTML)) {
		utf16LE.Write([]byte{byte(unit), byte(unit >> 8)})
	}
	list = append(list, maliciousFile{"utf16.txt", utf16LE.Bytes()})
	for _, name := range []string{"html.pdf", "html.png", "html.jpg", "html.docx", "html.doc", "html.xls", "html.html", "html.xhtml"} {
		list = append(list, maliciousFile{name, []byte(canaryHTML)})
	}
	for _, name := range []string{"svg.png", "svg.gif", "svg.svg"} {
		list = append(list, maliciousFile{name, []byte(canarySVG)})
	}
	return append(append(list, maliciousImages(t)...), maliciousPDFs()...)
}

// maliciousImages returns images with an HTML page appended to them.
func maliciousImages(t *testing.T) (list []maliciousFile) {
	t.Helper()
	dots := image.NewPaletted(image.Rect(0, 0, 30, 20), color.Palette{color.Black, color.White})
	for name, encode := range map[string]func(io.Writer) error{
		"a.png": func(w io.Writer) error { return png.Encode(w, dots) }, "a.bmp": func(w io.Writer) error { return bmp.Encode(w, dots) },
		"a.gif":  func(w io.Writer) error { return gif.Encode(w, dots, nil) },
		"a.jpg":  func(w io.Writer) error { return jpeg.Encode(w, dots, nil) },
		"a.tiff": func(w io.Writer) error { return tiff.Encode(w, dots, nil) },
	} {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			t.Fatalf("encode image: %v", err)
		}
		list = append(list, maliciousFile{name, append(b.Bytes(), canaryHTML...)})
	}
	return list
}

// maliciousPDFs returns PDFs that run a script or open a URL when they are opened or
// clicked, and PDFs with an HTML page before or after their content.
func maliciousPDFs() []maliciousFile {
	const script = `/S /JavaScript /JS (app.alert\("canary"\); this.getURL\("/canary"\); app.launchURL\("/canary"\);)`
	return []maliciousFile{
		{"open.pdf", buildPDF(`/OpenAction << `+script+` >>`, "")},
		{"names.pdf", buildPDF(`/Names << /JavaScript << /Names [(a) << `+script+` >>] >> >>`, "")},
		{"page.pdf", buildPDF("", `/AA << /O << `+script+` >> >>`)},
		{"link.pdf", buildPDF("",
			`/Annots [<< /Type /Annot /Subtype /Link /Rect [0 0 612 792] /A << /S /URI /URI (javascript:alert\("canary"\)) >> >>]`)},
		{"uri.pdf", buildPDF(`/OpenAction << /S /URI /URI (/canary) >>`, "")},
		{"launch.pdf", buildPDF(`/OpenAction << /S /Launch /F (/canary) >>`, "")},
		{"submit.pdf", buildPDF(`/OpenAction << /S /SubmitForm /F << /FS /URL /F (/canary) >> /Flags 4 >>`, "")},
		{"behind.pdf", append(buildPDF("", ""), canaryHTML...)},
		{"before.pdf", append([]byte(canaryHTML), buildPDF("", "")...)},
	}
}

// buildPDF returns a one-page PDF with additional entries in its catalog and page
// dictionaries.
func buildPDF(catalog, page string) []byte {
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R " + catalog + " >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << >> " + page + " >>",
		"<< /Length 17 >>\nstream\n0 0 m 9 9 l S    \nendstream",
	}
	var b, table strings.Builder
	b.WriteString("%PDF-1.7\n")
	for i, object := range objects {
		fmt.Fprintf(&table, "%010d 00000 n \n", b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	at := b.Len()
	fmt.Fprintf(&b, "xref\n0 5\n0000000000 65535 f \n%strailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", &table, at)
	return []byte(b.String())
}

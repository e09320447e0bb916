//go:build browser

package cmd_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"deedkeep/app/client"
)

// wideSpreadsheet is a workbook with more in its cells, and more of these, than fits a page.
func wideSpreadsheet(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	part := func(name, text string) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatalf("compress: %v", err)
		}
	}
	const parts = "http://schemas.openxmlformats.org/package/2006/"
	const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	const sheets = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
	relation := func(id, kind, target string) string {
		return fmt.Sprintf(`<Relationships xmlns="%srelationships"><Relationship Id="%s" Type="%s/%s" Target="%s"/></Relationships>`, parts, id, office, kind, target)
	}
	part("[Content_Types].xml", `<Types xmlns="`+parts+`content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>`+
		`<Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>`)
	part("_rels/.rels", relation("a", "officeDocument", "xl/workbook.xml"))
	part("xl/workbook.xml", `<workbook xmlns="`+sheets+`" xmlns:r="`+office+`"><sheets><sheet name="Runs" sheetId="1" r:id="a"/></sheets></workbook>`)
	part("xl/_rels/workbook.xml.rels", relation("a", "worksheet", "worksheets/sheet1.xml"))
	cells := []string{"Deed", "1998-06-02", strings.Repeat("subject to a right of way thirty feet in width ", 12), strings.Repeat("x", 400), "Two\nlines"}
	for n := range 20 {
		cells = append(cells, fmt.Sprintf("Column %d of many", n))
	}
	row := "<row>"
	for _, cell := range cells {
		row += `<c t="inlineStr"><is><t>` + cell + `</t></is></c>`
	}
	part("xl/worksheets/sheet1.xml", `<worksheet xmlns="`+sheets+`"><sheetData>`+strings.Repeat(row+"</row>", 8)+`</sheetData></worksheet>`)
	if err := z.Close(); err != nil {
		t.Fatalf("close ZIP: %v", err)
	}
	return b.Bytes()
}

// testSpreadsheets reads workbooks: the page is as wide as the window, long cells have several
// lines, and what is too wide is moved by itself.
func (f *firm) testSpreadsheets(t *testing.T, b *tab) {
	sent, err := f.client.Upload(t.Context(), nil, []client.Upload{{Filename: "Wide.xlsx", Reader: bytes.NewReader(wideSpreadsheet(t))}})
	f.must(err)
	f.addFiles(sent.Files)
	f.waitProcessed(t.Context())
	for _, width := range []int64{1280, 360} {
		b.setSize(width, 800)
		for _, at := range []struct{ name, path string }{
			{"wide", fmt.Sprintf("/documents/%d?find=width&words=1", f.files["Wide.xlsx"])},
			{"wide-text", fmt.Sprintf("/documents/%d/text", f.files["Wide.xlsx"])},
			{"runsheet", fmt.Sprintf("/documents/%d", f.files["09_Runsheet.xlsx"])},
		} {
			b.goTo(at.path)
			b.waitFor(`document.querySelector(".viewer-sheet td")`)
			b.checkFits(int(width))
			for _, theme := range []string{"light", "dark"} {
				b.setTheme(theme)
				b.screenshot(fmt.Sprintf("scene-sheet-%s-%d-%s", at.name, width, theme))
			}
			b.checkAccessible(t, at.name)
			b.setTheme("light")
			if got := eval[[]string](b, `(() => {
				const wrong = [], pane = document.querySelector(".viewer-pages");
				if (pane && pane.scrollWidth > pane.clientWidth) wrong.push("the pane scrolls sideways: " + pane.scrollWidth);
				for (const td of document.querySelectorAll(".viewer-sheet td")) {
					if (td.scrollWidth > td.clientWidth + 1) wrong.push("a cell runs over: " + td.textContent.slice(0, 20));
					if (td.colSpan == 1 && td.clientWidth > 370) wrong.push("a cell is " + td.clientWidth + " px wide: " + td.textContent.slice(0, 20));
					if (td.textContent.length > 3 && td.clientWidth < (td.matches(".long") ? 190 : 40)) wrong.push("a cell is " + td.clientWidth + " px wide: " + td.textContent.slice(0, 20));
				}
				return wrong.slice(0, 8)
			})()`); len(got) > 0 {
				t.Errorf("%s at %d px: %q", at.name, width, got)
			}
		}
	}
	b.waitFor(`(() => { const w = document.querySelector(".viewer-sheet .table-wrap"); w.scrollLeft = 50; return w.scrollLeft == 50 || w.scrollWidth <= w.clientWidth })()`)
	b.setSize(1280, 900)
}

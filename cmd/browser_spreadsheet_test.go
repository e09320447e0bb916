//go:build browser

package cmd_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"deedkeep/app/vaulttest/client"
)

// wideSpreadsheet returns a workbook with cells and rows that are wider than the window.
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
			t.Fatalf("write part %s: %v", name, err)
		}
	}
	const parts = "http://schemas.openxmlformats.org/package/2006/"
	const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	const sheets = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
	relation := func(id, name, target string) string {
		return fmt.Sprintf(`<Relationships xmlns="%srelationships"><Relationship Id="%s" Type="%s/%s" Target="%s"/></Relationships>`,
			parts, id, office, name, target)
	}
	part("[Content_Types].xml", `<Types xmlns="`+parts+`content-types">`+
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>`+
		`<Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" `+
		`ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>`)
	part("_rels/.rels", relation("a", "officeDocument", "xl/workbook.xml"))
	part("xl/workbook.xml", `<workbook xmlns="`+sheets+`" xmlns:r="`+office+`">`+
		`<sheets><sheet name="Runs" sheetId="1" r:id="a"/></sheets></workbook>`)
	part("xl/_rels/workbook.xml.rels", relation("a", "worksheet", "worksheets/sheet1.xml"))
	cells := []string{
		"Deed", "1998-06-02", strings.Repeat("subject to a right of way thirty feet in width ", 12), strings.Repeat("x", 400), "Two\nlines",
	}
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

// testSpreadsheets opens workbooks. The page must be as wide as the window, long cells must
// wrap, and only the table may scroll horizontally.
func (f *firm) testSpreadsheets(t *testing.T, b *tab) {
	workbook := client.Upload{Filename: "Wide.xlsx", Reader: bytes.NewReader(wideSpreadsheet(t))}
	uploaded, err := f.client.Upload(t.Context(), nil, []client.Upload{workbook})
	f.must(err)
	f.addFiles(uploaded.Files)
	f.waitProcessed(t.Context())
	for _, width := range []int64{1280, 360} {
		b.setSize(width, 800)
		for _, page := range []struct{ name, path string }{
			{"wide", fmt.Sprintf("/documents/%d?find=width&words=1", f.files["Wide.xlsx"])},
			{"wide-text", fmt.Sprintf("/documents/%d/text", f.files["Wide.xlsx"])},
			{"runsheet", fmt.Sprintf("/documents/%d", f.files["09_Runsheet.xlsx"])},
		} {
			b.goTo(page.path)
			b.waitFor(`document.querySelector(".viewer-sheet td")`)
			b.checkFits(int(width))
			for _, theme := range []string{"light", "dark"} {
				b.setTheme(theme)
				b.screenshot(fmt.Sprintf("scene-sheet-%s-%d-%s", page.name, width, theme))
			}
			b.checkAccessible(t, page.name)
			b.setTheme("light")
			if got := eval[[]string](b, `(() => {
				const problems = [], pane = document.querySelector(".viewer-pages");
				if (pane && pane.scrollWidth > pane.clientWidth) problems.push("pane scrolls sideways: " + pane.scrollWidth);
				for (const td of document.querySelectorAll(".viewer-sheet td")) {
					const text = td.textContent, width = td.clientWidth;
					if (td.scrollWidth > width + 1) problems.push("cell overflows: " + text.slice(0, 20));
					if (td.colSpan == 1 && width > 370) problems.push("cell is " + width + " px wide: " + text.slice(0, 20));
					if (text.length > 3 && width < (td.matches(".long") ? 190 : 40)) problems.push("cell is " + width + " px wide: " + text.slice(0, 20));
				}
				return problems.slice(0, 8)
			})()`); len(got) > 0 {
				t.Errorf("%s at %d px: got problems %q, want none", page.name, width, got)
			}
		}
	}
	b.waitFor(`(() => { const w = document.querySelector(".viewer-sheet .table-wrap"); w.scrollLeft = 50;
		return w.scrollLeft == 50 || w.scrollWidth <= w.clientWidth })()`)
	b.setSize(1280, 900)
}

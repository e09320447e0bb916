package office

import (
	"errors"
	"strings"
	"testing"

	"deedkeep/app/document/docio"
	"deedkeep/app/document/office/ooxml"
)

func docxParts(body string) map[string]string {
	return map[string]string{
		"_rels/.rels":                  rels("a", "officeDocument", "word/document.xml"),
		"word/document.xml":            `<w:document xmlns:w="w"><w:body>` + body + `</w:body></w:document>`,
		"word/_rels/document.xml.rels": rels("h", "header", "header1.xml", "n", "footnotes", "/word/notes.xml", "c", "comments", "comments.xml"),
		"word/header1.xml":             `<w:hdr><w:p><w:r><w:t>Wexcombe County</w:t></w:r></w:p></w:hdr>`,
		"word/notes.xml":               `<w:footnotes><w:footnote><w:p><w:t>see Book 7</w:t></w:p></w:footnote></w:footnotes>`,
		"word/comments.xml":            `<w:comments><w:p><w:t>SECRET</w:t></w:p></w:comments>`,
	}
}

func xlsxParts() map[string]string {
	return map[string]string{
		"_rels/.rels": rels("a", "officeDocument", "/xl/workbook.xml"),
		"xl/workbook.xml": `<workbook xmlns:r="r"><sheets><sheet name="Second" sheetId="7" r:id="r2"/>` +
			`<sheet name="First" sheetId="1" r:id="r1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": rels("r1", "worksheet", "worksheets/sheet1.xml", "r2", "worksheet", "worksheets/sheet2.xml",
			"r3", "sharedStrings", "sharedStrings.xml", "r4", "styles", "styles.xml"),
		"xl/sharedStrings.xml": `<sst><si><t>plain</t></si><si><r><t>Rich </t></r><r><t>text</t></r><rPh><t>aid</t></rPh></si></sst>`,
		"xl/styles.xml": `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[$-409]mmm\ d;@"/></numFmts>` +
			`<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>` +
			`<xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="10"/></cellXfs></styleSheet>`,
		"xl/worksheets/sheet1.xml": `<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c>` +
			`<c t="s"><v>1</v></c><c t="s"><v>99</v></c></row>` +
			`<row><c t="inlineStr"><is><t>in</t><t>line</t></is></c><c t="str"><f>A1&amp;"x"</f><v>result</v></c>` +
			`<c t="b"><v>1</v></c></row></sheetData></worksheet>`,
		"xl/worksheets/sheet2.xml": `<worksheet><sheetData><row><c><v>0.30000000000000004</v></c><c s="1"><v>43572</v></c>` +
			`<c s="2"><v>43572.5</v></c><c s="3"><v>0.25</v></c><c><v>1E+20</v></c><c t="e"><v>#REF!</v></c></row></sheetData></worksheet>`,
	}
}

func pptxParts() map[string]string {
	slide := func(text string) string {
		return `<p:sld><p:sp><a:p><a:r><a:t>` + text + `</a:t></a:r></a:p></p:sp></p:sld>`
	}
	return map[string]string{
		"_rels/.rels": rels("a", "officeDocument", "ppt/presentation.xml"),
		"ppt/presentation.xml": `<p:presentation xmlns:r="r">` +
			`<p:sldIdLst><p:sldId id="257" r:id="b"/><p:sldId id="256" r:id="a"/></p:sldIdLst></p:presentation>`,
		"ppt/_rels/presentation.xml.rels":  rels("a", "slide", "slides/slide1.xml", "b", "slide", "slides/slide2.xml"),
		"ppt/slides/slide1.xml":            slide("shown last"),
		"ppt/slides/slide2.xml":            slide("shown first"),
		"ppt/slides/_rels/slide1.xml.rels": rels("n", "notesSlide", "../notesSlides/notesSlide1.xml"),
		"ppt/notesSlides/notesSlide1.xml":  slide("a note"),
	}
}

func TestExtractOOXML(t *testing.T) {
	const body = `<w:p><w:pPr><w:tabs><w:tab w:val="left"/></w:tabs></w:pPr><w:r><w:t>Title</w:t><w:tab/>` +
		`<w:t xml:space="preserve"> is &amp;</w:t><w:br/>` +
		`<w:delText>gone</w:delText><w:instrText>PAGE</w:instrText><w:t>vested</w:t></w:r></w:p>` +
		`<mc:AlternateContent><mc:Choice><w:txbxContent><w:p><w:t>box</w:t></w:p></w:txbxContent></mc:Choice>` +
		`<mc:Fallback><w:txbxContent><w:p><w:t>box again</w:t></w:p></w:txbxContent></mc:Fallback></mc:AlternateContent>`
	cell := func(texts ...string) string {
		return "<w:tc><w:p><w:r><w:t>" + strings.Join(texts, "</w:t></w:r></w:p><w:p><w:r><w:t>") + "</w:t></w:r></w:p></w:tc>"
	}
	row := func(cells ...string) string { return "<w:tr>" + strings.Join(cells, "") + "</w:tr>" }
	table := func(columns int, rows ...string) string {
		return "<w:tbl><w:tblGrid>" + strings.Repeat("<w:gridCol/>", columns) + "</w:tblGrid>" + strings.Join(rows, "") + "</w:tbl>"
	}
	const before = "<w:p><w:t>Before</w:t></w:p>"
	const foot = "see Book 7\nWexcombe County\n"
	utf16 := docxParts("")
	utf16["word/document.xml"] = "\xff\xfe" + string(wide(`<?xml version="1.0" encoding="utf-16"?><w:p><w:t>Ibáñez</w:t></w:p>`))
	for _, c := range []struct {
		name, mime string
		parts      map[string]string
		want       string
	}{
		{"docx", MIMEDOCX, docxParts(body), "1: Title\t is &\nvested\nbox\nsee Book 7\nWexcombe County\n"},
		{"docx in UTF-16", MIMEDOCX, utf16, "1: Ibáñez\nsee Book 7\nWexcombe County\n"},
		{"docx with a table", MIMEDOCX, docxParts(before +
			table(3, row(cell("Name"), cell(""), cell("Book", "Page")), row(cell(""), cell("b"), cell(""))) + before),
			"1: Before\nName\t\tBook Page\n\tb\nBefore\n" + foot},
		{"docx with a table for its frame", MIMEDOCX,
			docxParts(table(1, row(cell("One", "Two")), row("<w:tc>"+table(2, row(cell("a"), cell("b")))+"</w:tc>"))), "1: One\nTwo\na\tb\n" + foot},
		{"docx with a table in a cell", MIMEDOCX,
			docxParts(table(2, row(cell("a"), "<w:tc>"+table(2, row(cell("x"), cell("y")))+
				"<w:p><w:t>b</w:t><w:tab/><w:t>c</w:t><w:br/></w:p></w:tc>"))), "1: a\tx y b c\n" + foot},
		{"docx with a table without a grid", MIMEDOCX,
			docxParts("<w:tbl>" + row(cell("a"), cell("b")) + "</w:tbl></w:tbl></w:tr></w:tc>" + before), "1: a\tb\nBefore\n" + foot},
		{"docx with a bare main part", MIMEDOCX, map[string]string{`WORD\Document.xml`: `<p><t>bare</t></p>`}, "1: bare\n"},
		{"xlsx", MIMEXLSX, xlsxParts(),
			"1: Second\n0.3\t2019-04-17\t2019-04-17 12:00\t0.25\t1E+20\t#REF!\n2: First\nplain\tRich text\ninline\tresult\tTRUE\n"},
		{"pptx", MIMEPPTX, pptxParts(), "1: shown first\n2: shown last\na note\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := collect(t, buildZip(t, c.parts), c.mime, docio.ExtractLimits{})
			if err != nil || got != c.want {
				t.Errorf("Text = %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

func TestOOXMLBounds(t *testing.T) {
	long := strings.Repeat("<w:p><w:t>"+strings.Repeat("grantor ", 100)+"</w:t></w:p>", 200)
	many := map[string]string{}
	for i := range 30_000 {
		many[strings.Repeat("x", 100)+string(rune('a'+i%26))+strings.Repeat("y", i/26%100)+strings.Repeat("z", i/2600)] = ""
	}
	for _, c := range []struct {
		name string
		src  []byte
		lim  docio.ExtractLimits
		want error
	}{
		{"no zip", []byte("PK no zip"), docio.ExtractLimits{}, docio.ErrDamaged},
		{"no main part", buildZip(t, map[string]string{"a": ""}), docio.ExtractLimits{}, docio.ErrDamaged},
		{"broken XML", buildZip(t, docxParts("<w:p><w:t a=>")), docio.ExtractLimits{}, nil}, // parsed as leniently as browsers do
		{"unfinished tag", buildZip(t, map[string]string{"word/document.xml": "<w:p"}), docio.ExtractLimits{}, docio.ErrDamaged},
		{"bomb", buildZip(t, docxParts(strings.Repeat(" ", 1<<20)+"<w:p/>")), docio.ExtractLimits{MaxUnpackedBytes: 1 << 16}, docio.ErrTooLarge},
		{"one long token", buildZip(t, docxParts(`<w:p a="`+strings.Repeat("x", ooxml.MaxTokenBytes+1)+`"/>`)),
			docio.ExtractLimits{}, docio.ErrDamaged},
		{"more text than a document may have", buildZip(t, docxParts(long)), docio.ExtractLimits{MaxTextBytes: 1000}, docio.ErrTooLarge},
		{"directory of many parts", buildZip(t, many), docio.ExtractLimits{}, docio.ErrDamaged},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := collect(t, c.src, MIMEDOCX, c.lim)
			if !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if c.lim.MaxTextBytes > 0 && (len(text) < 900 || len(text) > 1010) {
				t.Errorf("%d bytes of text, want 900 to 1010", len(text))
			}
		})
	}
}

func TestPageTextLimit(t *testing.T) {
	parts := xlsxParts()
	parts["xl/worksheets/sheet2.xml"] = `<row>` + strings.Repeat(`<c t="str"><v>word</v></c>`, 1000) + `</row>`
	got, err := collect(t, buildZip(t, parts), MIMEXLSX, docio.ExtractLimits{MaxPageTextBytes: 100})
	first, rest, _ := strings.Cut(got, "2: ")
	if !errors.Is(err, docio.ErrTooLarge) || len(first) < 90 || len(first) > 110 || !strings.Contains(rest, "inline\tresult") {
		t.Errorf("got %q, %v, want about 100 bytes of sheet 1, then sheet 2, and %v", got, err, docio.ErrTooLarge)
	}
}

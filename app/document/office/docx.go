package office

import (
	"deedkeep/app/document/docio"
	"deedkeep/app/document/office/ooxml"
)

// DOCX writes the body first, then notes, headers, and footers (ISO/IEC 29500-1, 11.3). It
// skips comments, deleted text, and field codes.
func DOCX(doc *docio.Reader, out *docio.TextWriter) error {
	p, err := ooxml.Open(doc, out.Limits.MaxUnpackedBytes)
	if err != nil {
		return err
	}
	main, related, err := p.Main("word/document.xml")
	if err != nil {
		return err
	}
	parts := []string{main}
	for _, relationshipType := range []string{"footnotes", "endnotes", "header", "footer"} {
		parts = append(parts, ooxml.Parts(related, relationshipType)...)
	}
	for _, part := range parts {
		if err := paragraphs(p, part, out); err != nil {
			return err
		}
	}
	return nil
}

// paragraphs writes the paragraphs of a WordprocessingML or DrawingML part. Both use the names p,
// t, tab, br, tbl, tr, and tc. A table row becomes a line with tabs between its cells, like a row
// of a sheet.
func paragraphs(p *ooxml.Package, part string, out *docio.TextWriter) error {
	fallbacks, inText := 0, false
	table := tableWriter{out: out}
	return p.Walk(part, func(e ooxml.Element) error {
		if out.PageFull() {
			out.Truncated = true
			return ooxml.ErrStop
		}
		// Fallback repeats a text box for older applications.
		if e.Name == "Fallback" {
			if e.Start {
				fallbacks++
			} else if e.End && fallbacks > 0 {
				fallbacks--
			}
		}
		switch {
		case fallbacks > 0:
		case table.element(e):
		case e.Name == "t":
			inText = e.Start
		case e.End && e.Name == "p":
			table.line()
		case e.Start && (e.Name == "br" || e.Name == "cr"):
			table.space("\n")
		case e.Start && e.Name == "tab" && len(e.Attrs) == 0: // a tab element with attributes is a tab stop
			table.space("\t")
		case e.Start && e.Name == "noBreakHyphen":
			table.text("-")
		case e.Text != nil && inText:
			table.text(string(e.Text))
		}
		return nil
	})
}

// tableWriter writes text inside and outside of tables. A one-column table is usually just a frame,
// so its content is written like text outside of tables. A table inside a cell of another table is
// part of that cell (ISO/IEC 29500-1, 17.4).
//
//	cell TAB cell TAB cell NEWLINE
type tableWriter struct {
	out     *docio.TextWriter
	columns []int // number of columns of each open table, the outermost first
	rowwise int   // depth of the open table that is written by rows, starting at 1; 0 if there is none
	tabs    int   // number of tabs to write before the next text of the row
	hasText bool  // the current cell has text
	gap     bool  // the next text of the cell needs a space before it
}

// element handles the tags of tables. It reports whether e is such a tag.
func (t *tableWriter) element(e ooxml.Element) bool {
	depth := len(t.columns)
	switch {
	case e.Name == "tbl" && e.Start:
		t.columns = append(t.columns, 0)
	case e.Name == "tbl" && e.End && depth > 0:
		if t.rowwise == depth {
			t.rowwise = 0
		}
		t.columns = t.columns[:depth-1]
	case e.Name == "gridCol" && e.Start && depth > 0:
		t.columns[depth-1]++
	case e.Name == "tr" && e.Start && depth > 0:
		if t.rowwise == 0 && t.columns[depth-1] != 1 {
			t.rowwise = depth
		}
		if t.rowwise == depth {
			t.tabs, t.hasText, t.gap = -1, false, false // no tab before the first cell
		}
	case e.Name == "tr" && e.End && depth > 0 && t.rowwise == depth:
		t.out.EndLine()
	case e.Name == "tc" && e.Start && t.rowwise > 0 && t.rowwise == depth:
		t.tabs++
		t.hasText, t.gap = false, false
	default:
		return false
	}
	return true
}

// line ends a paragraph.
func (t *tableWriter) line() {
	if t.rowwise == 0 {
		t.out.EndLine()
		return
	}
	t.gap = t.hasText
}

// space writes a line break or a tab. Inside a cell, it writes a space instead.
func (t *tableWriter) space(s string) {
	if t.rowwise == 0 {
		t.out.WriteText(s)
		return
	}
	t.gap = t.hasText
}

func (t *tableWriter) text(s string) {
	if t.rowwise == 0 || s == "" {
		t.out.WriteText(s)
		return
	}
	for ; t.tabs > 0; t.tabs-- {
		t.out.WriteText("\t")
	}
	if t.gap {
		t.out.WriteText(" ")
	}
	t.hasText, t.gap = true, false
	t.out.WriteText(s)
}

package document

// docxText reads the body, then notes, headers and footers (ISO/IEC 29500-1,
// 11.3). Comments, deleted text and field codes are no part of the text.
func docxText(doc *source, out *writer) error {
	p, err := openPackage(doc, out.lim)
	if err != nil {
		return err
	}
	main, related, err := p.main(doc, "word/document.xml")
	if err != nil {
		return err
	}
	parts := []string{main}
	for _, kind := range []string{"footnotes", "endnotes", "header", "footer"} {
		parts = append(parts, of(related, kind)...)
	}
	for _, part := range parts {
		if err := p.prose(doc, part, out); err != nil {
			return err
		}
	}
	return nil
}

// prose reads the paragraphs of WordprocessingML and of DrawingML, which name
// what matters alike: p, t, tab, br, tbl, tr, tc. A row of a table is a line, its
// cells parted by tabs, as those of a sheet are.
func (p *ooxmlPackage) prose(doc *source, part string, out *writer) error {
	skipped, inText := 0, false
	in := grid{out: out}
	return p.walk(doc, part, func(e element) error {
		if out.pageFull() {
			out.cut = true
			return errEnough
		}
		// The same text boxes stand there a second time, for old readers.
		if e.name == "Fallback" {
			if e.start {
				skipped++
			} else if e.end && skipped > 0 {
				skipped--
			}
		}
		switch {
		case skipped > 0:
		case in.table(e):
		case e.name == "t":
			inText = e.start
		case e.end && e.name == "p":
			in.line()
		case e.start && (e.name == "br" || e.name == "cr"):
			in.space("\n")
		case e.start && e.name == "tab" && len(e.attrs) == 0: // with attributes it is a tab stop
			in.space("\t")
		case e.start && e.name == "noBreakHyphen":
			in.text("-")
		case e.text != nil && inText:
			in.text(string(e.text))
		}
		return nil
	})
}

// grid knows whether text stands in the cell of a table. Tables of one column are
// there for their frame, and read as if they were none; a table within a cell of
// another is a part of that cell (ISO/IEC 29500-1, 17.4).
//
//	cell TAB cell TAB cell NEWLINE
type grid struct {
	out     *writer
	columns []int // of each table around, the outermost first
	rows    int   // which of them is read by rows, from 1; 0: none
	tabs    int   // that stand before the next text of the row
	begun   bool  // the cell has text
	gap     bool  // something parts the next text of the cell from the one before
}

// table takes the elements that make a table, and reports whether this is one.
func (g *grid) table(e element) bool {
	deep := len(g.columns)
	switch {
	case e.name == "tbl" && e.start:
		g.columns = append(g.columns, 0)
	case e.name == "tbl" && e.end && deep > 0:
		if g.rows == deep {
			g.rows = 0
		}
		g.columns = g.columns[:deep-1]
	case e.name == "gridCol" && e.start && deep > 0:
		g.columns[deep-1]++
	case e.name == "tr" && e.start && deep > 0:
		if g.rows == 0 && g.columns[deep-1] != 1 {
			g.rows = deep
		}
		if g.rows == deep {
			g.tabs, g.begun, g.gap = -1, false, false // no tab before the first cell
		}
	case e.name == "tr" && e.end && deep > 0 && g.rows == deep:
		g.out.line()
	case e.name == "tc" && e.start && g.rows > 0 && g.rows == deep:
		g.tabs++
		g.begun, g.gap = false, false
	default:
		return false
	}
	return true
}

// line ends a paragraph.
func (g *grid) line() {
	if g.rows == 0 {
		g.out.line()
		return
	}
	g.gap = g.begun
}

// space is a break or a tab, which in a cell is a space.
func (g *grid) space(s string) {
	if g.rows == 0 {
		g.out.text(s)
		return
	}
	g.gap = g.begun
}

func (g *grid) text(s string) {
	if g.rows == 0 || s == "" {
		g.out.text(s)
		return
	}
	for ; g.tabs > 0; g.tabs-- {
		g.out.text("\t")
	}
	if g.gap {
		g.out.text(" ")
	}
	g.begun, g.gap = true, false
	g.out.text(s)
}

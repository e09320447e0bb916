package extract

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

package office

import (
	"fmt"
	"strconv"
	"strings"

	"deedkeep/app/document/docio"
	"deedkeep/app/document/office/ooxml"
)

// maxStrings is the maximum number of shared strings to read from a workbook. A full sheet has a
// million rows.
const maxStrings = 2 << 20

// xlsxSheet is a sheet of a workbook. part is "" if the sheet has no part.
type xlsxSheet struct{ name, part string }

// xlsxWorkbook holds the data that all sheets of a .xlsx file share.
type xlsxWorkbook struct {
	*ooxml.Package
	sheets     []xlsxSheet
	strings    []string
	dateStyles []bool // whether a cell style, by index, displays dates
	date1904   bool   // the epoch of dates is 1904
}

// XLSX writes a page for each sheet. It starts with the sheet's name. Each row follows as a
// line with tabs between its cells.
func XLSX(doc *docio.Reader, out *docio.TextWriter) error {
	p, err := ooxml.Open(doc, out.Limits.MaxUnpackedBytes)
	if err != nil {
		return err
	}
	w := &xlsxWorkbook{Package: p}
	if err := w.readShared(); err != nil {
		return err
	}
	return out.Pages(len(w.sheets), func(i int) error {
		out.WriteText(w.sheets[i].name + "\n")
		return w.writeCells(w.sheets[i].part, out)
	})
}

// readShared reads the data that sheets share: their names, the epoch of dates, the styles, and the
// shared strings.
func (w *xlsxWorkbook) readShared() error {
	main, related, err := w.Main("xl/workbook.xml")
	if err != nil {
		return err
	}
	err = w.WalkReferences(main, "sheet", related, func(e ooxml.Element, part string) {
		w.sheets = append(w.sheets, xlsxSheet{e.Attr("name"), part})
	})
	if err != nil {
		return err
	}
	err = w.WalkReferences(main, "workbookPr", nil, func(e ooxml.Element, _ string) {
		w.date1904 = isTrue(e.Attr("date1904"))
	})
	if err != nil {
		return err
	}
	for _, part := range ooxml.Parts(related, "styles") {
		if err := w.readStyles(part); err != nil {
			return err
		}
	}
	for _, part := range ooxml.Parts(related, "sharedStrings") {
		if err := w.readStrings(part); err != nil {
			return err
		}
	}
	return nil
}

func isTrue(s string) bool { return s == "1" || s == "true" }

// readStrings reads the shared strings. It skips formatting and phonetic hints.
func (w *xlsxWorkbook) readStrings(part string) error {
	var current strings.Builder
	inText, inPhonetic := false, false
	return w.Walk(part, func(e ooxml.Element) error {
		switch {
		case e.Name == "rPh":
			inPhonetic = e.Start
		case e.Name == "t":
			inText = e.Start && !inPhonetic
		case e.Text != nil && inText:
			current.Write(e.Text)
		case e.End && e.Name == "si":
			if len(w.strings) == maxStrings {
				return fmt.Errorf("%w: more than %d strings", docio.ErrTooLarge, maxStrings)
			}
			w.strings = append(w.strings, current.String())
			current.Reset()
		}
		return nil
	})
}

// readStyles determines which cell styles display dates (ISO/IEC 29500-1, 18.8.30).
func (w *xlsxWorkbook) readStyles(part string) error {
	formats := make(map[string]bool)
	inCells := false
	return w.Walk(part, func(e ooxml.Element) error {
		switch {
		case e.Start && e.Name == "numFmt":
			if len(formats) < maxParts {
				formats[e.Attr("numFmtId")] = isDateFormat(e.Attr("formatCode"))
			}
		case e.Name == "cellXfs":
			inCells = e.Start
		case e.Start && e.Name == "xf" && inCells:
			id := e.Attr("numFmtId")
			date, custom := formats[id]
			if n, err := strconv.Atoi(id); !custom && err == nil {
				date = isBuiltinDateFormat(n)
			}
			w.dateStyles = append(w.dateStyles, date)
		}
		return nil
	})
}

// xlsxCell is the cell that is being read.
type xlsxCell struct {
	cellType   string
	date       bool
	value      strings.Builder
	inValue    bool
	inPhonetic bool
}

func (w *xlsxWorkbook) writeCells(part string, out *docio.TextWriter) error {
	var c xlsxCell
	first := true
	return w.Walk(part, func(e ooxml.Element) error {
		if out.PageFull() {
			out.Truncated = true
			return ooxml.ErrStop
		}
		switch e.Name {
		case "row":
			if e.End {
				out.WriteText("\n")
			}
			first = true
		case "c":
			if e.Start {
				style, err := strconv.Atoi(e.Attr("s"))
				c.cellType, c.date = e.Attr("t"), err == nil && style >= 0 && style < len(w.dateStyles) && w.dateStyles[style]
				c.value.Reset()
			} else if text := w.format(&c); text != "" {
				if !first {
					out.WriteText("\t")
				}
				first = false
				out.WriteText(text)
			}
		case "rPh":
			c.inPhonetic = e.Start
		case "v", "t":
			c.inValue = e.Start && !c.inPhonetic
		}
		if e.Text != nil && c.inValue {
			c.value.Write(e.Text)
		}
		return nil
	})
}

// format returns the value of a cell as text (ISO/IEC 29500-1, 18.18.11).
func (w *xlsxWorkbook) format(c *xlsxCell) string {
	value := c.value.String()
	switch c.cellType {
	case "s":
		i, err := strconv.Atoi(value)
		if err != nil || i < 0 || i >= len(w.strings) {
			return ""
		}
		return w.strings[i]
	case "b":
		return formatBool(isTrue(value))
	case "", "n":
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return value
		}
		return formatNumber(number, c.date, w.date1904)
	}
	return value
}

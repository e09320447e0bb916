package document

import (
	"fmt"
	"strconv"
	"strings"
)

// mostStrings is how many shared strings are kept; a full sheet has a million
// rows.
const mostStrings = 2 << 20

// sheet is one sheet of a workbook; part is "" where it has none.
type sheet struct{ name, part string }

// workbook is what all sheets of a .xlsx share.
type workbook struct {
	*ooxmlPackage
	doc     *source
	main    string
	sheets  []sheet
	related []target
	strings []string
	dates   []bool // by cell style
	mac     bool   // days count from 1904
}

func openWorkbook(doc *source, lim ExtractLimits) (*workbook, error) {
	p, err := openPackage(doc, lim)
	if err != nil {
		return nil, err
	}
	w := &workbook{ooxmlPackage: p, doc: doc}
	if w.main, w.related, err = p.main(doc, "xl/workbook.xml"); err != nil {
		return nil, err
	}
	err = p.inOrder(doc, w.main, "sheet", w.related, func(e element, part string) {
		w.sheets = append(w.sheets, sheet{e.attr("name"), part})
	})
	return w, err
}

func xlsxPages(doc *source, lim ExtractLimits) (int, error) {
	w, err := openWorkbook(doc, lim)
	if err != nil {
		return 0, err
	}
	return len(w.sheets), nil
}

// xlsxText gives a page for each sheet: its name, then a line for each row,
// cells parted by tabs.
func xlsxText(doc *source, out *writer) error {
	w, err := openWorkbook(doc, out.lim)
	if err != nil {
		return err
	}
	if err := w.readShared(); err != nil {
		return err
	}
	for i, s := range w.sheets {
		if i >= out.lim.MaxPages || out.full() {
			out.cut = true
			return nil
		}
		if err := out.begin(i + 1); err != nil {
			return err
		}
		out.text(s.name + "\n")
		if err := w.cells(s.part, out); err != nil {
			return err
		}
	}
	return nil
}

// readShared reads the shared strings, the styles and how dates count.
func (w *workbook) readShared() error {
	err := w.walk(w.doc, w.main, func(e element) error {
		if e.start && e.name == "workbookPr" {
			w.mac = truth(e.attr("date1904"))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, part := range of(w.related, "styles") {
		if err := w.readStyles(part); err != nil {
			return err
		}
	}
	for _, part := range of(w.related, "sharedStrings") {
		if err := w.readStrings(part); err != nil {
			return err
		}
	}
	return nil
}

func truth(s string) bool { return s == "1" || s == "true" }

// readStrings keeps each string without its formatting and its reading aid.
func (w *workbook) readStrings(part string) error {
	var current strings.Builder
	inText, aid := false, false
	return w.walk(w.doc, part, func(e element) error {
		switch {
		case e.name == "rPh":
			aid = e.start
		case e.name == "t":
			inText = e.start && !aid
		case e.text != nil && inText:
			current.Write(e.text)
		case e.end && e.name == "si":
			if len(w.strings) == mostStrings {
				return fmt.Errorf("%w: more than %d strings", ErrTooLarge, mostStrings)
			}
			w.strings = append(w.strings, current.String())
			current.Reset()
		}
		return nil
	})
}

// readStyles finds the cell styles that show dates (ISO/IEC 29500-1, 18.8.30).
func (w *workbook) readStyles(part string) error {
	formats := make(map[string]bool)
	inCells := false
	return w.walk(w.doc, part, func(e element) error {
		switch {
		case e.start && e.name == "numFmt":
			if len(formats) < relations {
				formats[e.attr("numFmtId")] = isDateFormat(e.attr("formatCode"))
			}
		case e.name == "cellXfs":
			inCells = e.start
		case e.start && e.name == "xf" && inCells:
			id := e.attr("numFmtId")
			date, own := formats[id]
			if n, err := strconv.Atoi(id); !own && err == nil {
				date = isDateID(n)
			}
			w.dates = append(w.dates, date)
		}
		return nil
	})
}

// cell is the cell that is being read.
type cell struct {
	kind    string
	date    bool
	value   strings.Builder
	reading bool
	aid     bool
}

func (w *workbook) cells(part string, out *writer) error {
	var c cell
	first := true
	return w.walk(w.doc, part, func(e element) error {
		if out.pageFull() {
			out.cut = true
			return errEnough
		}
		switch e.name {
		case "row":
			if e.end {
				out.text("\n")
			}
			first = true
		case "c":
			if e.start {
				style, err := strconv.Atoi(e.attr("s"))
				c.kind, c.date = e.attr("t"), err == nil && style >= 0 && style < len(w.dates) && w.dates[style]
				c.value.Reset()
			} else if text := w.show(&c); text != "" {
				if !first {
					out.text("\t")
				}
				first = false
				out.text(text)
			}
		case "rPh":
			c.aid = e.start
		case "v", "t":
			c.reading = e.start && !c.aid
		}
		if e.text != nil && c.reading {
			c.value.Write(e.text)
		}
		return nil
	})
}

// show returns a cell as text (ISO/IEC 29500-1, 18.18.11).
func (w *workbook) show(c *cell) string {
	value := c.value.String()
	switch c.kind {
	case "s":
		i, err := strconv.Atoi(value)
		if err != nil || i < 0 || i >= len(w.strings) {
			return ""
		}
		return w.strings[i]
	case "b":
		return showBool(truth(value))
	case "", "n":
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return value
		}
		return showNumber(number, c.date, w.mac)
	}
	return value
}

package runsheet

import (
	"regexp"
	"slices"
	"strings"

	"deedkeep/app/model"
)

// BookPageTitle is the title of a column that contains both book and page.
const BookPageTitle = "Book/Page"

// bookPageField stands for the fields of a column with both book and page.
const bookPageField = "book_page"

// BookPage is where an instrument is recorded.
type BookPage struct{ BookType, Book, Page, PageTo string }

var (
	pageWord  = regexp.MustCompile(`(?i)[\s,;]+(?:pages?|pgs?|pp?|folio|fol|slide)\b\.?\s*#?\s*`)
	plainBook = regexp.MustCompile(`(?i)^(?:book|bk|volume|vol)\.?$`)
	pageRange = regexp.MustCompile(`^(.*[0-9][A-Za-z]?)\s*(?:[-–]|\b(?i:to|thru|through)\b)\s*([0-9].*)$`)
	bookDash  = regexp.MustCompile(`^([^0-9]*\b[0-9]+[A-Za-z]?)\s*-\s*([0-9]+[A-Za-z]?)$`)
	typedBook = regexp.MustCompile(`^[A-Za-z][A-Za-z. ]*\s[0-9]+[A-Za-z]?$`)
)

// ParseBookPage parses a recording reference: "1022/311", "Deed Book 1022/311-313", "Bk 1022 Pg 311",
// or "Plat Cabinet A, Slide 35".
func ParseBookPage(text string) (r BookPage) {
	text = strings.Trim(strings.Join(strings.Fields(text), " "), " ,;")
	book, page, found := strings.Cut(text, "/")
	if at := pageWord.FindStringIndex(text); !found && at != nil {
		book, page = text[:at[0]], text[at[1]:]
	} else if m := bookDash.FindStringSubmatch(text); !found && m != nil {
		book, page = m[1], m[2]
	}
	r.Page, r.PageTo = cutPageRange(strings.TrimSpace(page))
	r.Book = strings.Trim(book, " ,")
	if at := strings.LastIndexByte(r.Book, ' '); at >= 0 {
		r.BookType, r.Book = strings.Trim(r.Book[:at], " ,"), r.Book[at+1:]
	}
	if plainBook.MatchString(r.BookType) {
		r.BookType = ""
	}
	return r
}

// cutPageRange returns the first and the last page of a range such as "311-313". The last one is "" if there is no range.
func cutPageRange(text string) (page, pageTo string) {
	if strings.ContainsAny(text, "-–tT") { // the pattern is slow for the pages of a long runsheet
		if m := pageRange.FindStringSubmatch(text); m != nil {
			return m[1], m[2]
		}
	}
	return text, ""
}

// FormatBookPage returns where an instrument is recorded, such as "Deed Book 1022/311-313".
func FormatBookPage(i model.Instrument) string {
	text := i.Book
	if i.Page != "" {
		text += "/" + i.Page
	}
	if i.PageTo != "" {
		text += "-" + i.PageTo
	}
	return strings.TrimSpace(i.BookType + " " + text)
}

// readBookPage adds the values of a cell with book and page to an entry. Those of separate columns
// win.
func (e *Entry) readBookPage(cell string) { e.addBookPage(ParseBookPage(cell)) }

// splitBookPage splits the cells of the columns for book and page where they have more than their title says, as in
// "DB 877", "BK 12 PG 34", and "245-252". It leaves them as they are if the table has columns for the rest.
func (e *Entry) splitBookPage(columns []Column) {
	has := func(field string) bool {
		return slices.ContainsFunc(columns, func(c Column) bool { return c.Field == field || c.Field == bookPageField })
	}
	book, page := e.Fields["book"].Value, e.Fields["page"].Value
	if !has("book_type") && (typedBook.MatchString(book) || page == "" && pageWord.MatchString(book)) {
		delete(e.Fields, "book")
		e.readBookPage(book)
	}
	if first, last := cutPageRange(page); last != "" && !has("page_to") {
		delete(e.Fields, "page")
		e.addBookPage(BookPage{Page: first, PageTo: last})
	}
}

// addBookPage adds values to the fields that are blank.
func (e *Entry) addBookPage(r BookPage) {
	for field, value := range map[string]string{"book_type": r.BookType, "book": r.Book, "page": r.Page, "page_to": r.PageTo} {
		if value != "" && e.Fields[field].IsBlank() {
			e.Fields[field] = model.StringInput(value)
		}
	}
}

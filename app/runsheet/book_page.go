package runsheet

import (
	"regexp"
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
	pageRange = regexp.MustCompile(`^(.*[0-9][A-Za-z]?)\s*[-–]\s*([0-9].*)$`)
	bookDash  = regexp.MustCompile(`^([0-9]+[A-Za-z]?)\s*-\s*([0-9]+[A-Za-z]?)$`)
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
	r.Page = strings.TrimSpace(page)
	if m := pageRange.FindStringSubmatch(r.Page); m != nil {
		r.Page, r.PageTo = m[1], m[2]
	}
	r.Book = strings.Trim(book, " ,")
	if at := strings.LastIndexByte(r.Book, ' '); at >= 0 {
		r.BookType, r.Book = strings.Trim(r.Book[:at], " ,"), r.Book[at+1:]
	}
	if plainBook.MatchString(r.BookType) {
		r.BookType = ""
	}
	return r
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
func (e *Entry) readBookPage(cell string) {
	r := ParseBookPage(cell)
	for field, value := range map[string]string{"book_type": r.BookType, "book": r.Book, "page": r.Page, "page_to": r.PageTo} {
		if value != "" && e.Fields[field].IsBlank() {
			e.Fields[field] = model.StringInput(value)
		}
	}
}

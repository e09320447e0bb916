package model

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// InstrumentField is a field of instruments. It is one text, a list of names, or rows such as relations.
// Requests, history, search, forms, the runsheet, and its files get the field from this declaration.
type InstrumentField struct {
	FieldLabel
	Hint  string // what to enter
	Text  func(*Instrument) *string
	List  func(*Instrument) *[]string
	rows  func(*Instrument) any
	check func(f *validation, field string, in Input) string // of a text
	find  searchUse

	// Column is how the field is called in CSV and Excel files.
	Column FileColumn

	// Called is what a value is called in a question about it, such as "the book". Parties are called by their label.
	// doubts say which values are asked about. The first that fits is the reason.
	Called string
	doubts []doubt

	IsFuture bool // a date that is usually in the future
	InGrid   bool // has a column of its own in the runsheet on pages, where users edit it
}

// Values returns the texts or names that an instrument has in the field, without blank ones.
func (f InstrumentField) Values(i *Instrument) []string {
	switch {
	case f.List != nil:
		return *f.List(i)
	case f.Text != nil && *f.Text(i) != "":
		return []string{*f.Text(i)}
	}
	return nil
}

// value returns the value of the field for the audit log.
func (f InstrumentField) value(i *Instrument) any {
	switch {
	case f.Text != nil:
		return *f.Text(i)
	case f.List != nil:
		return *f.List(i)
	}
	return f.rows(i)
}

// IsSearched reports whether search finds the values of the field.
func (f InstrumentField) IsSearched() bool { return f.find != notFound }

// FileColumn is a column of a runsheet file.
type FileColumn struct {
	Title   string   // heading
	Aliases []string // other headings that mean it, also those that mean it only sometimes
	Width   float64  // in characters
}

// searchUse says how search finds the values of a field.
type searchUse int

const (
	notFound searchUse = iota
	foundAsNumber
	foundAsName
	foundAsText
)

// instrumentFields are the fields of instruments that clients set, in the sequence of the columns of files.
var instrumentFields = []InstrumentField{
	{FieldLabel: FieldLabel{Name: "instrument_number", Label: "Instrument number"},
		Text: func(i *Instrument) *string { return &i.Number }, check: lineUpTo(MaxReferenceLength),
		Called: "the instrument number", doubts: notNumber, find: foundAsNumber,
		InGrid: true,
		Column: FileColumn{Title: "Instrument Number", Width: 18, Aliases: []string{"Document No", "Reception No", "Reception", "File No",
			"Recording No", "Record No", "Entry No", "Clerk's File No", "Clerk File No", "CFN", "Auditor's No", "Recorder's No", "Register No",
			"Number"}}},
	{FieldLabel: FieldLabel{Name: "book_type", Label: "Book type"}, Hint: "Deed Book, Official Records, Liber, Plat Cabinet",
		Text: func(i *Instrument) *string { return &i.BookType }, check: lineUpTo(MaxNameLength),
		Called: "the book type", doubts: notWords,
		Column: FileColumn{Title: "Book Type", Width: 14, Aliases: []string{"Record Book", "Records", "Record Type"}}},
	{FieldLabel: FieldLabel{Name: "book", Label: "Book"},
		Text: func(i *Instrument) *string { return &i.Book }, check: lineUpTo(MaxReferenceLength),
		Called: "the book", doubts: notNumber,
		Column: FileColumn{Title: "Book", Width: 8, Aliases: []string{"Book No", "Book Volume"}}},
	{FieldLabel: FieldLabel{Name: "page", Label: "Page"},
		Text: func(i *Instrument) *string { return &i.Page }, check: lineUpTo(MaxReferenceLength),
		Called: "the page", doubts: notNumber,
		Column: FileColumn{Title: "Page", Width: 8, Aliases: []string{"Page No", "Slide", "First Page", "Start Page"}}},
	{FieldLabel: FieldLabel{Name: "page_to", Label: "Last page"},
		Text: func(i *Instrument) *string { return &i.PageTo }, check: lineUpTo(MaxReferenceLength),
		Called: "the last page", doubts: notNumber,
		Column: FileColumn{Title: "Last Page", Width: 8, Aliases: []string{"Page To", "End Page"}}},
	{FieldLabel: FieldLabel{Name: "recorded", Label: "Recorded", Type: Date},
		Text: func(i *Instrument) *string { return &i.Recorded }, check: (*validation).date,
		Called: "the recording date", doubts: []doubt{isLate, isEarly}, find: foundAsText,
		Column: FileColumn{Title: "Recorded", Width: 11, Aliases: []string{"Recording Date", "Record Date", "Date Recorded", "Recorded Date",
			"Date Recording", "Date of Recording", "Recorded On", "Filed", "Date Filed", "Filing Date", "Filed Date", "File Date", "Received",
			"Date Received", "Reception Date", "Recording Date/Time"}}},
	{FieldLabel: FieldLabel{Name: "recorded_time", Label: "Time recorded"}, Hint: "Such as 10:42 AM",
		Text: func(i *Instrument) *string { return &i.RecordedTime }, check: (*validation).timeOfDay,
		Column: FileColumn{Title: "Time Recorded", Width: 10, Aliases: []string{"Recorded Time", "Recording Time", "Time"}}},
	{FieldLabel: FieldLabel{Name: "dated", Label: "Dated", Type: Date},
		Text: func(i *Instrument) *string { return &i.Dated }, check: (*validation).date,
		Called: "the date of the instrument", doubts: []doubt{isLate, isEarly}, find: foundAsText,
		InGrid: true,
		Column: FileColumn{Title: "Dated", Width: 11, Aliases: []string{"Date", "Instrument Date", "Document Date", "Deed Date",
			"Date of Instrument", "Date of Document", "Date of Deed", "Executed", "Date Executed", "Execution Date", "Signed", "Date Signed"}}},
	{FieldLabel: FieldLabel{Name: "grantors", Label: "Grantor", Rows: namesOnly}, Hint: "One name per line",
		List:   func(i *Instrument) *[]string { return &i.Grantors },
		doubts: notParty, find: foundAsName,
		InGrid: true,
		Column: FileColumn{Title: "Grantors", Width: 28, Aliases: []string{"Mortgagor", "Grantor/Mortgagor", "Seller", "Vendor", "From",
			"Debtor", "Judgment Debtor", "Borrower", "Obligor", "Assignor", "Trustor", "Lessor", "Landlord", "Releasor", "Defendant",
			"Principal", "Decedent", "Taxpayer", "Affiant", "First Party", "Grantor Name"}}},
	{FieldLabel: FieldLabel{Name: "grantees", Label: "Grantee", Rows: namesOnly}, Hint: "One name per line",
		List:   func(i *Instrument) *[]string { return &i.Grantees },
		doubts: notParty, find: foundAsName,
		InGrid: true,
		Column: FileColumn{Title: "Grantees", Width: 28, Aliases: []string{"Mortgagee", "Grantee/Mortgagee", "Buyer", "Purchaser", "Vendee",
			"To", "Creditor", "Judgment Creditor", "Lender", "Obligee", "Assignee", "Beneficiary", "Lessee", "Tenant", "Releasee", "Plaintiff",
			"Secured Party", "Claimant", "Lienor", "Lienholder", "Lien Holder", "Attorney-in-Fact", "Taxing Authority",
			"Second Party", "Grantee Name"}}},
	{FieldLabel: FieldLabel{Name: "other_parties", Label: "Other parties", Rows: []FieldLabel{{Name: "name"}, {Name: "role", Label: "Role"}}},
		Hint: "One per line, such as Trustee: First Title Co.",
		rows: func(i *Instrument) any { return i.OtherParties }, Called: "a party", doubts: notParty,
		Column: FileColumn{Title: "Other Parties", Width: 22, Aliases: []string{"Other Party", "Trustee", "Nominee"}}},
	{FieldLabel: FieldLabel{Name: "consideration", Label: "Consideration", Type: Money},
		Hint: "An amount, or what the instrument says, such as $10 & OVC",
		Text: func(i *Instrument) *string { return &i.Consideration }, check: (*validation).money,
		Called: "the amount", doubts: []doubt{isLetter, isLarge, isMistyped, isLikeDate, isLikePlace}, find: foundAsText,
		InGrid: true,
		Column: FileColumn{Title: "Consideration", Width: 14, Aliases: []string{"Amount", "Consid", "Cons", "Price", "Loan Amount",
			"Mortgage Amount", "Lien Amount", "Judgment Amount", "Sale Price", "Purchase Price", "Principal Amount", "Debt"}}},
	{FieldLabel: FieldLabel{Name: "consideration_text", Label: "Consideration as stated"},
		Text: func(i *Instrument) *string { return &i.ConsiderationText }, check: lineUpTo(MaxConsideration), find: foundAsText,
		Column: FileColumn{Title: "Consideration Text", Width: 22}},
	{FieldLabel: FieldLabel{Name: "parcels", Label: "Parcel IDs", Rows: namesOnly}, Hint: "One per line",
		List:   func(i *Instrument) *[]string { return &i.Parcels },
		Called: "a Parcel ID", doubts: []doubt{isLikeDate, isLikeAmount}, find: foundAsNumber,
		Column: FileColumn{Title: "Parcel IDs", Width: 18, Aliases: []string{"Parcel", "Parcel No", "Tax Map", "Tax Map No", "Tax Map ID",
			"Tax ID", "Tax Parcel", "Tax Parcel ID", "APN", "PIN", "SBL"}}},
	{FieldLabel: FieldLabel{Name: "legal", Label: "Legal description", Type: Paragraph},
		Text: func(i *Instrument) *string { return &i.Legal }, check: (*validation).optionalParagraph,
		Called: "the legal description", doubts: []doubt{isCharacter}, find: foundAsText,
		Column: FileColumn{Title: "Legal Description", Width: 36,
			Aliases: []string{"Legal", "Description", "Property Description", "Brief Legal", "Legal Desc"}}},
	{FieldLabel: FieldLabel{Name: "county", Label: "County"},
		Text: func(i *Instrument) *string { return &i.County }, check: lineUpTo(MaxLineLength),
		Called: "the county", doubts: notParty, find: foundAsName,
		Column: FileColumn{Title: "County", Width: 14, Aliases: []string{"Parish"}}},
	{FieldLabel: FieldLabel{Name: "state", Label: "State"},
		Text: func(i *Instrument) *string { return &i.State }, check: lineUpTo(MaxLineLength),
		Called: "the state", doubts: notParty, find: foundAsText,
		Column: FileColumn{Title: "State", Width: 6, Aliases: []string{"St"}}},
	{FieldLabel: FieldLabel{Name: "case_number", Label: "Case number"},
		Text: func(i *Instrument) *string { return &i.CaseNumber }, check: lineUpTo(MaxNameLength),
		Called: "the case number", doubts: notNumber, find: foundAsNumber,
		Column: FileColumn{Title: "Case Number", Width: 14, Aliases: []string{"Case", "Docket", "Docket No", "Cause No", "Index No"}}},
	{FieldLabel: FieldLabel{Name: "court", Label: "Court"},
		Text: func(i *Instrument) *string { return &i.Court }, check: lineUpTo(MaxNameLength),
		Called: "the court", doubts: notParty, find: foundAsText,
		Column: FileColumn{Title: "Court", Width: 16}},
	{FieldLabel: FieldLabel{Name: "recording_system", Label: "Recording system", Type: Choice},
		Text: func(i *Instrument) *string { return &i.RecordingSystem }, check: choiceOf("recorded", "registered"),
		Column: FileColumn{Title: "Recording System", Width: 12}},
	{FieldLabel: FieldLabel{Name: "certificate_of_title", Label: "Certificate of title"},
		Text: func(i *Instrument) *string { return &i.CertificateOfTitle }, check: lineUpTo(MaxNameLength),
		Called: "the certificate of title", doubts: notNumber, find: foundAsNumber,
		Column: FileColumn{Title: "Certificate of Title", Width: 14, Aliases: []string{"Torrens Certificate"}}},
	{FieldLabel: FieldLabel{Name: "expires", Label: "Expires", Type: Date}, IsFuture: true, Hint: "When a lien, UCC, or lease expires",
		Text: func(i *Instrument) *string { return &i.Expires }, check: (*validation).date,
		Called: "the expiration date", doubts: []doubt{isEarly},
		Column: FileColumn{Title: "Expires", Width: 11,
			Aliases: []string{"Expiration", "Expiration Date", "Lapse Date", "Maturity", "Maturity Date"}}},
	{FieldLabel: FieldLabel{Name: "status", Label: "Status", Type: Choice},
		Hint: "Automatic: open until an instrument in this runsheet releases it or it expires",
		Text: func(i *Instrument) *string { return &i.Status }, check: choiceOf(InstrumentStatuses()...),
		InGrid: true,
		Column: FileColumn{Title: "Status", Width: 13}},
	{FieldLabel: FieldLabel{Name: "relations", Label: "Related instruments", Rows: []FieldLabel{
		{Name: "kind", Type: Choice}, {Name: "instrument_id", Label: "Instrument", Refers: "instrument"}, {Name: "text", Label: "Reference"}}},
		rows:   func(i *Instrument) any { return i.Relations },
		Column: FileColumn{Title: "Related Instruments", Width: 22, Aliases: []string{"Relations", "Relation", "Releases"}}},
	{FieldLabel: FieldLabel{Name: "requirement", Label: "Requirement (Schedule B-I)", Type: Paragraph},
		Text: func(i *Instrument) *string { return &i.Requirement }, check: (*validation).optionalParagraph,
		Called: "the requirement", doubts: []doubt{isCharacter}, find: foundAsText,
		Column: FileColumn{Title: "Requirement", Width: 28}},
	{FieldLabel: FieldLabel{Name: "exception", Label: "Exception (Schedule B-II)", Type: Paragraph},
		Text: func(i *Instrument) *string { return &i.Exception }, check: (*validation).optionalParagraph,
		Called: "the exception", doubts: []doubt{isCharacter}, find: foundAsText,
		Column: FileColumn{Title: "Exception", Width: 28}},
	{FieldLabel: FieldLabel{Name: "cleared", Label: "Cleared", Type: Date},
		Text: func(i *Instrument) *string { return &i.Cleared }, check: (*validation).date,
		Called: "the date", doubts: []doubt{isLate, isEarly},
		Column: FileColumn{Title: "Cleared", Width: 11, Aliases: []string{"Date Cleared"}}},
	{FieldLabel: FieldLabel{Name: "remarks", Label: "Remarks", Type: Paragraph},
		Text: func(i *Instrument) *string { return &i.Remarks }, check: (*validation).optionalParagraph,
		Called: "the remarks", doubts: []doubt{isCharacter}, find: foundAsText,
		InGrid: true,
		Column: FileColumn{Title: "Remarks", Width: 36, Aliases: []string{"Comment", "Note", "Memo"}}},
	{FieldLabel: FieldLabel{Name: "documents", Label: "Documents", Rows: []FieldLabel{{Name: "file_id", Refers: "file"},
		{Name: "pages", Label: "Pages"}}}, rows: func(i *Instrument) any { return i.Documents }},
}

// InstrumentFields returns the fields of instruments, except the type, in the sequence of the columns of files.
// Callers must not change the list: search reads it for every hit.
func InstrumentFields() []InstrumentField { return instrumentFields }

// InstrumentFieldByName returns a field of instruments by its name in the API.
func InstrumentFieldByName(name string) (InstrumentField, bool) {
	n := slices.IndexFunc(instrumentFields, func(f InstrumentField) bool { return f.Name == name })
	if n < 0 {
		return InstrumentField{}, false
	}
	return instrumentFields[n], true
}

// InstrumentInputFields returns the names of the fields that a request for an instrument may have.
func InstrumentInputFields() []string {
	names := []string{"type_id", "type", "position"}
	for _, f := range instrumentFields {
		names = append(names, f.Name)
	}
	return names
}

// Reverted is like Order.Reverted. A reverted status also gets back the person who set it.
func (i Instrument) Reverted(before, after Instrument) (reverted Instrument, ok bool) {
	r, was := reversal{}, i.Status
	revert(&r, &i.TypeID, before.TypeID, after.TypeID)
	for _, field := range instrumentFields {
		switch {
		case field.Text != nil:
			revert(&r, field.Text(&i), *field.Text(&before), *field.Text(&after))
		case field.List != nil:
			revert(&r, field.List(&i), *field.List(&before), *field.List(&after))
		}
	}
	revert(&r, &i.OtherParties, before.OtherParties, after.OtherParties)
	revert(&r, &i.Relations, before.Relations, after.Relations)
	revert(&r, &i.Documents, before.Documents, after.Documents)
	if i.Status != was {
		i.StatusSetBy = before.StatusSetBy
	}
	return i, !r.changed
}

// ParsePages parses a list of pages, such as "3-7" or "1, 3-5", and returns it without spaces and
// the last page. It returns false if text is not such a list, a page is 0, or a range runs
// backward.
func ParsePages(text string) (pages string, last int, ok bool) {
	var ranges []string
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(strings.ReplaceAll(part, "–", "-"), "-")
		low, err := strconv.Atoi(strings.TrimSpace(from))
		high := low
		if err == nil && isRange {
			high, err = strconv.Atoi(strings.TrimSpace(to))
		}
		if err != nil || low < 1 || high < low {
			return "", 0, false
		}
		last = max(last, high)
		if high > low {
			ranges = append(ranges, strconv.Itoa(low)+"-"+strconv.Itoa(high))
		} else {
			ranges = append(ranges, strconv.Itoa(low))
		}
	}
	return strings.Join(ranges, ","), last, true
}

// PageRange returns a list of pages for ParsePages.
func PageRange(first, last int) string {
	if first == last {
		return strconv.Itoa(first)
	}
	return strconv.Itoa(first) + "-" + strconv.Itoa(last)
}

// FirstPage returns the first page of a list of pages, or 1 if it is empty.
func FirstPage(pages string) int {
	first := 0
	for part := range strings.SplitSeq(pages, ",") {
		from, _, _ := strings.Cut(part, "-")
		if n, err := strconv.Atoi(from); err == nil && (first == 0 || n < first) {
			first = n
		}
	}
	return max(first, 1)
}

// ContainsPage reports whether a list of pages contains a page. An empty list contains all pages.
func ContainsPage(pages string, page int) bool {
	return pages == "" || slices.ContainsFunc(strings.Split(pages, ","), func(part string) bool {
		from, to, isRange := strings.Cut(part, "-")
		low, err := strconv.Atoi(from)
		high := low
		if isRange {
			high, _ = strconv.Atoi(to)
		}
		return err == nil && low <= page && page <= high
	})
}

// PacketPages returns the pages of a new instrument that starts on page start of a document with count pages and
// several instruments. Pages that a person typed stay. If another instrument follows, this one ends on the page that is
// shown.
func PacketPages(typed string, start, shown, count int, another bool) string {
	first := strconv.Itoa(start)
	switch {
	case count < 2 || typed != "" && typed != first:
		return typed
	case another && shown > start:
		return first + "-" + strconv.Itoa(shown)
	}
	return first
}

// doubt is a reason why a value can't be right for some fields.
type doubt struct {
	text string // what is said of the value
	fits func(value string, now time.Time) bool
}

// Doubts about values of instruments.
var (
	isLate = doubt{"is in the future", func(v string, now time.Time) bool {
		day, ok := typedDay(v, now)
		return ok && day.After(now.AddDate(0, 0, 1))
	}}
	isEarly = doubt{"is before 1600", func(v string, now time.Time) bool {
		day, ok := typedDay(v, now)
		return ok && day.Year() < 1600
	}}
	isLarge = doubt{"is unusually large", func(v string, _ time.Time) bool {
		if amount, ok := NormalizeMoney(v); ok {
			v = amount
		}
		dollars, err := strconv.ParseFloat(v, 64)
		return err == nil && dollars >= 100_000_000
	}}
	isMistyped  = doubt{"can't be read as an amount", func(v string, _ time.Time) bool { return IsMistypedAmount(v) }}
	isCharacter = doubt{"is only one character", func(v string, _ time.Time) bool { return utf8.RuneCountInString(v) == 1 }}
	isLetter    = doubt{"is only one letter", func(v string, _ time.Time) bool {
		r, size := utf8.DecodeRuneInString(v)
		return size == len(v) && unicode.IsLetter(r)
	}}
	isLikeDate = doubt{"looks like a date", func(v string, now time.Time) bool { // digits alone can be a number
		v = clockText.ReplaceAllString(v, "")
		return strings.ContainsAny(v, "/.- ") && IsDate(TypedDate(v, LatestFuture(now)))
	}}
	isLikeAmount = doubt{"looks like an amount", func(v string, _ time.Time) bool { return amountText.MatchString(v) }}
	isLikePlace  = doubt{"looks like a book and page", func(v string, _ time.Time) bool { return placeText.MatchString(v) }}
	isLikeNumber = doubt{"looks like a number", func(v string, _ time.Time) bool {
		return strings.ContainsAny(v, "0123456789") && strings.IndexFunc(v, unicode.IsLetter) < 0
	}}
	isLikeWords = doubt{"looks like words", func(v string, _ time.Time) bool { return looksLikeWords(v) }}

	notParty  = append([]doubt{isCharacter}, notWords...)
	notWords  = []doubt{isLikeDate, isLikeAmount, isLikePlace, isLikeNumber}
	notNumber = []doubt{isLikeDate, isLikeAmount, isLikeWords}
)

var (
	clockText  = regexp.MustCompile(` +\d{1,2}:\d{2}.*$`)
	amountText = regexp.MustCompile(`^(?:\$ ?\d[\d,]*(?:\.\d\d)?|\d{1,3}(?:,\d{3})+(?:\.\d\d)?|\d+\.\d\d)$`)
	placeText  = regexp.MustCompile(`(?i)^[a-z. ]*\d+ ?/ ?\d+(?:-\d+)?$|` +
		`^[a-z. ]*\b(?:book|bk|liber|vol|volume)\b\.? *\d+.*\b(?:page|pg|p|folio)\b\.? *\d+$`)
	romanText = regexp.MustCompile(`(?i)^[ivxlcdm]+$`)
)

// typedDay returns the day of a typed date.
func typedDay(text string, now time.Time) (day time.Time, ok bool) {
	day, err := time.Parse(time.DateOnly, TypedDate(text, LatestFuture(now)))
	return day, err == nil
}

// looksLikeWords reports whether a text has words where the letters and digits of a number belong, such as
// "A", "XIV", or "OR".
func looksLikeWords(text string) bool {
	letters, numerals := 0, 0
	for _, r := range text {
		switch {
		case unicode.IsLetter(r):
			letters++
		case unicode.IsDigit(r):
			numerals++
		}
	}
	if numerals > 0 {
		return letters > 4*numerals && len(strings.Fields(text)) > 2
	}
	return letters > 2 && !romanText.MatchString(text)
}

// Doubt says why a value can't be right for the field, such as "is in the future", or "".
func (f InstrumentField) Doubt(value string, now time.Time) string {
	for _, d := range f.doubts {
		if d.fits(value, now) {
			return d.text
		}
	}
	return ""
}

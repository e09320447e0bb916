package instruments

import (
	"slices"
	"strings"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/runsheet"
	"deedkeep/app/ui/page"
	"deedkeep/app/ui/tablerow"
	"deedkeep/app/vault"
)

// Columns of the runsheet that are more than the text of a field.
const (
	columnType     = "type"
	columnRecorded = "recorded"
	columnBookPage = "book_page"
	columnAmount   = "consideration"
	columnStatus   = "status"

	columnDocuments = "documents" // not edited in place
)

// column is a column of the runsheet.
type column struct {
	Name, Label string
	Class       string   // CSS class of its width
	fields      []string // fields of an instrument that users edit in its cells; none if they don't
}

// columns are the columns of the runsheet in sequence, between the number of the row and the tools.
var columns = columnsOf(model.InstrumentFields())

func columnsOf(fields []model.InstrumentField) []column {
	list := []column{
		{columnType, "Type", "col-type", []string{"type_id"}},
		{"dated", "Dated", "col-date", []string{"dated"}},
		{columnRecorded, "Recorded", "col-recorded", []string{"recorded", "recorded_time"}},
		{columnBookPage, "Book/Page", "col-book", []string{"book_type", "book", "page", "page_to"}},
		{"instrument_number", "Instr. No.", "col-instrument-number", []string{"instrument_number"}},
		{"grantors", "Grantors", "col-party", []string{"grantors"}},
		{"grantees", "Grantees", "col-party", []string{"grantees"}},
		{columnAmount, "Amount", "col-amount", []string{columnAmount, "consideration_text"}},
		{columnStatus, "Status", "col-status", []string{"status"}},
		{columnDocuments, "Documents", "col-files", nil},
	}
	for _, f := range fields {
		if f.InGrid && f.Name != "remarks" && !slices.ContainsFunc(list, func(c column) bool { return c.Name == f.Name }) {
			list = append(list, column{f.Name, f.Label, "col-place", []string{f.Name}})
		}
	}
	return append(list, column{"remarks", "Remarks", "col-remarks", []string{"remarks"}})
}

// editedFields returns the fields that users edit in the cells of a column, or nil if there are none.
func editedFields(name string) []string {
	if at := slices.IndexFunc(columns, func(c column) bool { return c.Name == name }); at >= 0 {
		return columns[at].fields
	}
	return nil
}

// automaticStatus is what users type for a status that no person sets.
const automaticStatus = "Automatic"

// cellText returns the text of a cell as it is shown and typed. For the status, it is the one that a
// person set.
func cellText(i vault.InstrumentView, column string) string {
	switch column {
	case columnType:
		return i.Type.Name
	case columnRecorded:
		return strings.TrimSpace(page.FormatTypedDate(i.Recorded) + " " + page.FormatTimeOfDay(i.RecordedTime))
	case columnBookPage:
		return runsheet.FormatBookPage(i.Instrument)
	case columnAmount:
		return page.FormatConsideration(i.Instrument)
	case columnStatus:
		return page.InstrumentStatus(i.Type, i.Instrument.Status)
	}
	field, _ := model.InstrumentFieldByName(column)
	return fieldText(field, i.Instrument)
}

// fieldText returns the text of the cell of a field in a column of its own.
func fieldText(field model.InstrumentField, i model.Instrument) string {
	values := field.Values(&i)
	switch {
	case field.List != nil:
		return model.JoinNames(values, "; ")
	case len(values) == 0:
		return ""
	case field.Type == model.Date:
		return page.FormatTypedDate(values[0])
	}
	return values[0]
}

// parseCell returns the input for an instrument after a user typed text into a column. If the text
// can't be meant, it returns a problem instead. The vault validates the values. Text that is shown already
// changes nothing, even if it would be read in another way.
func parseCell(column, text string, old model.Instrument, types model.DocumentTypes, now time.Time) (in model.Inputs,
	problem string) {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	kind, _ := types.ByID(old.TypeID)
	if text == normalized(cellText(vault.InstrumentView{Instrument: old, Type: kind}, column)) {
		return model.Inputs{}, ""
	}
	typedDate := func(text string) string {
		return model.TypedDate(text, model.LatestPast(now))
	}
	switch column {
	case columnType:
		t, found := types.Find(text)
		if !found && text != "" {
			return nil, tablerow.UnknownType(text) + " Select one from the list."
		}
		return model.Inputs{"type_id": model.NumberInput(t.ID)}, ""
	case columnRecorded:
		date, at, _ := strings.Cut(text, " ")
		if _, err := time.Parse(time.DateOnly, typedDate(date)); err != nil { // such as "Jan 2, 2006"
			date, at = text, ""
		}
		return model.Inputs{"recorded": model.StringInput(typedDate(date)),
			"recorded_time": model.StringInput(strings.TrimSpace(at))}, ""
	case columnBookPage:
		place := runsheet.ParseBookPage(text)
		if place.BookType == "" && place.Book != "" {
			place.BookType = old.BookType // typing only 1022/311 keeps it
		}
		return model.Inputs{"book_type": model.StringInput(place.BookType), "book": model.StringInput(place.Book),
			"page": model.StringInput(place.Page), "page_to": model.StringInput(place.PageTo)}, ""
	case columnStatus:
		status, found := findStatus(text)
		if !found {
			return nil, "“" + page.Truncate(text, 100) + "” isn't a status. Select one from the list."
		}
		return model.Inputs{column: model.StringInput(status)}, ""
	case columnAmount:
		return model.ConsiderationInput(text), ""
	}
	switch field, _ := model.InstrumentFieldByName(column); {
	case field.List != nil:
		return model.Inputs{column: model.StringsInput(model.SplitNames(text))}, ""
	case field.Type == model.Date:
		text = typedDate(text)
	}
	return model.Inputs{column: model.StringInput(text)}, ""
}

// findStatus returns the status that a text names completely, or "" if the status is automatic.
func findStatus(text string) (status string, found bool) {
	if text == "" || strings.EqualFold(text, automaticStatus) {
		return "", true
	}
	for shown, status := range statusTexts() {
		if strings.EqualFold(text, shown) {
			return status, true
		}
	}
	return "", false
}

// statusTexts returns the statuses by their texts for instruments of all types.
func statusTexts() map[string]string {
	texts := map[string]string{}
	for _, status := range model.InstrumentStatuses() {
		for _, category := range model.Categories() {
			texts[page.InstrumentStatus(model.DocumentType{Category: category}, status)] = status
		}
	}
	return texts
}

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

// Columns of the runsheet that users can edit in place.
const (
	columnType     = "type"
	columnRecorded = "recorded"
	columnBookPage = "book_page"
	columnStatus   = "status"

	columnDocuments = "documents" // not edited in place
)

// usualColumns are the columns of the runsheet in sequence, after the number of the row.
var usualColumns = []string{columnType, "dated", columnRecorded, columnBookPage, "instrument_number", "grantors", "grantees",
	"consideration", columnStatus, columnDocuments, "remarks"}

// moreColumns are the other fields that have a column. It comes before the remarks.
var moreColumns = moreColumnsOf(model.InstrumentFields())

func moreColumnsOf(fields []model.InstrumentField) []model.InstrumentField {
	return slices.DeleteFunc(slices.Clone(fields), func(f model.InstrumentField) bool {
		return !f.InGrid || slices.Contains(usualColumns, f.Name)
	})
}

// cellFields maps the editable columns of the runsheet to the fields of an instrument.
var cellFields = func() map[string][]string {
	of := map[string][]string{columnType: {"type_id"}, columnRecorded: {"recorded", "recorded_time"},
		columnBookPage: {"book_type", "book", "page", "page_to"}}
	for _, f := range model.InstrumentFields() {
		if f.InGrid {
			of[f.Name] = []string{f.Name}
		}
	}
	of["consideration"] = append(of["consideration"], "consideration_text")
	return of
}()

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
	case "consideration":
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
	case "consideration":
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

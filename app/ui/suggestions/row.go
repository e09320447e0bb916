package suggestions

import (
	"cmp"
	"slices"
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/ui/instrumentform"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// reviewRow is an instrument that a row of the file describes.
type reviewRow struct {
	vault.Suggestion
	Chosen   bool
	Relation []string         // "releases row 3"
	Repeats  string           // which instrument the row repeats; "" if it repeats none
	Choices  []page.RowChoice // what to do with it then
}

// Label returns what the grantor or the grantee is called, or "" if it is what the column is called.
func (r reviewRow) Label(side string) string {
	grantor, grantee := r.Type.SpecialLabels()
	if side == "grantor" {
		return grantor
	}
	return grantee
}

// Consideration returns the amount, or what the instrument says.
func (r reviewRow) Consideration() string { return page.FormatConsideration(r.Instrument) }

// CheckAmount reports whether the consideration may be an amount with a typing error.
func (r reviewRow) CheckAmount() bool { return model.IsMistypedAmount(r.Instrument.ConsiderationText) }

// Field returns the form field of Choices.
func (r reviewRow) Field() string { return page.RowField(r.Row) }

// columnFields are the fields that the columns of a review show.
var columnFields = []string{"instrument_number", "book_type", "book", "page", "page_to", "recorded", "grantors", "grantees",
	"consideration", "consideration_text"}

// Others returns what would be stored besides the values in the columns, such as "Dated: Apr 15, 2019".
func (r reviewRow) Others() (list []string) {
	for _, f := range model.InstrumentFields() {
		values := f.Values(&r.Instrument)
		if _, sent := r.Fields[f.Name]; !sent || len(values) == 0 || slices.Contains(columnFields, f.Name) {
			continue
		}
		switch {
		case f.Type == model.Date:
			values = []string{model.FormatDate(values[0])}
		case f.Name == "recorded_time":
			values = []string{page.FormatTimeOfDay(values[0])}
		case f.Name == "recording_system":
			values = []string{instrumentform.RecordingSystem(values[0])}
		case f.Name == "status":
			values = []string{r.Type.StatusText(values[0])}
		}
		list = append(list, f.Label+": "+strings.Join(values, "; "))
	}
	for _, party := range r.Instrument.OtherParties {
		list = append(list, cmp.Or(party.Role, "Other party")+": "+party.Name)
	}
	return list
}

// Doubtful returns the labels of the fields that a person should compare with the page.
func (r reviewRow) Doubtful() (list []string) {
	for _, f := range model.InstrumentFields() {
		if r.Evidence[f.Name].Doubtful {
			list = append(list, r.Type.LabelOf(f.FieldLabel).Label)
		}
	}
	return list
}

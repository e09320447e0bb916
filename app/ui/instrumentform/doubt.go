package instrumentform

import (
	"slices"
	"strings"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// Question asks about a new value of a field that can't be right for it, such as a date as a grantor. It
// returns "" if the value can be right. With another county, it asks about the state of old. It doesn't ask
// again about what the instrument has already. Parties and dates are called as in instruments of the type.
func Question(old model.Instrument, of model.DocumentType, field, value string, now time.Time) string {
	d := definitionOf(field)
	stored := d.parts(d.stored(vault.InstrumentView{Instrument: old}, 0))
	for _, part := range d.parts(value) {
		if doubt := d.Doubt(part, now); doubt != "" && !slices.Contains(stored, part) {
			return "“" + page.Truncate(d.shown(part), 100) + "” " + doubt + ". Keep it as " + d.named(of) + "?"
		}
	}
	if field == "county" && old.County != "" && old.State != "" && value != "" &&
		model.FoldCounty(value) != model.FoldCounty(old.County) {
		return "Check the state: keep " + old.State + " with the county " + page.Truncate(value, 100) + "?"
	}
	return dateQuestion(old, of, field, value, now)
}

// dateQuestion asks about a date that makes an instrument dated after it was recorded.
func dateQuestion(old model.Instrument, of model.DocumentType, field, value string, now time.Time) string {
	changed, day := old, model.TypedDate(value, model.LatestPast(now))
	switch field {
	case "dated":
		changed.Dated = day
	case "recorded":
		changed.Recorded = day
	}
	if _, err := time.Parse(time.DateOnly, day); err != nil || old.DatedAfterRecorded() || !changed.DatedAfterRecorded() {
		return ""
	}
	return "The instrument is dated " + page.FormatDate(changed.Dated) + ", after it was " + strings.ToLower(of.RecordedLabel()) + " on " +
		page.FormatDate(changed.Recorded) + ". Keep both dates?"
}

// parts returns the values in a text of the field, which can be a list of names.
func (d definition) parts(value string) (list []string) {
	switch value = strings.TrimSpace(value); {
	case value == "":
	case d.control == names:
		return model.SplitNames(value)
	case d.control == parties:
		for _, p := range model.SplitParties(value) {
			list = append(list, p.Name)
		}
	default:
		list = append(list, value)
	}
	return list
}

// named says what a value of the field is in an instrument of a type, such as "a mortgagor".
func (d definition) named(of model.DocumentType) string {
	grantor, grantee := of.Parties()
	label, isParty := map[string]string{"grantors": grantor.Label, "grantees": grantee.Label}[d.Name]
	if !isParty {
		return d.Called
	}
	return page.WithArticle(strings.ToLower(label))
}

// InputQuestion returns the first question about the fields of an input for an instrument of a type, or "".
func InputQuestion(old model.Instrument, of model.DocumentType, in model.Inputs, now time.Time) string {
	for _, d := range definitions {
		text := in[d.Name].Value
		if d.control == money && text == "" {
			text = in["consideration_text"].Value
		}
		if in[d.Name].Kind == model.InputList {
			text = model.JoinNames(in[d.Name].Texts(), "\n")
		}
		if question := Question(old, of, d.Name, text, now); question != "" {
			return question
		}
	}
	return ""
}

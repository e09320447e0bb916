package instrumentform

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// maxFormRows is the maximum number of relations and of documents that are read from a form. The vault
// rejects longer lists.
const maxFormRows = model.MaxListItems + 10

// submitted returns the normalized text of a submitted field. sent is false if the form doesn't have it.
func (f *Form) submitted(field *Field, form url.Values) (value string, sent bool) {
	if field.Control == relations || field.Control == documents {
		return submittedRows(field, form)
	}
	values, sent := form[field.Name]
	if !sent {
		return "", false
	}
	value = strings.TrimSpace(normalizeLines(values[len(values)-1]))
	switch field.Control {
	case past:
		value = model.TypedDate(value, model.LatestPast(f.context.Now))
	case future:
		value = model.TypedDate(value, model.LatestFuture(f.context.Now))
	case money:
		if amount, says := model.ParseConsideration(value); says == "" {
			value = amount
		}
	case names, parties:
		value = model.JoinNames(model.SplitNames(value), "\n")
	case pages:
		if list, _, ok := model.ParsePages(value); ok {
			value = list
		}
	}
	return value, true
}

// normalizeLines returns a text with the line breaks that are stored.
func normalizeLines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// noTarget asks for the target of a relation.
const noTarget errs.Code = "Which instrument is %s? Select one or “Not on this runsheet”, or clear the row."

// notHere is the target of a relation to an instrument that isn't on the runsheet. It is stored as text, unless
// the user types another one.
const (
	notHere     = "other"
	notHereText = "an instrument that is not on this runsheet"
)

// submittedRows returns the submitted rows of relations or documents.
func submittedRows(field *Field, form url.Values) (value string, sent bool) {
	var lines []string
	for n := range maxFormRows {
		at := func(name string) string {
			key := fmt.Sprintf("%s.%d.%s", field.Name, n, name)
			sent = sent || form.Has(key)
			return form.Get(key)
		}
		row := cells{"", at("file_id"), at("pages")}
		if field.Control == relations {
			row = cells{at("kind"), at("instrument_id"), at("text")}
			if row.Target == notHere {
				row.Target, row.Text = "", cmp.Or(strings.TrimSpace(row.Text), notHereText)
			}
		}
		if line := row.String(); strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n"), sent
}

// Merge fills the form with the submitted values and returns the changes. A field that another user
// changed and this user didn't keeps its stored value. If both changed it, the form has a conflict. A value that
// can't be right for its field has a question, until the user says to keep it.
func (f *Form) Merge(form url.Values) vault.InstrumentPatch {
	patch := vault.InstrumentPatch{Input: model.Inputs{}, AskRepeat: form.Get(Answer) == ""}
	merged := f.stored.Instrument // with the dates of the form, and without a state that the form changes, too
	if state := f.Field("state"); state != nil {
		if mine, sent := f.submitted(state, form); sent && mine != merged.State {
			merged.State = ""
		}
	}
	for _, field := range f.fields() {
		stored := field.stored(f.stored, f.context.File)
		mine, sent := f.submitted(field, form)
		if !sent {
			continue
		}
		changed, _ := field.Input.Merge(form, field.fingerprint(stored), field.fingerprint(mine), field.describe(stored), false)
		switch {
		case field.Clash:
			f.Conflict = true
		case !changed:
			continue
		default:
			field.encode(&patch, mine, f.context.File, f.stored.Documents)
		}
		field.Question = Question(merged, f.documentType(), field.Key(), mine, f.context.Now)
		field.Kept = field.Question != "" && normalizeLines(form.Get("keep."+field.Name)) == field.shown(mine)
		switch f.set(field, mine); field.Name {
		case "dated":
			merged.Dated = mine
		case "recorded":
			merged.Recorded = mine
		}
	}
	f.applyType()
	return patch
}

// encode adds a normalized text to the changes of an instrument. links are its links to documents.
func (d definition) encode(patch *vault.InstrumentPatch, value string, file uint64, links []model.DocumentLink) {
	in := model.StringInput(value)
	switch d.control {
	case names:
		in = model.StringsInput(model.SplitNames(value))
	case parties:
		in = model.RowsInput(model.SplitParties(value))
	case relations:
		in = relationsInput(patch, value)
	case documents:
		in = model.ListInput()
		for _, row := range splitRows(value) {
			in.Items = append(in.Items, model.ObjectInput(model.Inputs{
				"file_id": model.StringInput(row.Target), "pages": model.StringInput(row.Text)}))
		}
	case pages:
		others := slices.DeleteFunc(slices.Clone(links), func(l model.DocumentLink) bool { return l.FileID == file })
		in = model.RowsInput(append(others, model.DocumentLink{FileID: file, Pages: value}))
	}
	switch {
	case d.Name == fieldPosition:
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			patch.Rejected.Add(fieldPosition, "Enter a row number.")
		}
		patch.Position = n
	case d.control == money:
		maps.Copy(patch.Input, model.ConsiderationInput(value))
	default:
		patch.Input[d.apiNames()[0]] = in
	}
}

// relationsInput returns the input of relations. A kind without a target is asked about, so that it isn't lost.
func relationsInput(patch *vault.InstrumentPatch, value string) model.Input {
	in := model.ListInput()
	for n, row := range splitRows(value) {
		if row.Kind != "" && row.Target+row.Text == "" {
			_, words := page.RelationWords(row.Kind)
			patch.Rejected.Add(fmt.Sprintf("%s.%d.instrument_id", fieldRelations, n), noTarget, strings.ToLower(strings.TrimSuffix(words, " by")))
			continue
		}
		in.Items = append(in.Items, model.ObjectInput(model.Inputs{"kind": model.StringInput(row.Kind),
			"instrument_id": model.StringInput(row.Target), "text": model.StringInput(row.Text)}))
	}
	return in
}

package model

import (
	"slices"
	"time"

	"deedkeep/app/errs"
)

// MaxTitleRows is the maximum number of names run, and of requirements and exceptions, of an
// abstract.
const MaxTitleRows = 500

// DateBefore is the code of a date that must not be before another one.
const DateBefore errs.Code = "The {field} field must not be before the %s field."

// DateInFuture is the code of a date through which nothing can be searched yet.
const DateInFuture errs.Code = "The {field} field must not be in the future."

// rows returns the elements of a list of up to MaxTitleRows objects.
func (v *validation) rows(field string, in Input) []Input {
	switch {
	case in.IsBlank():
	case in.Kind != InputList:
		v.Add(field, errs.NotArray)
	case len(in.Items) > MaxTitleRows:
		v.Add(field, TooManyItems, MaxTitleRows)
	default:
		return in.Items
	}
	return nil
}

// list is like rows, but the list is required: it replaces another one, which only an empty list clears.
func (v *validation) list(field string, in Input) []Input {
	if in.Kind == InputMissing {
		v.Add(field, errs.Required)
	}
	return v.rows(field, in)
}

// CheckNamesRun validates a list of names run and returns all errors. A row that the current list
// has, too, keeps who added it and when.
func CheckNamesRun(in Input, current []NameRun, actor Actor, at time.Time) ([]NameRun, errs.Fields) {
	var f validation
	var list []NameRun
	for n, item := range f.list("rows", in) {
		field := itemField("rows", n)
		members, ok := f.members(field, item)
		if !ok {
			continue
		}
		run := NameRun{
			Name:    f.line(field+".name", members["name"].asText(), MaxNameLength),
			From:    f.date(field+".from", members["from"].asText()),
			To:      f.date(field+".to", members["to"].asText()),
			Indexes: f.nameList(field+".indexes", members["indexes"]),
			Result:  f.optionalParagraph(field+".result", members["result"].asText()),
			By:      Actor{Kind: actor.Kind, ID: actor.ID, Name: actor.Name}, At: at,
		}
		f.require(field+".name", run.Name)
		if run.From != "" && run.To != "" && run.To < run.From {
			f.Add(field+".to", DateBefore, "from")
		}
		if old := slices.IndexFunc(current, run.sameSearch); old >= 0 {
			run.By, run.At, run.Pending = current[old].By, current[old].At, current[old].Pending
		}
		list = append(list, run)
	}
	return list, f.Fields
}

// sameSearch reports whether two rows describe the same search.
func (r NameRun) sameSearch(other NameRun) bool {
	return r.Name == other.Name && r.From == other.From && r.To == other.To && r.Result == other.Result && slices.Equal(r.Indexes,
		other.Indexes)
}

// CheckRequirements validates a list of requirements and exceptions and returns all errors. It
// ignores rows whose source is an instrument, because they follow from the instrument.
func CheckRequirements(in Input, isInstrument func(id uint64) bool) ([]RequirementRow, errs.Fields) {
	var f validation
	var list []RequirementRow
	for n, item := range f.list("rows", in) {
		field := itemField("rows", n)
		members, ok := f.members(field, item)
		if !ok || members["source"].Value == "instrument" {
			continue
		}
		row := RequirementRow{
			Kind:    choiceOf(RequirementKind, ExceptionKind)(&f, field+".kind", members["kind"].asText()),
			Text:    f.optionalParagraph(field+".text", members["text"].asText()),
			Cleared: f.date(field+".cleared", members["cleared"].asText()),
		}
		f.require(field+".kind", row.Kind)
		f.require(field+".text", row.Text)
		id, present, valid := members["instrument_id"].asID()
		switch {
		case !valid:
			f.Add(field+".instrument_id", errs.NotInteger)
		case present && !isInstrument(id):
			f.Add(field+".instrument_id", errs.InvalidChoice)
		default:
			row.InstrumentID = id
		}
		list = append(list, row)
	}
	return list, f.Fields
}

// CheckAssignment validates the members of an assignment and returns all errors. canWork reports
// whether a user exists and may work on abstracts.
func CheckAssignment(members map[string]Input, canWork func(user uint64) bool) (Assignment, errs.Fields) {
	var f validation
	var a Assignment
	for _, person := range []struct {
		field string
		value *uint64
	}{{"searcher", &a.SearcherID}, {"examiner", &a.ExaminerID}} {
		id, present, valid := members[person.field].asID()
		switch {
		case !valid:
			f.Add(person.field, errs.NotInteger)
		case present && !canWork(id):
			f.Add(person.field, errs.InvalidChoice)
		default:
			*person.value = id
		}
	}
	a.DueDate = f.date("due_date", members["due_date"].asText())
	return a, f.Fields
}

// CheckCertificate validates the members of a certificate and returns all errors. now is the time in the office's
// time zone.
func CheckCertificate(members map[string]Input, now time.Time) (Certificate, errs.Fields) {
	var f validation
	c := Certificate{
		EffectiveDate:   f.date("effective_date", members["effective_date"].asText()),
		EffectiveTime:   f.timeOfDay("effective_time", members["effective_time"].asText()),
		SearchFrom:      f.date("search_from", members["search_from"].asText()),
		IndicesSearched: f.nameList("indices_searched", members["indices_searched"]),
		Accepted:        f.accepted(members["accepted"]),
	}
	f.require("effective_date", c.EffectiveDate)
	if c.SearchFrom != "" && c.EffectiveDate != "" && c.EffectiveDate < c.SearchFrom {
		f.Add("effective_date", DateBefore, "search from")
	}
	if c.EffectiveDate > LatestPast(now).Format(time.DateOnly) {
		f.Add("effective_date", DateInFuture)
	}
	return c, f.Fields
}

// CheckVoidReason validates why a certificate is voided.
func CheckVoidReason(in Input) (string, errs.Fields) {
	var f validation
	reason := f.line("reason", in.asText(), MaxLineLength)
	f.require("reason", reason)
	return reason, f.Fields
}

// accepted validates the findings that a certificate accepts.
func (v *validation) accepted(in Input) (list []AcceptedCheck) {
	for n, item := range v.rows("accepted", in) {
		field := itemField("accepted", n)
		members, ok := v.members(field, item)
		if !ok {
			continue
		}
		row := AcceptedCheck{
			Check:  v.line(field+".check", members["check"].asText(), MaxLineLength),
			Reason: v.line(field+".reason", members["reason"].asText(), MaxLineLength),
		}
		v.require(field+".check", row.Check)
		v.require(field+".reason", row.Reason)
		list = append(list, row)
	}
	return list
}

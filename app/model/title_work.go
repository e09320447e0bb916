package model

import (
	"iter"
	"reflect"
	"slices"
	"time"

	"deedkeep/app/errs"
)

// TitleWork is the work on an abstract besides its fields, documents, and instruments. Each part
// has a version of its own for If-Match.
type TitleWork struct {
	AbstractID uint64 `json:"abstract_id"`
	// Sequence contains the instruments whose place in the runsheet a person chose.
	Sequence []uint64 `json:"sequence,omitempty"`
	// SequenceBefore is the Sequence before a person last changed it, to undo that.
	SequenceBefore []uint64 `json:"sequence_before,omitempty"`
	SequenceBy     string   `json:"sequence_by,omitempty"` // who did, such as "user:7"
	// RunsheetVersion counts the changes of the instruments and their sequence.
	RunsheetVersion uint64            `json:"runsheet_version,omitempty"`
	OrderID         uint64            `json:"order_id,omitempty"`
	PriorID         uint64            `json:"prior_id,omitempty"`  // the abstract that this one brings down
	NotTaken        []string          `json:"not_taken,omitempty"` // what the bring-down left in the prior abstract, such as "2 documents"
	Assignment      Assignment        `json:"assignment,omitzero"`
	NamesRun        []NameRun         `json:"names_run,omitempty"`
	Requirements    []RequirementRow  `json:"requirements,omitempty"`
	Certificates    []Certificate     `json:"certificates,omitempty"` // oldest first
	Versions        TitleWorkVersions `json:"versions,omitzero"`
}

// TitleWorkVersions are the versions of the parts of a TitleWork.
type TitleWorkVersions struct {
	Order        uint64 `json:"order,omitempty"`
	Assignment   uint64 `json:"assignment,omitempty"`
	NamesRun     uint64 `json:"names_run,omitempty"`
	Requirements uint64 `json:"requirements,omitempty"`
}

// Assignment says who works on an abstract and by when.
type Assignment struct {
	SearcherID uint64 `json:"searcher_id,omitempty"`
	ExaminerID uint64 `json:"examiner_id,omitempty"`
	DueDate    string `json:"due_date,omitempty"` // YYYY-MM-DD
}

// titleWorkFields are the fields of the parts of a TitleWork. The adder and the time of a name run aren't
// among them, because the audit entry says so.
var titleWorkFields = []recordField[TitleWork]{
	{FieldLabel{Name: "order_id", Label: "Order", Refers: "order"}, func(w *TitleWork) any { return w.OrderID }},
	{FieldLabel{Name: "searcher", Label: "Searcher", Refers: "user"}, func(w *TitleWork) any { return w.Assignment.SearcherID }},
	{FieldLabel{Name: "examiner", Label: "Examiner", Refers: "user"}, func(w *TitleWork) any { return w.Assignment.ExaminerID }},
	{FieldLabel{Name: "due_date", Label: "Due date", Type: Date}, func(w *TitleWork) any { return w.Assignment.DueDate }},
	{FieldLabel{Name: "names_run", Label: "Names run", Rows: NameRunFields()}, func(w *TitleWork) any { return searchesOf(w.NamesRun) }},
	{FieldLabel{Name: "requirements", Label: "Requirements and exceptions", Rows: RequirementFields()},
		func(w *TitleWork) any { return w.Requirements }},
	{FieldLabel{Name: "sequence", Label: "Sequence", Refers: "instrument", IsSequence: true}, func(*TitleWork) any { return []uint64(nil) }},
}

// NameRunFields returns the fields of a NameRun that clients set.
func NameRunFields() []FieldLabel {
	return []FieldLabel{{Name: "name", Label: "Name"}, {Name: "from", Label: "From", Type: Date}, {Name: "to", Label: "To", Type: Date},
		{Name: "indexes", Label: "Indexes", Rows: namesOnly}, {Name: "result", Label: "Result"}}
}

// RequirementFields returns the fields of a RequirementRow.
func RequirementFields() []FieldLabel {
	return []FieldLabel{{Name: "text", Label: "Text"}, {Name: "kind", Label: "Kind", Type: Choice},
		{Name: "instrument_id", Label: "Instrument", Refers: "instrument"}, {Name: "cleared", Label: "Cleared", Type: Date}}
}

// Changes returns the differences between w and its new version, except the sequence of the runsheet,
// of which w has only a part; see SequenceChanges.
func (w TitleWork) Changes(to TitleWork) []Change { return compareRecords(titleWorkFields, w, to) }

// Reverted is like Order.Reverted, for the people, the names run, and the requirements. A list is one value.
func (w TitleWork) Reverted(before, after TitleWork) (reverted TitleWork, ok bool) {
	r := reversal{}
	revert(&r, &w.Assignment.SearcherID, before.Assignment.SearcherID, after.Assignment.SearcherID)
	revert(&r, &w.Assignment.ExaminerID, before.Assignment.ExaminerID, after.Assignment.ExaminerID)
	revert(&r, &w.Assignment.DueDate, before.Assignment.DueDate, after.Assignment.DueDate)
	revert(&r, &w.NamesRun, before.NamesRun, after.NamesRun)
	revert(&r, &w.Requirements, before.Requirements, after.Requirements)
	return w, !r.changed
}

// LastCertificate returns the newest certificate that isn't voided, or the zero Certificate.
func (w TitleWork) LastCertificate() Certificate {
	for _, c := range slices.Backward(w.Certificates) {
		if c.Voided == nil {
			return c
		}
	}
	return Certificate{}
}

// IsVoidThrough reports whether the search was certified through a date, but only by certificates that were voided.
func (w TitleWork) IsVoidThrough(date string) bool {
	voided := false
	for _, c := range w.Certificates {
		if c.EffectiveDate == date && c.Voided == nil {
			return false
		}
		voided = voided || c.EffectiveDate == date
	}
	return voided
}

// SequenceChanges returns the differences between two sequences of a runsheet.
func SequenceChanges(from, to []uint64) []Change {
	var c changes
	c.sequence("sequence", "instrument", from, to)
	return c
}

func searchesOf(list []NameRun) (searches []NameRun) {
	for _, r := range list {
		searches = append(searches, r.search())
	}
	return searches
}

// NameRun says that the indexes were searched for a name.
type NameRun struct {
	Name    string    `json:"name"`
	From    string    `json:"from,omitempty"` // YYYY-MM-DD
	To      string    `json:"to,omitempty"`   // YYYY-MM-DD
	Indexes []string  `json:"indexes,omitempty"`
	Result  string    `json:"result,omitempty"`
	Pending bool      `json:"pending,omitempty"` // carried over by a bring-down and not run again yet
	By      Actor     `json:"by,omitzero"`
	At      time.Time `json:"at,omitzero"`
}

// search returns the row without who added it, when, and whether it is pending.
func (r NameRun) search() NameRun {
	r.By, r.At, r.Pending = Actor{}, time.Time{}, false
	return r
}

// Kinds of a RequirementRow.
const (
	RequirementKind = "requirement" // Schedule B-I
	ExceptionKind   = "exception"   // Schedule B-II
)

// RequirementRow is a requirement or an exception of an abstract. Instruments have requirements and
// exceptions, too; see Instrument.Requirement.
type RequirementRow struct {
	Kind         string `json:"kind"`
	Text         string `json:"text"`
	InstrumentID uint64 `json:"instrument_id,omitempty"`
	Cleared      string `json:"cleared,omitempty"` // YYYY-MM-DD
}

// Certificate says through which date the indexes were searched. The runsheet at that time is kept
// as a document.
type Certificate struct {
	ID              uint64    `json:"id"`
	EffectiveDate   string    `json:"effective_date"`           // certified through, YYYY-MM-DD
	EffectiveTime   string    `json:"effective_time,omitempty"` // HH:MM or HH:MM:SS
	SearchFrom      string    `json:"search_from,omitempty"`
	IndicesSearched []string  `json:"indices_searched,omitempty"`
	By              Actor     `json:"by"`
	Examiner        Profile   `json:"examiner,omitzero"` // full name and title of By when the search was certified
	At              time.Time `json:"at"`
	RunsheetVersion uint64    `json:"runsheet_version"`
	FileID          uint64    `json:"file_id,omitempty"`
	Digest          string    `json:"digest,omitempty"` // SHA-256 of the runsheet's document, lower-case hex
	// Accepted are the findings that were accepted with a reason. Unaccepted are the others; see app/titlecheck.
	Accepted   []AcceptedCheck `json:"accepted,omitempty"`
	Unaccepted []AcceptedCheck `json:"unaccepted,omitempty"`
	Voided     *Voided         `json:"voided,omitempty"` // nil if the certificate is valid
}

// Voided says who voided a certificate that was issued by mistake, and why. The certificate stays in the list.
type Voided struct {
	At     time.Time `json:"at"`
	By     Actor     `json:"by"`
	Reason string    `json:"reason"`
}

// AcceptedCheck is a finding about a search, with the reason why it was accepted.
type AcceptedCheck struct {
	Check  string `json:"check"`          // ID of the finding, or of a check for all of its findings
	Text   string `json:"text,omitempty"` // the finding; "" if there was no such finding
	Reason string `json:"reason,omitempty"`
}

var certificateFields = []recordField[Certificate]{
	{FieldLabel{Name: "effective_date", Label: "Certified through", Type: Date}, func(c *Certificate) any { return c.EffectiveDate }},
	{FieldLabel{Name: "effective_time", Label: "Effective time"}, func(c *Certificate) any { return c.EffectiveTime }},
	{FieldLabel{Name: "search_from", Label: "Search from", Type: Date}, func(c *Certificate) any { return c.SearchFrom }},
	{FieldLabel{Name: "indices_searched", Label: "Indices searched"}, func(c *Certificate) any { return c.IndicesSearched }},
	{FieldLabel{Name: "certified_by", Label: "Certified by"}, func(c *Certificate) any { return c.Examiner.String() }},
	{FieldLabel{Name: "accepted", Label: "Accepted findings", Rows: []FieldLabel{{Name: "check", Type: identity}, {Name: "text"},
		{Name: "reason", Label: "Reason"}}}, func(c *Certificate) any { return c.Accepted }},
	{FieldLabel{Name: "void_reason", Label: "Voided because"}, func(c *Certificate) any {
		if c.Voided == nil {
			return ""
		}
		return c.Voided.Reason
	}},
}

// Changes returns the differences between c and the certificate that follows it.
func (c Certificate) Changes(to Certificate) []Change {
	return compareRecords(certificateFields, c, to)
}

// MaxTitleRows is the maximum number of names run, and of requirements and exceptions, of an
// abstract.
const MaxTitleRows = 500

// DateBefore is the code of a date that must not be before another one.
const DateBefore errs.Code = "The {field} field must not be before the %s field."

// dateInFuture is the code of a date through which nothing can be searched yet.
const dateInFuture errs.Code = "The {field} field must not be in the future."

// rows returns the rows that replace a list, which can have up to limit. They are required, because only an empty list
// clears it.
func (v *validation) rows(in Input, limit int) iter.Seq2[string, Inputs] {
	if in.Kind == InputMissing {
		v.Add("rows", errs.Required)
	}
	return v.objects("rows", v.items("rows", in, limit))
}

// CheckNamesRun validates a list of names run and returns all errors. A row that the current list
// has, too, keeps who added it and when, and so does one that is still to be run again.
func CheckNamesRun(in Input, current []NameRun, actor Actor, at time.Time) ([]NameRun, errs.Fields) {
	var f validation
	var list []NameRun
	for row, members := range f.rows(in, MaxTitleRows) {
		run := NameRun{
			Name:    f.line(row+"name", members["name"].asText(), MaxNameLength),
			From:    f.date(row+"from", members["from"].asText()),
			To:      f.date(row+"to", members["to"].asText()),
			Indexes: f.nameList(row+"indexes", members["indexes"]),
			Result:  f.optionalParagraph(row+"result", members["result"].asText()),
			By:      Actor{Kind: actor.Kind, ID: actor.ID, Name: actor.Name}, At: at,
		}
		f.require(row+"name", run.Name)
		if run.From != "" && run.To != "" && run.To < run.From {
			f.Add(row+"to", DateBefore, "from")
		}
		list = append(list, run)
	}
	keepAdders(list, slices.Clone(current))
	return list, f.Fields
}

// keepAdders lets the rows of a list keep who added them, when, and whether they are pending. Each row that is left of the
// current ones is that of at most one row, and first of one that is equal.
func keepAdders(list, left []NameRun) {
	known := make([]bool, len(list))
	for _, same := range []func(NameRun, NameRun) bool{NameRun.sameSearch, NameRun.isStillPending} {
		for n := range list {
			at := slices.IndexFunc(left, func(old NameRun) bool { return same(list[n], old) })
			if !known[n] && at >= 0 {
				list[n].By, list[n].At, list[n].Pending = left[at].By, left[at].At, left[at].Pending
				left, known[n] = slices.Delete(left, at, at+1), true
			}
		}
	}
}

// sameSearch reports whether two rows describe the same search.
func (r NameRun) sameSearch(other NameRun) bool { return reflect.DeepEqual(r.search(), other.search()) }

// isStillPending reports whether old is the row before the change, is to be run again, and has the same result and end of
// its period: the change of other values, such as the indexes, doesn't say that the name was run.
func (r NameRun) isStillPending(old NameRun) bool {
	return old.Pending && old.Name == r.Name && old.To == r.To && old.Result == r.Result
}

// CheckRequirements validates a list of requirements and exceptions and returns all errors. It
// ignores rows whose source is an instrument, because they follow from the instrument.
func CheckRequirements(in Input, isInstrument func(id uint64) bool) ([]RequirementRow, errs.Fields) {
	var f validation
	var list []RequirementRow
	for at, members := range f.rows(in, MaxTitleRows) {
		if members["source"].Value == "instrument" {
			continue
		}
		row := RequirementRow{
			Kind:    choiceOf(RequirementKind, ExceptionKind)(&f, at+"kind", members["kind"].asText()),
			Text:    f.optionalParagraph(at+"text", members["text"].asText()),
			Cleared: f.date(at+"cleared", members["cleared"].asText()),
		}
		f.require(at+"kind", row.Kind)
		f.require(at+"text", row.Text)
		id, present, valid := members["instrument_id"].asID()
		switch {
		case !valid:
			f.Add(at+"instrument_id", errs.NotInteger)
		case present && !isInstrument(id):
			f.Add(at+"instrument_id", errs.InvalidChoice)
		default:
			row.InstrumentID = id
		}
		list = append(list, row)
	}
	return list, f.Fields
}

// CheckAssignment validates the members of an assignment and returns all errors. canWork reports
// whether a user exists and may work on abstracts.
func CheckAssignment(members Inputs, canWork func(user uint64) bool) (Assignment, errs.Fields) {
	var f validation
	var a Assignment
	for _, person := range []struct {
		field string
		value *uint64
	}{{"searcher", &a.SearcherID}, {"examiner", &a.ExaminerID}} {
		*person.value = f.worker(person.field, members[person.field], canWork)
	}
	a.DueDate = f.date("due_date", members["due_date"].asText())
	return a, f.Fields
}

// worker returns the ID of a user who may work on a record, or 0 for none.
func (v *validation) worker(field string, in Input, canWork func(user uint64) bool) uint64 {
	id, present, valid := in.asID()
	switch {
	case !valid:
		v.Add(field, errs.NotInteger)
	case present && !canWork(id):
		v.Add(field, errs.InvalidChoice)
	default:
		return id
	}
	return 0
}

// CheckCertificate validates the members of a certificate and returns all errors. now is the time in the office's
// time zone.
func CheckCertificate(members Inputs, now time.Time) (Certificate, errs.Fields) {
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
		f.Add("effective_date", dateInFuture)
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
	for at, members := range v.objects("accepted", v.items("accepted", in, MaxTitleRows)) {
		row := AcceptedCheck{
			Check:  v.line(at+"check", members["check"].asText(), MaxLineLength),
			Reason: v.line(at+"reason", members["reason"].asText(), MaxLineLength),
		}
		v.require(at+"check", row.Check)
		v.require(at+"reason", row.Reason)
		list = append(list, row)
	}
	return list
}

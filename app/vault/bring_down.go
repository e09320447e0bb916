package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// BroughtDown is the result of a bring-down.
type BroughtDown struct {
	AbstractWithFiles
	NotTaken []string // what stayed in the prior abstract; see model.TitleWork
}

// BringDown creates an abstract that brings another one down to date. It has the template and the search type of
// bring-downs, if there are any, and the file number of the prior abstract with a suffix. It carries over the
// property, the current owner, the borrower, the values of the fields that the template has, the people, an order that
// is still open, open requirements and exceptions, and the instruments, which it marks as prior. The names are to be
// run again. Its search starts at the effective date of the prior abstract.
func (tw *TitleWork) BringDown(ctx context.Context, actor model.Actor, prior uint64, idempotency Idempotency[BroughtDown],
) (created BroughtDown, err error) {
	var d bringDown
	err = tw.v.Write(ctx, actor, func(t *store.Tx) (err error) {
		if err := idempotency.CheckUnused(t, tw.v); err != nil {
			return err
		}
		d, err = newBringDown(t, prior)
		return err
	}, func(t *store.Tx) error {
		a, _, err := tw.v.Abstracts.create(t, actor, d.abstract, &checkedFiles{})
		if err != nil {
			return err
		}
		copies, sequence, err := tw.copyInstruments(t, prior, a)
		if err != nil {
			return err
		}
		work := d.titleWork(actor.Stored(), a, copies)
		work.Sequence = sequence
		created = BroughtDown{AbstractWithFiles{Abstract: a}, d.notTaken}
		return errors.Join(t.PutTitleWork(work),
			tw.v.AddEvent(t, a.CreatedAt, actor, "abstract.brought_down", model.RecordRef(AbstractOps.Name, a.ID),
				map[string]string{"abstract": model.RecordRef(AbstractOps.Name, prior)}),
			idempotency.SaveResponse(t, a.CreatedAt, created))
	})
	return created, err
}

// bringDown is a new abstract that isn't created yet, and what it carries over.
type bringDown struct {
	from     AbstractWithFiles
	work     model.TitleWork // of the prior abstract
	old      model.Template
	template model.Template
	abstract model.Abstract
	since    string // effective date of the prior search
	order    uint64
	people   model.Assignment
	notTaken []string
}

func newBringDown(t *store.Tx, prior uint64) (d bringDown, err error) {
	if d.from, err = AbstractOps.get(t, prior); err != nil {
		return d, err
	}
	if d.work, err = existingTitleWork(t, prior); err != nil {
		return d, err
	}
	if d.from.Abstract.TemplateID != 0 {
		if d.old, err = t.Template(d.from.Abstract.TemplateID); err != nil {
			return d, err
		}
	}
	if d.template, err = bringDownTemplate(t, d.old); err != nil {
		return d, err
	}
	if n := len(d.from.Files); n > 0 {
		d.notTaken = append(d.notTaken, countText(n, "document", "documents"))
	}
	notes, err := t.NotesOf(model.RecordRef(AbstractOps.Name, prior), maxNotes)
	if err != nil {
		return d, err
	}
	if len(notes) > 0 {
		d.notTaken = append(d.notTaken, countText(len(notes), "team note", "team notes"))
	}
	isCleared := func(row model.RequirementRow) bool { return row.Cleared != "" }
	if n := len(slices.DeleteFunc(slices.Clone(d.work.Requirements), func(row model.RequirementRow) bool { return !isCleared(row) })); n > 0 {
		d.notTaken = append(d.notTaken, countText(n, "cleared requirement or exception", "cleared requirements and exceptions"))
	}
	d.work.Requirements = slices.DeleteFunc(d.work.Requirements, isCleared)
	err = d.setPeople(t)
	if err == nil {
		err = d.setFields(t)
	}
	return d, err
}

func countText(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// namesBringDown reports whether a template, a search type, or a product is for bring-downs.
func namesBringDown(name string) bool {
	return strings.Contains(model.NormalizeNumber(name), "bringdown")
}

// bringDownTemplate returns the first template for bring-downs that isn't retired, or that of the prior abstract.
func bringDownTemplate(t *store.Tx, prior model.Template) (model.Template, error) {
	if namesBringDown(prior.Name) {
		return prior, nil
	}
	list, err := t.Templates()
	if at := slices.IndexFunc(list, func(t model.Template) bool { return !t.Retired && namesBringDown(t.Name) }); at >= 0 {
		return list[at], err
	}
	return prior, err
}

// setPeople carries over the searcher and the examiner who may still work on abstracts, and an order that is open.
func (d *bringDown) setPeople(t *store.Tx) error {
	for _, person := range []struct {
		role string
		id   uint64
		to   *uint64
	}{{"searcher", d.work.Assignment.SearcherID, &d.people.SearcherID}, {"examiner", d.work.Assignment.ExaminerID, &d.people.ExaminerID}} {
		switch {
		case person.id == 0:
		case canWork(t)(person.id):
			*person.to = person.id
		default:
			d.notTaken = append(d.notTaken, "the "+person.role)
		}
	}
	if d.work.OrderID == 0 {
		return nil
	}
	order, err := t.Order(d.work.OrderID)
	switch {
	case errs.KindOf(err) == errs.NotFound:
		return nil
	case err == nil && order.IsOpen():
		d.order = order.ID
	case err == nil:
		d.notTaken = append(d.notTaken, "order "+order.Number)
	}
	return err
}

// finishedFields are the fields that are about the finished search.
var finishedFields = []string{model.KeyFileNumber, model.KeyEffectiveDate, fieldEffectiveTime, model.KeySearchFrom,
	fieldIndicesSearched, model.KeySearchType, "names_run", "tax_status", "prior_file_number",
	"prior_effective_date", "new_effective_date", "result"}

// checkedFields are the fields that the checks before a certificate compare with the chain of title and the names run.
// A bring-down carries them over even if its template doesn't have them: otherwise, nothing would be compared.
var checkedFields = []string{model.KeyCurrentOwner, model.KeyBorrower}

// setFields sets the fields of the new abstract.
func (d *bringDown) setFields(t *store.Tx) error {
	from := d.from.Abstract
	d.abstract = model.Abstract{TemplateID: d.template.ID, Property: from.Property, TaxMap: from.TaxMap, Custom: model.CustomValues{}}
	if len(d.template.Statuses) > 0 {
		d.abstract.Status = d.template.Statuses[0]
	}
	for _, old := range d.old.Fields {
		value, there := from.Custom[old.Key]
		now, known := d.field(old.Key)
		switch {
		case !there || slices.Contains(finishedFields, old.Key) || slices.Contains(checkedFields, old.Key):
		case known && now.Type == old.Type && (d.template.ID == d.old.ID || slices.Equal(now.Options, old.Options)):
			d.abstract.Custom[old.Key] = value
		default:
			d.notTaken = append(d.notTaken, "the field "+old.Label)
		}
	}
	for _, key := range checkedFields { // the prior abstract can be a bring-down, too
		if value, there := from.Custom[key]; there {
			d.abstract.Custom[key] = value
		}
	}
	d.since = cmp.Or(d.work.LastCertificate().EffectiveDate, from.Custom.Text(model.KeyEffectiveDate), from.Custom.Text("new_effective_date"))
	isVoid := func(c model.Certificate) bool { return c.EffectiveDate == d.since } // the field has the date of a mistake
	if d.work.LastCertificate().ID == 0 && slices.ContainsFunc(d.work.Certificates, isVoid) {
		d.since = ""
	}
	number, err := nextFileNumber(t, from.FileNumber())
	for key, value := range map[string]string{model.KeyFileNumber: number, "prior_effective_date": d.since,
		"prior_file_number": from.FileNumber(), model.KeySearchType: d.searchType()} {
		if _, known := d.field(key); known && value != "" {
			d.abstract.Custom[key] = model.StringInput(value).JSON()
		}
	}
	if d.since != "" { // the certificate reads it even if the template doesn't have the field
		d.abstract.Custom[model.KeySearchFrom] = model.StringInput(d.since).JSON()
	}
	return err
}

// field returns a field of the new abstract's template.
func (d *bringDown) field(key string) (model.Field, bool) {
	at := slices.IndexFunc(d.template.Fields, func(f model.Field) bool { return f.Key == key })
	if at < 0 {
		return model.Field{}, false
	}
	return d.template.Fields[at], true
}

// searchType returns the search type of bring-downs, or else of updates. It returns "" if there is none.
func (d *bringDown) searchType() string {
	field, _ := d.field(model.KeySearchType)
	isUpdate := func(option string) bool { return strings.Contains(model.NormalizeNumber(option), "update") }
	for _, fits := range []func(string) bool{namesBringDown, isUpdate} {
		if at := slices.IndexFunc(field.Options, fits); at >= 0 {
			return field.Options[at]
		}
	}
	return ""
}

var bringDownSuffix = regexp.MustCompile(`-BD[0-9]+$`)

// maxBringDowns is the maximum number of bring-downs with different file numbers.
const maxBringDowns = 99

// nextFileNumber returns the file number of the next bring-down, such as 26-17-BD1 after 26-17, or "" if there is
// no number to begin with.
func nextFileNumber(t *store.Tx, number string) (string, error) {
	number = bringDownSuffix.ReplaceAllString(number, "")
	if number == "" {
		return "", nil
	}
	for n := 1; n < maxBringDowns; n++ {
		next := fmt.Sprintf("%s-BD%d", number, n)
		found, _, err := t.FindAbstracts(next, store.Query{Limit: 1})
		if err != nil {
			return "", err
		}
		if len(found) == 0 || !found[0].Exact || found[0].By != model.SortFileNumber {
			return next, nil
		}
	}
	return fmt.Sprintf("%s-BD%d", number, maxBringDowns), nil
}

// titleWork returns the title work of the new abstract. copies are the IDs of the copied instruments by those of
// the prior abstract.
func (d *bringDown) titleWork(actor model.Actor, a model.Abstract, copies map[uint64]uint64) model.TitleWork {
	work := model.TitleWork{AbstractID: a.ID, PriorID: d.from.Abstract.ID, RunsheetVersion: 1, OrderID: d.order, Assignment: d.people,
		Requirements: slices.Clone(d.work.Requirements), NotTaken: d.notTaken}
	for n, row := range work.Requirements {
		if id, ok := copies[row.InstrumentID]; ok {
			work.Requirements[n].InstrumentID = id
		}
	}
	for _, row := range d.work.NamesRun {
		again := func(r model.NameRun) bool { return r.Name == row.Name }
		if !slices.ContainsFunc(work.NamesRun, again) {
			work.NamesRun = append(work.NamesRun, model.NameRun{Name: row.Name, From: d.since, Indexes: row.Indexes, Pending: true,
				By: actor, At: a.CreatedAt})
		}
	}
	work.Versions = model.TitleWorkVersions{Order: 1, Assignment: 1, NamesRun: 1, Requirements: 1}
	return work
}

// copyInstruments copies the live instruments of the prior abstract to its bring-down. It returns their IDs by
// those of the originals, and in the sequence of the runsheet. Relations among them refer to the copies.
func (tw *TitleWork) copyInstruments(t *store.Tx, prior uint64, to model.Abstract) (
	copies map[uint64]uint64, sequence []uint64, err error) {
	work, err := t.TitleWork(prior)
	if err != nil {
		return nil, nil, err
	}
	list, err := t.LiveInstruments(prior)
	if err != nil {
		return nil, nil, err
	}
	copies = map[uint64]uint64{}
	list = model.SortRunsheet(list, work.Sequence)
	for _, i := range list {
		if copies[i.ID], err = t.NewInstrumentID(); err != nil {
			return nil, nil, err
		}
	}
	for _, i := range list {
		i.ID, i.AbstractID, i.Prior, i.Version = copies[i.ID], to.ID, true, 1
		i.CreatedAt, i.UpdatedAt = to.CreatedAt, to.CreatedAt
		i.Relations = slices.Clone(i.Relations)
		for n, r := range i.Relations {
			if id, ok := copies[r.InstrumentID]; ok {
				i.Relations[n].InstrumentID = id
			}
		}
		if err := t.PutInstrument(i); err != nil {
			return nil, nil, err
		}
		if len(work.Sequence) > 0 {
			sequence = append(sequence, i.ID)
		}
	}
	return copies, sequence, nil
}

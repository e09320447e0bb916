package titlework

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// printedAbstract is the template data of an abstract as clients may see it. It has no history, notes,
// or names of users except those who certified.
type printedAbstract struct {
	Path, Heading, Under string
	Order                model.Order  // zero if the abstract isn't linked to a live order
	Facts                []page.Input // fields with a value, short ones first
	Runsheet             []printedInstrument
	Remarks              bool // include the remarks of instruments, which can be meant for the firm only
	Legal                bool // an instrument has text in the column with the legal description
	Names                []Row
	NamesText            paragraph
	Lists                []requirementList
	ExceptionsText       paragraph
	// Certificate is the latest valid one. It is nil if there is none, or if the runsheet changed since, which makes the
	// copy a draft.
	Certificate *CertificateRow
	Changed     bool             // the runsheet changed since it was certified
	Voided      []CertificateRow // voided ones that no valid one followed
}

// printedInstrument is a row of the printed runsheet.
type printedInstrument struct {
	vault.InstrumentView
	Ref         string   // where the instrument is recorded
	OtherCounty string   // county, if it isn't the abstract's
	Releases    []string // what it does to other instruments
	Others      string   // other parties with their roles
}

// StatusText returns the effective status, or "" if the instrument isn't an encumbrance.
func (i printedInstrument) StatusText() string { return i.Type.StatusText(i.Status) }

// Time returns the time of recording.
func (i printedInstrument) Time() string { return page.FormatTimeOfDay(i.RecordedTime) }

// Amount returns the consideration.
func (i printedInstrument) Amount() string { return page.FormatConsideration(i.Instrument) }

// printPage serves an abstract for printing. Clients may see it.
func (p *Pages) printPage(r *page.Request) error {
	s, err := p.read(r)
	if err != nil {
		return err
	}
	voided, valid := p.certificates(r, s).List, []CertificateRow(nil)
	if at := slices.IndexFunc(voided, func(c CertificateRow) bool { return c.Voided == nil }); at >= 0 {
		voided, valid = voided[:at], voided[at:]
	}
	var certificate *CertificateRow
	if len(valid) > 0 && !valid[0].Changed {
		certificate = &valid[0]
	}
	view := printedAbstract{Certificate: certificate, Changed: len(valid) > 0 && valid[0].Changed, Voided: voided, Path: s.path,
		Heading: p.App.Heading(s.abstract, s.template), Under: s.abstract.Subheading(), Facts: s.printedFacts(certificate != nil),
		Remarks: r.URL.Query().Get("remarks") != "", NamesText: s.paragraph("names_run"), ExceptionsText: s.paragraph("exceptions")}
	if s.work.OrderID != 0 {
		if view.Order, err = p.App.Orders.Get(r.Context(), s.work.OrderID); err != nil && errs.KindOf(err) != errs.NotFound {
			return err
		}
	}
	sheet, err := p.App.Instruments.Runsheet(r.Context(), s.abstract.ID)
	if err != nil {
		return err
	}
	view.Runsheet = printedRunsheet(sheet, s.abstract.County)
	view.Legal = slices.ContainsFunc(view.Runsheet, func(i printedInstrument) bool { return i.Legal != "" || view.Remarks && i.Remarks != "" })
	rows, err := p.readRequirements(r, s)
	if err != nil {
		return err
	}
	names, err := p.readNamesRun(r, s)
	if err != nil {
		return err
	}
	view.Lists, view.Names = rows.Lists(), names.Rows
	return p.RenderPage(r, http.StatusOK, "abstract-print.html", page.Page{
		Heading: view.Heading, Section: "abstracts", Data: view, Styles: []string{"abstract-print.css"},
	})
}

// separateFields are the fields that are printed with the rows of the same subject.
var separateFields = []string{"names_run", "exceptions"}

// certifiedFields are the fields that a certificate is printed with.
var certifiedFields = []string{"effective_date", "effective_time", "search_from", "indices_searched"}

// isInternal reports whether a field is for the firm only, by its key and label: internal notes and
// remarks.
func isInternal(f model.Field) bool {
	name := strings.ToLower(f.Key + " " + f.Label)
	return slices.ContainsFunc([]string{"note", "internal", "remark", "comment", "memo", "private", "confidential"},
		func(word string) bool { return strings.Contains(name, word) })
}

// printedFacts returns the fields of an abstract that have a value. It omits internal ones and those
// that are no longer in the template, and those of a certificate, if there is one.
func (s source) printedFacts(certified bool) (facts []page.Input) {
	a := s.abstract
	defs := slices.DeleteFunc(slices.Clone(s.template.Fields), func(f model.Field) bool {
		return isInternal(f) || slices.Contains(separateFields, f.Key) || certified && slices.Contains(certifiedFields, f.Key)
	})
	facts = slices.Concat(page.FieldInputs(a.FieldValues()), page.StoredInputs(defs, a.Custom))
	facts = slices.DeleteFunc(facts, page.Input.Empty)
	slices.SortStableFunc(facts, func(a, b page.Input) int {
		long := func(in page.Input) int {
			if in.Type == model.Paragraph {
				return 1
			}
			return 0
		}
		return long(a) - long(b)
	})
	return facts
}

// printedRunsheet returns the rows of the printed runsheet of an abstract in a county.
func printedRunsheet(sheet vault.Runsheet, county string) []printedInstrument {
	position := map[uint64]int{}
	for _, i := range sheet.Instruments {
		position[i.ID] = i.Position
	}
	rows := make([]printedInstrument, 0, len(sheet.Instruments))
	for _, i := range sheet.Instruments {
		row := printedInstrument{InstrumentView: i, Ref: i.RecordingReference()}
		if !strings.EqualFold(i.County, county) {
			row.OtherCounty = i.County
		}
		var others []string
		for _, party := range i.OtherParties {
			others = append(others, strings.TrimPrefix(party.Text(), ": "))
		}
		row.Others = strings.Join(others, "; ")
		for _, relation := range i.Relations {
			target := relation.Text
			if n := position[relation.InstrumentID]; n > 0 {
				target = fmt.Sprintf("No. %d", n)
			}
			if target != "" {
				words, _ := page.RelationWords(relation.Kind)
				row.Releases = append(row.Releases, words+" "+target)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

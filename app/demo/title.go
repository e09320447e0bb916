package demo

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"deedkeep/app/audit"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// addAbstract adds the search of a file.
func (f *filler) addAbstract(file *file, order model.Order) error {
	documents, err := f.scans(file)
	if err != nil {
		return err
	}
	fields, err := custom(f.abstractFields(file))
	if err != nil {
		return err
	}
	upload, err := f.stage(documents)
	if err != nil {
		return err
	}
	defer upload.Discard()
	people := model.Inputs{"searcher": model.NumberInput(f.searcher(file)), "examiner": model.NumberInput(f.result.Users[1].ID),
		"due_date": model.StringInput(order.DueDate)}
	created, err := f.TitleWork.CreateForOrder(f.ctx, f.examiner(), order.ID, model.AbstractDraft{Custom: fields, Fields: model.Inputs{
		"address": model.StringInput(file.street), "city": model.StringInput(file.city), "county": model.StringInput(file.county),
		"state": model.StringInput("OH"), "tax_map": model.StringInput(file.parcel)}},
		people, upload, vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		return err
	}
	if len(created.Failures) > 0 {
		return fmt.Errorf("%s was rejected: %s", created.Failures[0].Filename, created.Failures[0].Reason)
	}
	f.result.Abstracts++
	id := created.Abstract.ID
	recorded, err := f.addInstruments(file, id, created.Files)
	if err == nil && len(recorded) > 0 {
		err = f.addTitleWork(file, id, recorded)
	}
	if err == nil && file.status != "New" {
		_, err = f.Abstracts.Patch(f.ctx, f.examiner(), id, model.AbstractPatch{Fields: model.Inputs{"status": model.StringInput(file.status)}},
			vault.Match{})
	}
	if err == nil && file.status == "Complete" {
		err = f.certify(file, id, created.Files)
	}
	return err
}

// scans returns the documents of a file, in the sequence of paper.scan.
func (f *filler) scans(file *file) (documents []document, err error) {
	var groups [][]*paper
	for _, p := range file.papers {
		for len(groups) < p.scan {
			groups = append(groups, nil)
		}
		if p.scan > 0 {
			groups[p.scan-1] = append(groups[p.scan-1], p)
		}
	}
	for n, group := range groups {
		extension := []string{".pdf", ".tif", ".png", ".jpg"}[(n+file.n)%4]
		if file.n == 0 && n == len(groups)-1 {
			extension = textLayer
		}
		content, err := f.scan(extension, group...)
		if err != nil {
			return nil, err
		}
		if group[len(group)-1].last > 1 && extension != textLayer {
			extension = ".pdf"
		}
		name := fmt.Sprintf("%02d", n+1)
		for _, p := range group {
			name += " " + p.Type
		}
		if !group[0].suggested {
			name += fmt.Sprintf(" Bk %s Pg %s", group[0].Book, group[0].Page)
		}
		documents = append(documents, document{name + path.Ext(extension), content})
	}
	return documents, nil
}

// abstractFields returns the fields of a search. The current owner is the last grantee.
func (f *filler) abstractFields(file *file) map[string]any {
	fields := map[string]any{"file_number": "TT-" + file.number, "search_type": file.product,
		"borrower": strings.Join(party(5*file.n+31), "; "), "subdivision_lot_block": file.subdivision + ", Lot " + file.lot}
	var vesting *paper
	for _, p := range file.papers {
		if strings.HasSuffix(p.Type, "Deed") && !p.suggested {
			vesting = p
		}
	}
	if vesting == nil {
		return fields
	}
	fields["current_owner"] = strings.Join(vesting.Grantees, "; ")
	fields["vesting"] = strings.Join(vesting.Grantees, " and ")
	fields["deed_book_page"] = fmt.Sprintf("OR %s, Page %s", vesting.Book, vesting.Page)
	fields["search_from"] = file.papers[0].Recorded.Format(time.DateOnly)
	fields["effective_date"] = f.day(-2)
	fields["indices_searched"], fields["tax_status"] = indices, []string{"Paid", "Due"}[file.n%2]
	fields["legal_description"] = fmt.Sprintf("Situated in the City of %s, County of %s and State of Ohio: And known as being "+
		"Lot %s of %s, as shown by the plat recorded in Plat Book %s, Page %s.", file.city, file.county, file.lot, file.subdivision,
		file.PlatBook, file.PlatPage)
	return fields
}

// addInstruments records the instruments of a search, with links to their scans and to each other.
func (f *filler) addInstruments(file *file, abstract uint64, scans []model.File) (recorded []*paper, err error) {
	var list []vault.NewInstrument
	rows := map[*paper]int{}
	for _, p := range file.papers {
		if p.suggested {
			continue
		}
		rows[p] = len(recorded) + 1
		recorded = append(recorded, p)
		in, err := input(p.fields(scans))
		if err != nil {
			return nil, err
		}
		row := vault.NewInstrument{InstrumentPatch: vault.InstrumentPatch{Input: in.Members}, Row: rows[p]}
		switch p.Type {
		case "Release or Satisfaction":
			row.Relations = []vault.RowRelation{{Kind: model.Releases, Row: rows[p.Prior]}}
		case "Assignment":
			row.Relations = []vault.RowRelation{{Kind: "assigns", Row: rows[p.Prior]}}
		}
		list = append(list, row)
	}
	if len(list) == 0 {
		return nil, nil
	}
	added, err := f.Instruments.CreateMany(f.ctx, f.examiner(), abstract, list, vault.Idempotency[vault.Added]{})
	f.result.Instruments += len(added.Created)
	return recorded, err
}

// fields returns the fields of the instrument.
func (p *paper) fields(scans []model.File) map[string]any {
	in := map[string]any{"type": p.Type, "instrument_number": p.Number, "recorded": p.Recorded.Format(time.DateOnly),
		"recorded_time": p.Recorded.Format("15:04:05"), "dated": p.Dated.Format(time.DateOnly), "grantors": p.Grantors, "grantees": p.Grantees,
		"parcels": []string{p.parcel}, "remarks": remarks[p.Type]}
	switch p.Type {
	case "Judgment":
		in["case_number"], in["court"] = p.Case, "Common Pleas Court of "+p.county+" County"
	case "Plat":
		in["book_type"], in["book"], in["page"] = "Plat Book", p.Book, p.Page
		delete(in, "dated")
	default:
		in["book_type"], in["book"], in["page"] = "Official Records", p.Book, p.Page
	}
	if p.Type == "Warranty Deed" || p.Type == "Mortgage" || p.Type == "Judgment" {
		in["consideration"] = fmt.Sprint(p.Amount)
	}
	if p.Type == "Easement or Right of Way" {
		in["exception"] = fmt.Sprintf("Easement to %s, Official Records %s, Page %s.", p.Grantees[0], p.Book, p.Page)
	}
	if p.scan > 0 {
		link := map[string]any{"file_id": scans[p.scan-1].ID}
		if pages := scans[p.scan-1].Pages; pages != nil && *pages > p.last-p.first+1 {
			link["pages"] = fmt.Sprintf("%d-%d", p.first, p.last)
		}
		in["documents"] = []any{link}
	}
	return in
}

// addTitleWork adds the names run, requirements, and a note. A search that isn't complete has only the names of its last
// owners, and no requirements.
func (f *filler) addTitleWork(file *file, abstract uint64, recorded []*paper) error {
	complete := file.status == "Complete"
	names, requirements := []map[string]any{}, []map[string]any{}
	released, found := openItems(recorded)
	add := func(list []string, from time.Time) {
		for _, name := range list {
			if !slices.ContainsFunc(names, func(row map[string]any) bool { return row["name"] == name }) {
				names = append(names, map[string]any{"name": name, "from": from.Format(time.DateOnly), "to": f.day(-2),
					"indexes": indices[:3], "result": cmp.Or(strings.Join(found[name], "; "), "None found")})
			}
		}
	}
	for n, p := range recorded {
		if strings.HasSuffix(p.Type, "Deed") && (complete || n >= len(recorded)/2) {
			add(slices.Concat(p.Grantors, p.Grantees), p.Recorded)
		}
	}
	if complete {
		add(party(5*file.n+31), recorded[0].Recorded)
		for _, p := range recorded {
			if p.Type == "Mortgage" && !released[p] {
				requirements = append(requirements, map[string]any{"kind": model.RequirementKind, "text": fmt.Sprintf(
					"Satisfaction of the mortgage to %s, Official Records %s, Page %s.", p.Grantees[0], p.Book, p.Page)})
			}
		}
		requirements = append(requirements, map[string]any{"kind": model.ExceptionKind,
			"text": "Taxes for the current year, a lien not yet due and payable."})
	}
	run, err := input(names)
	if err != nil {
		return err
	}
	if _, err := f.TitleWork.SetNamesRun(f.ctx, f.examiner(), abstract, run, vault.Match{}); err != nil {
		return err
	}
	if complete {
		rows, err := input(requirements)
		if err == nil {
			err = f.setRequirements(abstract, rows, recorded, released)
		}
		if err != nil {
			return err
		}
	}
	if file.n%3 != 0 {
		return nil
	}
	note := cmp.Or(map[int]string{0: "Look for a deed or a probate that closes the gap before you certify this search."}[file.n],
		"Client asks for copies of all open liens with the abstract.")
	_, err = f.Notes.Create(f.ctx, f.examiner(), vault.AbstractOps.Name, abstract, model.NoteInput{Text: model.Some(model.StringInput(note))},
		vault.Idempotency[model.Note]{})
	return err
}

// openItems returns the mortgages that are released, and what the indexes have that isn't, by name.
func openItems(recorded []*paper) (released map[*paper]bool, found map[string][]string) {
	released, found = map[*paper]bool{}, map[string][]string{}
	for _, p := range recorded {
		if p.Type == "Release or Satisfaction" {
			released[p.Prior] = true
		}
	}
	for _, p := range recorded {
		if reference := fmt.Sprintf("%s, Official Records %s, Page %s", p.Type, p.Book, p.Page); p.Type == "Mortgage" && !released[p] {
			found[p.Grantors[0]] = append(found[p.Grantors[0]], reference)
		} else if p.Type == "Judgment" {
			found[p.Grantors[0]] = append(found[p.Grantors[0]], "Judgment, Case "+p.Case)
		}
	}
	return released, found
}

// setRequirements stores the requirements, those of open mortgages with their instruments.
func (f *filler) setRequirements(abstract uint64, rows model.Input, recorded []*paper, released map[*paper]bool) error {
	sheet, err := f.Instruments.Runsheet(f.ctx, abstract)
	if err != nil {
		return err
	}
	row := 0
	for _, p := range recorded {
		if p.Type == "Mortgage" && !released[p] {
			at := slices.IndexFunc(sheet.Instruments, func(i vault.InstrumentView) bool { return i.Number == p.Number })
			rows.Items[row].Members["instrument_id"] = model.NumberInput(sheet.Instruments[at].ID)
			row++
		}
	}
	_, err = f.TitleWork.SetRequirements(f.ctx, f.examiner(), abstract, rows, vault.Match{})
	return err
}

// certify certifies a complete search. The examiner opens its documents before. The second search also has a bring-down.
func (f *filler) certify(file *file, abstract uint64, scans []model.File) error {
	for _, scan := range scans {
		f.Events.RecordAccess(f.examiner(), audit.Opened, model.RecordRef(vault.FileOps.Name, scan.ID), vault.FileDetail(scan))
	}
	members := model.Inputs{"effective_time": model.StringInput("08:00")}
	checks, err := f.TitleWork.Checks(f.ctx, abstract, members)
	if err != nil {
		return err
	}
	accepted := model.ListInput()
	for _, finding := range checks.Findings {
		accepted.Items = append(accepted.Items, model.ObjectInput(model.Inputs{"check": model.StringInput(finding.ID),
			"reason": model.StringInput("Compared with the scan.")}))
	}
	members["accepted"] = accepted
	_, err = f.TitleWork.Certify(f.ctx, f.examiner(), abstract, vault.CertificateRequest{Members: members},
		vault.Idempotency[model.Certificate]{})
	if err == nil {
		f.result.Documents++ // the runsheet
	}
	if err == nil && file.n == 1 {
		_, err = f.TitleWork.BringDown(f.ctx, f.examiner(), abstract, vault.Idempotency[vault.BroughtDown]{})
		f.result.Abstracts++
	}
	return err
}

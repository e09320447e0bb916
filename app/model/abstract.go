package model

import (
	"slices"
	"time"

	"deedkeep/app/errs"
)

// Abstract is a title abstract: the search of one property, and its documents.
type Abstract struct {
	ID         uint64 `json:"id"`
	TemplateID uint64 `json:"template_id,omitempty"` // 0: made where there was no template
	Status     string `json:"status,omitempty"`      // "" when the template has statuses off
	Property
	TaxMap       string    `json:"tax_map,omitempty"`
	Custom       Values    `json:"custom,omitempty"`
	Files        []uint64  `json:"files,omitempty"` // in the order attached
	RemovedFiles []uint64  `json:"gone,omitempty"`  // documents that were taken off it, the last one last; at most MaxRemovedFiles
	Version      uint64    `json:"version"`         // moves with UpdatedAt
	CreatedAt    time.Time `json:"created_at"`
	UpdatedAt    time.Time `json:"updated_at"`
	Trashed      *Trashed  `json:"trashed,omitempty"`
}

// MaxRemovedFiles is how many of the documents that were taken off an abstract it knows; of
// more it forgets the first.
const MaxRemovedFiles = 1_000

// RemoveFile takes a document off, and gives its place; 0 for one that it does not have.
func (a *Abstract) RemoveFile(file uint64) (place int) {
	place = max(0, slices.Index(a.Files, file))
	a.Files = slices.DeleteFunc(a.Files, func(id uint64) bool { return id == file })
	a.RemovedFiles = append(a.RemovedFiles, file)
	a.RemovedFiles = slices.Clone(a.RemovedFiles[max(0, len(a.RemovedFiles)-MaxRemovedFiles):])
	return place
}

// RestoreFile puts a document that was dropped at a place, or at the end where there are
// fewer.
func (a *Abstract) RestoreFile(file uint64, place int) {
	a.RemovedFiles = slices.DeleteFunc(a.RemovedFiles, func(id uint64) bool { return id == file })
	a.Files = slices.Insert(a.Files, min(place, len(a.Files)), file)
}

// AbstractDraft is an abstract as it arrived, before any rule was applied.
type AbstractDraft struct {
	TemplateID IDInput
	Custom     Custom
	PropertyDraft
	TaxMap      Input
	NonFilePart bool // a part named like a file was none
}

// Check applies every rule to the draft at once. The template is the one the draft
// names, or the default; nil with found false when the draft names none that can
// be used, nil with found true where there is no template at all.
func (d AbstractDraft) Check(template *Template, found bool, rules Rules) (Abstract, errs.Fields) {
	var f validation
	const field = "template_id"
	if d.TemplateID.Present && !d.TemplateID.Valid {
		f.Add(field, notInteger(field))
	} else if !found {
		f.Add(field, notSelectable(field))
	}
	f.customForm(d.Custom)
	a := Abstract{Property: d.PropertyDraft.check(&f), TaxMap: f.line("tax_map", d.TaxMap, MaxLineLength)}
	f.files(d.NonFilePart, true)
	if template == nil {
		d.Custom.tellIgnored(nil)
		return a, f.Fields
	}
	a.TemplateID, a.Status = template.ID, template.InitialStatus()
	a.Custom = f.checkCustom(d.Custom, template.Fields, rules)
	return a, f.Fields
}

// AbstractPatch is a change of an abstract as it arrived: only what is Present of it.
type AbstractPatch struct {
	TemplateID Optional[IDInput] // may be named, not changed
	Status     Optional[Input]
	Custom     Optional[Custom]
	PropertyPatch
	TaxMap Optional[Input]
	Files  Optional[IDListInput] // its documents in another order
}

// Check applies the change to the abstract as it is, and every rule to what was
// sent, at once. The template is the abstract's own, retired or not; nil where it
// has none. What was not sent is not judged, and values whose keys the template
// has lost stay.
func (p AbstractPatch) Check(old Abstract, template *Template, rules Rules) (Abstract, errs.Fields) {
	var f validation
	var defs []Field
	var statuses []string
	if template != nil {
		defs, statuses = template.Fields, template.Statuses
	}
	a := old
	f.fixed("template_id", p.TemplateID, old.TemplateID)
	a.Status = f.changedStatus(p.Status, old.Status, statuses)
	f.customForm(p.Custom.Value)
	a.Property = p.PropertyPatch.check(&f, old.Property)
	a.TaxMap = f.changedLine("tax_map", p.TaxMap, old.TaxMap)
	a.Files = f.reordered("files", p.Files, old.Files)
	a.Custom = f.changedCustom(p.Custom, old.Custom, defs, rules)
	return a, f.Fields
}

// fixed refuses another number than the one there is.
func (f *validation) fixed(field string, in Optional[IDInput], have uint64) {
	n := in.Value
	switch {
	case !in.Present || !n.Present && have == 0:
	case n.Present && !n.Valid:
		f.Add(field, notInteger(field))
	case !n.Present || n.Value <= 0 || uint64(n.Value) != have:
		f.Add(field, "The "+spoken(field)+" field cannot be changed.")
	}
}

// reordered gives the same numbers in the order sent.
func (f *validation) reordered(field string, in Optional[IDListInput], have []uint64) []uint64 {
	switch {
	case !in.Present:
		return have
	case !in.Value.IsArray:
		f.Add(field, notArray(field))
		return have
	}
	left := make(map[uint64]bool, len(have))
	for _, id := range have {
		left[id] = true
	}
	order := make([]uint64, 0, len(have))
	for _, n := range in.Value.Items {
		id := uint64(max(n.Value, 0))
		if !n.Present || !n.Valid || !left[id] {
			f.Add(field, notSelectable(field))
			return have
		}
		delete(left, id)
		order = append(order, id)
	}
	if len(left) > 0 {
		f.Add(field, notSelectable(field))
		return have
	}
	return order
}

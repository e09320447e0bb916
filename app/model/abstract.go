package model

import (
	"slices"
	"time"

	"deedkeep/app/errs"
)

// Abstract is a title abstract: the search of one property, and its documents.
type Abstract struct {
	ID         uint64 `json:"id"`
	TemplateID uint64 `json:"template_id,omitempty"` // 0: created when no template existed
	Status     string `json:"status,omitempty"`      // "" if the template has no statuses
	Property
	TaxMap       string    `json:"tax_map,omitempty"`
	Custom       Values    `json:"custom,omitempty"`
	Files        []uint64  `json:"files,omitempty"` // in display order
	RemovedFiles []uint64  `json:"gone,omitempty"`  // most recently removed last, up to MaxRemovedFiles
	Version      uint64    `json:"version"`         // incremented together with UpdatedAt
	CreatedAt    time.Time `json:"created_at"`
	UpdatedAt    time.Time `json:"updated_at"`
	Trashed      *Trashed  `json:"trashed,omitempty"`
}

// MaxRemovedFiles is how many removed documents an abstract remembers. Older entries are
// dropped first.
const MaxRemovedFiles = 1_000

// RemoveFile removes a document from the abstract and returns its former position, or 0 if it
// wasn't there.
func (a *Abstract) RemoveFile(file uint64) (place int) {
	place = max(0, slices.Index(a.Files, file))
	a.Files = slices.DeleteFunc(a.Files, func(id uint64) bool { return id == file })
	a.RemovedFiles = append(a.RemovedFiles, file)
	a.RemovedFiles = slices.Clone(a.RemovedFiles[max(0, len(a.RemovedFiles)-MaxRemovedFiles):])
	return place
}

// RestoreFile puts a removed document back at position, or at the end if the list is shorter.
func (a *Abstract) RestoreFile(file uint64, place int) {
	a.RemovedFiles = slices.DeleteFunc(a.RemovedFiles, func(id uint64) bool { return id == file })
	a.Files = slices.Insert(a.Files, min(place, len(a.Files)), file)
}

// AbstractDraft is the input for a new abstract, before validation.
type AbstractDraft struct {
	TemplateID IDInput
	Custom     Custom
	PropertyDraft
	TaxMap      Input
	NonFilePart bool // a "files" part of the form is not a file
}

// Check validates the draft and returns all errors at once. template is the one that the draft
// names, or the default. It is nil with found false if the named template doesn't exist or is
// retired, and nil with found true if there are no templates at all.
func (d AbstractDraft) Check(template *Template, found bool, rules Rules) (Abstract, errs.Fields) {
	var f validation
	const field = "template_id"
	if d.TemplateID.Present && !d.TemplateID.Valid {
		f.Add(field, MsgNotInteger(field))
	} else if !found {
		f.Add(field, MsgInvalidChoice(field))
	}
	f.checkCustomKind(d.Custom)
	a := Abstract{Property: d.PropertyDraft.check(&f), TaxMap: f.line("tax_map", d.TaxMap, MaxLineLength)}
	f.files(d.NonFilePart, true)
	if template == nil {
		d.Custom.reportUnknownKeys(nil)
		return a, f.Fields
	}
	a.TemplateID, a.Status = template.ID, template.InitialStatus()
	a.Custom = f.checkCustom(d.Custom, template.Fields, rules)
	return a, f.Fields
}

// AbstractPatch is the input for a change of an abstract. Only fields that are Present are
// changed.
type AbstractPatch struct {
	TemplateID Optional[IDInput] // may be sent, but not changed
	Status     Optional[Input]
	Custom     Optional[Custom]
	PropertyPatch
	TaxMap Optional[Input]
	Files  Optional[IDListInput] // the same documents in another order
}

// Check applies the patch to old and returns all errors at once. template is the abstract's
// own, retired or not, or nil if it has none. Fields that weren't sent aren't validated, and
// values of custom fields that the template no longer defines are kept.
func (p AbstractPatch) Check(old Abstract, template *Template, rules Rules) (Abstract, errs.Fields) {
	var f validation
	var defs []Field
	var statuses []string
	if template != nil {
		defs, statuses = template.Fields, template.Statuses
	}
	a := old
	f.checkUnchanged("template_id", p.TemplateID, old.TemplateID)
	a.Status = f.changedStatus(p.Status, old.Status, statuses)
	f.checkCustomKind(p.Custom.Value)
	a.Property = p.PropertyPatch.check(&f, old.Property)
	a.TaxMap = f.changedLine("tax_map", p.TaxMap, old.TaxMap)
	a.Files = f.reorderIDs("files", p.Files, old.Files)
	a.Custom = f.changedCustom(p.Custom, old.Custom, defs, rules)
	return a, f.Fields
}

// checkUnchanged rejects a number other than the current one.
func (f *validation) checkUnchanged(field string, in Optional[IDInput], have uint64) {
	n := in.Value
	switch {
	case !in.Present || !n.Present && have == 0:
	case n.Present && !n.Valid:
		f.Add(field, MsgNotInteger(field))
	case !n.Present || n.Value <= 0 || uint64(n.Value) != have:
		f.Add(field, "The "+displayName(field)+" field cannot be changed.")
	}
}

// reorderIDs returns the IDs of have in the order sent. It rejects a list that isn't a
// permutation of have.
func (f *validation) reorderIDs(field string, in Optional[IDListInput], have []uint64) []uint64 {
	switch {
	case !in.Present:
		return have
	case !in.Value.IsArray:
		f.Add(field, msgNotArray(field))
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
			f.Add(field, MsgInvalidChoice(field))
			return have
		}
		delete(left, id)
		order = append(order, id)
	}
	if len(left) > 0 {
		f.Add(field, MsgInvalidChoice(field))
		return have
	}
	return order
}

// FileNumber returns the firm's own file number, or "" if the abstract has none.
func (a Abstract) FileNumber() string { return a.Custom.text(keyFileNumber) }

// ParcelID returns the tax map or parcel number, or "" if the abstract has none.
func (a Abstract) ParcelID() string {
	if a.TaxMap != "" {
		return a.TaxMap
	}
	return a.Custom.text(keyParcel)
}

// Heading returns the name to show for an abstract: its file number, else its address, else its
// parcel ID. It is "" if the abstract has none of them.
func (a Abstract) Heading() string {
	if n := a.FileNumber(); n != "" {
		return n
	}
	if line := a.FullAddress(); line != "" {
		return line
	}
	return a.ParcelID()
}

// Subheading returns the line to show below Heading: address and parcel ID, without the one
// that is already the heading.
func (a Abstract) Subheading() string {
	line, parcel, heading := a.FullAddress(), a.ParcelID(), a.Heading()
	if line == heading {
		line = ""
	}
	if parcel == heading {
		parcel = ""
	}
	return joinNonEmpty(" · ", line, parcel)
}

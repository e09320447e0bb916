package model

import (
	"slices"
	"time"

	"deedkeep/app/errs"
)

// Abstract is a title abstract: the title search for one property, and its documents.
type Abstract struct {
	ID         uint64 `json:"id"`
	TemplateID uint64 `json:"template_id,omitempty"` // 0: created when no template existed
	Status     string `json:"status,omitempty"`      // "" if the template has no statuses
	Property
	TaxMap       string       `json:"tax_map,omitempty"`
	Custom       CustomValues `json:"custom,omitempty"`
	Files        []uint64     `json:"files,omitempty"` // in display order
	RemovedFiles []uint64     `json:"gone,omitempty"`  // in order of removal, up to MaxRemovedFiles
	Version      uint64       `json:"version"`         // incremented together with UpdatedAt
	CreatedAt    time.Time    `json:"created_at"`
	UpdatedAt    time.Time    `json:"updated_at"`
	Trashed      *Trashed     `json:"trashed,omitempty"`
	// RetainedUntil is the end of the retention period of documents that left the abstract, and of
	// what it contained when it was last moved to the trash. It never becomes earlier.
	RetainedUntil time.Time `json:"retained_until,omitzero"`
}

// MaxRemovedFiles is the maximum length of Abstract.RemovedFiles. The oldest entries are dropped
// first.
const MaxRemovedFiles = 1_000

// RemoveFile removes a document from the abstract and returns its former position, or 0 if it
// wasn't there.
func (a *Abstract) RemoveFile(file uint64) (position int) {
	position = max(0, slices.Index(a.Files, file))
	a.Files = slices.DeleteFunc(a.Files, func(id uint64) bool { return id == file })
	a.RemovedFiles = append(a.RemovedFiles, file)
	a.RemovedFiles = slices.Clone(a.RemovedFiles[max(0, len(a.RemovedFiles)-MaxRemovedFiles):])
	return position
}

// RestoreFile inserts a removed document at position, or at the end if the list is now
// shorter than that.
func (a *Abstract) RestoreFile(file uint64, position int) {
	a.RemovedFiles = slices.DeleteFunc(a.RemovedFiles, func(id uint64) bool { return id == file })
	a.Files = slices.Insert(a.Files, min(position, len(a.Files)), file)
}

// AbstractDraft is the input for a new abstract, before validation.
type AbstractDraft struct {
	TemplateID  IDInput
	Fields      Inputs
	Custom      Custom
	NonFilePart bool // the form has a "files" part that isn't a file
}

// Check validates the draft and returns all errors, not just the first. template is the template
// that the draft requests, or the default template. If the requested template doesn't exist or is
// retired, template is nil and found is false. If there are no templates at all, template is nil
// and found is true.
func (d AbstractDraft) Check(template *Template, found bool, rules Rules) (Abstract, errs.Fields) {
	var f validation
	const field = "template_id"
	if d.TemplateID.Present && !d.TemplateID.Valid {
		f.Add(field, errs.NotInteger)
	} else if !found {
		f.Add(field, errs.InvalidChoice)
	}
	f.checkCustomKind(d.Custom)
	var a Abstract
	setTexts(&f, abstractTexts, &a, d.Fields)
	f.files(d.NonFilePart, true)
	if template == nil {
		d.Custom.reportUnknownKeys(nil)
		return a, f.Fields
	}
	a.TemplateID, a.Status = template.ID, template.initialStatus()
	a.Custom = f.checkCustom(d.Custom, template.Fields, rules)
	return a, f.Fields
}

// AbstractPatch is the input for updating an abstract. Only the fields that it has are changed.
type AbstractPatch struct {
	TemplateID Optional[IDInput] // if sent, must be the current template
	Fields     Inputs
	Custom     Optional[Custom]
	Files      Optional[IDListInput] // the same documents in a new order
}

// Check applies the patch to old and returns all errors, not just the first. template is the
// abstract's template, even if it is retired, or nil if the abstract has none. Fields that
// weren't sent aren't validated. Custom fields that the template no longer defines keep their
// values.
func (p AbstractPatch) Check(old Abstract, template *Template, rules Rules) (Abstract, errs.Fields) {
	f := validation{status: old.Status}
	var defs []Field
	if template != nil {
		defs, f.statuses = template.Fields, template.Statuses
	}
	a := old
	f.checkUnchanged("template_id", p.TemplateID, old.TemplateID)
	setTexts(&f, abstractStatus, &a, p.Fields)
	f.checkCustomKind(p.Custom.Value)
	setTexts(&f, abstractTexts, &a, p.Fields)
	a.Files = f.reorderIDs("files", p.Files, old.Files)
	a.Custom = f.changedCustom(p.Custom, old.Custom, defs, rules)
	return a, f.Fields
}

// checkUnchanged reports an error if the patch contains the field with a value other than have,
// the current ID.
func (v *validation) checkUnchanged(field string, in Optional[IDInput], have uint64) {
	n := in.Value
	switch {
	case !in.Present || !n.Present && have == 0:
	case n.Present && !n.Valid:
		v.Add(field, errs.NotInteger)
	case !n.Present || n.Value <= 0 || uint64(n.Value) != have:
		v.Add(field, "The {field} field cannot be changed.")
	}
}

// reorderIDs returns the IDs in the order sent, or have if they weren't sent. It reports an error
// if the list isn't a permutation of have, the current list.
func (v *validation) reorderIDs(field string, in Optional[IDListInput], have []uint64) []uint64 {
	switch {
	case !in.Present:
		return have
	case !in.Value.IsArray:
		v.Add(field, errs.NotArray)
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
			v.Add(field, errs.InvalidChoice)
			return have
		}
		delete(left, id)
		order = append(order, id)
	}
	if len(left) > 0 {
		v.Add(field, errs.InvalidChoice)
		return have
	}
	return order
}

// The fields that every abstract has: the status, which changes apart from the others, and those of the property.
var (
	abstractStatus = []textField[Abstract]{
		{FieldLabel: FieldLabel{Name: statusName, Label: "Status", Type: Choice},
			text:  func(a *Abstract) *string { return &a.Status },
			check: (*validation).changedStatus, find: foundAsText},
	}
	abstractTexts = append(propertyFields(func(a *Abstract) *Property { return &a.Property }), textField[Abstract]{
		FieldLabel: FieldLabel{Name: "tax_map", Label: "Parcel ID"},
		text:       func(a *Abstract) *string { return &a.TaxMap },
		check:      lineUpTo(MaxLineLength), find: foundAsNumber, apiLabel: "Tax Map"})
)

var loggedAbstractFields = slices.Concat(loggedTexts(abstractStatus), loggedTexts(abstractTexts),
	[]recordField[Abstract]{
		{FieldLabel{Name: "files", Label: "Documents", Refers: "file", IsSequence: true},
			func(a *Abstract) any { return a.Files }},
		{FieldLabel{Name: customName}, func(a *Abstract) any { return a.Custom }},
	})

// Changes returns the differences between a and its new version, with API field names.
func (a Abstract) Changes(to Abstract) []Change { return compareRecords(loggedAbstractFields, a, to) }

// Reverted is like Order.Reverted.
func (a Abstract) Reverted(before, after Abstract) (reverted Abstract, ok bool) {
	r := reversal{}
	revertTexts(&r, abstractStatus, &a, &before, &after)
	revertTexts(&r, abstractTexts, &a, &before, &after)
	revert(&r, &a.Files, before.Files, after.Files)
	r.custom(&a.Custom, before.Custom, after.Custom)
	return a, !r.changed
}

// FieldValues returns the values of the fields that every abstract has, in display order, except the status.
func (a Abstract) FieldValues() []FieldValue { return fieldValues(abstractTexts, &a) }

// AbstractInputs returns the names of the fields of AbstractDraft.Fields. AbstractPatch also has the status.
func AbstractInputs() []string { return inputNames(abstractTexts) }

// FileNumber returns the firm's own file number, or "" if the abstract has none.
func (a Abstract) FileNumber() string { return a.Custom.Text(KeyFileNumber) }

// ParcelID returns the tax map or parcel number, or "" if the abstract has none.
func (a Abstract) ParcelID() string {
	if a.TaxMap != "" {
		return a.TaxMap
	}
	return a.Custom.Text(keyParcel)
}

// Heading returns the display name of an abstract: its file number, or else its address, or else
// its parcel ID. It returns "" if the abstract has none of these.
func (a Abstract) Heading() string {
	if n := a.FileNumber(); n != "" {
		return n
	}
	if line := a.FullAddress(); line != "" {
		return line
	}
	return a.ParcelID()
}

// Subheading returns the line to show below Heading: the address and the parcel ID, except the
// one that Heading returns.
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

package title

import "time"

// Abstract is a title abstract: the search of one property, and its documents.
type Abstract struct {
	ID         uint64 `json:"id"`
	TemplateID uint64 `json:"template_id,omitempty"` // 0: made where there was no template
	Status     string `json:"status,omitempty"`      // "" when the template has statuses off
	Property
	TaxMap    string    `json:"tax_map,omitempty"`
	Custom    Values    `json:"custom,omitempty"`
	Files     []uint64  `json:"files,omitempty"` // in the order attached
	Version   uint64    `json:"version"`         // moves with UpdatedAt
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Trashed   *Trashed  `json:"trashed,omitempty"`
}

// AbstractDraft is an abstract as it arrived, before any rule was applied.
type AbstractDraft struct {
	TemplateID Number
	Custom     Custom
	PropertyDraft
	TaxMap  Input
	NotFile bool // a part named like a file was none
}

// Check applies every rule to the draft at once. The template is the one the draft
// names, or the default; nil with found false when the draft names none that can
// be used, nil with found true where there is no template at all.
func (d AbstractDraft) Check(template *Template, found bool, rules Rules) (Abstract, Fields) {
	var f Fields
	const field = "template_id"
	if d.TemplateID.Present && !d.TemplateID.Valid {
		f.Add(field, notInteger(field))
	} else if !found {
		f.Add(field, notSelectable(field))
	}
	f.customForm(d.Custom)
	a := Abstract{Property: d.PropertyDraft.check(&f), TaxMap: f.line("tax_map", d.TaxMap, MaxLine)}
	f.files(d.NotFile, true)
	if template != nil {
		a.TemplateID, a.Status = template.ID, template.FirstStatus()
		a.Custom = f.checkCustom(d.Custom, template.Fields, rules)
	}
	return a, f
}

package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"deedkeep/app/errs"
)

// Category is a group of document types. Its value is the name in the API; see Label.
type Category string

// Categories of document types, in the order in which they are listed.
const (
	Conveyance  Category = "Conveyance"
	Security    Category = "Security"
	Release     Category = "Release"
	Lien        Category = "Lien"
	Restriction Category = "Easements and Restrictions"
	PlatSurvey  Category = "Plats and Surveys"
	Court       Category = "Court"
	Tax         Category = "Tax"
	Support     Category = "Support"
)

// Label returns the name that people see.
func (c Category) Label() string {
	switch c {
	case Security:
		return "Mortgages and Security Instruments"
	case Support:
		return "Supporting Documents"
	}
	return string(c)
}

// Categories returns all categories in the order in which they are listed.
func Categories() []Category {
	return []Category{Conveyance, Security, Release, Lien, Restriction, PlatSurvey, Court, Tax, Support}
}

// DocumentType is a type of instrument, such as Warranty Deed. A type that is no longer offered is
// retired, never deleted, because instruments refer to it.
type DocumentType struct {
	ID          uint64   `json:"id"`
	Name        string   `json:"name"`
	Category    Category `json:"category"`
	Encumbrance bool     `json:"encumbrance,omitempty"` // open until it is released or expires
	Retired     bool     `json:"retired,omitempty"`

	// The labels of the parties in this firm, such as Mortgagor and Mortgagee. "" for the usual one; see Parties.
	GrantorLabel string `json:"grantor_label,omitempty"`
	GranteeLabel string `json:"grantee_label,omitempty"`
}

// Label returns what an instrument of the type is called: the name of the type, or "Instrument" if it has
// no type.
func (t DocumentType) Label() string { return cmp.Or(t.Name, "Instrument") }

// IsFiled reports whether instruments of the type are filed, not recorded: judgments, financing statements,
// and notices of lis pendens.
func (t DocumentType) IsFiled() bool {
	return containing("UCC")(t) || named("Judgment", "Lis Pendens")(t)
}

// RecordedLabel returns what the recording date is called.
func (t DocumentType) RecordedLabel() string {
	if t.IsFiled() {
		return "Filed"
	}
	return "Recorded"
}

// StatusText returns the display text of an instrument's effective status, or "" if it doesn't apply.
// The status "" can't be determined. An easement is in effect, not open.
func (t DocumentType) StatusText(status string) string {
	switch {
	case status == InstrumentOpen && t.Category == Restriction:
		return "In effect"
	case status == InstrumentOpen:
		return "Open"
	case status == InstrumentReleased && t.Category == Lien:
		return "Released or satisfied"
	case status == InstrumentReleased:
		return "Released"
	case status == InstrumentExpired:
		return "Expired"
	case status == "":
		return "Unknown"
	}
	return ""
}

// DocumentTypes is the list of document types of a vault, in display order.
type DocumentTypes []DocumentType

// documentTypesField is the list of document types as a field.
var documentTypesField = FieldLabel{Name: "document_types", Label: "Document types", Rows: []FieldLabel{
	{Name: "id", Type: identity}, {Name: "name", Label: "Name"}, {Name: "category", Label: "Category"},
	{Name: "encumbrance", Label: "Encumbrance"}, {Name: "retired", Label: "Retired"},
	{Name: "grantor_label", Label: "Label for grantors"}, {Name: "grantee_label", Label: "Label for grantees"}}}

// Changes returns the differences between two versions of the list.
func (d DocumentTypes) Changes(to DocumentTypes) []Change {
	var c changes
	c.addValue(documentTypesField, d, to)
	return c
}

// Offered returns the types that are not retired.
func (d DocumentTypes) Offered() DocumentTypes {
	return slices.DeleteFunc(slices.Clone(d), func(t DocumentType) bool { return t.Retired })
}

// ByID returns a type, retired or not.
func (d DocumentTypes) ByID(id uint64) (DocumentType, bool) {
	i := slices.IndexFunc(d, func(t DocumentType) bool { return t.ID == id })
	if i < 0 {
		return DocumentType{}, false
	}
	return d[i], true
}

// ByName returns the type with this name, ignoring case and repeated spaces. It also finds a type by its
// name in earlier versions.
func (d DocumentTypes) ByName(name string) (DocumentType, bool) {
	name = foldWords(name)
	for _, name := range []string{name, foldWords(renamedTypes[name])} {
		i := slices.IndexFunc(d, func(t DocumentType) bool { return foldWords(t.Name) == name })
		if i >= 0 && name != "" {
			return d[i], true
		}
	}
	return DocumentType{}, false
}

// renamedTypes are the document types whose name was changed, by their folded name before.
var renamedTypes = map[string]string{"ucc": financingStatement}

// Names of document types that replace those of earlier versions.
const (
	financingStatement = "UCC Financing Statement"
	sheriffsOrTaxDeed  = "Sheriff's or Tax Deed"
)

// Renew returns a list that was stored by an earlier version with the names of this one. It doesn't change
// types that the firm edited. The combined type for sheriff's deeds and tax deeds is retired in favor of
// one for each.
func (d DocumentTypes) Renew() DocumentTypes {
	d = slices.Clone(d)
	next := uint64(0)
	for n, t := range d {
		next = max(next, t.ID)
		if t.Name == "UCC" && t.Category == Security {
			d[n].Name = financingStatement
		}
	}
	at := slices.IndexFunc(d, func(t DocumentType) bool { return t.Name == sheriffsOrTaxDeed && t.Category == Conveyance })
	if at < 0 || d[at].Retired || len(d) > maxDocumentTypes-2 {
		return d
	}
	d[at].Retired = true
	for _, name := range []string{"Sheriff's Deed", "Tax Deed"} {
		if _, exists := d.ByName(name); !exists {
			next, at = next+1, at+1
			d = slices.Insert(d, at, DocumentType{ID: next, Name: name, Category: Conveyance})
		}
	}
	return d
}

// selectable reports whether new instruments may have the type. A retired type isn't, except the combined
// one for sheriff's deeds and tax deeds, which API clients of earlier versions send.
func (t DocumentType) selectable() bool { return !t.Retired || t.Name == sheriffsOrTaxDeed }

// foldWords returns the words of a text in lower case with single spaces.
func foldWords(s string) string { return strings.Join(strings.Fields(Fold(s)), " ") }

// maxPartyLabel is the maximum length of the label of a party, in characters.
const maxPartyLabel = 40

// maxDocumentTypes is the maximum number of document types, including the retired ones.
const maxDocumentTypes = 500

// Check validates a new version of the list against the current one, and returns it with IDs.
// A type without an ID gets the ID of the current type with the same name, or else a new one. The
// types of the current list that are missing are retired and come last.
func (d DocumentTypes) Check(current DocumentTypes) (DocumentTypes, errs.Fields) {
	var f validation
	next := uint64(0)
	for _, t := range current {
		next = max(next, t.ID)
	}
	if len(d) > maxDocumentTypes {
		f.Add("types", errs.TooMany, maxDocumentTypes)
		return nil, f.Fields
	}
	checked := DocumentTypes{}
	for n, t := range d {
		field := fmt.Sprintf("types.%d.name", n)
		t.Name = f.line(field, StringInput(t.Name), MaxNameLength)
		t.Category = parseCategory(t.Category)
		t.GrantorLabel = f.line(fmt.Sprintf("types.%d.grantor_label", n), StringInput(t.GrantorLabel), maxPartyLabel)
		t.GranteeLabel = f.line(fmt.Sprintf("types.%d.grantee_label", n), StringInput(t.GranteeLabel), maxPartyLabel)
		t = t.withoutUsualLabels()
		known, exists := current.ByID(t.ID)
		if t.ID == 0 {
			known, exists = current.ByName(t.Name)
		}
		switch {
		case t.Name == "":
			f.Add(field, errs.Required)
		case t.ID != 0 && !exists:
			f.Add(field, errs.InvalidChoice)
		case !slices.Contains(Categories(), t.Category):
			f.Add(fmt.Sprintf("types.%d.category", n), "The {field} field must be one of: %s.", joinCategories())
		}
		if _, twice := checked.ByName(t.Name); twice {
			f.Add(field, errs.Taken)
		}
		if t.ID = known.ID; !exists {
			next++
			t.ID = next
		}
		checked = append(checked, t)
	}
	for _, t := range current {
		if _, kept := checked.ByID(t.ID); !kept {
			t.Retired = true
			checked = append(checked, t)
		}
	}
	return checked, f.Fields
}

// parseCategory returns the category that a name in the API or on pages stands for. Another name is
// returned unchanged.
func parseCategory(name Category) Category {
	for _, c := range Categories() {
		if strings.EqualFold(string(name), string(c)) || strings.EqualFold(string(name), c.Label()) {
			return c
		}
	}
	return name
}

func joinCategories() string {
	var names []string
	for _, c := range Categories() {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}

// NewDocumentTypes returns the document types of a new vault.
func NewDocumentTypes() DocumentTypes {
	groups := []struct {
		category    Category
		encumbrance bool
		names       []string
	}{
		{Conveyance, false, []string{"Warranty Deed", "Special Warranty Deed", "Quitclaim Deed", "Fiduciary Deed", sheriffsOrTaxDeed,
			"Corrective Deed"}},
		{Security, true, []string{"Mortgage", "Deed of Trust"}},
		{Security, false, []string{"Assignment", "Modification", "Subordination"}},
		{Security, true, []string{"Assignment of Rents", financingStatement}},
		{Release, false, []string{"Release or Satisfaction", "Partial Release", "Reconveyance"}},
		{Lien, true, []string{"Judgment", "Federal Tax Lien", "State Tax Lien", "Mechanic's Lien", "Municipal Lien", "HOA Lien", "Lis Pendens"}},
		{Restriction, true, []string{"Easement or Right of Way", "Restrictions", "Lease", "Oil and Gas Lease", "Agreement", "Party Wall"}},
		{PlatSurvey, false, []string{"Plat", "Survey"}},
		{Court, false, []string{"Probate", "Divorce", "Bankruptcy", "Name Change"}},
		{Tax, false, []string{"Tax Certificate", "Tax Bill"}},
		{Support, false, []string{"Power of Attorney", "Affidavit", "Death Certificate", "Starter", "Correspondence", "Other"}},
	}
	var list DocumentTypes
	for _, g := range groups {
		for _, name := range g.names {
			list = append(list, DocumentType{ID: uint64(len(list) + 1), Name: name, Category: g.category, Encumbrance: g.encumbrance})
		}
	}
	// A deed of an unknown kind comes after the other deeds. Its ID is the last one, so that the others
	// have the same IDs as in vaults from before this type.
	deed := DocumentType{ID: uint64(len(list) + 1), Name: "Deed", Category: Conveyance}
	return slices.Insert(list, len(groups[0].names), deed).Renew()
}

// PartySide is what the grantors or the grantees of a document type are.
type PartySide struct {
	Label string // such as "Mortgagor"
	Owner bool   // they have an interest in the property itself: owners and borrowers, not lenders or plaintiffs
}

// partySides are the parties of document types. The first row that applies to a type counts.
var partySides = []struct {
	applies          func(t DocumentType) bool
	grantor, grantee PartySide
}{
	{containing("Mortgage"), PartySide{"Mortgagor", true}, PartySide{"Mortgagee", false}},
	// County indices have the trustee as grantee, the lender, or both.
	{named("Deed of Trust"), PartySide{"Grantor", true}, PartySide{"Trustee or beneficiary", false}},
	{named("Reconveyance"), PartySide{"Trustee", false}, PartySide{"Trustor", true}},
	{containing("UCC"), PartySide{"Debtor", true}, PartySide{"Secured party", false}},
	{named("Mechanic's Lien", "Municipal Lien", "HOA Lien"), PartySide{"Owner", true}, PartySide{"Claimant", false}},
	{containing("Tax Lien"), PartySide{"Taxpayer", true}, PartySide{"Taxing authority", false}},
	{func(t DocumentType) bool { return t.Category == Lien && strings.Contains(t.Name, "Lien") },
		PartySide{"Debtor", true}, PartySide{"Creditor", false}},
	{containing("Lease"), PartySide{"Lessor", true}, PartySide{"Lessee", false}},
	// Owners assign their rents. Lenders assign the rest.
	{func(t DocumentType) bool { return strings.HasPrefix(t.Name, "Assignment") && t.Encumbrance },
		PartySide{"Assignor", true}, PartySide{"Assignee", false}},
	{DocumentType.IsAssignment, PartySide{"Assignor", false}, PartySide{"Assignee", false}},
	{named("Judgment", "Lis Pendens"), PartySide{"Defendant", true}, PartySide{"Plaintiff", false}},
	{named("Divorce"), PartySide{"Defendant", true}, PartySide{"Plaintiff", true}},
	{named("Probate"), PartySide{"Decedent", true}, PartySide{"Devisee or heir", true}},
	{named("Bankruptcy"), PartySide{"Debtor", true}, PartySide{"Trustee", false}},
	{named("Name Change"), PartySide{"Former name", true}, PartySide{"New name", true}},
	{named("Affidavit"), PartySide{"Affiant", true}, PartySide{"Grantee", true}},
	{named("Death Certificate"), PartySide{"Decedent", true}, PartySide{"Survivor or heir", true}},
	{named("Power of Attorney"), PartySide{"Principal", true}, PartySide{"Attorney-in-fact", false}},
	{named("Modification"), PartySide{"Borrower", true}, PartySide{"Lender", false}},
	{named("Subordination"), PartySide{"Grantor", false}, PartySide{"Grantee", false}},
	{in(Release), PartySide{"Grantor", false}, PartySide{"Grantee", true}},
	{in(Tax), PartySide{"Owner", true}, PartySide{"Taxing authority", false}},
	{in(Security, Lien, Restriction, PlatSurvey), PartySide{"Grantor", true}, PartySide{"Grantee", false}},
	{func(DocumentType) bool { return true }, PartySide{"Grantor", true}, PartySide{"Grantee", true}},
}

func named(names ...string) func(DocumentType) bool {
	return func(t DocumentType) bool { return slices.Contains(names, t.Name) }
}

func containing(word string) func(DocumentType) bool {
	return func(t DocumentType) bool { return strings.Contains(t.Name, word) }
}

func in(categories ...Category) func(DocumentType) bool {
	return func(t DocumentType) bool { return slices.Contains(categories, t.Category) }
}

// Parties returns what the grantors and grantees of a document type are. The labels are those of the firm
// or, without them, the usual ones.
func (t DocumentType) Parties() (grantor, grantee PartySide) {
	grantor, grantee = t.usualParties()
	grantor.Label, grantee.Label = cmp.Or(t.GrantorLabel, grantor.Label), cmp.Or(t.GranteeLabel, grantee.Label)
	return grantor, grantee
}

func (t DocumentType) usualParties() (grantor, grantee PartySide) {
	for _, row := range partySides {
		if row.applies(t) {
			return row.grantor, row.grantee
		}
	}
	return grantor, grantee
}

// UsualLabels returns the labels of the parties without those of the firm.
func (t DocumentType) UsualLabels() (grantor, grantee string) {
	g, e := t.usualParties()
	return g.Label, e.Label
}

// LabelOf returns a field of an instrument with the label that it has for this type.
func (t DocumentType) LabelOf(f FieldLabel) FieldLabel {
	grantor, grantee := t.SpecialLabels()
	switch f.Name {
	case "grantors":
		f.Label = cmp.Or(grantor, f.Label)
	case "grantees":
		f.Label = cmp.Or(grantee, f.Label)
	case "recorded":
		f.Label = t.RecordedLabel()
	}
	return f
}

// SpecialLabels returns the labels of the parties, or "" for those that are Grantor and Grantee.
func (t DocumentType) SpecialLabels() (grantor, grantee string) {
	g, e := t.Parties()
	if g.Label == "Grantor" {
		g.Label = ""
	}
	if e.Label == "Grantee" {
		e.Label = ""
	}
	return g.Label, e.Label
}

// PartyLabels returns what the grantor and the grantee are called, such as "Mortgagor / Mortgagee".
func (t DocumentType) PartyLabels() string {
	grantor, grantee := t.Parties()
	return grantor.Label + " / " + grantee.Label
}

// withoutUsualLabels returns t without labels that are the usual ones, so that they follow its name.
func (t DocumentType) withoutUsualLabels() DocumentType {
	grantor, grantee := t.UsualLabels()
	if t.GrantorLabel == grantor {
		t.GrantorLabel = ""
	}
	if t.GranteeLabel == grantee {
		t.GranteeLabel = ""
	}
	return t
}

// SplitParties returns the names of those who are owners or borrowers in an instrument of this type, and of
// those who aren't, such as lenders and plaintiffs.
func (t DocumentType) SplitParties(grantors, grantees []string) (owners, others []string) {
	grantor, grantee := t.Parties()
	for _, side := range []struct {
		PartySide
		names []string
	}{{grantee, grantees}, {grantor, grantors}} {
		if side.Owner {
			owners = append(owners, side.names...)
		} else {
			others = append(others, side.names...)
		}
	}
	return owners, others
}

// SplitInstrument is SplitParties for an instrument. Its other parties, such as a trustee, aren't owners.
func (t DocumentType) SplitInstrument(i Instrument) (owners, others []string) {
	owners, others = t.SplitParties(i.Grantors, i.Grantees)
	for _, p := range i.OtherParties {
		others = append(others, p.Name)
	}
	return owners, others
}

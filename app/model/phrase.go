package model

import (
	"slices"
	"strings"

	"deedkeep/app/errs"
)

// Phrase is a standard sentence of the firm for requirements or exceptions. Placeholders in braces, such as {book}, are
// filled in from an instrument; see the package app/vault/phrases.
type Phrase struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // RequirementKind or ExceptionKind
	Text string `json:"text"`
}

// Phrases is the list of phrases of a vault, in display order. Names are unique, ignoring case and repeated spaces.
type Phrases struct {
	Version uint64   `json:"version"`
	List    []Phrase `json:"list"`
}

// Limits of phrases. Names and texts are counted in characters.
const (
	maxPhrases      = 200
	maxPhraseName   = 100
	maxPhraseLength = 2_000
)

// phrasesField is the list of phrases as a field.
var phrasesField = FieldLabel{Name: "phrases", Label: "Phrases", Rows: []FieldLabel{{Name: "name", Label: "Name"},
	{Name: "kind", Label: "Type", Type: Choice}, {Name: "text", Label: "Text"}}}

// Changes returns the differences between two versions of the list.
func (p Phrases) Changes(to Phrases) []Change {
	var c changes
	c.addValue(phrasesField, p.List, to.List)
	return c
}

// CheckPhrases validates a list of phrases and returns all errors.
func CheckPhrases(in Input) ([]Phrase, errs.Fields) {
	var f validation
	var list []Phrase
	for at, members := range f.rows(in, maxPhrases) {
		phrase := Phrase{
			Name: strings.Join(strings.Fields(f.line(at+"name", members["name"].asText(), maxPhraseName)), " "),
			Kind: choiceOf(RequirementKind, ExceptionKind)(&f, at+"kind", members["kind"].asText()),
			Text: f.line(at+"text", members["text"].asText(), maxPhraseLength),
		}
		f.require(at+"name", phrase.Name)
		f.require(at+"kind", phrase.Kind)
		f.require(at+"text", phrase.Text)
		name := foldWords(phrase.Name)
		if name != "" && slices.ContainsFunc(list, func(other Phrase) bool { return foldWords(other.Name) == name }) {
			f.Add(at+"name", errs.Taken)
		}
		list = append(list, phrase)
	}
	return list, f.Fields
}

// NewPhrases returns the phrases of a new vault.
func NewPhrases() Phrases {
	requirement := func(name, text string) Phrase { return Phrase{name, RequirementKind, text} }
	exception := func(name, text string) Phrase { return Phrase{name, ExceptionKind, text} }
	return Phrases{Version: 1, List: []Phrase{
		requirement("Payoff and release of mortgage",
			"Payment in full of the debt secured by the mortgage from {grantor} to {grantee}, dated {dated}, recorded {recorded}, "+
				"{reference}, in the original principal amount of {amount}, and recording of its satisfaction or release."),
		requirement("Payoff and reconveyance of deed of trust",
			"Payment in full of the debt secured by the deed of trust from {grantor} to {trustee}, Trustee, for the benefit of "+
				"{beneficiary}, dated {dated}, recorded {recorded}, {reference}, in the original principal amount of {amount}, and "+
				"recording of its release or reconveyance."),
		requirement("Satisfaction of judgment",
			"Payment of the judgment in favor of {grantee} against {grantor}, {court}, {reference}, filed {recorded}, in the "+
				"amount of {amount}, plus interest and costs, and filing of its satisfaction or release."),
		requirement("Release of tax lien",
			"Payment of the tax lien in favor of {grantee} against {grantor}, filed {recorded}, {reference}, in the amount of "+
				"{amount}, plus interest and penalties, and filing or recording of its release."),
		requirement("Payment of taxes",
			"Payment of all taxes, charges, and assessments levied and assessed against the land that are due and payable."),
		requirement("Owner's affidavit of liens and possession",
			"Owner's affidavit that all labor and materials furnished to the land have been paid for, that there are no unrecorded "+
				"liens or encumbrances, and that no one other than the owner has a right of possession."),
		requirement("Proof of death and heirs",
			"Proof of the death of {decedent}, and probate of the estate or a recordable affidavit of heirship that names all "+
				"heirs at law, with deeds from all heirs or devisees, joined by their spouses, if any."),
		exception("Easement",
			"Easement or right of way from {grantor} to {grantee}, dated {dated}, recorded {recorded}, {reference}."),
		exception("Restrictions",
			"Covenants, conditions, and restrictions recorded {recorded}, {reference}, but omitting any covenant or restriction "+
				"based on race, color, religion, sex, disability, familial status, national origin, or any other class protected by "+
				"state or federal law, except to the extent that the law permits it."),
		exception("Mineral reservation",
			"Reservation of oil, gas, and other minerals, and of rights incident to them, in the deed from {grantor} to {grantee}, "+
				"dated {dated}, recorded {recorded}, {reference}. Title to the minerals has not been searched after the date of that "+
				"deed."),
	}}
}

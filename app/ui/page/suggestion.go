package page

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"deedkeep/app/vault"
)

// Suggestions is the template data of the notice about suggested instruments
// (part-suggestions.html).
type Suggestions struct {
	Path    string // address of the abstract
	List    []vault.Suggestion
	Missing string // says that they can't be shown
}

// New returns how many of the suggestions are new instruments.
func (s Suggestions) New() (n int) {
	for _, g := range s.List {
		if g.IsNew() {
			n++
		}
	}
	return n
}

// Known returns how many of the suggestions are instruments of the runsheet that lack their document.
func (s Suggestions) Known() int { return len(s.List) - s.New() }

// Suggestions returns the instruments that the names of the documents of an abstract describe.
func (si *Site) Suggestions(ctx context.Context, abstract uint64) Suggestions {
	s := Suggestions{Path: si.AbstractPath(abstract)}
	missing := si.App.Derive(ctx, vault.PartSuggestions, func() (err error) {
		s.List, err = si.App.Instruments.SuggestFromFilenames(ctx, abstract)
		return err
	})
	if missing {
		s.List, s.Missing = nil, MissingText("Suggestions")
	}
	return s
}

// MissingText says that a part of a page is missing; see txn.DB.Derive. what is a plural noun.
func MissingText(what string) string { return what + " can't be shown right now." }

// RepeatText says which instrument a suggestion duplicates, or "" if it duplicates none.
func RepeatText(r vault.Repeat) string {
	switch {
	case r.Existing != 0 && r.Possible:
		return fmt.Sprintf("May already be on the runsheet as No. %d: %s", r.Position, r.Title)
	case r.Existing != 0:
		return fmt.Sprintf("Already on the runsheet as No. %d: %s", r.Position, r.Title)
	case r.EarlierRow != 0 && r.Possible:
		return fmt.Sprintf("May duplicate row %d", r.EarlierRow)
	case r.EarlierRow != 0:
		return fmt.Sprintf("Duplicates row %d", r.EarlierRow)
	}
	return ""
}

// Values of the form field that RowField names.
const (
	RowSkip = "skip"
	rowFill = "fill"
	rowAdd  = "add"
)

// RowField returns the form field for what to do with a row that repeats an instrument.
func RowField(row int) string { return fmt.Sprintf("act.%d", row) }

// RowChoice is an option of what to do with a row that repeats an instrument.
type RowChoice struct {
	Value, Label string
	Chosen       bool
}

// RowChoices returns what users can do with a suggestion that repeats an instrument. The choice in form is
// chosen, or else what is usual. It returns nil if the suggestion repeats none.
func RowChoices(g vault.Suggestion, form url.Values) []RowChoice {
	if g.Existing == 0 && g.EarlierRow == 0 {
		return nil
	}
	list := []RowChoice{{Value: RowSkip, Label: "Skip"}, {Value: rowAdd, Label: "Add anyway"}}
	usual := RowSkip
	if g.Existing != 0 {
		label := fmt.Sprintf("Fill blank fields of No. %d", g.Position)
		if len(g.Files) > 0 {
			label, usual = fmt.Sprintf("Add document to No. %d and fill blank fields", g.Position), rowFill
		}
		list = slices.Insert(list, 1, RowChoice{Value: rowFill, Label: label})
	}
	if g.IsNew() {
		usual = rowAdd
	}
	chosen := form.Get(RowField(g.Row))
	if !slices.ContainsFunc(list, func(c RowChoice) bool { return c.Value == chosen }) {
		chosen = usual
	}
	for n := range list {
		list[n].Chosen = list[n].Value == chosen
	}
	return list
}

// ChosenRows returns the input for the suggestions that a form selects: those that repeat no instrument if
// selected returns true, and the others as chosen in RowChoices. A row that is skipped because it is
// certainly on the runsheet stands for that instrument, so that other rows can relate to it.
func ChosenRows(list []vault.Suggestion, form url.Values, selected func(vault.Suggestion) bool) (inputs []vault.NewInstrument, stores int) {
	rows := map[int]bool{}
	for _, g := range list {
		input, choice := g.Input(), RowSkip
		for _, c := range RowChoices(g, form) {
			if c.Chosen {
				choice = c.Value
			}
		}
		switch {
		case g.Existing == 0 && g.EarlierRow == 0 && selected(g), choice == rowAdd:
			stores++
		case choice == rowFill:
			input.Into = g.Existing
			stores++
		case g.Existing != 0 && !g.Possible:
			input = vault.NewInstrument{Row: g.Row, Into: g.Existing}
		default:
			continue
		}
		rows[g.Row] = true
		inputs = append(inputs, input)
	}
	for n := range inputs {
		inputs[n].Relations = slices.DeleteFunc(slices.Clone(inputs[n].Relations), func(r vault.RowRelation) bool { return !rows[r.Row] })
	}
	return inputs, stores
}

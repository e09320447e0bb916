package instrumentform

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// Fields of a form that asks about a duplicate.
const (
	Answer           = "duplicate"    // AddToDuplicate, or any other text, which keeps both
	fieldDuplicateOf = "duplicate_of" // ID of the instrument that the form repeats
	fieldFill        = "fill"         // set if its blank fields are filled
	fieldThen        = "then"
	fieldAskedThen   = "asked_then" // "then" of the form that was asked about

	// AddToDuplicate is the answer that the document belongs to the instrument that the form repeats.
	AddToDuplicate = "add"
)

// Duplicate is the question about an instrument of the runsheet that the form repeats.
type Duplicate struct {
	ID       uint64
	Position int
	Text     string   // which instrument it is
	Path     string   // its address
	Possible bool     // they differ in another respect, such as the type, so that they can be two instruments
	New      bool     // the form is for a new instrument
	Document bool     // the form has a document
	Fills    []string // labels of the blank fields that the form fills
	Then     string
	First    string // ID of the first field of the form
}

// Then returns what the user wants to do after the form is saved.
func Then(r *page.Request) string {
	if then := r.PostForm.Get(fieldThen); then != "" {
		return then
	}
	return r.PostForm.Get(fieldAskedThen)
}

// AsksDuplicate reports whether saving the changes failed because the form repeats an instrument of the runsheet, so
// that the user must say what to do. The question is in f.Duplicate.
func (f *Form) AsksDuplicate(r *page.Request, patch vault.InstrumentPatch, err error) bool {
	repeat, ok := errors.AsType[*vault.RepeatError](err)
	if !ok {
		return false
	}
	f.Duplicate = &Duplicate{ID: repeat.Existing, Position: repeat.Position, Path: page.InstrumentPath(repeat.Existing), New: f.ID == 0,
		Possible: repeat.Possible, Document: !patch.Input[fieldDocuments].IsBlank(), Then: Then(r), First: f.fields()[0].ID(),
		Text: page.RepeatText(repeat.Repeat)}
	for _, field := range f.fields() {
		if slices.ContainsFunc(field.apiNames(), func(name string) bool { return slices.Contains(repeat.Fills, name) }) {
			f.Duplicate.Fills = append(f.Duplicate.Fills, field.Label)
		}
	}
	f.FocusField("") // the question has it
	return true
}

// AddTo adds the document of a new instrument to the instrument that it repeats and, if the user wants that,
// fills the blank fields of that one. It returns its ID. notice says what was done, and undo is the address
// that undoes it. file is the document beside the form, or 0.
func AddTo(p *page.Site, r *page.Request, abstract, file uint64, patch vault.InstrumentPatch) (id uint64, notice, undo string,
	err error) {
	if id, err = strconv.ParseUint(r.PostForm.Get(fieldDuplicateOf), 10, 63); err != nil {
		return 0, "", "", page.NotFound(r)
	}
	input := patch.Input
	if r.PostForm.Get(fieldFill) == "" {
		input = model.Inputs{fieldDocuments: patch.Input[fieldDocuments]}
	}
	once := page.AddedIdempotency(r, page.InstrumentPath(id))
	added, _, err := p.CreateInstruments(r, abstract,
		[]vault.NewInstrument{{InstrumentPatch: vault.InstrumentPatch{Input: input}, Row: 1, Into: id}}, once)
	if err != nil {
		return 0, "", "", err
	}
	i, err := p.App.Instruments.Get(r.Context(), id)
	notice = fmt.Sprintf("Added to No. %d: %s.", i.Position, i.Title(i.Type))
	if len(added.Undo.Filled) == 0 {
		notice = fmt.Sprintf("No. %d already has all of this.", i.Position)
	}
	return id, notice, p.UndoAdded(abstract, file, once, added), err
}

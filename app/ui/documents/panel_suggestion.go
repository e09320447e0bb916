package documents

import (
	"strings"

	"deedkeep/app/extract"
	"deedkeep/app/model"
	"deedkeep/app/ui/instrumentform"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// suggestedField is a field of an instrument that was read in the text of the document.
type suggestedField struct {
	Input      string // ID of the input that it belongs to
	Label      string
	Value      string // for the input
	Text       string // the same for users
	Page       int
	Line       string
	Confidence *int // 0 to 100; nil if the text is not from OCR
}

// suggestFields sets the suggested fields of a form: all that were read for a new instrument, and those
// that are empty for the only instrument of a document. They have the sequence of the form, and each
// has the line where it was read.
func (p *Pages) suggestFields(r *page.Request, form *panelForm, context instrumentform.Context) {
	var list []vault.Suggestion
	missing := p.Vault.Derive(r.Context(), vault.PartSuggestions, func() (err error) {
		list, err = p.Vault.Instruments.SuggestFromDocument(r.Context(), context.File, form.ID)
		return err
	})
	if missing {
		form.NoSuggestions = page.MissingText("Suggestions")
	}
	if missing || len(list) == 0 {
		return
	}
	g := list[0]
	if form.ID == 0 {
		form.Repeats = page.RepeatText(g.Repeat)
	}
	read := instrumentform.New(instrumentform.BesideDocument, vault.InstrumentView{Instrument: g.Instrument}, context)
	for _, group := range read.Groups {
		for _, field := range group.Fields {
			name := field.Key()
			if name == "type_id" {
				name = extract.Type
			}
			e, found := g.Evidence[name]
			if !found || field.Empty() || form.ID != 0 && !form.Field(field.Key()).Empty() {
				continue
			}
			suggested := suggestedField{Input: field.ID(), Label: field.Label, Value: field.Value(),
				Text: strings.ReplaceAll(field.Value(), "\n", "; "), Page: e.Page, Line: e.Line, Confidence: e.Confidence}
			switch name {
			case extract.Type:
				suggested.Text = g.Type.Name
			case extract.Consideration:
				suggested.Text = page.FormatValues(model.Money, []string{field.Value()})
			}
			form.SuggestedFields = append(form.SuggestedFields, suggested)
		}
	}
}

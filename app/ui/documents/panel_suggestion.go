package documents

import (
	"slices"
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
	Doubtful   bool
	Readings   string // what it may be instead
}

// panelPart is the instrument of a document that a form suggests, if the document has several.
type panelPart struct {
	Number, Count  int // the second of five
	Pages          string
	First          int
	Previous, Next int // first pages of the other suggested ones; 0: none
}

// newPanelPart returns the nth suggestion of a list. It returns nil if the document has one instrument.
func newPanelPart(list []vault.Suggestion, n int) *panelPart {
	g := list[n]
	if g.Parts < 2 {
		return nil
	}
	part := &panelPart{Number: g.Part, Count: g.Parts, Pages: g.Pages, First: model.FirstPage(g.Pages)}
	if n > 0 {
		part.Previous = model.FirstPage(list[n-1].Pages)
	}
	if n+1 < len(list) {
		part.Next = model.FirstPage(list[n+1].Pages)
	}
	return part
}

// suggestionsOf returns the instruments that a document describes. missing is true if they can't be found.
func (p *Pages) suggestionsOf(r *page.Request, work vault.DocumentWork) (list []vault.Suggestion, missing bool) {
	missing = p.App.Derive(r.Context(), vault.PartSuggestions, func() (err error) {
		list, err = p.App.Instruments.SuggestFromDocument(r.Context(), work)
		return err
	})
	return list, missing
}

// partFrom returns the index of the first suggestion that starts at a page or after it, or else of the first one.
func partFrom(list []vault.Suggestion, start int) int {
	return max(slices.IndexFunc(list, func(g vault.Suggestion) bool { return model.FirstPage(g.Pages) >= start }), 0)
}

// nextPart returns the first page of the instrument to record after one that ends before the page start. It
// returns 0 if the document has one instrument, or none is left.
func (v *viewerData) nextPart(start int) int {
	if v.File.Pages == nil || *v.File.Pages < 2 {
		return 0
	}
	list, _ := v.suggestions()
	list = vault.SuggestionsFor(list, 0)
	if len(list) == 0 || list[0].Parts < 2 {
		return 0
	}
	return model.FirstPage(list[partFrom(list, start)].Pages)
}

// suggestFields sets the suggested fields of a form: all that were read for a new instrument, and those
// that are empty for the only instrument of a document. They have the sequence of the form, and each
// has the line where it was read. Of several instruments of the document, a new form suggests the first one
// that starts at the page start or after it, and else the first one.
func (v *viewerData) suggestFields(form *panelForm, context instrumentform.Context, start int) {
	list, missing := v.suggestions()
	list = vault.SuggestionsFor(list, form.ID)
	if missing {
		form.NoSuggestions = page.MissingText("Suggestions")
	}
	if missing || len(list) == 0 {
		return
	}
	n := partFrom(list, start)
	g := list[n]
	form.Part, form.Read = newPanelPart(list, n), g.Instrument
	if form.ID == 0 {
		form.Repeats = page.RepeatText(g.Repeat)
	}
	if form.ID == 0 && form.Part != nil {
		form.Start = form.Part.First
		form.Fill(instrumentform.Pages, g.Pages)
	}
	read := instrumentform.New(instrumentform.BesideDocument, vault.InstrumentView{Instrument: g.Instrument}, context)
	for _, group := range read.Groups {
		for _, field := range group.Fields {
			name := field.Key()
			if name == "type_id" {
				name = extract.Type
			}
			e, found := g.Evidence[name]
			if !found && name == extract.Consideration { // what the instrument says has no amount
				e, found = g.Evidence[extract.ConsiderationText]
			}
			if !found || field.Empty() || form.ID != 0 && !form.Field(field.Key()).Empty() {
				continue
			}
			suggested := suggestedField{Input: field.ID(), Label: field.Label, Value: field.Value(),
				Text: strings.ReplaceAll(field.Value(), "\n", "; "), Page: e.Page, Line: e.Line, Confidence: e.Confidence,
				Doubtful: e.Doubtful, Readings: strings.Join(e.Readings, "; ")}
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

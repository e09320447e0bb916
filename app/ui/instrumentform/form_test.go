package instrumentform

import (
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// browserForm returns what a browser submits for a form that no one changed.
func browserForm(f *Form) url.Values {
	form := url.Values{}
	for _, field := range f.fields() {
		form.Set("was."+field.Name, field.Was)
		for _, row := range field.Rows {
			cells := map[string]string{"kind": row.Kind, "instrument_id": row.Target, "text": row.Text}
			if field.Control == documents {
				cells = map[string]string{"file_id": row.Target, "pages": row.Text}
			}
			for name, cell := range cells {
				form.Set(row.Prefix+"."+name, strings.ReplaceAll(cell, "\n", ""))
			}
		}
		switch {
		case len(field.Rows) > 0:
		case field.Lines > 0:
			form.Set(field.Name, strings.ReplaceAll(field.Value(), "\n", "\r\n"))
		default:
			form.Set(field.Name, strings.ReplaceAll(field.Value(), "\n", ""))
		}
	}
	return form
}

// FuzzForm checks that a form changes nothing if no one changed it, whatever was typed into its fields before.
func FuzzForm(f *testing.F) {
	for _, text := range []string{"", "'", "’", "A; B;", "\"Quill; Ada\"\nPoe", "Trustee: ", ": Poe", "3-9-98",
		"2/30/2024", "$10 & OVC", "$1,234.50",
		"1, 3–5", "9:41 AM", "Bk 1022 Pg 311", "1022/311", "Jose\u0301\u00a0", "line\r\nbreak \n", "\x00", "\xff",
		"\u202e", " tab\tbed ", strings.Repeat("a;", 80)} {
		for n := range 64 { // for each layout, all fields
			f.Add(text, byte(n))
		}
	}
	pages := 7
	about := model.InstrumentContext{Types: model.NewDocumentTypes(), File: func(id uint64) (*int, bool) { return &pages, id == 1 },
		Instrument: func(id uint64) (model.Instrument, bool) { return model.Instrument{ID: id}, id == 2 }}
	c := Context{Sheet: vault.Runsheet{Types: about.Types}, File: 1, Now: time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC),
		Documents: []Choice{{Value: "1", Label: "Deed.pdf"}}}
	f.Fuzz(func(t *testing.T, text string, choice byte) {
		if !utf8.ValidString(text) {
			return
		}
		layout := []Layout{OnPage, BesideDocument}[choice%2]
		old := vault.InstrumentView{Instrument: model.Instrument{ID: 1, AbstractID: 1, Page: "1", Documents: []model.DocumentLink{{FileID: 1}}}}
		form := New(layout, old, c)
		field := form.fields()[int(choice/2)%len(form.fields())]
		typed := url.Values{field.Name: {text}, field.Name + ".0.kind": {"references"}, field.Name + ".0.text": {text},
			field.Name + ".0.file_id": {"1"}, field.Name + ".0.pages": {text}}
		i, rejected := model.CheckInstrument(form.Merge(typed).Input, old.Instrument, about)
		if len(rejected) > 0 {
			return
		}
		kind, _ := about.Types.ByID(i.TypeID)
		again := New(layout, vault.InstrumentView{Instrument: i, Type: kind}, c)
		if patch := again.Merge(browserForm(again)); len(patch.Input) > 0 || again.Conflict {
			t.Errorf("%s %q is stored as %+v, and the unchanged form changes %+v", field.Name, text, i, patch.Input)
		}
	})
}

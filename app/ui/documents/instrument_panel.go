package documents

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"

	"deedkeep/app/model"
	"deedkeep/app/ui/instrumentform"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// instrumentPanel is the template data of the panel beside a document: the instruments of the
// document, a form for one of them, and facts about the abstract.
type instrumentPanel struct {
	File      model.File
	Path      string         // address of the panel, and of its form
	View      string         // address of the viewer with the panel
	Abstract  *abstractFacts // nil if the document isn't in an abstract
	List      []page.InstrumentLine
	Selected  uint64     // ID of the instrument in the form; 0 for a new one
	Form      *panelForm // nil if the user may not write
	HasNext   bool       // the place has a next document
	HasPart   bool       // the document describes another instrument that isn't recorded
	Saved     string     // result of the last action
	Undo      page.UndoForm
	Back      string                // address of the page after Undo
	Focus     bool                  // the first field gets the focus
	PageCount int                   // 0 if pages can't be assigned
	Reading   string                // says that the server reads the text; "" if it has read all pages
	Notes     []instrumentform.Note // about the pages of the selected instrument
}

// abstractFacts are the facts about an abstract that an examiner needs to record instruments.
type abstractFacts struct {
	Path, Heading, FileNumber, ParcelID, Address, Period string
}

// panelState says which instrument the panel shows.
type panelState struct {
	instrument uint64 // 0: the first one of the page
	changed    uint64 // the instrument that was changed; 0 if there is none
	page       int    // page that the viewer shows; 0 if unknown
	blank      bool   // a new instrument, even if the document has others
	start      int    // first page of a new instrument of a packet
	focus      bool
	saved      string
	undo       string // address that undoes the last action; "" if there is none
}

// Values of the query parameter "panel", which opens the panel.
const (
	panelOpen = "1"
	panelNext = "next" // after the instrument of the previous document was saved: the form has the focus
	panelNew  = "new"  // a new instrument, even if the document has others; the form has the focus
)

// panelQuery returns the panel that the query requests. ok is false if it requests none.
func panelQuery(r *page.Request) (state panelState, ok bool) {
	values := r.URL.Query()
	which := values.Get("panel")
	state.instrument, _ = strconv.ParseUint(values.Get("instrument"), 10, 63) // 0 if none is selected
	state.page, state.start = queryInt(r, "page", 0), max(queryInt(r, "start", 0), 0)
	state.blank, state.focus = which == panelNew, which == panelNew || which == panelNext
	return state, which != ""
}

// panelPart serves the panel to the viewer's script. Other browsers get the viewer with the panel.
func (p *Pages) panelPart(r *page.Request) error {
	state, _ := panelQuery(r)
	s, err := p.viewerOf(r, true)
	if err != nil {
		return err
	}
	if !r.IsPart() {
		return r.Redirect(s.panelView(panelOpen))
	}
	return p.showPanel(r, http.StatusOK, s, state, nil)
}

// viewerOf returns the template data of the requested document, without its content. For the panel, it reads the
// runsheet, too, in the same transaction.
func (p *Pages) viewerOf(r *page.Request, panel bool) (s *viewerData, err error) {
	s = &viewerData{}
	s.suggestions = sync.OnceValues(func() ([]vault.Suggestion, bool) { return p.suggestionsOf(r, s.DocumentWork) })
	if panel {
		s.DocumentWork, err = p.App.Instruments.WorkOnDocument(r.Context(), r.PathID)
	} else {
		s.File, err = p.App.Files.Get(r.Context(), r.PathID)
	}
	if err != nil {
		return nil, err
	}
	return s, p.loadPlace(r, s)
}

// panelView returns the address of the viewer with the panel. which is the value of "panel".
func (v *viewerData) panelView(which string) string {
	return page.WithQueryValue(page.DocumentPath(v.File.ID)+v.QueryIn, "panel", which)
}

// PanelPath returns the address of the panel.
func (v *viewerData) PanelPath() string {
	return page.DocumentPath(v.File.ID) + "/instruments" + v.QueryIn
}

// PanelView returns the address of the viewer with the panel.
func (v *viewerData) PanelView() string { return v.panelView(panelOpen) }

// keepPanelOpen makes the links to the previous and next documents open the panel there, too.
func (v *viewerData) keepPanelOpen() {
	for _, d := range []*adjacentDocument{v.Previous, v.Next} {
		if d != nil {
			d.Path = page.WithQueryValue(d.Path, "panel", panelOpen)
		}
	}
}

// showPanel renders the panel. form is the form with submitted values; if it is nil, the panel has
// the form that state asks for.
func (p *Pages) showPanel(r *page.Request, status int, s *viewerData, state panelState, form *panelForm) error {
	panel, err := p.newPanel(r, s, state, form)
	if err != nil {
		return err
	}
	if r.IsPart() {
		return p.RenderPart(r, status, "document.html", "instrument-panel", panel)
	}
	s.Panel = panel
	s.keepPanelOpen()
	return p.showViewer(r, status, s, page.NameProblem{})
}

// newPanel returns the template data of the panel.
func (p *Pages) newPanel(r *page.Request, s *viewerData, state panelState, form *panelForm) (panel *instrumentPanel, err error) {
	panel = &instrumentPanel{
		File: s.File, Path: s.PanelPath(), View: s.PanelView(), HasNext: s.Next != nil,
		Saved: state.saved, Undo: p.NewNotice(r, "", state.undo, "").Undo, Back: s.PanelView(), Focus: state.focus, Form: form,
	}
	if state.changed != 0 {
		panel.Back = page.WithQueryValue(panel.Back, "instrument", strconv.FormatUint(state.changed, 10))
	}
	if s.File.Pages != nil {
		panel.PageCount = *s.File.Pages
	}
	if s.File.AbstractID == 0 {
		return panel, nil
	}
	if r.MayWrite() && !p.OCRIsOff() {
		panel.Reading = readingText(s.File)
	}
	panel.Abstract = p.factsOf(s.Abstract, s.Heading)
	panel.List = page.DocumentInstruments(s.Sheet.Instruments)[s.File.ID]
	if form == nil && r.MayWrite() {
		panel.Form = p.newForm(s, state)
	}
	if panel.Form == nil {
		panel.Selected = selectedInstrument(panel.List, state)
	} else {
		panel.Selected = panel.Form.ID
	}
	panel.Notes, err = instrumentform.Notes(r.Context(), p.Site, panel.Selected, panel.File.ID)
	if panel.Form == nil || err != nil {
		return panel, err
	}
	if part := panel.Form.Part; panel.Form.ID == 0 {
		panel.HasPart = part != nil && part.Previous+part.Next > 0
	} else {
		panel.HasPart = s.nextPart(0) > 0
	}
	panel.addPlace(s.Abstract)
	if panel.PageCount < 2 && panel.Form.Field(instrumentform.Pages).Empty() {
		panel.Form.Remove(instrumentform.Pages)
	}
	switch {
	case panel.Focus && panel.Form.Suggested && panel.Form.NeedsTarget():
		panel.Form.FocusField("relations")
	case panel.Focus:
		panel.Form.Focus()
	}
	return panel, nil
}

// readingText says which page of a document the server reads. It is "" if all pages have been read.
func readingText(f model.File) string {
	waiting := f.PagesWaitingForOCR()
	switch {
	case f.Processing:
		return "Text is being read."
	case waiting == 0:
		return ""
	case f.OCR == nil:
		return fmt.Sprintf("Text is being read: page 1 of %d", waiting)
	}
	return fmt.Sprintf("Text is being read: page %d of %d", f.OCR.Read+1, f.OCR.Pages)
}

// addPlace sets what the fields say about the place of the instrument: where it differs from that of the abstract, and
// that an empty county or state is that of the abstract.
func (p *instrumentPanel) addPlace(a model.Abstract) {
	of, subject := p.Form.Read, "This page "
	if stored := p.Form.Stored(); stored.ID != 0 {
		of, subject = stored, "This instrument "
	}
	for _, difference := range of.PlaceDifferences(a) {
		p.Form.Field(difference.Field).Warning = subject + difference.String() + "."
	}
	otherCounty := of.IsInOtherCounty(a)
	if otherCounty && of.State == "" && a.State != "" {
		p.Form.Field("state").Warning = "Enter the state of " + of.County +
			" County. That of the abstract isn't filled in for another county."
	}
	for name, value := range map[string]string{"county": a.County, "state": a.State} {
		if otherCounty && name == "state" {
			continue
		}
		if field := p.Form.Field(name); value != "" && p.Form.ID == 0 {
			field.Hint = "If blank: " + value + ", from the abstract"
		}
	}
}

// panelForm is the form for an instrument of a document.
type panelForm struct {
	*instrumentform.Form
	Heading         string
	Suggested       bool             // fields are filled in from the document's name
	Start           int              // first page of a new instrument of a packet
	SuggestedFields []suggestedField // read in the text of the document
	Repeats         string           // which instrument of the runsheet the suggestion repeats
	NoSuggestions   string           // says that they can't be shown
	Part            *panelPart       // what is suggested of a document with several instruments; nil if it has one
	Read            model.Instrument // what was read in the text
}

// formOf returns the form for an instrument with its stored values. start is the first page of a new
// instrument of a packet, or 0.
func (p *Pages) formOf(s *viewerData, i vault.InstrumentView, start int) *panelForm {
	form := &panelForm{Heading: "New instrument"}
	if i.ID != 0 {
		form.Heading = i.Type.Label()
	}
	context := instrumentform.Context{Sheet: s.Sheet, File: s.File.ID, Now: p.LocalNow()}
	form.Form = instrumentform.New(instrumentform.BesideDocument, i, context)
	s.suggestFields(form, context, start)
	return form
}

// newForm returns the form for the instrument that state asks for. Without a choice, it is the first one
// of the page that is shown, or else of the document. If there is none, the form is for a new instrument.
func (p *Pages) newForm(s *viewerData, state panelState) *panelForm {
	there := page.DocumentInstruments(s.Sheet.Instruments)[s.File.ID]
	instrument, found := s.Sheet.Find(selectedInstrument(there, state))
	if !found && len(there) == 0 {
		instrument.Instrument = p.App.Instruments.NamedInstrument(s.File, s.Sheet.Types)
	}
	form := p.formOf(s, instrument, state.start)
	form.Suggested = instrument.ID == 0 && instrument.TypeID != 0
	if instrument.ID == 0 && form.Part == nil && s.File.Pages != nil && *s.File.Pages > 1 {
		if form.Start = min(state.start, *s.File.Pages); form.Start > 0 {
			form.Fill(instrumentform.Pages, strconv.Itoa(form.Start))
		}
	}
	return form
}

// selectedInstrument returns the ID of the instrument that state asks for. Without a choice, it is the first one of the page
// that is shown, or else of the document. It returns 0 for a new instrument.
func selectedInstrument(there []page.InstrumentLine, state panelState) uint64 {
	if len(there) == 0 || state.instrument != 0 || state.blank {
		return state.instrument
	}
	onPage := func(line page.InstrumentLine) bool { return model.ContainsPage(line.Pages, state.page) }
	return there[max(0, slices.IndexFunc(there, onPage))].ID
}

// factsOf returns facts about an abstract.
func (p *Pages) factsOf(a model.Abstract, heading string) *abstractFacts {
	facts := &abstractFacts{
		Path: p.AbstractPath(a.ID), Heading: heading, FileNumber: a.FileNumber(), ParcelID: a.TaxMap, Address: a.Address,
	}
	from, through := page.FormatDate(a.Custom.Text(model.KeySearchFrom)), page.FormatDate(a.Custom.Text(model.KeyEffectiveDate))
	switch {
	case from != "" && through != "":
		facts.Period = from + " – " + through
	case from != "":
		facts.Period = "From " + from
	case through != "":
		facts.Period = "Through " + through
	}
	return facts
}

// TrashPath returns the address that moves an instrument to the trash.
func (p *instrumentPanel) TrashPath() string { return instrumentActionPath(p.File.ID, "trash") }

// Part returns the address of the viewer with the form for the suggested instrument that starts at a page.
func (p *instrumentPanel) Part(start int) string {
	to := page.WithQueryValue(p.New(), "start", strconv.Itoa(start))
	return page.WithQueryValue(to, "page", strconv.Itoa(start))
}

// New returns the address of the viewer with the form for a new instrument.
func (p *instrumentPanel) New() string { return page.WithQueryValue(p.View, "panel", panelNew) }

// Select returns the address of the viewer at the first page of an instrument, with its form.
func (p *instrumentPanel) Select(line page.InstrumentLine) string {
	to := page.WithQueryValue(p.View, "instrument", strconv.FormatUint(line.ID, 10))
	return page.WithQueryValue(to, "page", strconv.Itoa(line.FirstPage))
}

// instrumentActionPath returns the address that moves an instrument of a document to the trash or
// restores it.
func instrumentActionPath(file uint64, action string) string {
	return page.DocumentPath(file) + "/instruments/" + action
}

// createUndo returns the address that undoes the creation of an instrument.
func createUndo(file uint64, i vault.InstrumentView) string {
	return page.UndoAddress(instrumentActionPath(file, "trash"), url.Values{"instrument": {strconv.FormatUint(i.ID, 10)}})
}

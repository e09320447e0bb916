package suggestions

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/extract"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// packet is the template data of the page that reviews all instruments of a document together. The form has
// everything that the page shows, so the server stores nothing until the instruments are added.
type packet struct {
	vault.DocumentWork
	Path, Viewer, To string // addresses of the page, of the viewer, and of the abstract
	Parts            []*packetPart
	Doubtful         int // fields and boundaries to compare with the page
	At               int // page that has the focus after instruments were split or joined; 0: none
	FocusButton      bool
	Shown            int    // page in the preview
	Reading          string // says that text of the document is still being read
	Missing          string // says that the suggestions can't be shown
	Problem, Once    string
	Checked          []string    // doubtful fields that a person compared with the page
	Kept             []keptValue // of instruments that were merged into others
	read             int         // pages that instruments can have
}

// maxParts is the maximum number of instruments of a document.
const maxParts = 100

const tooManyParts = "This page can show at most 100 instruments. Add the others in the document's Instruments panel."

// notInAbstract is the message for a document in a folder.
const notInAbstract = "This document is not in an abstract. Move it to an abstract, then add its instruments."

// packetPage shows the instruments of a document, which start on the pages in the query, or else where the text says so.
func (p *Pages) packetPage(r *page.Request) error {
	pk, err := p.packetOf(r, parseStarts(r.URL.Query().Get("starts")))
	if pk == nil || err != nil {
		return err
	}
	return p.showPacket(r, http.StatusOK, pk, nil)
}

// acceptPacket adds the instruments of a form, or shows them again after one was split or joined.
func (p *Pages) acceptPacket(r *page.Request) error {
	pk, err := p.packetOf(r, parseStarts(r.PostForm.Get("starts")))
	if pk == nil || err != nil {
		return err
	}
	if pk.File.AbstractID == 0 {
		return &errs.Error{Kind: errs.Conflict, Message: notInAbstract}
	}
	pk.setUnsure(r.PostForm["unsure"])
	pk.merge(r.PostForm)
	if r.PostForm.Has("stay") { // Enter in a field adds nothing
		return p.showPacket(r, http.StatusOK, pk, r.PostForm)
	}
	starts, at := pk.changedStarts(r.PostForm)
	if at == 0 {
		return p.addPacket(r, pk)
	}
	if len(starts) > maxParts {
		pk.At, pk.Problem = at, tooManyParts
		return p.showPacket(r, http.StatusUnprocessableEntity, pk, r.PostForm)
	}
	next, err := p.packetOf(r, starts)
	if next == nil || err != nil {
		return err
	}
	next.At, next.Shown = at, at
	next.setUnsure(r.PostForm["unsure"])
	return p.showPacket(r, http.StatusOK, next, next.carry(pk, r.PostForm))
}

// parseStarts returns the pages in a list such as "1,4,9". It leaves out other text.
func parseStarts(text string) (starts []int) {
	for part := range strings.SplitSeq(text, ",") {
		if n, err := strconv.Atoi(strings.TrimSpace(part)); err == nil && len(starts) <= maxParts {
			starts = append(starts, n)
		}
	}
	return starts
}

// packetOf reads the instruments of the requested document. It returns nil if it redirects to the viewer, which shows
// documents in the trash.
func (p *Pages) packetOf(r *page.Request, starts []int) (*packet, error) {
	w, err := p.App.Instruments.WorkOnDocument(r.Context(), r.PathID)
	if errs.KindOf(err) == errs.NotFound {
		if _, inTrash := p.App.Files.Trashed(r.Context(), r.PathID); inTrash == nil {
			return nil, r.Redirect(page.DocumentPath(r.PathID))
		}
	}
	if err != nil {
		return nil, err
	}
	w.Starts = starts
	viewer := page.DocumentPath(w.File.ID)
	pk := &packet{DocumentWork: w, Path: viewer + "/packet", Viewer: viewer, Shown: 1, Once: rand.Text()}
	if w.File.AbstractID == 0 {
		return pk, nil
	}
	pk.To = p.AbstractPath(w.File.AbstractID)
	pk.Viewer = page.WithQueryValue(viewer, "in", p.FormatPlace(page.DocumentPlace(w.File)))
	if n := w.File.PagesWaitingForOCR(); w.File.Processing {
		pk.Reading = "The text of this document is still being read."
	} else if n > 0 && !p.OCRIsOff() {
		pk.Reading = "Text of " + page.Plural(n, "page", "pages") + " is still being read."
	}
	if w.File.Pages != nil {
		pk.read = min(*w.File.Pages, extract.MaxDocumentPages)
	}
	if pk.read < 2 {
		return pk, nil
	}
	var list []vault.Suggestion
	missing := p.App.Derive(r.Context(), vault.PartSuggestions, func() (err error) {
		list, err = p.App.Instruments.SuggestFromDocument(r.Context(), w)
		return err
	})
	if missing {
		pk.Missing = page.MissingText("Suggestions")
		return pk, nil
	}
	pk.setParts(list, p.LocalNow())
	return pk, nil
}

// changedStarts returns the pages on which instruments start after the button of a form was pressed, and the page that
// it belongs to. at is 0 if the button neither splits nor joins instruments.
func (pk *packet) changedStarts(form url.Values) (starts []int, at int) {
	for _, part := range pk.Parts {
		starts = append(starts, part.First)
	}
	button := cmp.Or(form.Get("split"), form.Get("join"))
	at, err := strconv.Atoi(button)
	if err != nil || at < 2 || at > pk.read {
		return starts, 0
	}
	starts = slices.DeleteFunc(starts, func(start int) bool { return start == at })
	if form.Has("split") {
		starts = append(starts, at)
	}
	slices.Sort(starts)
	return starts, at
}

// showPacket renders the page. choices are those of a form for instruments that the runsheet has already.
func (p *Pages) showPacket(r *page.Request, status int, pk *packet, choices url.Values) error {
	if err := p.findRepeats(r, pk); err != nil {
		return err
	}
	pk.prepare(choices)
	if r.Method == http.MethodGet {
		p.App.Events.ContinueView(r.Actor, "file.opened", model.RecordRef("file", pk.File.ID))
	}
	return p.RenderPage(r, status, "packet.html", page.Page{Heading: "Split into instruments", Section: "abstracts", Data: pk,
		Scripts: []string{"packet.js"}, Styles: []string{"packet.css"}})
}

// findRepeats sets which instruments the parts repeat.
func (p *Pages) findRepeats(r *page.Request, pk *packet) error {
	list := pk.suggestions()
	if len(list) == 0 {
		return nil
	}
	err := p.App.Instruments.RenewRepeats(r.Context(), pk.File.AbstractID, list)
	for _, g := range list {
		pk.Parts[g.Row-1].Repeat = g.Repeat
	}
	return err
}

// suggestions returns the instruments that aren't recorded yet.
func (pk *packet) suggestions() (list []vault.Suggestion) {
	for _, part := range pk.Parts {
		if part.Form != nil {
			list = append(list, part.Suggestion)
		}
	}
	return list
}

// Seen says which instruments the page shows as already recorded. A form has it, so that the server adds nothing if that
// changed.
func (pk *packet) Seen() string {
	var b strings.Builder
	for _, g := range pk.suggestions() {
		if text := page.RepeatText(g.Repeat); text != "" {
			fmt.Fprintf(&b, "%d %d %t %d;", g.Row, g.Existing, g.Possible, g.EarlierRow)
		}
	}
	return b.String()
}

// addPacket adds the selected instruments.
func (p *Pages) addPacket(r *page.Request, pk *packet) error {
	once := page.AddedIdempotency(r, pk.To)
	added, again, problem, err := p.storePacket(r, pk, once)
	if problem != "" && err == nil { // after a double click, the instruments are recorded
		again, err = p.IsProcessed(r.Context(), once)
		if again && err == nil {
			added.Undo, err = p.App.Instruments.StoredUndo(r.Context(), pk.File.AbstractID, once.KeyHash)
		}
	}
	if err != nil {
		return err
	}
	if problem != "" && !again {
		pk.Problem = problem
		return p.showPacket(r, http.StatusUnprocessableEntity, pk, r.PostForm)
	}
	return p.RedirectWithUndo(r, pk.To, page.AddedText(added, again), p.UndoAdded(pk.File.AbstractID, 0, once, added))
}

// storePacket stores the selected instruments. problem says why none were stored.
func (p *Pages) storePacket(r *page.Request, pk *packet, once vault.Idempotency[vault.Added]) (
	added vault.Added, again bool, problem string, err error) {
	if err := p.findRepeats(r, pk); err != nil {
		return added, false, "", err
	}
	list := pk.suggestions()
	inputs, stores := page.ChosenRows(list, r.PostForm, func(g vault.Suggestion) bool { return pk.Parts[g.Row-1].Chosen })
	switch {
	case pk.setProblems(inputs):
		return added, false, "No instruments were added. Correct the marked fields.", nil
	case r.PostForm.Get("seen") != pk.Seen():
		return added, false, page.ErrorSentence(vault.ErrRunsheetChanged), nil
	case stores == 0:
		return added, false, "No instruments are selected. Select the instruments to add.", nil
	}
	added, again, err = p.CreateInstruments(r, pk.File.AbstractID, inputs, once)
	invalid, ok := errors.AsType[*errs.Error](err)
	switch {
	case errors.Is(err, vault.ErrRunsheetChanged):
		return added, false, page.ErrorSentence(err), nil
	case ok && invalid.Kind == errs.Invalid:
		return added, false, "No instruments were added. " + strings.Replace(rowProblem(invalid.Fields), "Row ", "Instrument ", 1), nil
	}
	return added, again, "", err
}

// StartList returns the pages on which the instruments start.
func (pk *packet) StartList() string {
	var list []string
	for _, part := range pk.Parts {
		list = append(list, strconv.Itoa(part.First))
	}
	return strings.Join(list, ",")
}

// Turn returns the rotation of a page in quarter turns.
func (pk *packet) Turn(n int) int { return pk.File.ShownTurns().Of(n) }

// Unread returns the number of pages that can't belong to an instrument, because they are too many.
func (pk *packet) Unread() int { return *pk.File.Pages - pk.read }

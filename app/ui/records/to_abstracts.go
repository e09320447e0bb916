package records

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/ui/page"
	"deedkeep/app/ui/records/titlework"
	"deedkeep/app/vault"
)

const (
	maxShownPages   = 5        // of the document; the viewer shows the others
	shownPageWidth  = 1275     // the width that the viewer requests first, so that the image is cached
	maxShownText    = 16 << 10 // bytes of a document without page images
	maxFoundChoices = 9        // abstracts that match a text; each has a digit as its key
	maxNewChoices   = 5        // abstracts that were changed last
)

// toAbstractsView is the template data of the page on which the documents of a folder are moved to abstracts, one
// after another.
type toAbstractsView struct {
	Folder          model.Folder // zero for the vault's top level
	Name            string       // of the folder
	Path            string       // address of the page, without a document
	File            model.File   // zero if no document is left
	Moved           int          // number of documents that were moved so far
	Position, Total int          // of the document among those moved and those in the folder
	Left            int          // number of documents in the folder, if no document is shown
	Next            string       // address of the page with the next document
	Pages           []shownPage
	AllPages        int
	Text            string
	Cut             bool   // Text is only the beginning
	NoPreview       string // why the document isn't shown
	Choices         []abstractChoice
	Searched        string // text that Choices match; "" if they are suggestions
	Recent          bool   // no abstract is suggested: Choices were changed last
	Incomplete      bool   // not all suggestions could be found
	Problem         string
}

// FolderPath returns the address of the folder.
func (v toAbstractsView) FolderPath() string { return page.FolderOrVaultPath(v.Folder.ID) }

// Here returns the address of the page with its document.
func (v toAbstractsView) Here() string { return v.address(v.File.ID, v.Moved) }

// Reading reports whether text of the document may still be read.
func (v toAbstractsView) Reading() bool { return v.File.Processing || v.File.PagesWaitingForOCR() > 0 }

// address returns the address of the page with a document. If document is 0, it is that of the end of the folder.
func (v toAbstractsView) address(document uint64, moved int) string {
	values := url.Values{}
	if document != 0 {
		values.Set("document", strconv.FormatUint(document, 10))
	} else {
		values.Set("end", "1")
	}
	if moved > 0 {
		values.Set("moved", strconv.Itoa(moved))
	}
	return page.WithQuery(v.Path, values)
}

// shownPage is the image of a page.
type shownPage struct {
	Page                int
	Source              string
	Width, Height, Turn int // Turn is a clockwise rotation in degrees
}

// Turned reports whether the page is as wide as its image is high.
func (s shownPage) Turned() bool { return s.Turn%180 != 0 }

// abstractChoice is an abstract that the document can be moved to. Key is the digit that selects it.
type abstractChoice struct {
	search.PriorSearch
	Key         int
	Value, Path string
	Chosen      bool
}

// toAbstractsPage serves the page with one document of a folder and the abstracts that it may belong to.
func (p *Pages) toAbstractsPage(r *page.Request) error {
	query := r.URL.Query()
	view, err := p.newToAbstractsView(r, query)
	if err != nil {
		return err
	}
	id, err := strconv.ParseUint(query.Get("document"), 10, 63)
	if err != nil && !query.Has("end") {
		first, err := p.App.Folders.FilePage(r.Context(), view.Folder.ID, vault.ByName, false, 0, 1)
		if err != nil {
			return err
		}
		for _, f := range first.Files {
			id = f.ID
		}
	}
	if id == 0 {
		return p.showEndOfFolder(r, view)
	}
	if found, err := p.loadToMove(r, &view, id); err != nil {
		return err
	} else if !found {
		return p.RedirectWithFailure(r, view.Path, fmt.Sprintf("The document is no longer in “%s”.", view.Name))
	}
	return p.showToAbstracts(r, http.StatusOK, view, query)
}

// newToAbstractsView returns the data of the page without a document. values has the number of moved documents.
func (p *Pages) newToAbstractsView(r *page.Request, values url.Values) (view toAbstractsView, err error) {
	view = toAbstractsView{Name: "Vault"}
	if r.PathID != 0 {
		if view.Folder, err = p.App.Folders.Get(r.Context(), r.PathID); err != nil {
			return view, err
		}
		view.Name = view.Folder.Name
	}
	view.Path = view.FolderPath() + "/to-abstracts"
	if moved, err := strconv.Atoi(values.Get("moved")); err == nil && moved > 0 && moved < 1<<20 {
		view.Moved = moved
	}
	return view, nil
}

// loadToMove sets the document and the address of the next one. found is false if the document isn't in the folder.
func (p *Pages) loadToMove(r *page.Request, view *toAbstractsView, id uint64) (found bool, err error) {
	file, err := p.App.Files.Get(r.Context(), id)
	if errs.KindOf(err) == errs.NotFound || err == nil && page.DocumentPlace(file) != (page.Place{Folder: view.Folder.ID}) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	around, err := p.App.Folders.Neighbors(r.Context(), file)
	if err != nil || around.Position == 0 {
		return false, err
	}
	view.File, view.Position, view.Total = file, view.Moved+around.Position, view.Moved+around.Count
	view.Next = view.address(0, view.Moved)
	if around.Next != nil {
		view.Next = view.address(around.Next.ID, view.Moved)
	}
	return true, nil
}

func (p *Pages) showEndOfFolder(r *page.Request, view toAbstractsView) error {
	left, err := p.App.Folders.FilePage(r.Context(), view.Folder.ID, vault.ByName, false, 0, 1)
	if err != nil {
		return err
	}
	view.Left = left.Total
	return p.renderToAbstracts(r, http.StatusOK, view)
}

// showToAbstracts shows the document with the abstracts that match the text in values, or else those that are suggested.
func (p *Pages) showToAbstracts(r *page.Request, status int, view toAbstractsView, values url.Values) error {
	view.Searched = strings.TrimSpace(values.Get("q"))
	if err := p.findChoices(r, &view, values.Get("to")); err != nil {
		return err
	}
	if r.IsPart() {
		return p.RenderPart(r, status, "to-abstracts.html", "to-abstracts-choices", view)
	}
	if err := p.loadShown(r, &view); err != nil {
		return err
	}
	if r.Method == http.MethodGet { // after a form was rejected, this is still the same view
		p.App.Events.RecordAccess(r.Actor, "file.opened", model.RecordRef("file", view.File.ID), nil)
	}
	return p.renderToAbstracts(r, status, view)
}

func (p *Pages) renderToAbstracts(r *page.Request, status int, view toAbstractsView) error {
	return p.RenderPage(r, status, "to-abstracts.html", page.Page{Heading: "Move to abstracts", Section: "vault", Data: view,
		Scripts: []string{"to-abstracts.js"}, Styles: []string{"record.css", "to-abstracts.css"}})
}

// findChoices adds the abstracts that the document can be moved to. The one with the value chosen is selected.
func (p *Pages) findChoices(r *page.Request, view *toAbstractsView, chosen string) error {
	var list []search.PriorSearch
	if view.Searched != "" {
		hits, err := titlework.FindRecords(p.Site, r, "abstract", view.Searched, maxFoundChoices)
		if err != nil {
			return err
		}
		for _, hit := range hits {
			list = append(list, search.PriorSearch{Hit: hit})
		}
	} else {
		view.Incomplete = p.App.Derive(r.Context(), search.PartSuggestedAbstracts, func() error {
			found, err := p.App.Search.SuggestAbstracts(r.Context(), r.Actor, view.File)
			list, view.Incomplete = found.List, found.Incomplete
			return err
		}) || view.Incomplete
		if view.Recent = len(list) == 0; view.Recent {
			hits, err := p.recentAbstracts(r, maxNewChoices)
			if err != nil {
				return err
			}
			for _, hit := range hits {
				list = append(list, search.PriorSearch{Hit: hit})
			}
		}
	}
	for n, found := range list {
		value := p.FormatPlace(page.Place{Abstract: found.ID})
		view.Choices = append(view.Choices, abstractChoice{found, n + 1, value, p.AbstractPath(found.ID), value == chosen})
	}
	return nil
}

// errShownText ends the reading of a text.
var errShownText = errors.New("enough text is shown")

// loadShown sets what the page shows of the document.
func (p *Pages) loadShown(r *page.Request, view *toAbstractsView) error {
	f := view.File
	sizes, err := p.App.Previews.PageSizes(r.Context(), r.Actor, f.ID)
	if err != nil && errs.KindOf(err) != errs.NotFound {
		return err
	}
	view.AllPages = len(sizes)
	for n, size := range sizes[:min(len(sizes), maxShownPages)] {
		view.Pages = append(view.Pages, shownPage{Page: n + 1, Turn: 90 * f.ShownTurns().Of(n+1), Width: shownPageWidth,
			Source: fmt.Sprintf("%s/pages/%d?w=%d", page.DocumentPath(f.ID), n+1, shownPageWidth),
			Height: max(1, int(shownPageWidth*size.Height/size.Width))})
	}
	if err == nil && !(len(sizes) == 1 && f.CannotPreview()) {
		return nil
	}
	view.Pages, view.NoPreview = nil, cmp.Or(f.Failure, "This document has no preview.")
	if f.ShownAsImages() {
		return nil
	}
	var b strings.Builder
	err = p.App.Previews.Text(r.Context(), r.Actor, f.ID, func(_ int, text string) error {
		if b.Len()+len(text) > maxShownText {
			text, view.Cut = strings.ToValidUTF8(text[:maxShownText-b.Len()], ""), true
		}
		b.WriteString(text + "\n")
		if view.Cut {
			return errShownText
		}
		return nil
	})
	if err != nil && !errors.Is(err, errShownText) && errs.KindOf(err) != errs.NotFound {
		return err
	}
	view.Text = b.String()
	return nil
}

// moveToAbstract moves a document of a folder to the selected abstract and shows the next document.
func (p *Pages) moveToAbstract(r *page.Request) error {
	form := r.PostForm
	view, err := p.newToAbstractsView(r, form)
	if err != nil {
		return err
	}
	id, err := strconv.ParseUint(form.Get("document"), 10, 63)
	if err != nil || id == 0 {
		return errs.InvalidField("document", "Select a document from the list.")
	}
	if found, err := p.loadToMove(r, &view, id); err != nil {
		return err
	} else if !found {
		return p.RedirectWithFailure(r, view.Path, fmt.Sprintf("The document is no longer in “%s”.", view.Name))
	}
	to, ok := p.ParsePlace(form.Get("to"))
	if !ok || to.Abstract == 0 {
		view.Problem = "No abstract is selected. Select one, or skip the document."
		return p.showToAbstracts(r, http.StatusUnprocessableEntity, view, form)
	}
	_, heading, err := p.App.Abstracts.WithHeading(r.Context(), to.Abstract)
	if errs.KindOf(err) == errs.NotFound {
		view.Problem = "The abstract was deleted. Select another one, or skip the document."
		return p.showToAbstracts(r, http.StatusUnprocessableEntity, view, form)
	}
	if err != nil {
		return err
	}
	from := vault.Destination{Folder: view.Folder.ID}
	req := vault.MoveRequest{Files: []uint64{id}, To: vault.Destination(to), From: &from}
	undo, err := p.moveUndoAddress(r.Context(), req)
	if err != nil {
		return err
	}
	if undo != "" {
		undo = page.WithQueryValue(undo, "back", view.Here())
	}
	result, err := p.App.Files.Move(r.Context(), r.Actor, req)
	if err != nil {
		return err
	}
	if result.Moved == 0 {
		return p.RedirectWithFailure(r, view.Here(), bulkNotice(0, result.Skipped, ""))
	}
	notice := fmt.Sprintf("“%s” was moved to “%s”.", view.File.Filename, heading) + p.retentionNotice(result.Moved, result.Retained)
	return p.RedirectWithUndo(r, page.WithQueryValue(view.Next, "moved", strconv.Itoa(view.Moved+1)), notice, undo)
}

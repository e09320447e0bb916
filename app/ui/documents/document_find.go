package documents

import (
	"net/http"

	"deedkeep/app/errs"
	"deedkeep/app/jobs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

// matchJSON is a match in a document, in the format that the viewer's script reads.
type matchJSON struct {
	Page   int    `json:"page"`
	Before string `json:"before"`
	Match  string `json:"match"`
	After  string `json:"after"`
}

// findInDocument sends the matches of the search text in a document to the viewer's script. If
// "words" is true, the matches are for the words of the text.
func (p *Pages) findInDocument(r *page.Request) error {
	typed := page.Truncate(r.URL.Query().Get("q"), 1000)
	// Before the search, so that a page that OCR reads in the meantime isn't left out of both.
	file, err := p.App.Files.Get(r.Context(), r.PathID)
	if err != nil {
		return err
	}
	found, words, err := p.findMatches(r, typed)
	if err != nil {
		return err
	}
	p.App.Events.ContinueView(r.Actor, fileOpened, model.RecordRef("file", r.PathID))
	list := make([]matchJSON, 0, len(found.Hits))
	for _, h := range found.Hits {
		list = append(list, matchJSON(h))
	}
	result := map[string]any{"hits": list, "more": found.More}
	if words {
		result["words"] = true
	}
	if err := p.addUnread(r, file, result, len(list)); err != nil {
		return err
	}
	return r.SendJSON(http.StatusOK, result)
}

// addUnread adds the number of pages that OCR hasn't read and whether it is off, or that the document
// has no text.
func (p *Pages) addUnread(r *page.Request, file model.File, result map[string]any, hits int) error {
	if waiting := file.PagesWaitingForOCR(); waiting > 0 {
		result["waiting"] = waiting
		if p.OCRIsOff() {
			result["off"] = true
		}
		return nil
	}
	if hits > 0 {
		return nil
	}
	pages, err := p.App.Previews.TextPages(r.Context(), r.Actor, r.PathID)
	if pages == 0 {
		result["textless"] = true
	}
	return err
}

// findMatches looks for a text as typed and then for its words. words reports whether the matches are
// for the words. The parameter "page" is the page that a search result linked to.
func (p *Pages) findMatches(r *page.Request, typed string) (found jobs.Found, words bool, err error) {
	fromSearch := r.URL.Query().Get("words") != ""
	for _, words = range findModes(typed, fromSearch) {
		found, err = p.App.Previews.Find(r.Context(), r.Actor, r.PathID, typed, words, queryInt(r, "page", 0))
		if err != nil || len(found.Hits) > 0 && (fromSearch || found.All) {
			return found, words, err
		}
	}
	return jobs.Found{}, false, nil
}

// pageMarks sends the positions of the matches on a page to the viewer's script. Each match is a
// list of rectangles [left, top, right, bottom], as fractions of the page size.
func (p *Pages) pageMarks(r *page.Request) error {
	file, n, err := p.readPage(r)
	if err != nil {
		return err
	}
	p.App.Events.ContinueView(r.Actor, fileOpened, model.RecordRef("file", file.ID))
	typed := page.Truncate(r.URL.Query().Get("q"), 1000)
	marks, err := p.App.Previews.Marks(r.Context(), r.Actor, file.ID, n, typed, r.URL.Query().Get("words") != "")
	if err != nil && errs.KindOf(err) != errs.NotFound {
		return err
	}
	list := make([][][4]float64, 0, len(marks))
	for _, rects := range marks {
		sides := make([][4]float64, 0, len(rects))
		for _, rect := range rects {
			sides = append(sides, [4]float64{rect.Left, rect.Top, rect.Right, rect.Bottom})
		}
		list = append(list, sides)
	}
	return r.SendJSON(http.StatusOK, map[string]any{"marks": list})
}

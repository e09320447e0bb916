package documents

import (
	"encoding/json"
	"net/http"

	"deedkeep/app/errs"
	"deedkeep/app/jobs"
	"deedkeep/app/ui/page"
)

// matchJSON is a match in a document, in the format that the viewer's script reads.
type matchJSON struct {
	Page   int    `json:"page"`
	Before string `json:"before"`
	Match  string `json:"match"`
	After  string `json:"after"`
}

// findInDocument sends the matches of the search text in a document to the viewer's script. If the
// matches are for the separate words instead of the phrase, "words" contains the text for which the
// script must request the highlights.
func (p *Pages) findInDocument(r *page.Request) error {
	result := map[string]any{}
	typed := page.Truncate(r.URL.Query().Get("q"), 1000)
	hits, more, phrase, err := p.findMatches(r, findVariants(typed, r.URL.Query().Get("words") != ""), queryInt(r, "page", 0))
	if err != nil {
		return err
	}
	if len(hits) > 0 && phrase != typed {
		result["words"] = phrase
	}
	p.Vault.Events.ContinueView(r.Actor, fileOpened, page.FileRecordName(r.PathID))
	list := make([]matchJSON, 0, len(hits))
	for _, h := range hits {
		list = append(list, matchJSON(h))
	}
	result["hits"], result["more"] = list, more
	if unread, err := p.pagesWithoutText(r, typed, len(hits)); err != nil {
		return err
	} else if unread > 0 {
		result["unread"] = unread
	}
	return sendJSON(r, result)
}

// pagesWithoutText returns the number of pages that can't be searched because they have no text. If
// there were matches, it doesn't read the text but relies on the stored counts.
func (p *Pages) pagesWithoutText(r *page.Request, typed string, hits int) (int, error) {
	file, err := p.Vault.Files.Get(r.Context(), r.PathID)
	if err != nil || typed == "" || hits > 0 {
		return file.PagesWithoutText(), err
	}
	text, err := p.Vault.Previews.TextPages(r.Context(), r.Actor, r.PathID)
	return max(file.PageCount()-text, 0), err
}

// findMatches tries the variants in turn and returns the matches and the phrase of the first one
// that has any. fromPage is the page that a search result linked to, or 0 if there is none.
func (p *Pages) findMatches(r *page.Request, variants []findVariant, fromPage int) (hits []jobs.Hit, more bool, phrase string, err error) {
	for _, variant := range variants {
		if len(variant.pageWords) > 0 {
			hits, more, err = p.Vault.Previews.FindWords(r.Context(), r.Actor, r.PathID, variant.pageWords, fromPage)
		} else {
			hits, more, err = p.Vault.Previews.Find(r.Context(), r.Actor, r.PathID, variant.phrase)
		}
		if err != nil {
			return nil, false, "", err
		}
		var texts []string
		for _, h := range hits {
			texts = append(texts, h.Match)
		}
		if len(hits) > 0 && variant.matches(texts) {
			return hits, more, variant.phrase, nil
		}
	}
	return nil, false, "", nil
}

// pageMarks sends the positions of the matches on a page to the viewer's script. Each match is a
// list of rectangles [left, top, right, bottom], as fractions of the page size.
func (p *Pages) pageMarks(r *page.Request) error {
	file, n, err := p.readPage(r)
	if err != nil {
		return err
	}
	p.Vault.Events.ContinueView(r.Actor, fileOpened, page.FileRecordName(file.ID))
	marks, err := p.Vault.Previews.Marks(r.Context(), r.Actor, file.ID, n, page.Truncate(r.URL.Query().Get("q"), 1000))
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
	return sendJSON(r, map[string]any{"marks": list})
}

func sendJSON(r *page.Request, what any) error {
	text, err := json.Marshal(what)
	if err == nil {
		r.SendJSON(http.StatusOK, page.StripBidi(text))
	}
	return err
}

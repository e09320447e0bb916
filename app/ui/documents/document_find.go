package documents

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

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
func (p *Pages) findInDocument(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	id, err := page.PathNumber(r)
	if err != nil {
		return err
	}
	result := map[string]any{}
	typed := page.Truncate(r.URL.Query().Get("q"), 1000)
	hits, more, phrase, err := p.findMatches(r.Context(), visitor, id, findVariants(typed, r.URL.Query().Get("words") != ""), queryInt(r, "page", 0))
	if err != nil {
		return err
	}
	if len(hits) > 0 && phrase != typed {
		result["words"] = phrase
	}
	p.Events.ContinueView(visitor.Actor, fileOpened, page.FileRecordName(id))
	list := make([]matchJSON, 0, len(hits))
	for _, h := range hits {
		list = append(list, matchJSON(h))
	}
	result["hits"], result["more"] = list, more
	if unread, err := p.pagesWithoutText(r, visitor, id, typed, len(hits)); err != nil {
		return err
	} else if unread > 0 {
		result["unread"] = unread
	}
	return p.sendJSON(w, result)
}

// pagesWithoutText returns the number of pages that can't be searched because they have no text. If
// there were matches, it doesn't read the text but relies on the stored counts.
func (p *Pages) pagesWithoutText(r *http.Request, visitor page.Visitor, id uint64, typed string, hits int) (int, error) {
	file, err := p.Vault.Files.Get(r.Context(), id)
	if err != nil || typed == "" || hits > 0 {
		return file.PagesWithoutText(), err
	}
	text, err := p.Vault.Previews.TextPages(r.Context(), visitor.Actor, id)
	return max(file.PageCount()-text, 0), err
}

// findMatches tries the variants in turn and returns the matches and the phrase of the first one
// that has any. fromPage is the page that a search result linked to, or 0 if there is none.
func (p *Pages) findMatches(
	ctx context.Context, visitor page.Visitor, id uint64, variants []findVariant, fromPage int) (hits []jobs.Hit, more bool, phrase string, err error,
) {
	for _, variant := range variants {
		if len(variant.pageWords) > 0 {
			hits, more, err = p.Vault.Previews.FindWords(ctx, visitor.Actor, id, variant.pageWords, fromPage)
		} else {
			hits, more, err = p.Vault.Previews.Find(ctx, visitor.Actor, id, variant.phrase)
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
func (p *Pages) pageMarks(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	file, n, err := p.readPage(r)
	if err != nil {
		return err
	}
	p.Events.ContinueView(visitor.Actor, fileOpened, page.FileRecordName(file.ID))
	marks, err := p.Vault.Previews.Marks(r.Context(), visitor.Actor, file.ID, n, page.Truncate(r.URL.Query().Get("q"), 1000))
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
	return p.sendJSON(w, map[string]any{"marks": list})
}

func (p *Pages) sendJSON(w http.ResponseWriter, what any) error {
	body, err := json.Marshal(what)
	if err != nil {
		return err
	}
	body = page.StripBidi(body)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", page.DataPolicy)
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write(body) // an error means that the client has disconnected
	return nil
}

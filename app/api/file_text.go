package api

import (
	"context"
	"encoding/binary"
	"fmt"

	"deedkeep/app/apitypes"
	"deedkeep/app/jobs"
	"deedkeep/app/model"
	"deedkeep/app/pagetext"
	"deedkeep/app/vault"
)

// text returns a page of the list of a document's pages with their text.
func (h fileHandler) text(r *request) (response, error) {
	id, err := r.numberID()
	if err != nil {
		return response{}, err
	}
	if _, err := h.service.Get(r.Context(), id); err != nil {
		return response{}, err // respond 404 before checking the parameters
	}
	lq, err := h.server.list(r, listSpec{recordType: fmt.Sprintf("text of %d", id), unsupported: []string{"q"}})
	if err != nil {
		return response{}, err
	}
	var status jobs.TextStatus
	page, err := readPage(h.server, r, lq.Query, func(ctx context.Context, q vault.Query) (page vault.Page[pagetext.Page], err error) {
		offset, limit := textRange(q)
		part, err := h.server.Vault.Previews.PageTexts(ctx, r.actor, id, offset, limit, q.MaxBytes)
		status = part.Status
		page = vault.Page[pagetext.Page]{Items: part.Pages, Bytes: part.Bytes, Truncated: part.Next > 0 && len(part.Pages) < limit}
		page.Next, page.Prev = positions(part.Offset, part.Next)
		return page, err
	})
	if err != nil {
		return response{}, err
	}
	if len(lq.Position) == 0 {
		h.server.Vault.Events.RecordAccess(r.actor, "file.opened", model.RecordRef("file", id), nil)
	}
	list := newPage(h.server, r, lq, page, pageText)
	data := apitypes.TextPages{Status: string(status), OCREnabled: h.server.Vault.Settings.ReadsScans, Pages: list.Data}
	return okResponse(apitypes.FileText{Data: data, Links: list.Links, Meta: list.Meta})
}

// textRange returns the offset and the number of the pages that a query asks for.
func textRange(q vault.Query) (offset, limit int) {
	at, _ := binary.Uvarint(q.Position) // q.Position is empty or was encoded by positions
	offset, limit = int(at), q.Limit    // the position is encrypted, so clients can't change it
	if q.Backward {
		limit = min(limit, offset)
		offset -= limit
	}
	return offset, limit
}

func pageText(p pagetext.Page) apitypes.PageText {
	shape := apitypes.PageText{Page: int64(p.Number), Source: string(p.Source), Text: p.Text}
	if p.Source == pagetext.SourceOCR {
		shape.Confidence = new(int64(p.Confidence))
	}
	return shape
}

package records

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// reorderDocuments changes the sequence of an abstract's documents. It moves a document up, down,
// or to a given position, or it sorts the listed documents among the positions that they occupy.
func (p *Pages) reorderDocuments(r *page.Request) error {
	move := parseMove(r.PostForm)
	before, err := p.App.Abstracts.Get(r.Context(), r.PathID)
	if err != nil {
		return err
	}
	record, err := p.App.Abstracts.Reorder(r.Context(), r.Actor, r.PathID, move)
	if err != nil {
		return err
	}
	undo := p.reorderUndo(r, before.Abstract, record.Abstract)
	if !r.IsPart() {
		return p.RedirectWithUndo(r, p.documentRowAddress(record, move.File), "Documents reordered.", undo)
	}
	l, err := p.listDocuments(r, record)
	if err != nil {
		return err
	}
	if undo != "" {
		l.Sorted = p.NewNotice(r, "Documents reordered.", undo, page.ReturnAddress(r, p.AbstractPath(r.PathID)))
	}
	r.W.Header().Set("HX-Trigger", abstractChangedEvent)
	return p.RenderPart(r, http.StatusOK, "abstract.html", "documents-sorted", l)
}

// reorderUndo returns the address that undoes a new sequence of documents.
func (p *Pages) reorderUndo(r *page.Request, before, now model.Abstract) string {
	return p.EditUndo(r, vault.Edit{Type: vault.AbstractOps.Name, ID: now.ID, Version: now.Version}, before.Version)
}

// parseMove parses a reorder form. The form contains either a document ID in "up", "down", or
// "move", or comma-separated document IDs in "files". With "move", the field "to" contains the new
// position.
func parseMove(form url.Values) (move vault.ReorderRequest) {
	if files := form.Get("files"); files != "" {
		move.Sequence = []uint64{}
		for text := range strings.SplitSeq(files, ",") {
			if id, err := strconv.ParseUint(text, 10, 63); err == nil {
				move.Sequence = append(move.Sequence, id)
			}
		}
		return move
	}
	for _, action := range []struct {
		name   string
		offset int
	}{{"up", -1}, {"down", 1}, {"move", 0}} {
		id, err := strconv.ParseUint(form.Get(action.name), 10, 63)
		if err != nil {
			continue
		}
		move.File, move.Offset = id, action.offset
		if to, err := strconv.Atoi(form.Get("to")); err == nil && action.offset == 0 {
			move.Position = max(to, 1)
		}
		break
	}
	return move
}

// documentRowAddress returns the address of a document's row in the document list of its abstract.
func (p *Pages) documentRowAddress(record vault.AbstractWithFiles, id uint64) string {
	list := p.AbstractPath(record.Abstract.ID)
	if n := slices.Index(record.Abstract.Files, id)/page.DocumentsPerPage + 1; n > 1 {
		list = page.WithQueryValue(list, "page", strconv.Itoa(n))
	}
	return page.RowAddress(list, id)
}

// renumberDocument moves a renamed document to position to in its abstract. If the position
// changes, the page is reloaded.
func (p *Pages) renumberDocument(r *page.Request, old, file model.File, to int) error {
	before, err := p.App.Abstracts.Get(r.Context(), file.AbstractID)
	if err != nil {
		return err
	}
	if slices.Index(before.Abstract.Files, file.ID)+1 == to {
		return p.showRenamed(r, file, old.Version)
	}
	record, err := p.App.Abstracts.Reorder(r.Context(), r.Actor, file.AbstractID, vault.ReorderRequest{File: file.ID, Position: max(to, 1)})
	if err != nil {
		return err
	}
	notice := fmt.Sprintf("Moved to position %d.", slices.Index(record.Abstract.Files, file.ID)+1)
	undo := p.reorderUndo(r, before.Abstract, record.Abstract)
	if !r.IsPart() {
		return p.RedirectWithUndo(r, p.documentRowAddress(record, file.ID), notice, undo)
	}
	p.SetNotice(r, notice, undo)
	r.W.Header().Set("HX-Refresh", "true")
	r.W.WriteHeader(http.StatusNoContent)
	return nil
}

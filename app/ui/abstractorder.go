package ui

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// abstractOrder puts the documents into another order: one goes up, down or to a place,
// or those that are named stand as named in the places that they have together.
func (p *pages) abstractOrder(w http.ResponseWriter, r *http.Request, who visitor) error {
	id, err := p.abstractID(r)
	if err != nil {
		return err
	}
	move := moveAsked(r.PostForm)
	filed, err := p.Vault.Abstracts.Reorder(r.Context(), who.Actor, id, move)
	if err != nil {
		return err
	}
	if !isPart(r) {
		return p.see(w, r, p.numberedAt(filed, move.File), "The order is saved.")
	}
	l, err := p.documentList(r, filed)
	if err != nil {
		return err
	}
	w.Header().Set("HX-Trigger", changedEvent)
	return p.part(w, r, who, http.StatusOK, "abstract.html", "documents-state", l)
}

// moveAsked is what a form asks for: up, down or move with the number of a document,
// to where with to; or files, numbers with commas.
func moveAsked(form url.Values) (move vault.Move) {
	if named := form.Get("files"); named != "" {
		move.Named = []uint64{}
		for text := range strings.SplitSeq(named, ",") {
			if id, err := strconv.ParseUint(text, 10, 63); err == nil {
				move.Named = append(move.Named, id)
			}
		}
		return move
	}
	for _, way := range []struct {
		name string
		by   int
	}{{"up", -1}, {"down", 1}, {"move", 0}} {
		id, err := strconv.ParseUint(form.Get(way.name), 10, 63)
		if err != nil {
			continue
		}
		move.File, move.By = id, way.by
		if to, err := strconv.Atoi(form.Get("to")); err == nil && way.by == 0 {
			move.To = max(to, 1)
		}
		break
	}
	return move
}

// numberedAt is the row of a document on its page of the abstract's.
func (p *pages) numberedAt(filed vault.Filed, id uint64) string {
	list := p.abstractPath(filed.Abstract.ID)
	if page := slices.Index(filed.Abstract.Files, id)/documentsAPage + 1; page > 1 {
		list = withValue(list, "page", strconv.Itoa(page))
	}
	return atRow(list, id)
}

// moveDocument gives a document, which was renamed just now, its number among those
// of its abstract. Where that is another, the page is read anew.
func (p *pages) moveDocument(w http.ResponseWriter, r *http.Request, who visitor, file model.File, to int) error {
	before, err := p.Vault.Abstracts.Get(r.Context(), file.AbstractID)
	if err != nil {
		return err
	}
	if slices.Index(before.Abstract.Files, file.ID)+1 == to {
		return p.sayRenamed(w, r, who, file)
	}
	filed, err := p.Vault.Abstracts.Reorder(r.Context(), who.Actor, file.AbstractID, vault.Move{File: file.ID, To: max(to, 1)})
	if err != nil {
		return err
	}
	notice := fmt.Sprintf("It is number %d now.", slices.Index(filed.Abstract.Files, file.ID)+1)
	if !isPart(r) {
		return p.see(w, r, p.numberedAt(filed, file.ID), notice)
	}
	p.leaveNotice(w, r, notice)
	w.Header().Set("HX-Refresh", "true")
	w.WriteHeader(http.StatusNoContent)
	return nil
}

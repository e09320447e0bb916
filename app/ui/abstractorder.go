package ui

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/title"
	"deedkeep/app/vault"
)

// abstractOrder puts the documents into another order: one goes up, down or to a place,
// or those that are named stand as named in the places that they have together.
func (p *pages) abstractOrder(w http.ResponseWriter, r *http.Request, who visitor) error {
	form := r.PostForm
	for tries := 1; ; tries++ {
		filed, _, err := p.abstractRead(r)
		if err != nil {
			return err
		}
		order, moved := newOrder(filed.Abstract.Files, form)
		sent := title.Numbers{Array: true}
		for _, id := range order {
			sent.Items = append(sent.Items, title.Number{Present: true, Valid: true, Value: int64(id)}) // #nosec G115 -- from a sequence
		}
		match := vault.Match{Given: true, Versions: []uint64{filed.Abstract.Version}}
		filed, err = p.Vault.Abstracts.Patch(r.Context(), who.Actor, filed.Abstract.ID, title.AbstractPatch{Files: title.Send(sent)}, match)
		switch {
		case title.KindOf(err) == title.Stale && tries < mostTries:
			continue
		case err != nil:
			return err
		case isPart(r) && form.Get("move") == "":
			w.Header().Set("HX-Trigger", changedEvent)
			return p.part(w, r, who, http.StatusOK, "abstract.html", "documents-state", p.listOf(r, filed))
		}
		to := p.abstractPath(filed.Abstract.ID)
		if page := slices.Index(filed.Abstract.Files, moved)/documentsAPage + 1; page > 1 {
			to += "?page=" + strconv.Itoa(page)
		}
		to += fmt.Sprintf("#document-%d", moved)
		if isPart(r) {
			p.leaveNotice(w, r, fmt.Sprintf("It is number %d now.", slices.Index(filed.Abstract.Files, moved)+1))
			w.Header().Set("HX-Refresh", "true")
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
		return p.see(w, r, to, "The order is saved.")
	}
}

// newOrder gives the numbers in the order that a form asks for, and which of them it
// is about. What it says of others is not looked at.
func newOrder(files []uint64, form url.Values) (order []uint64, moved uint64) {
	order = slices.Clone(files)
	if named := form.Get("files"); named != "" {
		return placedAs(order, named), 0
	}
	for _, way := range []struct {
		name string
		by   int
	}{{"up", -1}, {"down", 1}, {"move", 0}} {
		id, err := strconv.ParseUint(form.Get(way.name), 10, 63)
		at := slices.Index(order, id)
		if err != nil || at < 0 {
			continue
		}
		to := at + way.by
		if n, err := strconv.Atoi(form.Get("to")); way.by == 0 && err == nil {
			to = n - 1
		}
		order = slices.Insert(slices.Delete(order, at, at+1), min(max(to, 0), len(order)-1), id)
		return order, id
	}
	return order, 0
}

// placedAs puts the named numbers, as named, into the places that they have together.
func placedAs(order []uint64, named string) []uint64 {
	var list []uint64
	for text := range strings.SplitSeq(named, ",") {
		id, err := strconv.ParseUint(text, 10, 63)
		if err == nil && slices.Contains(order, id) && !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	next := 0
	for i, id := range order {
		if slices.Contains(list, id) {
			order[i] = list[next]
			next++
		}
	}
	return order
}

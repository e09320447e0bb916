package api

import (
	"context"
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"deedkeep/app/apitypes"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/vault"
)

type searchHandler struct {
	server   *server
	searches *search.SearchService
}

var searchListing = listSpec{
	recordType: "search",
	text:       needed,
	never:      []string{"sort", "order_number", "folder_id", "abstract_id", "is_processing"},
	filters: append([]filter{
		byChoice("kind", vault.ColumnKind, abstractType, orderType, fileType), byNumber("template_id", vault.ColumnTemplate),
		byText("status", vault.ColumnStatus, model.MaxLineLength), byText("county", vault.ColumnCounty, model.MaxLineLength),
		byText("state", vault.ColumnState, model.MaxLineLength),
	}, byCreation()...),
}

func (h searchHandler) search(c *request) (response, error) {
	asked, err := h.server.list(c, searchListing)
	if err != nil {
		return response{}, err
	}
	q := asked.search(asked.Query)
	found, err := h.searches.Records(c.Context(), c.actor, q)
	if err != nil {
		return response{}, err
	}
	page := vault.Page[search.SearchHit]{Items: found.Hits}
	next := 0
	if found.More {
		next = q.Offset + q.Limit
	}
	page.Next, page.Prev = positions(q.Offset, next)
	return okResponse(pageOf(h.server, c, asked, page, h.server.hit))
}

// index is how the index is before a search looks in it: of what was filed before, it
// has no less by the time of the search.
func (e *server) index(ctx context.Context) (*apitypes.Index, error) {
	s, err := e.Vault.Search.State(ctx)
	if err != nil {
		return nil, err
	}
	return &apitypes.Index{Complete: s.Complete(), Behind: s.Behind, Texts: s.ByName()}, nil
}

func (e *server) hit(h search.SearchHit) apitypes.Hit {
	var snippet apitypes.Snippet
	for _, piece := range h.Snippet {
		snippet.Add(piece.Text, piece.Marked)
	}
	out := apitypes.Hit{Kind: h.Kind, ID: e.recordID(h.Kind, h.ID), Heading: h.Heading, Snippet: snippet.HTML(),
		Match: string(h.Match), Score: math.Round(h.Score*1e4) / 1e4}
	if h.Page > 0 {
		out.Page = &h.Page
	}
	if h.AbstractID != 0 {
		out.Abstract = &apitypes.HitAbstract{ID: e.abstracts.Encode(h.AbstractID), Heading: h.Under}
	}
	return out
}

// recordID is the id of a record as its kind has it.
func (e *server) recordID(noun string, id uint64) apitypes.RecordID {
	if ids := e.ids().ForType(noun); ids != nil {
		return apitypes.RecordID(`"` + ids.Encode(id) + `"`)
	}
	return apitypes.RecordID(strconv.FormatUint(id, 10))
}

// searching says what q is to a list.
type searching int

const (
	refused searching = iota // it cannot be searched
	taken                    // it can: the records in order of relevance
	needed                   // it is nothing but a search
)

// textOf reads q and refuses what cannot be asked along with it.
func (l listSpec) textOf(values map[string]string, fields *errs.Fields) string {
	const field = "q"
	text := search.TrimSearch(values[field])
	switch {
	case text == "":
		if l.text == needed {
			fields.Add(field, model.MsgRequired(field))
		}
		return ""
	case l.text == refused:
		fields.Add(field, "This list cannot be searched.")
		return ""
	}
	if sentence := search.SearchText(text); sentence != "" {
		fields.Add(field, sentence)
	}
	for _, f := range l.filters {
		if f.unsearched && strings.TrimSpace(values[f.name]) != "" {
			fields.Add(f.name, model.MsgNotCombinable(f.name, field))
		}
	}
	l.neverWith(field, values, fields)
	if len(l.sorts) > 0 && strings.TrimSpace(values["sort"]) != "" {
		fields.Add("sort", model.MsgNotCombinable("sort", field))
	}
	return text
}

// neverWith refuses what narrows or orders a list and no search.
func (l listSpec) neverWith(field string, values map[string]string, fields *errs.Fields) {
	for _, name := range l.never {
		if strings.TrimSpace(values[name]) != "" {
			fields.Add(name, model.MsgNotCombinable(name, field))
		}
	}
}

// search is a list as a search is asked for, of which q has the place and the size.
func (a listQuery) search(q vault.Query) search.SearchQuery {
	out := search.Searching(a.text, q)
	at, _ := binary.Uvarint(q.Position) // positions wrote it, or there is none
	out.Offset = int(min(at, search.MostSearched))
	if q.Backward {
		out.Limit = min(out.Limit, out.Offset)
		out.Offset -= out.Limit
	}
	return out
}

// positions are those of the pages beside one that begins at an offset: the one after
// it begins where the other says, if it is not 0.
func positions(from, next int) (after, before []byte) {
	if next > 0 {
		after = binary.AppendUvarint(nil, uint64(next)) // #nosec G115 -- at most vault.MostSearched
	}
	if from > 0 {
		before = binary.AppendUvarint(nil, uint64(from)) // #nosec G115 -- likewise
	}
	return after, before
}

// listed gives what reads a page of a list: the list itself, or a search in it.
func listed[T any](c *request, a listQuery, list func(context.Context, vault.Query) (vault.Page[T], error),
	search func(context.Context, model.Actor, search.SearchQuery) (search.Matches[T], error)) func(context.Context, vault.Query) (vault.Page[T], error) {
	if a.text == "" {
		return list
	}
	return func(ctx context.Context, q vault.Query) (page vault.Page[T], err error) {
		found, err := search(ctx, c.actor, a.search(q))
		page = vault.Page[T]{Items: found.Items, Bytes: found.Bytes, Truncated: found.Cut}
		page.Next, page.Prev = positions(found.From, found.Next)
		return page, err
	}
}

package api

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/apitypes"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/vault"
)

// searchHandler serves /v1/search.
type searchHandler struct {
	server  *server
	service *search.Service
}

var searchListSpec = listSpec{
	recordType:  "search",
	search:      searchRequired,
	unsupported: []string{"sort", "order_number", "assignee", "folder_id", "abstract_id", "is_processing"},
	filters: slices.Concat([]filter{
		byChoice("kind", model.ColumnKind, abstractType, orderType, fileType, instrumentType),
		byNumber("template_id", model.ColumnTemplate),
	}, byRecordColumns(), byCreated()),
}

func (h searchHandler) search(r *request) (response, error) {
	lq, err := h.server.list(r, searchListSpec)
	if err != nil {
		return response{}, err
	}
	q := lq.search(lq.Query)
	q.SkipCounts = true
	found, err := h.service.Records(r.Context(), r.actor, q)
	if err != nil {
		return response{}, err
	}
	return okResponse(newPage(h.server, r, lq, listed(found), h.server.hit))
}

// indexState returns the state of the search index, and how many documents the search q of a list
// can't find by all of their text. It must be called before the search. Then the index used by the
// search is at least as complete as the reported state.
func (s *server) indexState(ctx context.Context, l listSpec, q search.Query) (*apitypes.Index, error) {
	var scans search.UnreadScans
	if l.recordType == searchListSpec.recordType || l.recordType == fileListSpec.recordType {
		var err error
		if scans, err = s.App.Search.UnreadScans(ctx, q); err != nil {
			return nil, err
		}
	}
	state, err := s.App.Search.State(ctx) // after the scans: the index may not have the text of one that was just read
	return &apitypes.Index{Complete: state.Complete(), Behind: state.PendingChanges, Texts: state.WithoutText(), Scans: scans.Max()}, err
}

// hit converts a search hit to its JSON form.
func (s *server) hit(h search.Hit) apitypes.Hit {
	var snippet apitypes.Snippet
	for _, piece := range h.Snippet {
		snippet.Add(piece.Text, piece.Marked)
	}
	out := apitypes.Hit{Kind: h.Kind, ID: s.recordID(h.Kind, h.ID), Heading: h.Heading, Snippet: snippet.HTML(),
		Match: string(h.Match), Score: math.Round(h.Score*1e4) / 1e4}
	if h.Page > 0 {
		out.Page = &h.Page
	}
	if h.AbstractID != 0 {
		out.Abstract = &apitypes.HitAbstract{ID: s.abstracts.Encode(h.AbstractID), Heading: h.Subheading}
		if h.Kind == instrumentType {
			out.AbstractID = out.Abstract.ID
		}
	}
	return out
}

// recordID returns the JSON form of a record ID. Depending on the record type, it is an
// opaque ID or a number.
func (s *server) recordID(recordType string, id uint64) apitypes.RecordID {
	if ids := s.ids().ForType(recordType); ids != nil {
		return apitypes.RecordID(`"` + ids.Encode(id) + `"`)
	}
	return apitypes.RecordID(strconv.FormatUint(id, 10))
}

// searchMode specifies whether a list accepts the search text q.
type searchMode int

const (
	searchUnsupported searchMode = iota // q is rejected
	searchOptional                      // q is optional; matching records are sorted by relevance
	searchRequired                      // q is required
)

// readSearchText returns the search text q. It adds a field error to invalid for each
// parameter that can't be combined with q.
func (l listSpec) readSearchText(values map[string]string, invalid *errs.Fields) string {
	const field = "q"
	text := search.TrimText(values[field])
	switch {
	case text == "":
		if l.search == searchRequired {
			invalid.Add(field, errs.Required)
		}
		return ""
	case l.search == searchUnsupported:
		invalid.Add(field, "This list doesn't support search.")
		return ""
	}
	search.ValidateText(text, invalid)
	l.rejectWithSearch(field, values, invalid)
	return text
}

// rejectWithSearch adds a field error to invalid for each parameter that can't be combined with
// field, because the list is then searched.
func (l listSpec) rejectWithSearch(field string, values map[string]string, invalid *errs.Fields) {
	for _, f := range l.filters {
		if f.notWithSearch && strings.TrimSpace(values[f.name]) != "" {
			invalid.Add(f.name, errs.NotCombinable, field)
		}
	}
	l.rejectUnsupported(field, values, invalid)
	if len(l.sorts) > 0 && strings.TrimSpace(values["sort"]) != "" {
		invalid.Add("sort", errs.NotCombinable, field)
	}
}

// rejectUnsupported adds a field error to invalid for each unsupported parameter that the
// request has. The error says that the parameter can't be combined with field.
func (l listSpec) rejectUnsupported(field string, values map[string]string, invalid *errs.Fields) {
	for _, name := range l.unsupported {
		if strings.TrimSpace(values[name]) != "" {
			invalid.Add(name, errs.NotCombinable, field)
		}
	}
}

// search returns the search query for the list. q contains the position and the page size.
func (lq listQuery) search(q vault.Query) search.Query {
	out := search.QueryFromList(lq.text, q)
	out.Offset, out.Limit = itemRange(q)
	return out
}

// listed returns a page of a search as a page of a list.
func listed[T any](found search.Page[T]) vault.Page[T] {
	page := vault.Page[T]{Items: found.Items, Bytes: found.Bytes, Truncated: found.Truncated}
	page.Next, page.Prev = positions(found.Offset, found.Next)
	return page
}

// itemRange returns the offset and the number of the items that a query asks for, in a list whose positions are
// offsets; see positions.
func itemRange(q vault.Query) (offset, limit int) {
	at, _ := binary.Uvarint(q.Position) // empty, or encoded by positions: clients can't change an encrypted cursor
	offset, limit = int(at), q.Limit
	if q.Backward {
		limit = min(limit, offset)
		offset -= limit
	}
	return offset, limit
}

// positions returns the encoded positions of the next and previous pages of a list whose positions are offsets. from
// is the offset of the current page, and next is the offset of the next page, or 0 if there isn't one.
func positions(from, next int) (after, before []byte) {
	if next > 0 {
		after = binary.AppendUvarint(nil, uint64(next))
	}
	if from > 0 {
		before = binary.AppendUvarint(nil, uint64(from))
	}
	return after, before
}

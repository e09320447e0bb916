package api

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"deedkeep/app/apitypes"
	"deedkeep/app/decode"
	"deedkeep/app/errs"
	"deedkeep/app/httpx"
	"deedkeep/app/lists"
	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/spreadsheet"
	"deedkeep/app/vault"
)

// Page sizes of lists, in records. Lists use keyset pagination: a cursor contains an
// encrypted position.
const (
	defaultPage = 25
	maxPage     = 100
)

// listSpec describes the query parameters of one list. By default, the list uses the first
// sort option in descending order.
type listSpec struct {
	recordType  string
	sorts       []sortOption
	filters     []filter
	search      searchMode
	unsupported []string // parameters of other lists that are rejected here instead of ignored
	afterParam  string   // parameter for requesting the entries after a sequence number; "" if the list has no such parameter
	hasViews    bool     // the list can be that of a saved view
	asFile      bool     // the list is sent as a file, which has all pages and the requested columns
}

// sortOption is a sort order and its name in the sort parameter.
type sortOption struct {
	name string
	by   model.Sort
}

// listQuery is the parsed query of a list request.
type listQuery struct {
	vault.Query
	text        string          // search text; "" for none
	searched    bool            // text or a filter is looked up in the search index; otherwise, the list keeps its sort order
	index       *apitypes.Index // state of the search index; nil if the list is not searched
	scope       string          // identifies this list for its cursors: record type, sort order, filters, and text
	otherParams []decode.Pair   // all query parameters except the cursor
	columns     []string        // requested columns of a file
}

// list parses the query of a list request. The error lists all invalid parameters. If a
// parameter is repeated, the last value is used. Unknown parameters are recorded as
// ignored. Empty parameters count as absent.
//
// list waits for the request's turn to read the records, which lasts until the response is encoded.
func (s *server) list(r *request, l listSpec) (listQuery, error) {
	if err := s.takeTurn(r); err != nil {
		return listQuery{}, err
	}
	r.ignored.addQuery(r.URL.RawQuery, l.parameters()...)
	pairs, err := queryPairs(r.URL.RawQuery)
	if err != nil {
		return listQuery{}, err
	}
	values := map[string]string{}
	lq := listQuery{Query: vault.Query{Limit: defaultPage}}
	for _, p := range pairs {
		values[p.Name] = p.Value
		if p.Name != "cursor" {
			lq.otherParams = append(lq.otherParams, p)
		}
	}
	var invalid errs.Fields
	if err := s.applyView(r, l, values, &invalid); err != nil {
		return listQuery{}, err
	}
	lq.text = l.readSearchText(values, &invalid)
	lq.searched = lq.text != ""
	for _, f := range l.filters {
		if text := strings.TrimSpace(values[f.name]); text != "" {
			f.read(s, text, &lq.Query, &invalid)
			if f.searched && !lq.searched {
				lq.searched = true
				l.rejectWithSearch(f.name, values, &invalid)
			}
		}
	}
	if l.asFile {
		lq.columns = splitColumns(values[columnsParam])
		delete(values, "per_page")
		delete(values, "cursor")
	}
	if text := values["per_page"]; text != "" {
		lq.Limit = perPage(text, &invalid)
	}
	if lq.scope, err = s.readSort(r.Context(), l, values, &lq, &invalid); err != nil {
		return listQuery{}, err
	}
	if text := values["cursor"]; text != "" && len(invalid) == 0 {
		s.decodeCursor(text, &lq, &invalid)
	}
	if err = invalid.Err(); err == nil && lq.searched {
		lq.index, err = s.indexState(r.Context(), l, search.QueryFromList(lq.text, lq.Query))
	}
	return lq, err
}

// parameters returns the names of all parameters that the list accepts or rejects. Other
// parameters are ignored.
func (l listSpec) parameters() []string {
	names := append([]string{"per_page", "cursor", "q"}, l.unsupported...)
	if l.asFile {
		names = []string{columnsParam, "q"}
	}
	if l.hasViews {
		names = append(names, viewParam)
	}
	if len(l.sorts) > 0 {
		names = append(names, "sort")
	}
	if l.afterParam != "" {
		names = append(names, l.afterParam)
	}
	for _, f := range l.filters {
		names = append(names, f.name)
	}
	return names
}

// queryPairs parses a query string into its parameters, in order. It returns a 400 error if
// the query is malformed.
func queryPairs(query string) ([]decode.Pair, error) {
	pairs, err := decode.ParseForm([]byte(query))
	if err != nil {
		return nil, &httpx.Error{Status: http.StatusBadRequest, Message: "The query string is malformed."}
	}
	return pairs, nil
}

// perPage parses the page size. It adds a field error to invalid if text is not a valid
// page size.
func perPage(text string, invalid *errs.Fields) int {
	const field = "per_page"
	n, present, ok := decode.Integer(text)
	switch {
	case !ok:
		invalid.Add(field, errs.NotInteger)
	case !present:
		return defaultPage
	case n < 1 || n > maxPage:
		invalid.Add(field, errs.NotBetween, 1, maxPage)
	}
	return int(n)
}

// readSort sets the sort order of lq and returns the scope of the list.
func (s *server) readSort(ctx context.Context, l listSpec, values map[string]string, lq *listQuery, invalid *errs.Fields) (string, error) {
	if l.afterParam != "" && s.readAfter(l, values, lq, invalid) {
		return l.sequenceScope(lq.Query), nil
	}
	if lq.searched || len(l.sorts) == 0 {
		return listScope(l.recordType, "relevance", lq.Query) + fmt.Sprintf("&q=%q", lq.text), nil
	}
	sort := strings.TrimSpace(values["sort"])
	if l.asFile || l.hasViews && strings.TrimSpace(values[viewParam]) != "" {
		if found, err := s.App.Lists.Sort(ctx, l.recordType, &lq.Query, sort); found || err != nil {
			return listScope(l.recordType, sort, lq.Query), err
		}
	}
	return listScope(l.recordType, l.applySort(sort, &lq.Query, invalid), lq.Query), nil
}

// sequenceScope returns the scope of a list in sequence order.
func (l listSpec) sequenceScope(q vault.Query) string { return listScope(l.recordType, "sequence", q) }

// cursorInAfter is the problem of a client that sends meta.next_cursor in the parameter for a sequence number.
const cursorInAfter errs.Code = "The {field} field must be an integer. Send the cursor in the cursor field."

// readAfter reports whether the request is for the entries after a sequence number, or has
// a cursor from such a request. If so, it sets the start position of lq.
func (s *server) readAfter(l listSpec, values map[string]string, lq *listQuery, invalid *errs.Fields) bool {
	text := strings.TrimSpace(values[l.afterParam])
	sorted := strings.TrimSpace(values["sort"]) != ""
	if _, open := s.cursors.Decode(l.sequenceScope(lq.Query), values["cursor"]); text == "" && (sorted || !open) {
		return false
	}
	n, _, ok := decode.Integer(text)
	switch {
	case !ok:
		problem := errs.NotInteger
		if _, isCursor := s.cursors.Decode(l.sequenceScope(lq.Query), text); isCursor {
			problem = cursorInAfter
		}
		invalid.Add(l.afterParam, problem)
	case n < 0, n == 0 && strings.Trim(text, "0") != "": // the number overflows
		invalid.Add(l.afterParam, errs.InvalidChoice)
	case sorted:
		invalid.Add("sort", errs.NotCombinable, l.afterParam)
	}
	lq.Sort, lq.Position = model.SortSequence, vault.EventPosition(uint64(max(n, 0)))
	return true
}

// applySort sets the sort order of q and returns its name, prefixed with "-" if the order is
// descending. It adds a field error to invalid if the name is unknown.
func (l listSpec) applySort(text string, q *vault.Query, invalid *errs.Fields) string {
	if text == "" {
		text = "-" + l.sorts[0].name
	}
	name, down := strings.CutPrefix(text, "-")
	for _, s := range l.sorts {
		if s.name == name {
			q.Sort, q.Descending = s.by, down
			return text
		}
	}
	invalid.Add("sort", errs.InvalidChoice)
	return ""
}

// Directions of a cursor, stored as the first byte of its position. Decoding a cursor
// requires the scope of the list it was created for.
const (
	forward  = '>'
	backward = '<'
)

// decodeCursor sets the position and direction of lq from a cursor. It adds a field error
// to invalid if the cursor is not valid for the list.
func (s *server) decodeCursor(text string, lq *listQuery, invalid *errs.Fields) {
	position, ok := s.cursors.Decode(lq.scope, text)
	if !ok || len(position) == 0 || position[0] != forward && position[0] != backward {
		invalid.Add("cursor", errs.InvalidChoice)
		return
	}
	lq.Position, lq.Backward = position[1:], position[0] == backward
}

// listPage returns a page of a list. It calls find if the request has a search text or a filter
// for which the search index is needed, and list otherwise. find is nil if the list can't be searched. shape converts each record to its
// JSON form.
func listPage[T, W any](s *server, r *request, spec listSpec, list func(context.Context, vault.Query) (vault.Page[T], error),
	find func(context.Context, model.Actor, search.Query, vault.Query) (search.Page[T], error), shape func(T) W,
) (response, error) {
	lq, err := s.list(r, spec)
	if err != nil {
		return response{}, err
	}
	if lq.searched {
		list = searching(r, lq, find)
	}
	page, err := readPage(s, r, lq.Query, list)
	if err != nil {
		return response{}, err
	}
	return okResponse(newPage(s, r, lq, page, shape))
}

// searching returns a function that reads a page of the search of a list.
func searching[T any](r *request, lq listQuery,
	find func(context.Context, model.Actor, search.Query, vault.Query) (search.Page[T], error),
) func(context.Context, vault.Query) (vault.Page[T], error) {
	return func(ctx context.Context, q vault.Query) (vault.Page[T], error) {
		found, err := find(ctx, r.actor, lq.search(q), q)
		return listed(found), err
	}
}

// columnsParam is the parameter with the columns of a file.
const columnsParam = "columns"

func splitColumns(text string) (names []string) {
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// fileRoutes returns the routes that send a list as a file.
func fileRoutes[T any](s *server, path string, spec listSpec, table func(context.Context) (lists.Table[T], error),
	list func(context.Context, vault.Query) (vault.Page[T], error),
	find func(*request, listQuery) func(context.Context, vault.Query) (vault.Page[T], error)) (routes []route) {
	spec.asFile = true
	for _, f := range spreadsheet.Formats() {
		routes = append(routes, route{"GET", path + f.Extension, func(r *request) (response, error) {
			lq, err := s.list(r, spec)
			if err != nil {
				return response{}, err
			}
			r.endTurn()
			all, err := table(r.Context())
			if err != nil {
				return response{}, err
			}
			columns, unknown := all.Find(lq.columns)
			if len(unknown) > 0 {
				return response{}, errs.InvalidField(columnsParam, errs.InvalidChoice)
			}
			if len(columns) == 0 {
				columns = all.InFile()
			}
			read := list
			if lq.searched {
				read = find(r, lq)
			}
			rows, err := lists.Rows(r.Context(), lq.Query, inTurns(s, r, read))
			if err != nil {
				return response{}, err
			}
			if r.Method != http.MethodHead {
				s.App.Events.ListDownloaded(r.actor, spec.recordType, f.Extension)
			}
			file := all.File(columns, rows)
			return fileResponse(r, spec.recordType, f, file), nil
		}})
	}
	return routes
}

// inTurns returns a function that waits for a turn before each page it reads, so that a client which downloads slowly
// keeps no one waiting.
func inTurns[T any](s *server, r *request, read func(context.Context, vault.Query) (vault.Page[T], error)) func(context.Context,
	vault.Query) (vault.Page[T], error) {
	return func(ctx context.Context, q vault.Query) (vault.Page[T], error) {
		done, err := s.turns.Take(ctx, r.actor.Record())
		if err != nil {
			return vault.Page[T]{}, err
		}
		defer done()
		return read(ctx, q)
	}
}

// fileResponse returns the response that sends a table as a file.
func fileResponse(r *request, name string, f spreadsheet.Format, table spreadsheet.Table) response {
	header := map[string]string{"Content-Disposition": `attachment; filename="` + name + f.Extension + `"`,
		"X-Content-Type-Options": "nosniff"}
	return response{status: http.StatusOK, header: header, media: f.Media, stream: func(w io.Writer) error {
		if r.Method == http.MethodHead {
			return nil
		}
		return f.Write(w, table)
	}}
}

// newPage returns the response body for a page, including the cursors and links of the next
// and previous pages. shape converts each record to its JSON form.
func newPage[T, W any](s *server, r *request, lq listQuery, page vault.Page[T], shape func(T) W) apitypes.Page[W] {
	out := apitypes.Page[W]{Data: make([]W, 0, len(page.Items)), Meta: apitypes.Meta{PerPage: lq.Limit, Index: lq.index}}
	for _, item := range page.Items {
		out.Data = append(out.Data, shape(item))
	}
	out.Meta.NextCursor, out.Links.Next = s.pageLink(r, lq, forward, page.Next)
	out.Meta.PrevCursor, out.Links.Prev = s.pageLink(r, lq, backward, page.Prev)
	if page.Next == nil { // on the last page, return a cursor for polling for new entries
		out.Meta.NextCursor, _ = s.pageLink(r, lq, forward, page.End)
	}
	return out
}

// smallPage is the maximum size of a page's records, in bytes, that needs no memory
// reservation.
const smallPage = 256 << 10

// pageCost is the estimated memory for a page, in bytes per byte of its records.
const pageCost = 2

// readPage reads a page of a list. If the page is large, readPage discards it, reserves
// memory, and reads it again, so that requests use little memory while they wait for the
// reservation.
func readPage[T any](s *server, r *request, q vault.Query,
	read func(context.Context, vault.Query) (vault.Page[T], error)) (vault.Page[T], error) {
	maxBytes := int(cmp.Or(s.Limits.Page, 4<<20))
	q.MaxBytes = min(maxBytes, smallPage)
	page, err := read(r.Context(), q)
	if err != nil || page.Bytes <= smallPage && (!page.Truncated || q.MaxBytes == maxBytes) {
		return page, err
	}
	size := int64(max(maxBytes, page.Bytes))
	page = vault.Page[T]{}
	if err := r.reply.AcquireLarge(r.Context(), pageCost*size); err != nil {
		return page, err
	}
	q.MaxBytes = maxBytes
	return read(r.Context(), q)
}

// pageLink returns a cursor for position, and the URL of this request with that cursor.
// Both are nil if position is nil.
func (s *server) pageLink(r *request, lq listQuery, direction byte, position []byte) (cursor, link *string) {
	if position == nil {
		return nil, nil
	}
	text := s.cursors.Encode(lq.scope, append([]byte{direction}, position...))
	var b strings.Builder
	b.WriteString(r.origin + r.URL.EscapedPath() + "?")
	for _, p := range lq.otherParams {
		b.WriteString(url.QueryEscape(p.Name) + "=" + url.QueryEscape(p.Value) + "&")
	}
	b.WriteString("cursor=" + text)
	address := b.String()
	return &text, &address
}

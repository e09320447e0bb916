package api

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"deedkeep/app/apitypes"
	"deedkeep/app/decode"
	"deedkeep/app/errs"
	"deedkeep/app/httpx"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// Lists: pages of a noun by keyset, their places sealed into cursors (API.md, "Ours").
const (
	defaultPage = 25
	maxPage     = 100
)

// listSpec is what may be asked of the list of a noun. Its first sort, descending, is
// the standard one.
type listSpec struct {
	recordType string
	sorts      []sortOption
	filters    []filter
	text       searching
	never      []string // parameters of other lists that are refused here, not ignored
	follow     string   // parameter that asks for the entries after a number, in sequence; "": none
}

// sortOption is a name for an order of the store.
type sortOption struct {
	name string
	by   vault.Sort
}

// listQuery is a list as it was asked for.
type listQuery struct {
	vault.Query
	text  string          // that is searched for; "": the list is in its own order
	index *apitypes.Index // that is searched; nil without text
	scope string          // names the list: noun, sort, filters and text
	rest  []decode.Pair   // the query without its cursor
}

// list reads the query of a list; Invalid with every refusal at once. Of a repeated
// parameter the last counts, unknown ones are noted as ignored, empty ones are absent.
func (e *server) list(c *request, l listSpec) (listQuery, error) {
	c.ignored.query(c.URL.RawQuery, l.parameters()...)
	pairs, err := queryPairs(c.URL.RawQuery)
	if err != nil {
		return listQuery{}, err
	}
	values := map[string]string{}
	a := listQuery{Query: vault.Query{Limit: defaultPage}}
	for _, p := range pairs {
		values[p.Name] = p.Value
		if p.Name != "cursor" {
			a.rest = append(a.rest, p)
		}
	}
	var refused errs.Fields
	a.text = l.textOf(values, &refused)
	for _, f := range l.filters {
		if text := strings.TrimSpace(values[f.name]); text != "" {
			if sentence := f.read(e, text, &a.Query); sentence != "" {
				refused.Add(f.name, sentence)
			}
		}
	}
	if text := values["per_page"]; text != "" {
		a.Limit = perPage(text, &refused)
	}
	a.scope = e.sequenced(l, values, &a, &refused)
	if text := values["cursor"]; text != "" && len(refused) == 0 {
		e.decodeCursor(text, &a, &refused)
	}
	if err = refused.Err(); err == nil && a.text != "" {
		a.index, err = e.index(c.Context())
	}
	return a, err
}

// parameters are the names that the query of the list may have, or is refused for.
func (l listSpec) parameters() []string {
	taken := append([]string{"per_page", "cursor", "q"}, l.never...)
	if len(l.sorts) > 0 {
		taken = append(taken, "sort")
	}
	if l.follow != "" {
		taken = append(taken, l.follow)
	}
	for _, f := range l.filters {
		taken = append(taken, f.name)
	}
	return taken
}

// queryPairs are the parameters of a query, in order.
func queryPairs(query string) ([]decode.Pair, error) {
	pairs, err := decode.ParseForm([]byte(query))
	if err != nil {
		return nil, &httpx.Error{Status: http.StatusBadRequest, Message: "The query of the address cannot be read."}
	}
	return pairs, nil
}

func perPage(text string, refused *errs.Fields) int {
	const field = "per_page"
	n, present, ok := decode.Integer(text)
	switch {
	case !ok:
		refused.Add(field, model.MsgNotInteger(field))
	case !present:
		return defaultPage
	case n < 1 || n > maxPage:
		refused.Add(field, model.MsgNotBetween(field, 1, maxPage))
	}
	return int(n)
}

// sequenced sets the order of a list and gives its scope.
func (e *server) sequenced(l listSpec, values map[string]string, a *listQuery, refused *errs.Fields) string {
	text := values["sort"]
	if l.follow != "" && e.follows(l, values, a, refused) {
		return l.sequence(a.Query)
	}
	if a.text != "" || len(l.sorts) == 0 {
		return scopeOf(l.recordType, "relevance", a.Query) + fmt.Sprintf("&q=%q", a.text)
	}
	return scopeOf(l.recordType, l.sort(text, &a.Query, refused), a.Query)
}

// sequence is the scope of the list in the sequence of its entries.
func (l listSpec) sequence(q vault.Query) string { return scopeOf(l.recordType, "sequence", q) }

// follows says whether the entries after a number are asked for, or those after a cursor
// of such a list, and sets where they begin.
func (e *server) follows(l listSpec, values map[string]string, a *listQuery, refused *errs.Fields) bool {
	text := strings.TrimSpace(values[l.follow])
	sorted := strings.TrimSpace(values["sort"]) != ""
	if _, open := e.cursors.Decode(l.sequence(a.Query), values["cursor"]); text == "" && (sorted || !open) {
		return false
	}
	n, _, ok := decode.Integer(text)
	switch {
	case !ok:
		refused.Add(l.follow, model.MsgNotInteger(l.follow))
	case n < 0, n == 0 && strings.Trim(text, "0") != "": // more digits than a number has
		refused.Add(l.follow, model.MsgInvalidChoice(l.follow))
	case sorted:
		refused.Add("sort", model.MsgNotCombinable("sort", l.follow))
	}
	a.Sort, a.Position = vault.SortSequence, vault.EventPosition(uint64(max(n, 0)))
	return true
}

// sort sets the order and gives its name with its sign.
func (l listSpec) sort(text string, q *vault.Query, refused *errs.Fields) string {
	text = strings.TrimSpace(text)
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
	refused.Add("sort", model.MsgInvalidChoice("sort"))
	return ""
}

// A cursor opens under the scope of its list alone; its first byte is the way:
const (
	forth = '>'
	back  = '<'
)

func (e *server) decodeCursor(text string, a *listQuery, refused *errs.Fields) {
	place, ok := e.cursors.Decode(a.scope, text)
	if !ok || len(place) == 0 || place[0] != forth && place[0] != back {
		refused.Add("cursor", model.MsgInvalidChoice("cursor"))
		return
	}
	a.Position, a.Backward = place[1:], place[0] == back
}

// pageOf is a page of a list, with the way to those beside it.
func pageOf[T, W any](e *server, c *request, a listQuery, page vault.Page[T], shape func(T) W) apitypes.Page[W] {
	out := apitypes.Page[W]{Data: make([]W, 0, len(page.Items)), Meta: apitypes.Meta{PerPage: a.Limit, Index: a.index}}
	for _, item := range page.Items {
		out.Data = append(out.Data, shape(item))
	}
	out.Meta.NextCursor, out.Links.Next = e.beside(c, a, forth, page.Next)
	out.Meta.PrevCursor, out.Links.Prev = e.beside(c, a, back, page.Prev)
	if page.Next == nil { // where a list in sequence continues once there is more
		out.Meta.NextCursor, _ = e.beside(c, a, forth, page.End)
	}
	return out
}

// smallPage is how many bytes of records a page may have without asking for memory.
const smallPage = 256 << 10

// pageCost is how many times a page is in memory: as records, as JSON and compressed.
const pageCost = 2

// readPage reads a page of a list. One that is not small is read again once there is
// memory for it, so that those who wait hold little.
func readPage[T any](e *server, c *request, q vault.Query, read func(context.Context, vault.Query) (vault.Page[T], error)) (vault.Page[T], error) {
	most := int(cmp.Or(e.Limits.Page, 4<<20))
	q.MaxBytes = min(most, smallPage)
	page, err := read(c.Context(), q)
	if err != nil || page.Bytes <= smallPage && (!page.Truncated || q.MaxBytes == most) {
		return page, err
	}
	size := int64(max(most, page.Bytes))
	page = vault.Page[T]{}
	if err := c.reply.AcquireLarge(c.Context(), pageCost*size); err != nil {
		return page, err
	}
	q.MaxBytes = most
	return read(c.Context(), q)
}

// beside is the cursor of a page and its address: this one's with another cursor.
func (e *server) beside(c *request, a listQuery, way byte, position []byte) (cursor, link *string) {
	if position == nil {
		return nil, nil
	}
	text := e.cursors.Encode(a.scope, append([]byte{way}, position...))
	var b strings.Builder
	b.WriteString(c.origin + c.URL.EscapedPath() + "?")
	for _, p := range a.rest {
		b.WriteString(url.QueryEscape(p.Name) + "=" + url.QueryEscape(p.Value) + "&")
	}
	b.WriteString("cursor=" + text)
	address := b.String()
	return &text, &address
}

package page

import (
	"context"
	"net/url"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/vault"
)

// Lists are paged by cursor. The cursor in the page address is encrypted together with the list's
// filters, so it is valid for that list only.
const (
	forward  = '>'
	backward = '<'
)

// ListParams returns those of the named query parameters that are not empty.
func ListParams(r *Request, names ...string) url.Values {
	params, values := r.URL.Query(), url.Values{}
	for _, name := range names {
		if v := params.Get(name); v != "" {
			values.Set(name, v)
		}
	}
	return values
}

// ApplyCursor makes q continue at the request's cursor. If the cursor is invalid, the list starts
// at the first page.
func (si *Site) ApplyCursor(r *Request, values url.Values, q *vault.Query) {
	position, ok := si.App.Secrets.Cursors().Decode(cursorScope(r, values), r.URL.Query().Get("at"))
	if !ok || len(position) == 0 || position[0] != forward && position[0] != backward {
		return
	}
	q.Position, q.Backward = position[1:], position[0] == backward
}

// PageLinks returns the addresses of the previous and the next page. Each is "" if there is no such
// page.
func (si *Site) PageLinks(r *Request, values url.Values, prev, next []byte) (prevLink, nextLink string) {
	to := func(direction byte, position []byte) string {
		if position == nil {
			return ""
		}
		at := url.Values{"at": {si.App.Secrets.Cursors().Encode(cursorScope(r, values), append([]byte{direction}, position...))}}
		for name, v := range values {
			at[name] = v
		}
		return WithQuery(r.URL.Path, at)
	}
	return to(backward, prev), to(forward, next)
}

// maxEmptyPages is how many empty pages in a row are skipped automatically. After that, the user
// has to click Next.
const maxEmptyPages = 4

// ReadNonEmpty reads a page of a list. If a query reaches its scan limit without a match, it
// returns an empty page with a cursor. ReadNonEmpty skips such pages.
func ReadNonEmpty[T any](ctx context.Context, q vault.Query, read func(context.Context, vault.Query) (vault.Page[T], error)) (page vault.Page[T], err error) {
	for range maxEmptyPages {
		page, err = read(ctx, q)
		further := page.Next
		if q.Backward {
			further = page.Prev
		}
		if err != nil || len(page.Items) > 0 || further == nil {
			break
		}
		q.Position = further
	}
	return page, err
}

func cursorScope(r *Request, values url.Values) string {
	return "page " + WithQuery(r.URL.Path, values)
}

// DayParam returns the date in the named query parameter or the zero time if there is none. It
// replaces the parameter with the normalized date. If the date is invalid, it adds a problem under
// the parameter's name.
func DayParam(params url.Values, problems map[string]string, name string, now time.Time) time.Time {
	text := TypedDate(name, params.Get(name), now)
	if text == "" {
		return time.Time{}
	}
	at, err := time.ParseInLocation(time.DateOnly, text, now.Location())
	if err != nil || at.Year() < 1 {
		problems[name] = sentence(errs.Problem{Code: errs.NotDate, Value: text})
		return time.Time{}
	}
	params.Set(name, text)
	return at
}

// DayRangeParams returns the start and the end of the requested date range in the time zone of now.
// The range includes both days.
func DayRangeParams(params url.Values, problems map[string]string, now time.Time) (from, to time.Time) {
	from, to = DayParam(params, problems, "from", now), DayParam(params, problems, "to", now)
	if !to.IsZero() {
		to = to.AddDate(0, 0, 1).Add(-time.Microsecond)
	}
	return from, to
}

package page

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"deedkeep/app/vault"
)

// Pages of lists by keyset. The place of a page is sealed into its address together
// with what the list was asked for: of another list it is none.
const (
	forward  = '>'
	backward = '<'
)

// ListParams are the parameters of a list's address that say something, without its place.
func ListParams(r *http.Request, names ...string) url.Values {
	asked, values := r.URL.Query(), url.Values{}
	for _, name := range names {
		if v := asked.Get(name); v != "" {
			values.Set(name, v)
		}
	}
	return values
}

// ApplyCursor sets where in its list a query begins. A place that is none is the beginning.
func (p *Site) ApplyCursor(r *http.Request, values url.Values, q *vault.Query) {
	place, ok := p.Vault.Secrets.Cursors().Decode(cursorScope(r, values), r.URL.Query().Get("at"))
	if !ok || len(place) == 0 || place[0] != forward && place[0] != backward {
		return
	}
	q.Position, q.Backward = place[1:], place[0] == backward
}

// PageLinks gives the addresses of the pages before and after, "" where there is none.
func (p *Site) PageLinks(r *http.Request, values url.Values, prev, next []byte) (before, after string) {
	to := func(way byte, place []byte) string {
		if place == nil {
			return ""
		}
		at := url.Values{"at": {p.Vault.Secrets.Cursors().Encode(cursorScope(r, values), append([]byte{way}, place...))}}
		for name, v := range values {
			at[name] = v
		}
		return WithQuery(r.URL.Path, at)
	}
	return to(backward, prev), to(forward, next)
}

// maxEmptyPages is how often a page that came back empty is looked for again, further on,
// before the visitor is asked.
const maxEmptyPages = 4

// ReadNonEmpty reads a page. One that is empty since its steps were used up (vault.Page) is
// looked for further on.
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

func cursorScope(r *http.Request, values url.Values) string {
	return "page " + WithQuery(r.URL.Path, values)
}

// DayParam reads a day of an address, and spells it there as 2026-03-14; the zero time
// for none. The problem of one that is no day is put under its name.
func DayParam(asked url.Values, problems map[string]string, name string, zone *time.Location) time.Time {
	text := NormalizeDate(asked.Get(name))
	if text == "" {
		return time.Time{}
	}
	at, err := time.ParseInLocation(time.DateOnly, text, zone)
	if err != nil || at.Year() < 1 {
		problems[name] = invalidDateText
		return time.Time{}
	}
	asked.Set(name, text)
	return at
}

// DayRangeParams reads the first and the last day of an address's bounds as moments in
// a time zone, both included.
func DayRangeParams(asked url.Values, problems map[string]string, zone *time.Location) (from, to time.Time) {
	from, to = DayParam(asked, problems, "from", zone), DayParam(asked, problems, "to", zone)
	if !to.IsZero() {
		to = to.AddDate(0, 0, 1).Add(-time.Microsecond)
	}
	return from, to
}

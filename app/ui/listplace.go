package ui

import (
	"context"
	"net/http"
	"net/url"

	"deedkeep/app/vault"
)

// Pages of lists by keyset. The place of a page is sealed into its address together
// with what the list was asked for: of another list it is none.
const (
	forward  = '>'
	backward = '<'
)

// kept are the parameters of a list's address that say something, without its place.
func kept(r *http.Request, names ...string) url.Values {
	asked, values := r.URL.Query(), url.Values{}
	for _, name := range names {
		if v := asked.Get(name); v != "" {
			values.Set(name, v)
		}
	}
	return values
}

// address is a path with parameters.
func address(path string, values url.Values) string {
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

// placed sets where in its list a query begins. A place that is none is the beginning.
func (p *pages) placed(r *http.Request, values url.Values, q *vault.Query) {
	place, ok := p.Vault.Secrets.Cursors().Decode(scope(r, values), r.URL.Query().Get("at"))
	if !ok || len(place) == 0 || place[0] != forward && place[0] != backward {
		return
	}
	q.Position, q.Backward = place[1:], place[0] == backward
}

// beside gives the addresses of the pages before and after, "" where there is none.
func (p *pages) beside(r *http.Request, values url.Values, prev, next []byte) (before, after string) {
	to := func(way byte, place []byte) string {
		if place == nil {
			return ""
		}
		at := url.Values{"at": {p.Vault.Secrets.Cursors().Encode(scope(r, values), append([]byte{way}, place...))}}
		for name, v := range values {
			at[name] = v
		}
		return address(r.URL.Path, at)
	}
	return to(backward, prev), to(forward, next)
}

// mostLooks is how often a page that came back empty is looked for again, further on,
// before the visitor is asked.
const mostLooks = 4

// onward reads a page. One that is empty since its steps were used up (vault.Page) is
// looked for further on.
func onward[T any](ctx context.Context, q vault.Query, read func(context.Context, vault.Query) (vault.Page[T], error)) (page vault.Page[T], err error) {
	for range mostLooks {
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

func scope(r *http.Request, values url.Values) string { return "page " + address(r.URL.Path, values) }

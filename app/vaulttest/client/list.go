package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"deedkeep/app/apitypes"
)

// ListOptions contains the filters, sort order, and page of a list request. Filters maps a filter name (status, county,
// created_from, ...) to its value. The zero value requests the first page of all records, newest first.
type ListOptions struct {
	Filters map[string]string
	Sort    string // "created_at", "-due_date"; "" means the default
	PerPage int    // 1 to 100; 0 means the default
	Cursor  string // NextCursor of the previous page
}

func (l ListOptions) query() string {
	values := url.Values{}
	for name, value := range l.Filters {
		values.Set(name, value)
	}
	if l.Sort != "" {
		values.Set("sort", l.Sort)
	}
	if l.PerPage != 0 {
		values.Set("per_page", strconv.Itoa(l.PerPage))
	}
	if l.Cursor != "" {
		values.Set("cursor", l.Cursor)
	}
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}

func page[T any](ctx context.Context, c *Client, path string, l ListOptions) (apitypes.Page[T], error) {
	var p apitypes.Page[T]
	err := c.Do(ctx, http.MethodGet, path+l.query(), nil, &p)
	return p, err
}

// all iterates over all pages. An error ends the iteration.
func all[T any](ctx context.Context, c *Client, path string, l ListOptions) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			p, err := page[T](ctx, c, path, l)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range p.Data {
				if !yield(item, nil) {
					return
				}
			}
			if p.Meta.NextCursor == nil {
				return
			}
			l.Cursor = *p.Meta.NextCursor
		}
	}
}

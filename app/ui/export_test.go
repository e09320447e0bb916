package ui

import (
	"net/http"

	"deedkeep/app/ui/documents"
	"deedkeep/app/ui/page"
)

// Route is a row of the table of routes.
type Route struct {
	Pattern, Need string
	Raw           bool
}

// Routes returns the table of routes.
func Routes() []Route {
	var table []Route
	for _, r := range routes(new(page.Site), documents.New(new(page.Site))) {
		table = append(table, Route{r.Pattern, string(r.Access), r.Raw})
	}
	return table
}

// Reached is the status of a page whose request Gate let through.
const Reached = http.StatusTeapot

// Gate returns New's handler, but with handlers that all respond with Reached, to test the checks
// before them.
func Gate(opts page.Options) (http.Handler, error) {
	s, err := page.New(opts)
	if err != nil {
		return nil, err
	}
	docs := documents.New(s)
	table := routes(s, docs)
	for i := range table {
		table[i].Handle = func(w http.ResponseWriter, _ *http.Request, _ page.Visitor) error {
			w.WriteHeader(Reached)
			return nil
		}
	}
	s.Mount(table)
	return handler(s, docs), nil
}

// EventKinds returns the kinds of events that have a text.
func EventKinds() map[string]bool {
	known := map[string]bool{}
	for _, g := range page.EventTexts {
		for _, w := range g.Words {
			known[w.Kind()] = true
		}
	}
	return known
}

package ui

import (
	"net/http"

	"deedkeep/app/ui/documents"
	"deedkeep/app/ui/page"
)

// Route is the pattern and access level of a route.
type Route struct {
	Pattern, Need string
	Raw           bool
}

// Routes returns all routes.
func Routes() []Route {
	var table []Route
	for _, r := range routes(new(page.Site), documents.New(new(page.Site))) {
		table = append(table, Route{r.Pattern, string(r.Access), r.Raw})
	}
	return table
}

// Reached is the status sent by Gate's handlers.
const Reached = http.StatusTeapot

// Gate returns the handler of New with every page's handler replaced by one that responds with
// Reached. Tests use it to check what happens before the page's handler is called.
func Gate(opts page.Options) (http.Handler, error) {
	s, err := page.New(opts)
	if err != nil {
		return nil, err
	}
	docs := documents.New(s)
	table := routes(s, docs)
	for i := range table {
		table[i].Handle = func(r *page.Request) error {
			r.W.WriteHeader(Reached)
			return nil
		}
	}
	s.Mount(table)
	return handler(s, docs), nil
}

// EventKinds returns the event kinds that have a text.
func EventKinds() map[string]bool {
	known := map[string]bool{}
	for _, g := range page.EventTexts {
		for _, w := range g.Words {
			known[w.Kind()] = true
		}
	}
	return known
}

package ui

import "net/http"

// Route is a line of the table of pages.
type Route struct {
	Pattern, Need string
	Raw           bool
}

// Routes is the table.
func Routes() []Route {
	var table []Route
	for _, r := range new(pages).routes() {
		table = append(table, Route{r.pattern, string(r.need), r.raw})
	}
	return table
}

// Reached is the status of a page that Gate let through.
const Reached = http.StatusTeapot

// Gate is New with the real table, whose handlers all answer Reached: what is asked
// before them, and nothing of what they do.
func Gate(opts Options) (http.Handler, error) {
	p, err := open(opts)
	if err != nil {
		return nil, err
	}
	table := p.routes()
	for i := range table {
		table[i].handle = func(w http.ResponseWriter, _ *http.Request, _ visitor) error {
			w.WriteHeader(Reached)
			return nil
		}
	}
	p.mount(table)
	return http.HandlerFunc(p.route), nil
}

// Local is local, DeviceName is deviceName.
var (
	Local      = local
	DeviceName = deviceName
)

// Undoing is undoing.
var Undoing = undoing

// EventKinds are the kinds of events that have words.
func EventKinds() map[string]bool {
	known := map[string]bool{}
	for _, g := range eventWords {
		for _, w := range g.Words {
			known[w.kind] = true
		}
	}
	return known
}

// Legible is legible.
func Legible(text []byte) []byte { return legible(text) }

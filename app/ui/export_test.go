package ui

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

package postings

// merger merges neighbouring segments in the background.
type merger struct{}

func (m *merger) start(x *Index) {}
func (m *merger) stop()          {}
func (m *merger) poke()          {}

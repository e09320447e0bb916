package title

// Template is what an abstract is created from: the custom fields it accepts,
// and its statuses (none: statuses are off for it).
type Template struct {
	ID       uint64   `json:"id"`
	Name     string   `json:"name"`
	Statuses []string `json:"statuses,omitempty"` // the first is applied at creation
	Fields   []Field  `json:"fields"`
	Retired  bool     `json:"retired,omitempty"`
	Default  bool     `json:"-"` // kept as one pointer by the store: exactly one template is it
}

// FirstStatus is the status a new abstract gets; "" when statuses are off.
func (t Template) FirstStatus() string {
	if len(t.Statuses) == 0 {
		return ""
	}
	return t.Statuses[0]
}

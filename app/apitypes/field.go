package apitypes

// Field defines one field of a template or of orders (SPEC.md, "Field
// definition"). Type is text, paragraph, date, dropdown, multiselect, number, checkbox,
// money, email, phone or url (API.md, "Field definitions" and "Additions for
// integrators"); Options is [] where there is no choice.
type Field struct {
	Key      string       `json:"key"`
	Label    string       `json:"label"`
	Type     string       `json:"type"`
	Required bool         `json:"required"`
	Options  List[string] `json:"options"`
}

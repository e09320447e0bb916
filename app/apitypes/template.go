package apitypes

// Template is an abstract template (SPEC.md, "Abstract template").
type Template struct {
	ID           int64       `json:"id"`
	Name         string      `json:"name"`
	Default      bool        `json:"default"`
	CustomFields List[Field] `json:"custom_fields"`
}

// AbstractTemplates answers GET /abstract-templates, in the order of the ids.
type AbstractTemplates struct {
	Templates List[Template] `json:"templates"`
}

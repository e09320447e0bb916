package apitypes

import "encoding/json"

// TemplateDefinition is an abstract template with all that belongs to it: its statuses
// too ([]: they are off), of which new abstracts have the first. A retired one takes no
// new abstracts.
type TemplateDefinition struct {
	ID           int64        `json:"id"`
	Name         string       `json:"name"`
	Default      bool         `json:"default"`
	Retired      bool         `json:"retired"`
	Statuses     List[string] `json:"statuses"`
	CustomFields List[Field]  `json:"custom_fields"`
}

// TemplateBody answers GET /abstract-templates/{n}.
type TemplateBody struct {
	Template TemplateDefinition `json:"template"`
}

// TemplateDefinitions answers GET /control/templates.
type TemplateDefinitions struct {
	Templates List[TemplateDefinition] `json:"templates"`
}

// TemplateDefinitionBody answers the verbs on one template.
type TemplateDefinitionBody struct {
	Data TemplateDefinition `json:"data"`
}

// TemplateDraft is a template to import. Without an ID it is the one of this name, or
// a new one. What is nil stays as it is; Default says something only when true.
type TemplateDraft struct {
	ID           int64     `json:"id,omitempty"`
	Name         string    `json:"name"`
	Default      bool      `json:"default,omitempty"`
	Retired      *bool     `json:"retired,omitempty"`
	Statuses     *[]string `json:"statuses,omitempty"`
	CustomFields *[]Field  `json:"custom_fields,omitempty"`
}

// TemplatesImport asks POST /control/templates/import; with DryRun nothing is written.
type TemplatesImport struct {
	DryRun    bool                `json:"dry_run"`
	Templates List[TemplateDraft] `json:"templates"`
}

// OrderFieldsImport asks POST /control/order-fields/import.
type OrderFieldsImport struct {
	DryRun       bool        `json:"dry_run"`
	CustomFields List[Field] `json:"custom_fields"`
}

// OrderStatuses answers GET /order-statuses, here and at the door: the first is given to new orders.
type OrderStatuses struct {
	Statuses List[string] `json:"statuses"`
}

// OrderStatusesImport asks POST /control/order-statuses/import.
type OrderStatusesImport struct {
	DryRun   bool         `json:"dry_run"`
	Statuses List[string] `json:"statuses"`
}

// DefinitionsChanged answers the three imports: what changed, or would change, and,
// of a dry run, what stands against it.
type DefinitionsChanged struct {
	DryRun  bool             `json:"dry_run"`
	Changed List[Definition] `json:"changed"`
	Refused List[string]     `json:"refused"` // a sentence for each loss
}

// Definition is what changed of one template, or of the definitions of orders (then
// ID is nil and Name empty). ID is nil too for a template that a dry run would make.
type Definition struct {
	ID      *int64                 `json:"id"`
	Name    string                 `json:"name"`
	Created bool                   `json:"created"`
	Changes List[DefinitionChange] `json:"changes"`
}

// DefinitionChange is what became of one field; From and To are null where it has no value.
type DefinitionChange struct {
	Field string          `json:"field"`
	From  json.RawMessage `json:"from"`
	To    json.RawMessage `json:"to"`
}

package apitypes

import "encoding/json"

// Template is an abstract template as it appears in the list of templates.
type Template struct {
	ID           int64       `json:"id"`
	Name         string      `json:"name"`
	Default      bool        `json:"default"`
	CustomFields List[Field] `json:"custom_fields"`
}

// AbstractTemplates is the response of GET /abstract-templates, sorted by ID.
type AbstractTemplates struct {
	Templates List[Template] `json:"templates"`
}

// TemplateDefinition is an abstract template with its statuses. New abstracts get the first status. If there are no
// statuses, abstracts with this template don't have a status. A retired template can't be used for new abstracts.
type TemplateDefinition struct {
	ID           int64        `json:"id" yaml:"id,omitempty"`
	Name         string       `json:"name"`
	Default      bool         `json:"default"`
	Retired      bool         `json:"retired"`
	Statuses     List[string] `json:"statuses"`
	CustomFields List[Field]  `json:"custom_fields" yaml:"custom_fields"`
}

// TemplateBody is the response of GET /abstract-templates/{n}.
type TemplateBody struct {
	Template TemplateDefinition `json:"template"`
}

// TemplateDefinitions is the response of GET /control/templates.
type TemplateDefinitions struct {
	Templates List[TemplateDefinition] `json:"templates"`
}

// TemplateDraft is a template to import. Without an ID, the import changes the template with that name, or creates
// one if there is none. Nil fields stay unchanged. Default has an effect only if it is true.
type TemplateDraft struct {
	ID           int64     `json:"id,omitempty"`
	Name         string    `json:"name"`
	Default      bool      `json:"default,omitempty"`
	Retired      *bool     `json:"retired,omitempty"`
	Statuses     *[]string `json:"statuses,omitempty"`
	CustomFields *[]Field  `json:"custom_fields,omitempty"`
}

// TemplatesImport is the body of POST /control/templates/import. With DryRun, nothing is changed.
type TemplatesImport struct {
	DryRun    bool                `json:"dry_run"`
	Templates List[TemplateDraft] `json:"templates"`
}

// OrderFieldsImport is the body of POST /control/order-fields/import.
type OrderFieldsImport struct {
	DryRun       bool        `json:"dry_run"`
	CustomFields List[Field] `json:"custom_fields"`
}

// OrderStatuses is the response of GET /v1/order-statuses and GET /control/order-statuses. New orders have the first
// status.
type OrderStatuses struct {
	Statuses List[string] `json:"statuses"`
}

// OrderStatusesImport is the body of POST /control/order-statuses/import.
type OrderStatusesImport struct {
	DryRun   bool         `json:"dry_run"`
	Statuses List[string] `json:"statuses"`
}

// DefinitionsChanged is the response of the three imports. It contains the changes and, for a dry run, the data that
// would be lost.
type DefinitionsChanged struct {
	DryRun  bool             `json:"dry_run"`
	Changed List[Definition] `json:"changed"`
	Losses  List[string]     `json:"losses"` // one sentence for each loss
}

// Definition lists the changes of one template, or of the definitions of orders, for which ID is nil and Name empty.
// ID is also nil for a template that a dry run would create.
type Definition struct {
	ID      *int64                 `json:"id"`
	Name    string                 `json:"name"`
	Created bool                   `json:"created"`
	Changes List[DefinitionChange] `json:"changes"`
}

// DefinitionChange is the change of one field. From or To is null if the field had or has no value.
type DefinitionChange struct {
	Field string          `json:"field"`
	From  json.RawMessage `json:"from"`
	To    json.RawMessage `json:"to"`
}

// Field defines one field of a template or of orders. Type is text, paragraph, date, dropdown, multiselect, number,
// checkbox, money, email, phone, or url. Options is [] for types without options.
type Field struct {
	Key      string       `json:"key"`
	Label    string       `json:"label"`
	Type     string       `json:"type"`
	Required bool         `json:"required" yaml:"required,omitempty"`
	Options  List[string] `json:"options" yaml:"options,omitempty"`
}

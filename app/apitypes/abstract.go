package apitypes

// Abstract is a title abstract (SPEC.md, "Abstract"). ID is the opaque id;
// what was not supplied is nil and so null.
type Abstract struct {
	ID           string       `json:"id"`
	TemplateID   *int64       `json:"template_id"`
	Status       *string      `json:"status"`
	Address      *string      `json:"address"`
	City         *string      `json:"city"`
	County       *string      `json:"county"`
	State        *string      `json:"state"`
	TaxMap       *string      `json:"tax_map"`
	CustomFields CustomFields `json:"custom_fields"`
	Files        List[File]   `json:"files"`
	CreatedAt    Time         `json:"created_at"`
	UpdatedAt    Time         `json:"updated_at"`
}

// AbstractCreated answers POST /abstracts and POST /abstracts/{id}/files: the
// abstract with all its files, and the files that were refused in the order sent.
type AbstractCreated struct {
	Data   Abstract          `json:"data"`
	Errors List[FileFailure] `json:"errors"`
}

// AbstractBody answers GET and PATCH /abstracts/{id}, and POST /abstracts/{id}/restore.
type AbstractBody struct {
	Data Abstract `json:"data"`
}

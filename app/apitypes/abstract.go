package apitypes

// Abstract is a title abstract. ID is opaque. Values that were not given are nil, which is null in JSON.
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

// AbstractCreated is the response of POST /abstracts and POST /abstracts/{id}/files: the abstract with all its files,
// and the rejected files in the sequence in which they were sent.
type AbstractCreated struct {
	Data   Abstract          `json:"data"`
	Errors List[FileFailure] `json:"errors"`
}

// AbstractBody is the response of GET and PATCH /abstracts/{id}, and POST /abstracts/{id}/restore.
type AbstractBody struct {
	Data Abstract `json:"data"`
}

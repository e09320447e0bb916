package apitypes

// ViewBody is the response of requests that create, read, or change a saved view.
type ViewBody struct {
	Data View `json:"data"`
}

// Views is a list of saved views.
type Views struct {
	Data List[View] `json:"data"`
}

// View is a saved view of a list.
type View struct {
	ID        int64             `json:"id"`
	Name      string            `json:"name"`
	Record    string            `json:"record"`
	Filters   map[string]string `json:"filters"`
	Sort      *string           `json:"sort"`
	Columns   List[string]      `json:"columns"`
	Shared    bool              `json:"shared"`
	Owner     Actor             `json:"owner"`
	CreatedAt Time              `json:"created_at"`
	UpdatedAt Time              `json:"updated_at"`
}

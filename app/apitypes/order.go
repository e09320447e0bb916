package apitypes

// Order is a title order. ID is opaque, DueDate has DateLayout. Values that were not given are nil, which is null in
// JSON.
type Order struct {
	ID           string       `json:"id"`
	OrderNumber  string       `json:"order_number"`
	Status       string       `json:"status"`
	DueDate      *string      `json:"due_date"`
	Address      *string      `json:"address"`
	City         *string      `json:"city"`
	County       *string      `json:"county"`
	State        *string      `json:"state"`
	CustomFields CustomFields `json:"custom_fields"`
	CreatedAt    Time         `json:"created_at"`
	UpdatedAt    Time         `json:"updated_at"`
}

// OrderBody is the response of POST /orders, GET and PATCH /orders/{id}, and POST /orders/{id}/restore.
type OrderBody struct {
	Data Order `json:"data"`
}

// OrderAssignmentBody is the response of GET and PUT /orders/{id}/assignment.
type OrderAssignmentBody struct {
	Data OrderAssignment `json:"data"`
}

// OrderAssignment says which user works on an order. DueDate has DateLayout.
type OrderAssignment struct {
	Assignee *int64  `json:"assignee"`
	DueDate  *string `json:"due_date"`
}

// OrderFields is the response of GET /order-fields.
type OrderFields struct {
	CoreFields   List[Field] `json:"core_fields"`
	CustomFields List[Field] `json:"custom_fields"`
}

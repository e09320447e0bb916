package model

import (
	"slices"
	"strings"
	"time"

	"deedkeep/app/errs"
)

// Order is a customer's title order. The client chooses its number.
type Order struct {
	ID      uint64 `json:"id"`
	Number  string `json:"number"`
	Status  string `json:"status"`
	DueDate string `json:"due_date,omitempty"` // YYYY-MM-DD
	Property
	Custom    CustomValues `json:"custom,omitempty"`
	Version   uint64       `json:"version"`
	CreatedAt time.Time    `json:"created_at"`
	UpdatedAt time.Time    `json:"updated_at"`
	Trashed   *Trashed     `json:"trashed,omitempty"`
}

// OrderDraft is the input for a new order, before validation.
type OrderDraft struct {
	Number, DueDate Input
	PropertyDraft
	Custom Custom
}

// Check validates the draft and returns all errors, not just the first. It doesn't check that the
// number is unique, because that needs the store.
func (d OrderDraft) Check(defs []Field, rules Rules) (Order, errs.Fields) {
	var f validation
	const field = "order_number"
	o := Order{Number: f.line(field, d.Number, MaxNameLength)}
	if o.Number == "" && len(f.Fields) == 0 {
		f.Add(field, errs.Required)
	}
	o.DueDate = f.date("due_date", d.DueDate)
	o.Property = d.PropertyDraft.check(&f)
	f.checkCustomKind(d.Custom)
	o.Custom = f.checkCustom(d.Custom, defs, rules)
	return o, f.Fields
}

// OrderPatch is the input for updating an order. Only the fields with Present set are changed.
type OrderPatch struct {
	Number, Status, DueDate Optional[Input]
	PropertyPatch
	Custom Optional[Custom]
}

// Check applies the patch to old and returns all errors, not just the first. It doesn't check
// that the number is unique, because that needs the store. Fields that weren't sent aren't
// validated.
func (p OrderPatch) Check(old Order, statuses []string, defs []Field, rules Rules) (Order, errs.Fields) {
	var f validation
	o := old
	o.Number = f.changedName("order_number", p.Number, old.Number)
	o.Status = f.changedStatus(p.Status, old.Status, statuses)
	if p.DueDate.Present {
		o.DueDate = f.date("due_date", p.DueDate.Value)
	}
	o.Property = p.PropertyPatch.check(&f, old.Property)
	f.checkCustomKind(p.Custom.Value)
	o.Custom = f.changedCustom(p.Custom, old.Custom, defs, rules)
	return o, f.Fields
}

var fieldsOfOrder = slices.Concat(
	[]recordField[Order]{
		{FieldLabel{Name: "order_number", Label: "Order number"}, func(o *Order) any { return o.Number }},
		{FieldLabel{Name: "status", Label: "Status", Type: Choice}, func(o *Order) any { return o.Status }},
		{FieldLabel{Name: "due_date", Label: "Due date", Type: Date}, func(o *Order) any { return o.DueDate }},
	},
	propertyFields(func(o *Order) *Property { return &o.Property }),
	[]recordField[Order]{{FieldLabel{Name: customName}, func(o *Order) any { return o.Custom }}})

// Changes returns the differences between o and its new version, with API field names.
func (o Order) Changes(to Order) []Change { return compareRecords(fieldsOfOrder, o, to) }

// CoreOrderFields returns the fields that every order has, in display order.
func CoreOrderFields() []Field {
	return []Field{
		{Key: "order_number", Label: "Order #", Type: Text, Required: true},
		{Key: "due_date", Label: "Due Date", Type: Date},
		{Key: "address", Label: "Address", Type: Text},
		{Key: "city", Label: "City", Type: Text},
		{Key: "county", Label: "County", Type: Text},
		{Key: "state", Label: "State", Type: Text},
	}
}

// ParcelID returns the parcel number sent with the order, or "" if there is none.
func (o Order) ParcelID() string { return o.Custom.Text(keyParcel) }

// Subheading returns the line to show below the order number: the address and the parcel ID.
func (o Order) Subheading() string { return joinNonEmpty(" · ", o.FullAddress(), o.ParcelID()) }

// closedStatuses are the statuses of orders that need no more work.
var closedStatuses = map[string]bool{
	"completed": true, "complete": true, "cancelled": true, "canceled": true, "closed": true,
	"delivered": true, "done": true, "finished": true, "void": true, "withdrawn": true, "archived": true,
}

// IsOpenStatus reports whether orders with this status still need work. Firms may define their
// own statuses; a new workspace has "completed" and "cancelled". A status is closed only if it is
// one of closedStatuses, alone or before punctuation, as in "Cancelled (by client)". All others
// are open, because an order missing from the due list is worse than an extra one.
//
// The result is part of the keys of a store index, so any change requires a schema migration.
func IsOpenStatus(status string) bool {
	word := strings.TrimSpace(fastFold(status))
	if end := strings.IndexFunc(word, func(r rune) bool { return r < 0x80 && r != ' ' && (r < 'a' || r > 'z') }); end >= 0 {
		word = strings.TrimSpace(word[:end])
	}
	return !closedStatuses[word]
}

// IsOpen reports whether the order still needs work; see IsOpenStatus.
func (o Order) IsOpen() bool { return IsOpenStatus(o.Status) }

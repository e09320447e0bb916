package model

import (
	"strings"
	"time"

	"golang.org/x/text/cases"

	"deedkeep/app/errs"
)

// Order is a piece of work that somebody asked for, under the caller's number.
type Order struct {
	ID      uint64 `json:"id"`
	Number  string `json:"number"`
	Status  string `json:"status"`
	DueDate string `json:"due_date,omitempty"` // YYYY-MM-DD
	Property
	Custom    Values    `json:"custom,omitempty"`
	Version   uint64    `json:"version"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Trashed   *Trashed  `json:"trashed,omitempty"`
}

// OrderDraft is an order as it arrived, before any rule was applied.
type OrderDraft struct {
	Number, DueDate Input
	PropertyDraft
	Custom Custom
}

// Check applies every rule but uniqueness, which needs the store, to the draft.
func (d OrderDraft) Check(defs []Field, rules Rules) (Order, errs.Fields) {
	var f validation
	const field = "order_number"
	o := Order{Number: f.line(field, d.Number, MaxNameLength)}
	if o.Number == "" && len(f.Fields) == 0 {
		f.Add(field, required(field))
	}
	o.DueDate = f.date("due_date", d.DueDate)
	o.Property = d.PropertyDraft.check(&f)
	f.customForm(d.Custom)
	o.Custom = f.checkCustom(d.Custom, defs, rules)
	return o, f.Fields
}

// OrderPatch is a change of an order as it arrived: only what is Present of it.
type OrderPatch struct {
	Number, Status, DueDate Optional[Input]
	PropertyPatch
	Custom Optional[Custom]
}

// Check applies the change to the order as it is, and every rule but uniqueness to
// what was sent, at once. What was not sent is not judged.
func (p OrderPatch) Check(old Order, statuses []string, defs []Field, rules Rules) (Order, errs.Fields) {
	var f validation
	o := old
	o.Number = f.changedName("order_number", p.Number, old.Number)
	o.Status = f.changedStatus(p.Status, old.Status, statuses)
	if p.DueDate.Present {
		o.DueDate = f.date("due_date", p.DueDate.Value)
	}
	o.Property = p.PropertyPatch.check(&f, old.Property)
	f.customForm(p.Custom.Value)
	o.Custom = f.changedCustom(p.Custom, old.Custom, defs, rules)
	return o, f.Fields
}

// CoreOrderFields are the fields every order has (API.md, "Orders").
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

// Fold is how two names are compared where case does not matter: Unicode case
// folding of the trimmed text.
func Fold(s string) string { return cases.Fold().String(strings.TrimSpace(s)) }

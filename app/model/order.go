package model

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"deedkeep/app/errs"
)

// Order is a customer's title order. The client chooses its number.
type Order struct {
	ID      uint64 `json:"id"`
	Number  string `json:"number"`
	Status  string `json:"status"`
	DueDate string `json:"due_date,omitempty"` // YYYY-MM-DD
	// AssigneeID is the user who works on the order, or 0.
	AssigneeID uint64 `json:"assignee_id,omitempty"`
	Property
	Custom    CustomValues `json:"custom,omitempty"`
	Version   uint64       `json:"version"`
	CreatedAt time.Time    `json:"created_at"`
	UpdatedAt time.Time    `json:"updated_at"`
	Trashed   *Trashed     `json:"trashed,omitempty"`
}

// OrderDraft is the input for a new order, before validation.
type OrderDraft struct {
	Fields Inputs
	Custom Custom
}

// Check validates the draft and returns all errors, not just the first. It doesn't check that the
// number is unique, because that needs the store.
func (d OrderDraft) Check(defs []Field, rules Rules) (Order, errs.Fields) {
	var f validation
	var o Order
	fields := Inputs{"order_number": {}} // so that it is required
	maps.Copy(fields, d.Fields)
	setTexts(&f, orderTexts, &o, fields)
	f.checkCustomKind(d.Custom)
	o.Custom = f.checkCustom(d.Custom, defs, rules)
	return o, f.Fields
}

// OrderPatch is the input for updating an order. Only the fields that it has are changed.
type OrderPatch struct {
	Fields Inputs
	Custom Optional[Custom]
}

// Check applies the patch to old and returns all errors, not just the first. It doesn't check
// that the number is unique, because that needs the store. Fields that weren't sent aren't
// validated. canWork reports whether a user exists and may work on orders.
func (p OrderPatch) Check(old Order, statuses []string, defs []Field, rules Rules, canWork func(user uint64) bool) (Order, errs.Fields) {
	f := validation{status: old.Status, statuses: statuses}
	o := old
	setTexts(&f, orderTexts, &o, p.Fields)
	if in, sent := p.Fields[assigneeLabel.Name]; sent {
		o.AssigneeID = f.worker(assigneeLabel.Name, in, canWork)
	}
	f.checkCustomKind(p.Custom.Value)
	o.Custom = f.changedCustom(p.Custom, old.Custom, defs, rules)
	return o, f.Fields
}

// orderTexts are the fields that every order has, in display order.
var orderTexts = slices.Concat(
	[]textField[Order]{
		{FieldLabel: FieldLabel{Name: "order_number", Label: "Order number"},
			text:  func(o *Order) *string { return &o.Number },
			check: lineUpTo(MaxNameLength), required: true, find: foundAsNumber, apiLabel: "Order #"},
		{FieldLabel: FieldLabel{Name: statusName, Label: "Status", Type: Choice},
			text:  func(o *Order) *string { return &o.Status },
			check: (*validation).changedStatus, find: foundAsText},
		{FieldLabel: FieldLabel{Name: "due_date", Label: "Due date", Type: Date},
			text:  func(o *Order) *string { return &o.DueDate },
			check: (*validation).date, find: foundAsText, apiLabel: "Due Date"},
	},
	propertyFields(func(o *Order) *Property { return &o.Property }))

// assigneeLabel is the field of OrderPatch.Fields that assigns the order to a user.
var assigneeLabel = FieldLabel{Name: "assignee", Label: "Assignee", Refers: "user"}

var loggedOrderFields = append(loggedTexts(orderTexts),
	recordField[Order]{assigneeLabel, func(o *Order) any { return o.AssigneeID }},
	recordField[Order]{FieldLabel{Name: customName}, func(o *Order) any { return o.Custom }})

// Changes returns the differences between o and its new version, with API field names.
func (o Order) Changes(to Order) []Change { return compareRecords(loggedOrderFields, o, to) }

// Reverted returns o with the values that it had before a change, of the fields that the change replaced. ok is false if
// one of them isn't the one that the change set.
func (o Order) Reverted(before, after Order) (reverted Order, ok bool) {
	r := reversal{}
	revertTexts(&r, orderTexts, &o, &before, &after)
	revert(&r, &o.AssigneeID, before.AssigneeID, after.AssigneeID)
	r.custom(&o.Custom, before.Custom, after.Custom)
	return o, !r.changed
}

// FieldValues returns the values of the fields that every order has, in display order, except the status.
func (o Order) FieldValues() []FieldValue { return fieldValues(orderTexts, &o) }

// OrderInputs returns the names of the fields of OrderPatch.Fields.
func OrderInputs() []string { return inputNames(orderTexts) }

// CoreOrderFields returns the fields that every order has, in display order, with their labels in the API.
func CoreOrderFields() (list []Field) {
	for _, field := range orderTexts {
		if field.apiLabel != "" {
			list = append(list, Field{Key: field.Name, Label: field.apiLabel, Type: cmp.Or(field.Type, Text),
				Required: field.required})
		}
	}
	return list
}

// ParcelID returns the parcel number sent with the order, or "" if there is none.
func (o Order) ParcelID() string { return o.Custom.Text(keyParcel) }

// Client returns the client, or "" if there is none.
func (o Order) Client() string { return o.Custom.Text(keyClient) }

// ClientFile returns the client's file number, or "" if there is none.
func (o Order) ClientFile() string { return o.Custom.Text(keyClientFile) }

// Subheading returns the line to show below the order number: the address and the parcel ID.
func (o Order) Subheading() string { return joinNonEmpty(" · ", o.FullAddress(), o.ParcelID()) }

// abstractKeys maps fields of abstracts to the custom fields of orders with the same meaning but another key.
var abstractKeys = map[string]string{
	"tax_map": keyParcel, customName + "." + KeyBorrower: keyBuyer, customName + "." + KeyCurrentOwner: keySeller,
	customName + "." + KeySearchType: keyProduct,
}

// AbstractValues returns the values that an abstract of a template takes over from the order, by field name. Of a field
// with options, it takes over only these.
func (o Order) AbstractValues(t Template) map[string][]string {
	values := map[string][]string{}
	set := func(name string, list ...string) {
		if _, found := values[name]; !found && len(list) > 0 && list[0] != "" {
			values[name] = list
		}
	}
	for _, f := range o.FieldValues() {
		set(f.Key, f.Value)
	}
	set(customName+"."+KeyFileNumber, o.Number)
	for key, raw := range o.Custom {
		set(customName+"."+key, t.options(key, StoredTexts(raw))...)
	}
	for name, key := range abstractKeys {
		set(name, t.options(strings.TrimPrefix(name, customName+"."), StoredTexts(o.Custom[key]))...)
	}
	return values
}

// MatchingTemplate returns the template that matches the product of the order, if there is one: the one with this name,
// the default one if it has this search type, the one whose name contains the product, or any that has this search
// type, in this sequence.
func (o Order) MatchingTemplate(list []Template) (t Template, found bool) {
	product := o.Custom.Text(keyProduct)
	if product == "" {
		return t, false
	}
	for _, matches := range []func(Template) bool{
		func(t Template) bool { return Fold(t.Name) == Fold(product) },
		func(t Template) bool { return t.ID == ChooseTemplate(list, 0).ID && t.hasSearchType(product) },
		func(t Template) bool { return containsAbbreviated(t.Name, product) },
		func(t Template) bool { return t.hasSearchType(product) },
	} {
		if at := slices.IndexFunc(list, matches); at >= 0 {
			return list[at], true
		}
	}
	return t, false
}

// UnmatchedProduct returns the product of the order if a template has search types, but neither one nor a name for it.
// Otherwise, it returns "".
func (o Order) UnmatchedProduct(t Template) string {
	product := o.Custom.Text(keyProduct)
	if _, found := t.field(KeySearchType); !found || t.hasSearchType(product) || containsAbbreviated(t.Name, product) {
		return ""
	}
	return product
}

// containsAbbreviated reports whether a name contains the words of a product. A word of the product may be abbreviated:
// "O&E" matches "Ownership and Encumbrance Report".
func containsAbbreviated(name, product string) bool {
	separates := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	words := func(text string) []string {
		return strings.FieldsFunc(Fold(strings.ReplaceAll(text, "&", " and ")), separates)
	}
	have, want := words(name), words(product)
	for start := 0; len(want) > 0 && start+len(want) <= len(have); start++ {
		if slices.EqualFunc(have[start:start+len(want)], want, strings.HasPrefix) {
			return true
		}
	}
	return false
}

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

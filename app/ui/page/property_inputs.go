package page

// propertyFieldLabels are the fields of every abstract, in the order of a form.
var propertyFieldLabels = []struct{ name, label string }{
	{"address", "Street address"}, {"city", "City"}, {"county", "County"}, {"state", "State"}, {"tax_map", "Parcel or tax map number"},
}

// PropertyInputs are those fields with what they hold.
func PropertyInputs(value func(name string) string, refused map[string]string) []Input {
	var list []Input
	for _, f := range propertyFieldLabels {
		in := newTextInput(f.name, f.label, value(f.name))
		in.Problem = refused[f.name]
		list = append(list, in)
	}
	return list
}

// OrderFieldLabel is a core field's label in the words of the pages.
func OrderFieldLabel(key, label string) string {
	switch key {
	case "order_number":
		return "Order number"
	case "due_date":
		return "Due date"
	case "address":
		return "Street address"
	}
	return label
}

package page

// propertyFieldLabels lists the property fields that every abstract has, in form order.
var propertyFieldLabels = []struct{ name, label string }{
	{"address", "Street address"}, {"city", "City"}, {"county", "County"}, {"state", "State"}, {"tax_map", "Parcel ID"},
}

// PropertyInputs returns the inputs for the property fields with their values and problems.
func PropertyInputs(value func(name string) string, rejected map[string]string) []Input {
	var list []Input
	for _, f := range propertyFieldLabels {
		in := newTextInput(f.name, f.label, value(f.name))
		in.Problem = rejected[f.name]
		list = append(list, in)
	}
	return list
}

// OrderFieldLabel returns the display label of a built-in order field.
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

package page

import (
	"strings"

	"deedkeep/app/model"
)

// FieldType is a custom field type with its label.
type FieldType struct {
	Type    model.FieldType
	Label   string
	Chooses bool
}

// FieldTypes lists the custom field types in the order that forms show them.
var FieldTypes = []FieldType{
	{model.Text, "Text, single line", false}, {model.Paragraph, "Paragraph, multiple lines", false}, {model.Date, "Date", false},
	{model.Dropdown, "Dropdown, single choice", true}, {model.Multiselect, "Multiselect, multiple choices", true},
	{model.Number, "Number", false}, {model.Checkbox, "Checkbox, yes or no", false},
	{model.Money, "Money, dollars and cents", false}, {model.Email, "Email address", false}, {model.Phone, "Phone number", false}, {model.URL, "Web address (URL)", false},
}

// fieldTypeLabel returns the label of a type up to the first comma.
func fieldTypeLabel(kind model.FieldType) string {
	for _, k := range FieldTypes {
		if k.Type == kind {
			label, _, _ := strings.Cut(k.Label, ",")
			return label
		}
	}
	return string(kind)
}

// roleNames maps each role to its name and description.
var roleNames = map[model.Role][2]string{
	model.RoleViewer: {"Viewer", "Can search, read, and download. Can't make changes."},
	model.RoleStaff:  {"Staff", "Can also upload, edit, and delete."},
	model.RoleAdmin:  {"Administrator", "Can also manage users, API keys, templates, and backups."},
}

// RoleName returns the display name of a role, such as "Viewer".
func RoleName(role model.Role) string { return roleNames[role][0] }

// roleText returns the description of a role.
func roleText(role model.Role) string { return roleNames[role][1] }

// matchLabel returns the label of the field that matched a search.
func matchLabel(by string) string {
	switch by {
	case "order_number":
		return "Order number"
	case "file_number":
		return "File number"
	case "parcel":
		return "Parcel ID"
	}
	return "Address"
}

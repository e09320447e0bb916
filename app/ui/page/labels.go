package page

import (
	"strings"

	"deedkeep/app/model"
)

// FieldType is a type of custom fields with its label.
type FieldType struct {
	Type    model.FieldType
	Label   string
	Chooses bool
}

// FieldTypes are the types of custom fields, in the order in which forms offer them.
var FieldTypes = []FieldType{
	{model.Text, "Text, one line", false}, {model.Paragraph, "Paragraph, many lines", false}, {model.Date, "Date", false},
	{model.Dropdown, "Dropdown, one of a list", true}, {model.Multiselect, "Several of a list", true}, {model.Number, "Number", false}, {model.Checkbox, "Checkbox, yes or no", false},
	{model.Money, "Money, dollars and cents", false}, {model.Email, "Email address", false}, {model.Phone, "Phone number", false}, {model.URL, "Web address (URL)", false},
}

// fieldTypeLabel returns the short label of a type.
func fieldTypeLabel(kind model.FieldType) string {
	for _, k := range FieldTypes {
		if k.Type == kind {
			label, _, _ := strings.Cut(k.Label, ",")
			return label
		}
	}
	return string(kind)
}

// roleNames holds the name and the description of each role.
var roleNames = map[model.Role][2]string{
	model.RoleViewer: {"Viewer", "Reads, searches and downloads; changes nothing."},
	model.RoleStaff:  {"Staff", "Files, changes and moves to the trash as well."},
	model.RoleAdmin:  {"Administrator", "Runs the service as well: users, keys, templates, backups."},
}

// RoleName returns the name of a role, such as "Viewer".
func RoleName(role model.Role) string { return roleNames[role][0] }

// roleText returns what a role may do.
func roleText(role model.Role) string { return roleNames[role][1] }

// matchLabel names the field in which a search found its match.
func matchLabel(by string) string {
	switch by {
	case "order_number":
		return "Order number"
	case "file_number":
		return "File number"
	case "parcel":
		return "Parcel"
	}
	return "Address"
}

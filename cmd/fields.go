package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"deedkeep/app/apitypes"
	"deedkeep/app/control"
)

func (s *shell) fieldsCommand() *cobra.Command {
	return commandGroup("fields", "Manage order fields", `  deedkeep fields list
  deedkeep fields export > fields.yaml
  deedkeep fields import fields.yaml --dry-run`,
		listCommand(s, "list", "List order fields, including the built-in ones", "  deedkeep fields list\n  deedkeep fields list --json",
			(*control.Client).OrderFields, s.printFields),
		exportCommand(s, "fields", "custom_fields", "Export the custom order fields", "Custom order fields",
			(*control.Client).OrderFields, func(fields apitypes.OrderFields) any { return fields.CustomFields }),
		importCommand(s, "fields", "custom_fields", "order fields", "Replace custom order fields from a file",
			`Replace custom order fields from a file. The file is YAML or JSON, as written by
"deedkeep fields export"; - reads standard input. A field that is not in the file is
removed. The key of a custom field can't be the name of a built-in field, such as
order_number or county.

You can't remove a field or an option, or change a field's type, while orders have such
values. Orders in the trash count, too. In that case nothing is saved.`,
			`  deedkeep fields import fields.yaml --dry-run
  deedkeep fields import fields.yaml`, (*control.Client).ImportOrderFields))
}

// listedField is an element of the output of `fields list --json`.
type listedField struct {
	apitypes.Field
	Core bool `json:"core"` // built in: all orders have this field, and it can't be changed
}

func (s *shell) printFields(fields apitypes.OrderFields) error {
	list := []listedField{}
	for _, f := range fields.CoreFields {
		list = append(list, listedField{f, true})
	}
	for _, f := range fields.CustomFields {
		list = append(list, listedField{f, false})
	}
	return s.print(list, "%s", fieldTable(append(fields.CoreFields, fields.CustomFields...)))
}

// fieldTable formats custom field definitions as a table.
func fieldTable(fields []apitypes.Field) string {
	rows := [][]string{{"KEY", "LABEL", "TYPE", "REQUIRED", "OPTIONS"}}
	for _, f := range fields {
		required := ""
		if f.Required {
			required = "yes"
		}
		rows = append(rows, []string{f.Key, f.Label, f.Type, required, strings.Join(f.Options, ", ")})
	}
	return table(rows)
}

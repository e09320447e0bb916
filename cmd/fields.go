package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"deedkeep/app/apitypes"
	"deedkeep/app/control"
)

func (s *shell) fieldsCommand() *cobra.Command {
	return commandGroup("fields", "See and change the custom fields of orders", `  deedkeep fields list
  deedkeep fields export > fields.yaml
  deedkeep fields import fields.yaml --dry-run`,
		listCommand(s, "list", "List the fields of orders, those that every order has too", "  deedkeep fields list\n  deedkeep fields list --json",
			(*control.Client).OrderFields, s.printFields),
		exportCommand(s, "fields", "custom_fields", "Print the custom fields of orders as a file that import reads", "custom fields of orders",
			(*control.Client).OrderFields, func(fields apitypes.OrderFields) any { return fields.CustomFields }),
		importCommand(s, "fields", "custom_fields", "order fields", "Put the custom fields of a file in the place of those that orders have",
			`Put the custom fields of a YAML or JSON file, as export writes it, in the place of
those that orders have; - is standard input. A field that the file leaves out goes.
What every order has anyway (order_number, county and the like) cannot be the key of
a custom field.

Refused is what would leave values of orders without a definition: a field or an
option that goes, or a type that changes, while orders have such values, in the
trash too. Nothing is written then.`,
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

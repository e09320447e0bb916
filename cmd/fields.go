package cmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"deedkeep/app/apitypes"
	"deedkeep/app/control"
)

func (s *shell) fieldsCommand() *cobra.Command {
	return commandGroup("fields", "See and change the custom fields of orders", `  deedkeep fields list
  deedkeep fields export > fields.yaml
  deedkeep fields import fields.yaml --dry-run`,
		s.fieldsList(), s.fieldsExport(), s.fieldsImport())
}

// listedField is an element of the output of `fields list --json`.
type listedField struct {
	apitypes.Field
	Core bool `json:"core"` // built in: all orders have this field, and it can't be changed
}

func (s *shell) fieldsList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the fields of orders, those that every order has too",
		Example: "  deedkeep fields list\n  deedkeep fields list --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.withClient(cmd.Context(), func(ctx context.Context, c *control.Client) error {
				fields, err := c.OrderFields(ctx)
				if err != nil {
					return err
				}
				if !s.json {
					return s.printFields(append(fields.CoreFields, fields.CustomFields...))
				}
				list := []listedField{}
				for _, f := range fields.CoreFields {
					list = append(list, listedField{f, true})
				}
				for _, f := range fields.CustomFields {
					list = append(list, listedField{f, false})
				}
				return s.printJSON(list)
			})
		},
	}
}

// printFields prints custom field definitions as a table.
func (s *shell) printFields(fields []apitypes.Field) error {
	rows := [][]string{{"KEY", "LABEL", "TYPE", "REQUIRED", "OPTIONS"}}
	for _, f := range fields {
		required := ""
		if f.Required {
			required = "yes"
		}
		rows = append(rows, []string{f.Key, f.Label, f.Type, required, strings.Join(f.Options, ", ")})
	}
	return s.printTable(rows)
}

func (s *shell) fieldsExport() *cobra.Command {
	return &cobra.Command{
		Use:     "export",
		Short:   "Print the custom fields of orders as a file that import reads",
		Example: "  deedkeep fields export > fields.yaml\n  deedkeep fields export --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.withClient(cmd.Context(), func(ctx context.Context, c *control.Client) error {
				fields, err := c.OrderFields(ctx)
				if err != nil {
					return err
				}
				if s.json {
					return s.printJSON(map[string]any{"custom_fields": fields.CustomFields})
				}
				return s.printYAML(`custom fields of orders; "deedkeep fields import FILE --dry-run" shows what a change would do`, struct {
					CustomFields []fieldYAML `yaml:"custom_fields"`
				}{fieldsToYAML(fields.CustomFields)})
			})
		},
	}
}

func (s *shell) fieldsImport() *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Put the custom fields of a file in the place of those that orders have",
		Long: `Put the custom fields of a YAML or JSON file, as export writes it, in the place of
those that orders have; - is standard input. A field that the file leaves out goes.
What every order has anyway (order_number, county and the like) cannot be the key of
a custom field.

Refused is what would leave values of orders without a definition: a field or an
option that goes, or a type that changes, while orders have such values, in the
trash too. Nothing is written then.`,
		Example: `  deedkeep fields import fields.yaml --dry-run
  deedkeep fields import fields.yaml`,
		Args: oneArg("the file", `"deedkeep fields export" writes one`),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.importDefinitions(cmd.Context(), args[0], "order fields", func(file *strictYAML, root *yaml.Node) importFunc {
				var fields []apitypes.Field
				if list, ok := file.mapping(root, "", "custom_fields")["custom_fields"]; ok {
					fields = parseFields(file, list, "custom_fields")
				} else {
					file.missingKey(root, "custom_fields")
				}
				return func(ctx context.Context, c *control.Client) (apitypes.DefinitionsChanged, error) {
					return c.ImportOrderFields(ctx, fields, dryRun)
				}
			})
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "say what would change, and write nothing")
	return cmd
}

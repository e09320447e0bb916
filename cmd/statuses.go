package cmd

import (
	"context"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"deedkeep/app/apitypes"
	"deedkeep/app/control"
)

func (s *shell) statusesCommand() *cobra.Command {
	return commandGroup("statuses", "See and change the statuses of orders", `  deedkeep statuses list
  deedkeep statuses export > statuses.yaml
  deedkeep statuses import statuses.yaml --dry-run`,
		s.statusesList(), s.statusesExport(), s.statusesImport())
}

// listedStatus is an element of the output of `statuses list --json`.
type listedStatus struct {
	Name    string `json:"name"`
	Initial bool   `json:"initial"` // whether new orders get this status
}

func (s *shell) statusesList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the statuses of orders; the first is given to new ones",
		Example: "  deedkeep statuses list\n  deedkeep statuses list --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.withStatuses(cmd.Context(), func(statuses []string) error {
				list, rows := []listedStatus{}, [][]string{{"STATUS", ""}}
				for i, name := range statuses {
					list = append(list, listedStatus{name, i == 0})
					rows = append(rows, []string{name, map[bool]string{true: "given to new orders"}[i == 0]})
				}
				if s.json {
					return s.printJSON(list)
				}
				return s.printTable(rows)
			})
		},
	}
}

// withStatuses calls show with the list of order statuses.
func (s *shell) withStatuses(ctx context.Context, show func([]string) error) error {
	return s.withClient(ctx, func(ctx context.Context, c *control.Client) error {
		statuses, err := c.OrderStatuses(ctx)
		if err != nil {
			return err
		}
		return show(statuses)
	})
}

func (s *shell) statusesExport() *cobra.Command {
	return &cobra.Command{
		Use:     "export",
		Short:   "Print the statuses of orders as a file that import reads",
		Example: "  deedkeep statuses export > statuses.yaml\n  deedkeep statuses export --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.withStatuses(cmd.Context(), func(statuses []string) error {
				if s.json {
					return s.printJSON(apitypes.OrderStatuses{Statuses: statuses})
				}
				return s.printYAML(`statuses of orders, the first given to new ones; "deedkeep statuses import FILE --dry-run" shows what a change would do`, struct {
					Statuses []string `yaml:"statuses"`
				}{statuses})
			})
		},
	}
}

func (s *shell) statusesImport() *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Put the statuses of a file in the place of those that orders have",
		Long: `Put the statuses of a YAML or JSON file, as export writes it, in the place of those
that orders have; - is standard input. The first is given to new orders. A status
that orders are in cannot go: it is named with their number, those in the trash
counted, and nothing is written.`,
		Example: `  deedkeep statuses import statuses.yaml --dry-run
  echo '{"statuses": ["active", "on_hold", "completed", "cancelled"]}' | deedkeep statuses import -`,
		Args: oneArg("the file", `"deedkeep statuses export" writes one`),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.importDefinitions(cmd.Context(), args[0], "order statuses", func(file *strictYAML, root *yaml.Node) importFunc {
				var statuses []string
				if list, ok := file.mapping(root, "", "statuses")["statuses"]; ok {
					statuses = file.strs(list, "statuses")
				} else {
					file.missingKey(root, "statuses")
				}
				return func(ctx context.Context, c *control.Client) (apitypes.DefinitionsChanged, error) {
					return c.ImportOrderStatuses(ctx, statuses, dryRun)
				}
			})
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "say what would change, and write nothing")
	return cmd
}

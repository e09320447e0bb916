package cmd

import (
	"github.com/spf13/cobra"

	"deedkeep/app/control"
)

func (s *shell) statusesCommand() *cobra.Command {
	return commandGroup("statuses", "See and change the statuses of orders", `  deedkeep statuses list
  deedkeep statuses export > statuses.yaml
  deedkeep statuses import statuses.yaml --dry-run`,
		listCommand(s, "list", "List the statuses of orders; the first is given to new ones", "  deedkeep statuses list\n  deedkeep statuses list --json",
			(*control.Client).OrderStatuses, s.printStatuses),
		exportCommand(s, "statuses", "statuses", "Print the statuses of orders as a file that import reads", "statuses of orders, the first given to new ones",
			(*control.Client).OrderStatuses, func(statuses []string) any { return statuses }),
		importCommand(s, "statuses", "statuses", "order statuses", "Put the statuses of a file in the place of those that orders have",
			`Put the statuses of a YAML or JSON file, as export writes it, in the place of those
that orders have; - is standard input. The first is given to new orders. A status
that orders are in cannot go: it is named with their number, those in the trash
counted, and nothing is written.`,
			`  deedkeep statuses import statuses.yaml --dry-run
  echo '{"statuses": ["active", "on_hold", "completed", "cancelled"]}' | deedkeep statuses import -`, (*control.Client).ImportOrderStatuses))
}

// listedStatus is an element of the output of `statuses list --json`.
type listedStatus struct {
	Name    string `json:"name"`
	Initial bool   `json:"initial"` // whether new orders get this status
}

func (s *shell) printStatuses(statuses []string) error {
	list := []listedStatus{}
	for i, name := range statuses {
		list = append(list, listedStatus{name, i == 0})
	}
	return printList(s, list, "", "STATUS\t", func(status listedStatus) []any {
		return []any{status.Name, map[bool]string{true: "given to new orders"}[status.Initial]}
	})
}

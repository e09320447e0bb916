package cmd

import (
	"github.com/spf13/cobra"

	"deedkeep/app/control"
)

func (s *shell) statusesCommand() *cobra.Command {
	return commandGroup("statuses", "Manage order statuses", `  deedkeep statuses list
  deedkeep statuses export > statuses.yaml
  deedkeep statuses import statuses.yaml --dry-run`,
		listCommand(s, "list", "List order statuses", "  deedkeep statuses list\n  deedkeep statuses list --json",
			(*control.Client).OrderStatuses, s.printStatuses),
		exportCommand(s, "statuses", "statuses", "Export the order statuses", "Order statuses; new orders get the first one",
			(*control.Client).OrderStatuses, func(statuses []string) any { return statuses }),
		importCommand(s, "statuses", "statuses", "order statuses", "Replace order statuses from a file",
			`Replace order statuses from a file. The file is YAML or JSON, as written by "deedkeep
statuses export"; - reads standard input. New orders get the first status. You can't
remove a status that orders use, including orders in the trash. In that case the command
shows how many orders use it, and nothing is saved.`,
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
		return []any{status.Name, map[bool]string{true: "default for new orders"}[status.Initial]}
	})
}

package cmd

import (
	"github.com/spf13/cobra"
)

func (s *shell) configCommand() *cobra.Command {
	return group("config", "Check and show the settings", "  deedkeep config check\n  deedkeep config show", &cobra.Command{
		Use:     "check",
		Short:   "Say what is wrong with the settings, without starting",
		Example: "  deedkeep config check --config /etc/deedkeep.yaml",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			c, err := s.load()
			if err != nil {
				return err
			}
			if err := workable(c); err != nil {
				return err
			}
			if s.json {
				return s.printJSON(map[string]bool{"ok": true})
			}
			return s.print("the settings are good\n")
		},
	}, &cobra.Command{
		Use:     "show",
		Short:   "Print the settings in force, and where each comes from",
		Example: "  deedkeep config show --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			c, err := s.load()
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(c.Show())
			}
			rows := [][]string{{"SETTING", "VALUE", "FROM"}}
			for _, set := range c.Show() {
				rows = append(rows, []string{set.Key, set.Value, set.Source})
			}
			return s.printTable(rows)
		},
	})
}

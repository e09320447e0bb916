package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"deedkeep/app/config"
)

func (s *shell) configCommand() *cobra.Command {
	return commandGroup("config", "Check and show settings", "  deedkeep config check\n  deedkeep config show\n  deedkeep config example",
		s.configCheckCommand(), s.configShowCommand(), s.configExampleCommand())
}

func (s *shell) configCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Validate the configuration",
		Long: `Validate the configuration. The server is not started. Each problem is reported with its
file, line, and reason. The command also prints which settings file it read or where it
looked for one. It warns about settings that are valid but risky, and about files with
secrets that other users can read (not on Windows).

Exit code 2: a setting is not valid.`,
		Example: "  deedkeep config check --config /etc/deedkeep.yaml",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := s.load(cmd.Context(), storedProblems)
			if err != nil {
				return err
			}
			if err := preflight(c); err != nil {
				return err
			}
			return s.printConfigCheck(configWarnings(c))
		},
	}
}

// configCheck is the output of `config check --json`. Files contains the settings file that
// was read, or is empty if none of the files in LookedFor exist.
type configCheck struct {
	OK        bool     `json:"ok"`
	Files     []string `json:"files"`
	LookedFor []string `json:"looked_for"`
	Warnings  []string `json:"warnings"`
}

func (s *shell) printConfigCheck(warnings []string) error {
	found, searched, err := s.configSource().Files()
	if err != nil {
		return err
	}
	s.warn(warnings)
	out := configCheck{OK: true, Files: []string{}, LookedFor: searched, Warnings: append([]string{}, warnings...)}
	summary := "no settings file found; searched " + strings.Join(searched, " and ")
	if found != "" {
		out.Files, summary = append(out.Files, found), "read "+found
	}
	return s.print(out, "settings are valid\n%s\n", summary)
}

func (s *shell) configShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "show",
		Short:   "Show effective settings and their sources",
		Example: "  deedkeep config show --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := s.load(cmd.Context(), storedProblems)
			if err != nil {
				return err
			}
			return printList(s, c.Show(), "", "SETTING\tVALUE\tSOURCE", func(setting config.Setting) []any {
				return []any{setting.Key, setting.Value, setting.Source}
			})
		},
	}
}

func (s *shell) configExampleCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "example",
		Short: "Print all settings with defaults and descriptions",
		Long: `Print all settings with defaults and descriptions. The output is a settings file. Copy
the lines that you want to change to the file that "deedkeep config check" names.`,
		Example: "  deedkeep config example > settings.yaml",
		RunE: func(*cobra.Command, []string) error {
			return s.print(map[string]string{"text": s.example}, "%s", s.example)
		},
	}
}

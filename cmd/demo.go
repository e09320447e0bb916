package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"deedkeep/app/apitypes"
	"deedkeep/app/control"
	"deedkeep/app/model"
)

func (s *shell) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Create an example firm in a new data directory",
		Long: `Create an example firm in a new data directory: 40 orders, 25 abstracts with scans,
runsheets, and certificates, and three users. All names and documents are invented. The
command prints a one-time link for each user, which works for 24 hours. Start the server
with the same --data to open it.

It works only while there are no records, with the server running or stopped. The data
directory stays marked as an example on each page. To work with your own records, use
another data directory.`,
		Example: "  deedkeep demo --data example\n  deedkeep serve --data example",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.checkAssets(); err != nil {
				return err
			}
			return s.connect(cmd.Context(), vaultAccess{WithSandbox: true, Create: true}, func(ctx context.Context, c *control.Client) error {
				made, err := withProgress(s, "demo", func(report func(apitypes.Progress)) (apitypes.Demo, error) { return c.Demo(ctx, report) })
				if ctx.Err() != nil {
					s.messagef("stopped; the example firm isn't complete, so start again in a new data directory")
				}
				if err != nil {
					return err
				}
				return s.printDemo(made)
			})
		},
	}
}

func (s *shell) printDemo(made apitypes.Demo) error {
	var links strings.Builder
	for _, user := range made.Users {
		profile := model.Profile{FullName: user.Data.FullName, Title: user.Data.Title}
		fmt.Fprintf(&links, "%s (%s, %s): %s\n", user.Data.Name, user.Data.Role, profile, user.Link)
	}
	if !s.json {
		s.messagef("created %d orders, %d abstracts, and %d documents; each link works once, within 24 hours:",
			made.Orders, made.Abstracts, made.Documents)
	}
	return s.print(made, "%s", links.String())
}

package cmd

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"deedkeep/app/apitypes"
	"deedkeep/app/control"
)

func (s *shell) processCommand() *cobra.Command {
	return commandGroup("process", "See and retry documents without picture or text", "  deedkeep process list",
		s.processList(), s.processRetry())
}

func (s *shell) processList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the documents whose processing failed, and why",
		Long: `List the documents whose processing failed, and why: at most a thousand. They are
stored and can be downloaded; they have no picture, or cannot be found by their text.`,
		Example: "  deedkeep process list --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.withClient(cmd.Context(), func(ctx context.Context, c *control.Client) error {
				failures, err := c.ProcessFailures(ctx)
				if err != nil {
					return err
				}
				if s.json {
					return s.printJSON(apitypes.List[apitypes.ProcessFailure](failures))
				}
				if len(failures) == 0 {
					return s.printf("nothing failed\n")
				}
				rows := [][]string{{"ID", "DOCUMENT", "REASON"}}
				for _, f := range failures {
					rows = append(rows, []string{strconv.FormatInt(f.ID, 10), f.Filename, f.Reason})
				}
				return s.printTable(rows)
			})
		},
	}
}

func (s *shell) processRetry() *cobra.Command {
	return &cobra.Command{
		Use:   "retry [ID]",
		Short: "Process a document again, or all that failed",
		Example: `  deedkeep process retry
  deedkeep process retry 17`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var id int64
			if len(args) == 1 {
				var err error
				if id, err = parseID(args[0], "document", "deedkeep process list"); err != nil {
					return err
				}
			}
			return s.withClient(cmd.Context(), func(ctx context.Context, c *control.Client) error {
				n, err := c.RetryProcessing(ctx, id)
				if err != nil {
					return explainNotFound(err, "document", strconv.FormatInt(id, 10))
				}
				if s.json {
					return s.printJSON(apitypes.ProcessRetried{Retried: n})
				}
				return s.printf("%d in the queue again; they are processed while the server runs\n", n)
			})
		},
	}
}

package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"deedkeep/app/apitypes"
	"deedkeep/app/control"
)

func (s *shell) processCommand() *cobra.Command {
	return commandGroup("process", "List and retry failed document processing", "  deedkeep process list",
		s.processList(), s.processRetry())
}

func (s *shell) processList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List documents whose processing failed",
		Long: `List documents whose processing failed. You can still download these documents, but they
have no preview, or search doesn't find their text. At most 1,000 are listed.`,
		Example: "  deedkeep process list --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return query(s, cmd, (*control.Client).ProcessFailures, func(failures []apitypes.ProcessFailure) error {
				return printList(s, failures, "no failed documents", "ID\tDOCUMENT\tREASON", func(f apitypes.ProcessFailure) []any {
					return []any{f.ID, f.Filename, f.Reason}
				})
			})
		},
	}
}

func (s *shell) processRetry() *cobra.Command {
	return &cobra.Command{
		Use:   "retry [ID]",
		Short: "Retry one document or all failed documents",
		Example: `  deedkeep process retry
  deedkeep process retry 17`,
		RunE: func(cmd *cobra.Command, args []string) error {
			show := func(n int) error {
				return s.print(apitypes.ProcessRetried{Retried: n}, "%d queued again; the server processes them while it is running\n", n)
			}
			if len(args) == 0 {
				return query(s, cmd, func(c *control.Client, ctx context.Context) (int, error) { return c.RetryProcessing(ctx, 0) }, show)
			}
			return queryID(s, cmd, args[0], "document", "deedkeep process list", (*control.Client).RetryProcessing, show)
		},
	}
}

package cmd

import (
	"context"

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
		RunE: func(cmd *cobra.Command, _ []string) error {
			return query(s, cmd, (*control.Client).ProcessFailures, func(failures []apitypes.ProcessFailure) error {
				return printList(s, failures, "nothing failed", "ID\tDOCUMENT\tREASON", func(f apitypes.ProcessFailure) []any {
					return []any{f.ID, f.Filename, f.Reason}
				})
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
		RunE: func(cmd *cobra.Command, args []string) error {
			show := func(n int) error {
				return s.print(apitypes.ProcessRetried{Retried: n}, "%d in the queue again; they are processed while the server runs\n", n)
			}
			if len(args) == 0 {
				return query(s, cmd, func(c *control.Client, ctx context.Context) (int, error) { return c.RetryProcessing(ctx, 0) }, show)
			}
			return queryID(s, cmd, args[0], "document", "deedkeep process list", (*control.Client).RetryProcessing, show)
		},
	}
}

package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"deedkeep/app/client"
	"deedkeep/app/wire"
)

func (s *shell) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "status",
		Short:   "Say whether it runs, how much is stored, and how it goes",
		Example: "  deedkeep status --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.ask(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				status, err := c.Status(ctx)
				if err != nil {
					return err
				}
				if s.json {
					return s.printJSON(status)
				}
				return s.printTable(statusRows(status))
			})
		},
	}
}

func statusRows(s wire.Status) [][]string {
	running := "not running"
	if s.Running && s.StartedAt != nil && s.Listen != nil {
		scheme := "http"
		if s.Certificate != nil {
			scheme = "https"
		}
		running = fmt.Sprintf("on %s://%s since %s", scheme, *s.Listen, moment(s.StartedAt))
	}
	writes := "taken"
	if s.ReadOnly {
		writes = "refused: the disk failed, restart it"
	}
	rows := [][]string{
		{"server", running},
		{"certificate", certificateRow(s.Certificate)},
		{"version", s.Version + " " + s.Commit},
		{"data", s.Data},
		{"abstracts", fmt.Sprint(s.Abstracts)},
		{"orders", fmt.Sprint(s.Orders)},
		{"files", fmt.Sprintf("%d (%s)", s.Files, wire.HumanSize(s.Bytes))},
		{"folders", fmt.Sprint(s.Folders)},
		{"trash", fmt.Sprint(s.Trashed)},
		{"waiting", fmt.Sprintf("%d for processing", s.Queue)},
		{"failed", failed(s.Failed)},
		{"search", searchRow(s.Search)},
		{"disk", fmt.Sprintf("%s free, %s kept in reserve", wire.HumanSize(s.DiskFree), wire.HumanSize(s.DiskReserve))},
		{"writes", writes},
	}
	return append(rows, backupRows(s)...)
}

func certificateRow(c *wire.Certificate) string {
	if c == nil {
		return "none: no https"
	}
	return fmt.Sprintf("until %s, SHA-256 %s", moment(&c.NotAfter), c.Fingerprint)
}

// failed says how many documents are without picture or text, and what to do.
func failed(n int64) string {
	if n == 0 {
		return "0 in processing"
	}
	return fmt.Sprintf("%d in processing; \"deedkeep process list\" says why", n)
}

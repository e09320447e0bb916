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
				return s.printTable(s.statusRows(status))
			})
		},
	}
}

func (s *shell) statusRows(is wire.Status) [][]string {
	running := "not running"
	if is.Running && is.StartedAt != nil && is.Listen != nil {
		scheme := "http"
		if is.Certificate != nil {
			scheme = "https"
		}
		running = fmt.Sprintf("on %s://%s since %s", scheme, *is.Listen, s.moment(is.StartedAt))
	}
	rows := [][]string{
		{"server", running},
		{"certificate", s.certificateRow(is.Certificate)},
		{"version", is.Version + " " + is.Commit},
		{"data", is.Data},
		{"abstracts", fmt.Sprint(is.Abstracts)},
		{"orders", fmt.Sprint(is.Orders)},
		{"files", fmt.Sprintf("%d (%s)", is.Files, wire.HumanSize(is.Bytes))},
		{"folders", fmt.Sprint(is.Folders)},
		{"trash", fmt.Sprint(is.Trashed)},
		{"waiting", fmt.Sprintf("%d for processing", is.Queue)},
		{"failed", failed(is.Failed)},
		{"search", searchRow(is.Search)},
		{"disk", fmt.Sprintf("%s free, %s kept in reserve", wire.HumanSize(is.DiskFree), wire.HumanSize(is.DiskReserve))},
		{"writes", writesRow(is)},
	}
	return append(rows, s.backupRows(is)...)
}

// writesRow says whether changes are accepted, and if not, why.
func writesRow(is wire.Status) string {
	switch {
	case is.ReadOnly:
		return "refused: the disk failed, restart it"
	case is.DiskFree < is.DiskReserve:
		return "uploads and other additions are denied until the disk has more than its reserve free (disk.reserve)"
	}
	return "taken"
}

func (s *shell) certificateRow(c *wire.Certificate) string {
	if c == nil {
		return "none: no https"
	}
	return fmt.Sprintf("until %s, SHA-256 %s", s.moment(&c.NotAfter), c.Fingerprint)
}

// failed says how many documents are without picture or text, and what to do.
func failed(n int64) string {
	if n == 0 {
		return "0 in processing"
	}
	return fmt.Sprintf("%d in processing; \"deedkeep process list\" says why", n)
}

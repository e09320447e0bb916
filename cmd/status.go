package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"deedkeep/app/apitypes"
	"deedkeep/app/client"
)

func (s *shell) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "status",
		Short:   "Say whether it runs, how much is stored, and how it goes",
		Example: "  deedkeep status --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.withClient(cmd.Context(), func(ctx context.Context, c *client.Client) error {
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

func (s *shell) statusRows(is apitypes.Status) [][]string {
	running := "not running"
	if is.Running && is.StartedAt != nil && is.Listen != nil {
		scheme := "http"
		if is.Certificate != nil {
			scheme = "https"
		}
		running = fmt.Sprintf("on %s://%s since %s", scheme, *is.Listen, s.formatTime(is.StartedAt))
	}
	rows := [][]string{
		{"server", running},
		{"certificate", s.certificateRow(is.Certificate)},
		{"version", is.Version + " " + is.Commit},
		{"data", is.Data},
		{"abstracts", fmt.Sprint(is.Abstracts)},
		{"orders", fmt.Sprint(is.Orders)},
		{"files", fmt.Sprintf("%d (%s)", is.Files, apitypes.HumanSize(is.Bytes))},
		{"folders", fmt.Sprint(is.Folders)},
		{"trash", fmt.Sprint(is.Trashed)},
		{"waiting", fmt.Sprintf("%d for processing", is.Queue)},
		{"failed", failedRow(is.Failed)},
		{"search", searchRow(is.Search)},
		{"damage", damagedRow(is.Damaged)},
		{"scrub", s.scrubRow(is.Scrub)},
		{"disk", fmt.Sprintf("%s free, %s kept in reserve", apitypes.HumanSize(is.DiskFree), apitypes.HumanSize(is.DiskReserve))},
		{"writes", writesRow(is)},
	}
	return append(rows, s.backupRows(is)...)
}

// writesRow says whether changes are accepted, and if not, why.
func writesRow(is apitypes.Status) string {
	if is.WritesDenied == nil {
		return "taken"
	}
	return "DENIED: " + *is.WritesDenied
}

func (s *shell) certificateRow(c *apitypes.Certificate) string {
	if c == nil {
		return "none: no https"
	}
	return fmt.Sprintf("until %s, SHA-256 %s", s.formatTime(&c.NotAfter), c.Fingerprint)
}

// failedRow says how many documents are without picture or text, and what to do.
func failedRow(n int64) string {
	if n == 0 {
		return "0 in processing"
	}
	return fmt.Sprintf("%d in processing; \"deedkeep process list\" says why", n)
}

// damagedRow names the first of the documents that are damaged on the disk.
func damagedRow(list []apitypes.Damaged) string {
	if len(list) == 0 {
		return "none known"
	}
	files := make([]uint64, 0, len(list))
	for _, d := range list {
		files = append(files, d.File)
	}
	return fmt.Sprintf("%d DAMAGED: %s; upload the same files again, or get them from a backup", len(list), damagedFiles(files))
}

// damagedFiles names the first of them.
func damagedFiles(files []uint64) string {
	const most = 5
	names := make([]string, 0, most+1)
	for _, id := range files[:min(len(files), most)] {
		names = append(names, fmt.Sprintf("file %d", id))
	}
	if more := len(files) - most; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// scrubRow says how the reading of all stored documents goes.
func (s *shell) scrubRow(is apitypes.Scrub) string {
	if is.EverySeconds == 0 {
		return "off (scrub.every: 0)"
	}
	if is.StartedAt == nil {
		return "not started: the server reads every document while it runs"
	}
	last := "no round completed yet"
	if is.CompletedAt != nil {
		last = "last round completed " + s.formatTime(is.CompletedAt)
	}
	if is.Overdue {
		last = "OVERDUE: " + last
	}
	return fmt.Sprintf("%s, %.0f%% of this one read since %s", last, 100*is.Progress, s.formatTime(is.StartedAt))
}

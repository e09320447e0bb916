package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"deedkeep/app/apitypes"
	"deedkeep/app/control"
)

func (s *shell) reindexCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "reindex",
		Short: "Rebuild the search index",
		Long: `Rebuild the search index. It works with the server running or stopped. Search uses the
current index until the new one is complete. Ctrl-C only stops waiting: a running server
finishes the rebuild. Without a server, the next "deedkeep reindex" or "deedkeep serve"
resumes it.

You rarely need this command. The server automatically rebuilds a search index that is
missing, damaged, from another version of deedkeep, or older than a restored database.`,
		Example: "  deedkeep reindex\n  deedkeep reindex --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return query(s, cmd, func(c *control.Client, ctx context.Context) (apitypes.SearchIndex, error) {
				return withProgress(s, "reindex", func(report func(apitypes.Progress)) (apitypes.SearchIndex, error) { return c.Reindex(ctx, report) })
			}, func(index apitypes.SearchIndex) error {
				if index.Texts > 0 {
					return s.print(index, "all records are in the search index; the server still has to extract the text of %s\n", apitypes.Count(index.Texts, "document", "documents"))
				}
				return s.print(index, "the search index is complete: %s, %s\n", apitypes.Count(index.Records, "record", "records"), apitypes.HumanSize(index.Bytes))
			})
		},
	}
}

// searchRow returns the state of the search index for "deedkeep status".
func searchRow(i apitypes.SearchIndex) string {
	size := fmt.Sprintf("%s (%s)", apitypes.Count(i.Records, "record", "records"), apitypes.HumanSize(i.Bytes))
	building := "building"
	if i.Done != nil && i.Total != nil && *i.Total > 0 {
		building += fmt.Sprintf(", %d%%", *i.Done*100 / *i.Total)
	}
	var text string
	switch {
	case i.Ready && i.Building:
		text = size + "; new index: " + building
	case i.Ready:
		text = size
	case i.Building:
		text = building
	default:
		text = "none yet; the server builds the search index"
	}
	if i.Ready && i.Behind > 0 {
		text += fmt.Sprintf(", %d changes behind", i.Behind)
	}
	if i.Texts > 0 {
		text += fmt.Sprintf("; %s without extracted text", apitypes.Count(i.Texts, "document", "documents"))
	}
	if i.Error != nil {
		text += "; stopped: " + *i.Error
	}
	return text
}

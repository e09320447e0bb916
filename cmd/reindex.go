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
		Short: "Make the search index anew from the records",
		Long: `Make the search index anew from the records, while the server runs or not. The
one there is answers until the new one is whole. Ctrl-C ends the waiting: a server
goes on with it; without one, the next reindex or serve goes on from where it was.

It is never needed by itself: an index that is missing, damaged or of another version
of deedkeep, and one beside a database that was put back, is made anew by the server.`,
		Example: "  deedkeep reindex\n  deedkeep reindex --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return query(s, cmd, func(c *control.Client, ctx context.Context) (apitypes.SearchIndex, error) {
				return withProgress(s, "reindex", func(report func(apitypes.Progress)) (apitypes.SearchIndex, error) { return c.Reindex(ctx, report) })
			}, func(index apitypes.SearchIndex) error {
				if index.Texts > 0 {
					return s.print(index, "all records are in the search index; %s without text, which a server rebuilds\n", apitypes.Count(index.Texts, "document is", "documents are"))
				}
				return s.print(index, "the search index is complete: %s, %s\n", apitypes.Count(index.Records, "record", "records"), apitypes.HumanSize(index.Bytes))
			})
		},
	}
}

// searchRow returns the state of the search index for "deedkeep status".
func searchRow(i apitypes.SearchIndex) string {
	size := fmt.Sprintf("%s (%s)", apitypes.Count(i.Records, "record", "records"), apitypes.HumanSize(i.Bytes))
	building := "being made"
	if i.Done != nil && i.Total != nil && *i.Total > 0 {
		building += fmt.Sprintf(", %d %%", *i.Done*100 / *i.Total)
	}
	var text string
	switch {
	case i.Ready && i.Building:
		text = size + "; a new one is " + building
	case i.Ready:
		text = size
	case i.Building:
		text = building
	default:
		text = "none yet; a server makes it"
	}
	if i.Ready && i.Behind > 0 {
		text += fmt.Sprintf(", %d changes behind", i.Behind)
	}
	if i.Texts > 0 {
		text += fmt.Sprintf(", %d texts are still to be made again", i.Texts)
	}
	if i.Error != nil {
		text += "; stopped: " + *i.Error
	}
	return text
}

package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"deedkeep/app/apitypes"
	"deedkeep/app/control"
	"deedkeep/app/instance"
)

func (s *shell) verifyCommand() *cobra.Command {
	var repair bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Hold every record, index and byte of the vault against each other",
		Long: `Hold every record, index and byte of the vault against each other, while the
server runs or not. A missing or differing byte, record or index is a finding: it
is listed, and the exit code is 3. Bytes that no record names and leftovers in tmp
are notes; a sweep takes them away. The search index is read too, and held against its
checksums: damage in it is a finding, though nothing is lost with it; a running server
rebuilds it immediately. Texts and previews that are damaged or from another version are
notes: the server rebuilds them. Nothing else is changed.

With --repair, indexes, counters and the queue of processing are first made anew
from the records, and orphans and leftovers removed. Changes wait meanwhile. Damaged
records and documents are never touched: they stay findings. A document comes back
with "deedkeep restore --file N --from DIR", a record with a restore of all.`,
		Example: "  deedkeep verify\n  deedkeep verify --json\n  deedkeep verify --repair",
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := query(s, cmd, func(c *control.Client, ctx context.Context) (apitypes.Verify, error) {
				work := c.Verify
				if repair {
					work = c.Repair
				}
				return withProgress(s, "", func(report func(apitypes.Progress)) (apitypes.Verify, error) { return work(ctx, report) })
			}, s.printVerify)
			if errors.Is(err, instance.ErrDamaged) { // the database can't be opened, so there is no report
				return s.printVerify(apitypes.Verify{Findings: []apitypes.Finding{{Kind: "database", Subject: "vault.db", Problem: message(err)}}})
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&repair, "repair", false, "make indexes, counters and the queue anew first")
	return cmd
}

func (s *shell) printVerify(r apitypes.Verify) error {
	var text strings.Builder
	if repaired := r.Repaired; repaired != nil && repaired.Done {
		fmt.Fprintf(&text, "repaired: indexes and counters rebuilt (%s in records and indexes before), %s added, %d removed, %s and %s removed\n",
			apitypes.Count(repaired.Findings, "finding", "findings"), apitypes.Count(repaired.TasksAdded, "task", "tasks"), repaired.TasksRemoved,
			apitypes.Count(repaired.Orphans, "orphan", "orphans"), apitypes.Count(repaired.Leftovers, "leftover", "leftovers"))
	}
	text.WriteString(findingLines(r.Findings) + repairHints(r))
	verdict := "all is well"
	if !r.OK {
		verdict = "DAMAGED"
	}
	if r.Texts > 0 {
		fmt.Fprintf(&text, "%s without text for searches; a server rebuilds it\n", apitypes.Count(r.Texts, "document is", "documents are"))
	}
	if r.Other > 0 {
		fmt.Fprintf(&text, "%s from another version of deedkeep: the server rebuilds them\n", apitypes.Count(r.Other, "text or preview is", "texts and previews are"))
	}
	if r.Damaged > 0 {
		fmt.Fprintf(&text, "%s damaged: no document is lost, the server rebuilds them\n", apitypes.Count(r.Damaged, "text or preview is", "texts and previews are"))
	}
	index := "no search index"
	if r.SearchBytes > 0 {
		index = fmt.Sprintf("the search index (%s)", apitypes.HumanSize(r.SearchBytes))
	}
	fmt.Fprintf(&text, "%s: %s, %s (%s), %s, %s; %s, %s, %s\n",
		verdict, apitypes.Count(r.Records, "record", "records"), apitypes.Count(r.Blobs, "document", "documents"), apitypes.HumanSize(r.Bytes),
		apitypes.Count(r.Events, "event", "events"), index,
		apitypes.Count(r.Orphans, "orphan", "orphans"), apitypes.Count(r.Leftovers, "leftover", "leftovers"), apitypes.Count(len(r.Findings), "finding", "findings"))
	return s.printReport(r, r.OK, text.String())
}

// repairHints returns instructions for the findings, one per line.
func repairHints(r apitypes.Verify) string {
	documents, others := false, false
	for _, f := range r.Findings {
		switch f.Kind {
		case "file":
			documents = true
		case "search", "previews": // their messages already say what to do
		default:
			others = true
		}
	}
	help := ""
	if documents {
		help += "a damaged document comes back with: deedkeep restore --file N --from DIR\n"
	}
	if (documents || others) && r.Repaired == nil {
		help += "indexes, counters and the queue are made anew with: deedkeep verify --repair\n"
	}
	if others && r.Repaired != nil {
		help += "what a repair leaves is in the records: restore a backup\n"
	}
	return help
}

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
		Short: "Check the integrity of all records and documents",
		Long: `Check the integrity of all records and documents. It works with the server running or
stopped. The command reads all records, database indexes, documents, and the search
index. Missing or damaged data is a finding. Documents that no record uses and leftover
temporary files are only counted; the server deletes them automatically.

A damaged search index is also a finding, but no data is lost: a running server rebuilds
it immediately. Damaged OCR results are a finding until --repair removes them, and the
server then reads these pages again. If OCR results are missing, the command queues the
pages. Other damaged or outdated texts and previews are only counted, because the server
rebuilds them. The command changes nothing else.

With --repair, the command first rebuilds indexes, counters, and the processing queue
from the records, and deletes damaged OCR results and orphaned and temporary files.
Changes wait until the repair is done. Damaged records and documents remain findings.

The last lines say what was found and what to do. DATA UNREADABLE: the data may be
intact; fix the owner of the files or check the disk. DOCUMENTS DAMAGED: upload these
again, or restore them with "deedkeep restore latest --file ID --from DIR". DATABASE
DAMAGED: run with --repair, and then restore the complete backup if necessary.

Exit code 3: damage found, or data that can't be read.`,
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
				report := apitypes.Verify{Findings: []apitypes.Finding{{Kind: "database", Subject: "vault.db", Problem: message(err)}}}
				report.Advise()
				return s.printVerify(report)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&repair, "repair", false, "rebuild indexes, counters, and the processing queue first")
	return cmd
}

func (s *shell) printVerify(r apitypes.Verify) error {
	var text strings.Builder
	if repaired := r.Repaired; repaired != nil && repaired.Done {
		fmt.Fprintf(&text, "repaired: indexes and counters rebuilt (%s before), %s added, %d removed, %s and %s deleted\n",
			apitypes.Count(repaired.Findings, "finding", "findings"), apitypes.Count(repaired.TasksAdded, "task", "tasks"), repaired.TasksRemoved,
			apitypes.Count(repaired.Orphans, "orphaned file", "orphaned files"), apitypes.Count(repaired.Leftovers, "temporary file", "temporary files"))
	}
	text.WriteString(findingLines(r.Findings))
	for _, advice := range r.Advice {
		text.WriteString(advice.Text + "\n")
	}
	if r.Texts > 0 {
		fmt.Fprintf(&text, "%s without extracted text: the server extracts it again\n", apitypes.Count(r.Texts, "document", "documents"))
	}
	if r.PreviewsOtherVersion > 0 {
		fmt.Fprintf(&text, "%s from another version of deedkeep: the server rebuilds them\n",
			apitypes.Count(r.PreviewsOtherVersion, "text or preview", "texts and previews"))
	}
	if r.PreviewsDamaged > 0 {
		fmt.Fprintf(&text, "%s damaged: no document is lost, the server rebuilds them\n",
			apitypes.Count(r.PreviewsDamaged, "text or preview", "texts and previews"))
	}
	index := "no search index"
	switch {
	case r.SearchBytes > 0:
		index = fmt.Sprintf("search index (%s)", apitypes.HumanSize(r.SearchBytes))
	case r.SearchReady:
		index = "search index (nothing on the disk yet)"
	case r.SearchBuilding:
		index = "search index being built"
	}
	fmt.Fprintf(&text, "%s: %s, %s (%s), %s, %s; %s, %s, %s\n",
		verdict(r), apitypes.Count(r.Records, "record", "records"), apitypes.Count(r.Blobs, "document", "documents"), apitypes.HumanSize(r.Bytes),
		apitypes.Count(r.Events, "audit log entry", "audit log entries"), index,
		apitypes.Count(r.Orphans, "orphaned file", "orphaned files"), apitypes.Count(r.Leftovers, "temporary file", "temporary files"),
		apitypes.Count(len(r.Findings), "finding", "findings"))
	return s.printReport(r, r.OK, text.String())
}

// verdict returns the first words of the last line. Each class of findings has a different remedy.
func verdict(r apitypes.Verify) string {
	words := map[string]string{
		apitypes.ClassUnreadable: "DATA UNREADABLE", apitypes.ClassDocuments: "DOCUMENTS DAMAGED", apitypes.ClassDatabase: "DATABASE DAMAGED",
	}
	var found []string
	for _, advice := range r.Advice {
		found = append(found, words[advice.Class])
	}
	switch {
	case len(found) > 0:
		return strings.Join(found, ", ")
	case !r.OK:
		return "DAMAGED" // only data that the server rebuilds
	}
	return "OK"
}

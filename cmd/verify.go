package cmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"deedkeep/app/client"
	"deedkeep/app/vault"
	"deedkeep/app/wire"
)

func (s *shell) verifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Hold every record, index and byte of the vault against each other",
		Long: `Hold every record, index and byte of the vault against each other, while the
server runs or not. A missing or differing byte, record or index is a finding: it
is listed, and the exit code is 3. Bytes that no record names and leftovers in tmp
are notes; a sweep takes them away. Nothing is changed.`,
		Example: "  deedkeep verify\n  deedkeep verify --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := s.ask(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				report, err := c.Verify(ctx, s.progress())
				if err != nil {
					return err
				}
				return s.printVerify(report)
			})
			if errors.Is(err, vault.ErrDamaged) { // nothing could be opened that might answer
				return s.printVerify(wire.Verify{Findings: []wire.Finding{{Kind: "database", Subject: "vault.db", Problem: message(err)}}})
			}
			return err
		},
	}
}

func (s *shell) printVerify(r wire.Verify) error {
	if s.json {
		if err := s.printJSON(r); err != nil {
			return err
		}
	} else if err := s.printFindings(r); err != nil {
		return err
	}
	if !r.OK {
		return errDamage
	}
	return nil
}

func (s *shell) printFindings(r wire.Verify) error {
	for _, f := range r.Findings {
		if err := s.print("%s %s: %s\n", f.Kind, f.Subject, f.Problem); err != nil {
			return err
		}
	}
	word := "all is well"
	if !r.OK {
		word = "DAMAGED"
	}
	return s.print("%s: %d records, %d documents (%s), %d events; %d orphans, %d leftovers, %d findings\n",
		word, r.Records, r.Blobs, wire.HumanSize(r.Bytes), r.Events, r.Orphans, r.Leftovers, len(r.Findings))
}

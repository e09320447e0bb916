package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deedkeep/app/apitypes"
	"deedkeep/app/control"
	"deedkeep/app/model"
)

func (s *shell) trashCommand() *cobra.Command {
	return commandGroup("trash", "List, restore, and purge deleted records",
		"  deedkeep trash list\n  deedkeep trash restore file:17\n  deedkeep trash purge file:17\n  deedkeep trash empty",
		s.trashList(), s.trashRestore(), s.trashPurge(), s.trashEmpty())
}

// The default and the maximum number of records that "trash list" returns. The server
// rejects a higher limit.
const (
	defaultTrashLimit = 1000
	maxTrashLimit     = 10_000
)

func (s *shell) trashList() *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the records in the trash",
		Long: `List the records in the trash, newest first. KEPT UNTIL is when the server deletes the
record permanently (setting "trash.keep"). RETENTION is the date until which the setting
"retention" protects a record: before that date, a purge needs --lift-retention and
--reason. It is empty if the setting doesn't apply. A document that was deleted with its
abstract isn't listed; it is restored and purged with the abstract.`,
		Example: "  deedkeep trash list\n  deedkeep trash list --limit 10 --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 || limit > maxTrashLimit {
				return &usageError{fmt.Errorf("--limit must be between 1 and %d, not %d", maxTrashLimit, limit)}
			}
			return query(s, cmd, func(c *control.Client, ctx context.Context) ([]apitypes.TrashItem, error) {
				return c.TrashItems(ctx, limit)
			}, s.printTrash)
		},
	}
	cmd.Flags().IntVar(&limit, "limit", defaultTrashLimit, "maximum number of records to list")
	return cmd
}

func (s *shell) printTrash(items []apitypes.TrashItem) error {
	return printList(s, items, "the trash is empty", "ID\tNAME\tABSTRACT\tDELETED\tBY\tKEPT UNTIL\tRETENTION", func(item apitypes.TrashItem) []any {
		by := item.DeletedBy.Kind
		if name := item.DeletedBy.Name; name != nil && *name != "" {
			by = *name
		}
		retained := ""
		if item.RetainedUntil != nil {
			retained = s.formatTime(item.RetainedUntil)
		}
		return []any{item.Record, item.Name, trashAbstract(item.Abstract), s.formatTime(&item.DeletedAt), by, s.formatTime(&item.KeptUntil), retained}
	})
}

func trashAbstract(abstract *apitypes.TrashAbstract) string {
	switch {
	case abstract == nil:
		return ""
	case abstract.Name == nil || abstract.Purged:
		return abstract.ID + " (purged)"
	case abstract.InTrash:
		return *abstract.Name + " (in the trash)"
	}
	return *abstract.Name
}

func (s *shell) trashRestore() *cobra.Command {
	return &cobra.Command{
		Use:   "restore ID",
		Short: "Restore one record in the trash",
		Long: `Restore one record in the trash. An abstract is restored with its documents and
instruments. ID is the type and ID of the record as shown by "deedkeep trash list", such
as abstract:Zz9aB31x, order:Zz9aB31x, file:17, or instrument:3. A number alone is a
document ID. This works with the server running or stopped.`,
		Example:     "  deedkeep trash restore file:17\n  deedkeep trash restore order:Zz9aB31x --json",
		Annotations: missingArg(`ID is required; list IDs with "deedkeep trash list"`),
		RunE: func(cmd *cobra.Command, args []string) error {
			record, err := trashRecord(args[0])
			if err != nil {
				return err
			}
			return query(s, cmd, func(c *control.Client, ctx context.Context) (apitypes.TrashItem, error) {
				item, err := c.RestoreTrash(ctx, record)
				return item, explainNotFound(err, "trash record", args[0])
			}, func(item apitypes.TrashItem) error {
				return s.print(item, "restored %s %s\n", item.Record, oneLine(item.Name))
			})
		},
	}
}

func (s *shell) trashPurge() *cobra.Command {
	var (
		yes, liftRetention bool
		reason             string
	)
	cmd := &cobra.Command{
		Use:   "purge ID",
		Short: "Permanently delete one record in the trash",
		Long: `Permanently delete one record in the trash. An abstract is deleted with its documents
and instruments. The disk space of the documents is freed. References to a
deleted instrument become text. The audit log keeps the text of a deleted note. This
can't be undone.

ID is the type and ID of the record as shown by "deedkeep trash list", such as
abstract:Zz9aB31x, order:Zz9aB31x, file:17, or instrument:3. A number alone is a
document ID.

On a terminal, the command asks for the name of the record to confirm. Otherwise, --yes
is required. A record under retention is deleted only with --lift-retention and
--reason. The audit log shows who deleted which record, and the reason.

This works with the server running or stopped, and on a full disk. During a backup, the
space is freed when the backup finishes.

Exit code 1: the record is under retention or not in the trash, or you did not confirm.
Exit code 2: invalid arguments, or --yes is required but missing.`,
		Example: `  deedkeep trash purge file:17
  deedkeep trash purge order:Zz9aB31x --yes
  deedkeep trash purge abstract:Zz9aB31x --lift-retention --reason "Court order 26-117"`,
		Annotations: missingArg(`ID is required; list IDs with "deedkeep trash list"`),
		RunE: func(cmd *cobra.Command, args []string) error {
			record, err := trashRecord(args[0])
			if err != nil {
				return err
			}
			if reason = strings.TrimSpace(reason); liftRetention != (reason != "") {
				return &usageError{errors.New("--lift-retention and --reason must be used together")}
			}
			if err := s.canConfirm(yes); err != nil {
				return err
			}
			return s.withClient(cmd.Context(), func(ctx context.Context, c *control.Client) error {
				return s.purgeRecord(ctx, c, record, args[0], reason, yes)
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "delete without confirmation")
	cmd.Flags().BoolVar(&liftRetention, "lift-retention", false, "delete a record under retention; requires --reason")
	cmd.Flags().StringVar(&reason, "reason", "", "reason why retention no longer applies")
	return cmd
}

// purgeRecord permanently deletes a record in the trash. It asks for confirmation unless yes
// is set. id is the record's ID as entered by the user. If reason is not empty, the record
// is deleted even if it is under retention.
func (s *shell) purgeRecord(ctx context.Context, c *control.Client, record, id, reason string, yes bool) error {
	item, err := c.TrashItem(ctx, record)
	if err != nil {
		return explainNotFound(err, "trash record", id)
	}
	if kept := item.RetainedUntil; reason == "" && kept != nil && time.Now().Before(kept.Time) {
		return fmt.Errorf("this record is under retention until %s; to delete it anyway, use --lift-retention with --reason", s.formatTime(kept))
	}
	if !yes {
		recordType := map[string]string{"file": "document"}[item.Kind]
		contents := map[string]string{"abstract": " with its documents"}[item.Kind]
		question := fmt.Sprintf("This permanently deletes the %s %q%s.", cmp.Or(recordType, item.Kind), item.Name, contents)
		if err := s.confirm(question, cmp.Or(strings.TrimSpace(item.Name), item.Record)); err != nil {
			return err
		}
	}
	done, err := c.PurgeTrash(ctx, record, reason)
	if err != nil {
		return asUsageError(explainNotFound(err, "trash record", id))
	}
	return s.printPurged(done)
}

func (s *shell) trashEmpty() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "empty",
		Short: "Permanently delete everything in the trash",
		Long: `Permanently delete everything in the trash. The disk space of the documents is freed.
This can't be undone. Records under retention are kept (setting "retention").

On a terminal, the command asks you to type "empty trash" to confirm. Otherwise, --yes
is required.

This works with the server running or stopped, and on a full disk. During a backup, the
space is freed when the backup finishes.

Exit code 1: you did not confirm. Exit code 2: --yes is required but missing.`,
		Example: "  deedkeep trash empty\n  deedkeep trash empty --yes --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.canConfirm(yes); err != nil {
				return err
			}
			return s.withClient(cmd.Context(), func(ctx context.Context, c *control.Client) error {
				counted, err := c.TrashPurgeable(ctx)
				if err != nil {
					return err
				}
				if !yes && counted.Records > 0 {
					question := fmt.Sprintf("This permanently deletes %s. Abstracts are deleted with their documents. %s kept by retention.",
						apitypes.Count(counted.Records, "record", "records"), apitypes.Count(counted.Kept, "record is", "records are"))
					if err := s.confirm(question, "empty trash"); err != nil {
						return err
					}
				}
				done, err := c.EmptyTrash(ctx)
				if err != nil {
					return err
				}
				return s.printPurged(done)
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "delete without confirmation")
	return cmd
}

// trashRecord parses a record ID in the format of "trash list". A plain number is a document
// ID.
func trashRecord(text string) (string, error) {
	if _, err := strconv.ParseUint(text, 10, 63); err == nil {
		return "file:" + text, nil
	}
	recordType, id, _ := strings.Cut(text, ":")
	if id != "" && slices.Contains([]string{"abstract", "order", "file", "instrument"}, recordType) {
		return text, nil
	}
	return "", &usageError{fmt.Errorf(`%q is not a valid record ID; use an ID from "deedkeep trash list", such as abstract:Zz9aB31x or file:17`, text)}
}

// canConfirm returns an error if yes is not set and there is no terminal on which the user
// can confirm.
func (s *shell) canConfirm(yes bool) error {
	if yes || s.isInteractive(s.in) {
		return nil
	}
	return &usageError{errors.New("can't ask for confirmation without a terminal; use --yes")}
}

// confirm asks the user to type phrase. Case and spaces are ignored.
func (s *shell) confirm(question, phrase string) error {
	s.messagef("%s This can't be undone.", question)
	s.promptf("", "type %s to confirm: ", phrase)
	line, err := readLine(s.in, "confirmation")
	if err != nil {
		return err
	}
	if !model.ConfirmationMatches(line, phrase) {
		return errors.New("not confirmed; nothing was deleted")
	}
	return nil
}

func (s *shell) printPurged(done apitypes.TrashPurged) error {
	kept := ""
	if done.Kept > 0 {
		kept = fmt.Sprintf("; %d kept by retention", done.Kept)
	}
	when := ""
	if done.Waits {
		when = "; more space is freed when the backup finishes"
	}
	return s.print(done, "permanently deleted %s (%s); %s freed%s%s\n",
		apitypes.Count(done.Records, "record", "records"), apitypes.Count(done.Documents, "document", "documents"), apitypes.HumanSize(done.FreedBytes), when, kept)
}

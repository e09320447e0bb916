package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deedkeep/app/apitypes"
	"deedkeep/app/control"
	"deedkeep/app/model"
)

func (s *shell) trashCommand() *cobra.Command {
	return commandGroup("trash", "List and purge deleted records", "  deedkeep trash list\n  deedkeep trash purge file:17\n  deedkeep trash empty",
		s.trashList(), s.trashPurge(), s.trashEmpty())
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
		Short: "List what is in the trash, and until when it is kept",
		Long: `List what is in the trash, and until when it is kept, the newest first. RETENTION is
until when the setting "retention" keeps a record: before that day, a purge needs a
reason (--lift-retention). Where it is empty, only the setting "trash.keep" applies. A
document that went to the trash with its abstract is not listed: it is restored and
purged with the abstract.`,
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

func (s *shell) trashPurge() *cobra.Command {
	var (
		yes, liftRetention bool
		reason             string
	)
	cmd := &cobra.Command{
		Use:   "purge ID",
		Short: "Permanently delete one record in the trash",
		Long: `Permanently delete one record in the trash, an abstract with its documents, and free
the space of its documents. This cannot be undone.

ID is the type and ID of the record as "deedkeep trash list" shows them, such as
abstract:Zz9aB31x, order:Zz9aB31x, or file:17. A plain number is the ID of a document.

On a terminal the command asks for the name of the record. Anywhere else --yes is
required. A record under the setting "retention" is not deleted, unless --lift-retention
says that the retention of this record no longer applies. It requires --reason. The audit
log shows who deleted what, and the reason.

This also works on a full disk, with the server running or stopped. During a backup, the
space is freed when the backup ends.

Exit code 1: the record is under retention or not in the trash, or you did not confirm.
Exit code 2: wrong arguments, or there is no terminal and no --yes.`,
		Example: `  deedkeep trash purge file:17
  deedkeep trash purge order:Zz9aB31x --yes
  deedkeep trash purge abstract:Zz9aB31x --lift-retention --reason "Court order 26-117"`,
		Annotations: missingArg(`the ID is missing; "deedkeep trash list" shows them`),
		RunE: func(cmd *cobra.Command, args []string) error {
			record, err := trashRecord(args[0])
			if err != nil {
				return err
			}
			if reason = strings.TrimSpace(reason); liftRetention != (reason != "") {
				return &usageError{errors.New("--lift-retention and --reason go together: the audit log shows why the retention of the record was lifted")}
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
	cmd.Flags().BoolVar(&liftRetention, "lift-retention", false, "delete a record that is under retention; requires --reason")
	cmd.Flags().StringVar(&reason, "reason", "", "why the retention of this record no longer applies")
	return cmd
}

// purgeRecord permanently deletes a record in the trash. It asks for confirmation unless yes
// is set. id is the record's ID as entered by the user. If reason is not empty, the record
// is deleted even if it is under retention.
func (s *shell) purgeRecord(ctx context.Context, c *control.Client, record, id, reason string, yes bool) error {
	item, err := c.TrashItem(ctx, record)
	if err != nil {
		return explainNotFound(err, "record in the trash", id)
	}
	if kept := item.RetainedUntil; reason == "" && kept != nil && time.Now().Before(kept.Time) {
		return fmt.Errorf("the retention setting keeps this record until %s; --lift-retention with --reason deletes it", s.formatTime(kept))
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
		return asUsageError(explainNotFound(err, "record in the trash", id))
	}
	return s.printPurged(done)
}

func (s *shell) trashEmpty() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "empty",
		Short: "Permanently delete everything in the trash",
		Long: `Permanently delete everything in the trash, and free the space of its documents. This
cannot be undone. Records under the setting "retention" stay.

On a terminal the command asks you to type "empty trash". Anywhere else --yes is
required.

This also works on a full disk, with the server running or stopped. During a backup, the
space is freed when the backup ends.

Exit code 1: you did not confirm. Exit code 2: there is no terminal and no --yes.`,
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
					question := fmt.Sprintf("This permanently deletes %s, abstracts with their documents. %s under retention.",
						apitypes.Count(counted.Records, "record", "records"), apitypes.Count(counted.Kept, "stays", "stay"))
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
	if id != "" && (recordType == "file" || recordType == "abstract" || recordType == "order") {
		return text, nil
	}
	return "", &usageError{fmt.Errorf(`%q is not the ID of a record in the trash; write it as "deedkeep trash list" shows it, like abstract:Zz9aB31x or file:17`, text)}
}

// canConfirm returns an error if yes is not set and there is no terminal on which the user
// can confirm.
func (s *shell) canConfirm(yes bool) error {
	if yes || s.isInteractive(s.in) {
		return nil
	}
	return &usageError{errors.New("there is no terminal to confirm this on (use --yes to delete without confirmation)")}
}

// confirm asks the user to type phrase. Case and spaces are ignored.
func (s *shell) confirm(question, phrase string) error {
	s.messagef("%s This cannot be undone.", question)
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
		kept = fmt.Sprintf("; %d kept by the retention setting", done.Kept)
	}
	documents, when := "documents", ""
	if done.Documents == 1 {
		documents = "a document"
	}
	if done.Waits {
		when = "; the rest of the space is freed after the backup"
	}
	return s.print(done, "permanently deleted %s, %d of them %s; %s freed%s%s\n",
		apitypes.Count(done.Records, "record", "records"), done.Documents, documents, apitypes.HumanSize(done.FreedBytes), when, kept)
}

package cmd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"deedkeep/app/apitypes"
	"deedkeep/app/backup"
	"deedkeep/app/backup/archive"
	"deedkeep/app/config"
	"deedkeep/app/control"
	"deedkeep/app/instance"
)

func (s *shell) backupCommand() *cobra.Command {
	return commandGroup("backup", "Make, list, check, try out and thin out backups", "  deedkeep backup create --to /mnt/nas/deedkeep",
		s.backupCreate(), s.backupList(), s.backupVerify(), s.backupDrill(), s.backupPrune())
}

// backupSettings converts the backup.* settings to the type used by package backup.
func backupSettings(c config.Config) backup.Settings {
	b := c.Backup
	return backup.Settings{
		To: b.To, Every: b.Every, Keep: archive.Retention{Daily: b.KeepDaily, Weekly: b.KeepWeekly, Monthly: b.KeepMonthly},
		Recipients: b.Recipients, Passphrase: b.Passphrase, PassphraseFile: b.PassphraseFile,
	}
}

func (s *shell) backupCreate() *cobra.Command {
	var to string
	var newArchive bool
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Add a backup of this moment",
		Long: `Add a backup of this moment to a directory, which may be on another disk or a
mounted share, and is made where there is none. The server goes on serving. Documents
that are there already are not copied again. A backup is complete or invisible: cut
off by Ctrl-C, a full disk or a power cut, it leaves nothing that could be taken for
one, and the next goes on with what was copied.

A directory that held backups and holds none, or others, is refused: its disk may not
be mounted. With --new the backup is made there all the same.`,
		Example: "  deedkeep backup create --to /mnt/nas/deedkeep\n  deedkeep backup create --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if to != "" {
				var err error
				if to, err = filepath.Abs(to); err != nil {
					return err
				}
			}
			encryption, err := s.encryptionSettings()
			if err != nil {
				return err
			}
			return s.withClient(cmd.Context(), func(ctx context.Context, c *control.Client) error {
				report, finish := s.showProgress("backup")
				defer finish()
				created, err := c.CreateBackup(ctx, apitypes.BackupCreate{To: to, Encryption: encryption, NewArchive: newArchive}, report)
				finish()
				if err != nil {
					return asUsageError(err)
				}
				s.remindAboutConfig()
				if len(created.Damaged) > 0 {
					s.messagef("damaged in the vault, intact in this backup: %s (\"deedkeep status\" says what to do)", damagedFiles(created.Damaged))
				}
				if s.json {
					return s.printJSON(created)
				}
				return s.printf("%s: %s, %s of documents, %s written in %.1f s to %s, %s\n",
					created.Snapshot, apitypes.Count(created.Files, "file", "files"), apitypes.HumanSize(created.Bytes), apitypes.HumanSize(created.BytesWritten), created.Seconds, created.To, encryptedText(created.Sealed))
			})
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "the directory (default: the setting backup.to)")
	cmd.Flags().BoolVar(&newArchive, "new", false, "begin anew where the directory held other backups before")
	return cmd
}

// encryptionSettings returns this command's encryption settings. The server compares them
// with its own, so a backup is never encrypted differently than the operator expects.
func (s *shell) encryptionSettings() (*apitypes.BackupEncryption, error) {
	c, err := s.load()
	if err != nil {
		return nil, err
	}
	s.warnOfExposures(c)
	encryption, err := backupSettings(c).Encryption(rand.Reader)
	return &apitypes.BackupEncryption{Recipients: encryption.Recipients, Passphrase: encryption.PassphraseFingerprint}, err
}

// remindAboutConfig reminds the operator to copy the settings file, if there is one,
// because backups don't contain it.
func (s *shell) remindAboutConfig() {
	if path, exists, err := s.settingsFile(); err == nil && exists {
		s.messagef("the settings are not in a backup: keep a copy of %s as well", path)
	}
}

func encryptedText(encrypted bool) string {
	if encrypted {
		return "encrypted"
	}
	return "NOT encrypted"
}

func (s *shell) backupList() *cobra.Command {
	var p backupSource
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the backups in a directory, oldest first",
		Example: "  deedkeep backup list --from /mnt/nas/deedkeep\n  deedkeep backup list --json",
		Args:    cobra.NoArgs,
		RunE: func(_ *cobra.Command, _ []string) error {
			a, _, err := s.openBackups(&p)
			if err != nil {
				return err
			}
			unlocked := a.Unlock() == nil // if this fails, the secret of the vault may still open them
			names, err := a.Snapshots()
			if err != nil {
				return err
			}
			list := make(apitypes.List[apitypes.BackupListed], 0, len(names))
			for _, name := range names {
				list = append(list, listedBackup(a, name))
			}
			if s.json {
				return s.printJSON(list)
			}
			return s.printBackups(a, list, unlocked)
		},
	}
	p.addFlags(cmd)
	return cmd
}

func listedBackup(a *archive.Archive, name string) apitypes.BackupListed {
	info, err := a.Info(name)
	if err != nil {
		return apitypes.BackupListed{Snapshot: name, Problem: err.Error()}
	}
	return apitypes.BackupListed{Snapshot: name, CreatedAt: new(apitypes.At(info.CreatedAt)), Files: int64(info.Files), Bytes: info.Bytes}
}

func (s *shell) printBackups(a *archive.Archive, list []apitypes.BackupListed, unlocked bool) error {
	if len(list) == 0 {
		return s.printf("no backup yet\n")
	}
	rows := [][]string{{"SNAPSHOT", "MADE", "FILES", "DOCUMENTS"}}
	var problems []string
	for _, b := range list {
		if b.Problem != "" {
			rows = append(rows, []string{b.Snapshot, "-", "-", "cannot be read"})
			problems = append(problems, b.Problem)
			continue
		}
		rows = append(rows, []string{b.Snapshot, s.formatTime(b.CreatedAt), fmt.Sprint(b.Files), apitypes.HumanSize(b.Bytes)})
	}
	if err := s.printTable(rows); err != nil {
		return err
	}
	for _, problem := range problems {
		s.messagef("%s", problem)
	}
	if a.Encrypted() && !unlocked && len(problems) > 0 {
		s.messagef("the backups are encrypted: %s", keyHint)
	}
	return nil
}

func (s *shell) backupVerify() *cobra.Command {
	var p backupSource
	cmd := &cobra.Command{
		Use:   "verify [SNAPSHOT|latest]",
		Short: "Read every byte of the backups and hold it against its checksum",
		Long: `Read every byte of one backup, or, when none is named, of all backups in the
directory. Missing or differing bytes are listed, and the exit code is 3. Files that
no backup names are notes; "deedkeep backup prune" takes them away. Nothing is changed.
Of encrypted backups every byte is held against its checksum even without a key; with
the passphrase or an identity what is inside is looked at too.`,
		Example: "  deedkeep backup verify --from /mnt/nas/deedkeep\n  deedkeep backup verify latest --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, _, err := s.openBackups(&p)
			if err != nil {
				return err
			}
			report, finish := s.showProgress("verify")
			defer finish()
			found, err := a.Verify(cmd.Context(), strings.Join(args, ""), byteProgress(report))
			finish()
			if err != nil {
				return err
			}
			return s.printBackupVerify(found)
		},
	}
	p.addFlags(cmd)
	return cmd
}

func byteProgress(report func(apitypes.Progress)) func(done, total int64) {
	return func(done, total int64) { report(apitypes.Progress{Done: done, Total: total, Unit: "bytes"}) }
}

func (s *shell) printBackupVerify(r archive.VerifyReport) error {
	out := apitypes.BackupVerify{
		OK: len(r.Findings) == 0, Snapshots: int64(r.Snapshots), Blobs: int64(r.Blobs), Bytes: r.Bytes, Sealed: r.NotDecrypted,
		Orphans: int64(r.Orphans), Leftovers: int64(r.Leftovers), Findings: make([]apitypes.Finding, 0, len(r.Findings)),
	}
	for _, f := range r.Findings {
		out.Findings = append(out.Findings, apitypes.Finding{Kind: f.Kind, Subject: f.Subject, Problem: f.Problem})
	}
	if s.json {
		if err := s.printJSON(out); err != nil {
			return err
		}
	} else if err := s.printBackupFindings(out); err != nil {
		return err
	}
	if !out.OK {
		return errDamage
	}
	return nil
}

func (s *shell) printBackupFindings(r apitypes.BackupVerify) error {
	for _, f := range r.Findings {
		if err := s.printf("%s %s: %s\n", f.Kind, f.Subject, f.Problem); err != nil {
			return err
		}
	}
	verdict := "all is well"
	switch {
	case !r.OK:
		verdict = "DAMAGED"
		s.messagef(`move the damaged documents out of the folder blobs and change nothing else by hand; "deedkeep backup create" then copies again what the vault still has`)
	case r.Sealed:
		verdict = "all is well (from outside: without passphrase or identity nothing could be decrypted)"
	}
	return s.printf("%s: %s, %s, %s read; %s, %s, %s\n",
		verdict, apitypes.Count(r.Snapshots, "backup", "backups"), apitypes.Count(r.Blobs, "document", "documents"), apitypes.HumanSize(r.Bytes),
		apitypes.Count(r.Orphans, "orphan", "orphans"), apitypes.Count(r.Leftovers, "leftover", "leftovers"), apitypes.Count(len(r.Findings), "finding", "findings"))
}

func (s *shell) backupPrune() *cobra.Command {
	var p backupSource
	var keep archive.Retention
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove old backups, and the bytes that no backup names any more",
		Long: `Keep the newest backup of each of the last days, weeks and months (in UTC) that have
one, and remove the others; the newest of all always stays. What no backup names any
more is removed then. Without flags, the settings backup.keep_* say how many.`,
		Example: "  deedkeep backup prune --keep-daily 7 --keep-weekly 5 --keep-monthly 12\n  deedkeep backup prune --dry-run",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, c, err := s.openBackups(&p)
			if err != nil {
				return err
			}
			chosen := false
			for _, flag := range []string{"keep-daily", "keep-weekly", "keep-monthly"} {
				chosen = chosen || cmd.Flags().Changed(flag)
			}
			if !chosen {
				keep = backupSettings(c).Keep
			}
			if keep.Daily < 0 || keep.Weekly < 0 || keep.Monthly < 0 || keep == (archive.Retention{}) {
				return &usageError{errors.New("this would remove all backups but the newest: say how many to keep with --keep-daily, --keep-weekly or --keep-monthly")}
			}
			_ = a.Unlock() // if this fails, the secret of the vault may still open them
			report, finish := s.showProgress("prune")
			defer finish()
			done, err := a.Prune(cmd.Context(), keep, dryRun, func(done, total int64) { report(apitypes.Progress{Done: done, Total: total, Unit: "documents"}) })
			finish()
			if !dryRun {
				s.logPruned(cmd.Context(), a.Dir(), done.Removed)
			}
			if err != nil {
				return err
			}
			return s.printPruned(done, dryRun)
		},
	}
	p.addFlags(cmd)
	cmd.Flags().IntVar(&keep.Daily, "keep-daily", 0, "of how many days the newest stays")
	cmd.Flags().IntVar(&keep.Weekly, "keep-weekly", 0, "of how many weeks")
	cmd.Flags().IntVar(&keep.Monthly, "keep-monthly", 0, "of how many months")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only say what would be removed")
	return cmd
}

// logPruned records the removed backups in the audit log if there is a vault. If that
// fails, it only prints a message, because the backups have already been removed.
func (s *shell) logPruned(ctx context.Context, from string, removed []string) {
	if len(removed) == 0 {
		return
	}
	from, err := filepath.Abs(from)
	if err == nil {
		err = s.withClient(context.WithoutCancel(ctx), func(ctx context.Context, c *control.Client) error {
			return c.BackupsPruned(ctx, apitypes.BackupPruned{From: from, Removed: removed})
		})
	}
	if err != nil && !errors.Is(err, instance.ErrNoVault) {
		s.messagef("the log of events does not say what was removed: %s", message(err))
	}
}

func (s *shell) printPruned(p archive.PruneResult, dryRun bool) error {
	if s.json {
		return s.printJSON(apitypes.BackupPrune{Kept: p.Kept, Removed: p.Removed, Blobs: int64(p.Blobs), Bytes: p.Bytes, DryRun: dryRun})
	}
	verb := "removed"
	if dryRun {
		verb = "would be removed"
	}
	for _, name := range p.Removed {
		if err := s.printf("%s %s\n", name, verb); err != nil {
			return err
		}
	}
	return s.printf("%s, %d %s; %s (%s) freed\n", apitypes.Count(len(p.Kept), "backup stays", "backups stay"), len(p.Removed), verb,
		apitypes.Count(p.Blobs, "document", "documents"), apitypes.HumanSize(p.Bytes))
}

// backupRows returns the rows about backups in the output of "deedkeep status".
func (s *shell) backupRows(status apitypes.Status) [][]string {
	last := s.formatTime(status.LastBackupAt)
	if b := status.LastBackup; b != nil {
		last = fmt.Sprintf("%s, %s, to %s", last, apitypes.Count(b.Files, "file", "files"), b.To)
	}
	rows := [][]string{{"backup", last}}
	if f := status.BackupFailure; f != nil {
		rows = append(rows, []string{"", fmt.Sprintf("FAILED %s: %s", s.formatTime(&f.At), f.Reason)})
	}
	if status.NextBackupAt != nil {
		rows = append(rows, []string{"", "next " + s.formatTime(status.NextBackupAt)})
	}
	return rows
}

package cmd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"deedkeep/app/apitypes"
	"deedkeep/app/backup"
	"deedkeep/app/backup/archive"
	"deedkeep/app/config"
	"deedkeep/app/control"
	"deedkeep/app/encode"
	"deedkeep/app/instance"
)

func (s *shell) backupCommand() *cobra.Command {
	return commandGroup("backup", "Create, list, verify, test, and prune backups", "  deedkeep backup create --to /mnt/nas/deedkeep",
		s.backupCreate(), s.backupList(), s.backupVerify(), s.backupDrill(), s.backupPrune())
}

// backupSettings converts the backup.* settings to the type used by package backup.
func backupSettings(c config.Config) backup.Settings {
	b := c.Backup
	return backup.Settings{
		Text: b.Text, To: b.To, Every: b.Every, Keep: archive.Retention{Daily: b.KeepDaily, Weekly: b.KeepWeekly, Monthly: b.KeepMonthly},
		Recipients: b.Recipients, Passphrase: b.Passphrase, PassphraseFile: b.PassphraseFile, Version: build().Version,
	}
}

func (s *shell) backupCreate() *cobra.Command {
	var to string
	var newArchive, quiet bool
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Create a backup",
		Long: `Create a backup. The target directory can be on another disk or a mounted share; the
command creates it if it doesn't exist. The server can keep running. Documents that are
already in the directory are not copied again. An interrupted backup is never listed,
and the next backup reuses what it copied.

If the directory is empty although it held backups before, or holds the backups of
another server, the command fails, because the right disk may not be mounted. To start
new backups there, use --new.

Exit code 11: another process uses the backup directory.`,
		Example: "  deedkeep backup create --to /mnt/nas/deedkeep\n  SNAPSHOT=$(deedkeep backup create --quiet)",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if to != "" {
				var err error
				if to, err = filepath.Abs(to); err != nil {
					return err
				}
			}
			encryption, err := s.encryptionSettings(cmd.Context())
			if err != nil {
				return err
			}
			return query(s, cmd, func(c *control.Client, ctx context.Context) (apitypes.Backup, error) {
				created, err := withProgress(s, "backup", func(report func(apitypes.Progress)) (apitypes.Backup, error) {
					return c.CreateBackup(ctx, apitypes.BackupCreate{To: to, Encryption: encryption, NewArchive: newArchive}, report)
				})
				return created, asUsageError(err)
			}, func(created apitypes.Backup) error { return s.printBackup(created, quiet) })
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "backup directory (default: setting backup.to)")
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "print only the name of the backup")
	cmd.Flags().BoolVar(&newArchive, "new", false, "start new backups in a directory that held other backups")
	return cmd
}

// printBackup prints the result of a backup, or only its name, and warnings about damaged documents and missing
// backups.
func (s *shell) printBackup(created apitypes.Backup, quiet bool) error {
	s.remindAboutConfig()
	if len(created.Missing) > 0 {
		s.messagef("WARNING: backups that deedkeep didn't delete are missing from %s: %s (see \"deedkeep backup verify\")", created.To,
			strings.Join(created.Missing, ", "))
	}
	if len(created.Damaged) > 0 {
		s.messagef("damaged in the data directory, intact in this backup: %s (see \"deedkeep status\")", damagedFiles(created.Damaged))
	}
	if len(created.DamagedText) > 0 {
		s.messagef("OCR text incomplete in this backup: %s; the server reads damaged pages again (see \"deedkeep verify\")",
			damagedFiles(created.DamagedText))
	}
	if quiet {
		return s.printf("%s\n", created.Snapshot)
	}
	sealed := "NOT encrypted"
	if created.Encrypted {
		sealed = "encrypted"
	}
	return s.print(created, "created backup %s: %s (%s), %s written in %.1f s to %s, %s\n",
		created.Snapshot, apitypes.Count(created.Files, "file", "files"), apitypes.HumanSize(created.Bytes), apitypes.HumanSize(created.BytesWritten), created.Seconds, created.To, sealed)
}

// encryptionSettings returns this command's encryption settings. The server compares them
// with its own, so a backup is never encrypted differently than the operator expects.
func (s *shell) encryptionSettings(ctx context.Context) (*apitypes.BackupEncryption, error) {
	c, err := s.load(ctx, nil)
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
		s.messagef("backups don't contain the settings; keep a copy of %s", path)
	}
}

func (s *shell) backupList() *cobra.Command {
	var p backupSource
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List backups, oldest first",
		Long: `List backups, oldest first. The list shows the version of deedkeep that created each
backup or its data, and the schema of its database. Each version can restore backups with
its own or an earlier schema. The list also shows missing backups that deedkeep didn't
delete.
Warnings name other directories with newer backups of the same server.

Exit code 3: a backup is missing.`,
		Example: "  deedkeep backup list --from /mnt/nas/deedkeep\n  deedkeep backup list --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, _, err := s.openBackups(cmd.Context(), &p)
			if err != nil {
				return err
			}
			unlocked := a.Unlock() == nil // if this fails, the secret of the vault may still open them
			names, err := a.Snapshots()
			if err != nil {
				return err
			}
			missing, err := a.Missing()
			if err != nil {
				return err
			}
			labels, err := a.Labels()
			if err != nil {
				return err
			}
			list := make(apitypes.List[apitypes.BackupListed], 0, len(names)+len(missing))
			for _, name := range slices.Sorted(slices.Values(slices.Concat(names, missing))) {
				listed := apitypes.BackupListed{Snapshot: name, Problem: archive.ErrVanished.Error()}
				if !slices.Contains(missing, name) {
					listed = listedBackup(a, name)
					listed.Name = encode.OptionalString(labels[name])
				}
				list = append(list, listed)
			}
			if err := s.printBackups(a, list, unlocked); err != nil {
				return err
			}
			if len(names) > 0 {
				s.mentionNewer(a, names[len(names)-1])
			}
			if len(missing) > 0 {
				return errDamage
			}
			return nil
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
	return apitypes.BackupListed{
		Snapshot: name, CreatedAt: new(apitypes.At(info.CreatedAt)), Files: int64(info.Files), Bytes: info.Bytes,
		Version: encode.OptionalString(info.Version), Schema: info.Schema,
	}
}

func (s *shell) printBackups(a *archive.Archive, list []apitypes.BackupListed, unlocked bool) error {
	var problems []string
	err := printList(s, list, "no backups", "SNAPSHOT\tCREATED\tFILES\tSIZE\tNAME\tVERSION\tSCHEMA", func(b apitypes.BackupListed) []any {
		if b.Problem != "" {
			problems = append(problems, b.Problem)
			state := "unreadable"
			if b.Problem == archive.ErrVanished.Error() {
				state = "MISSING"
			}
			return []any{b.Snapshot, "-", "-", state, "-", "-", "-"}
		}
		return []any{b.Snapshot, s.formatTime(b.CreatedAt), b.Files, apitypes.HumanSize(b.Bytes), backupName(b), versionName(b.Version), b.Schema}
	})
	if err != nil || s.json {
		return err
	}
	for _, problem := range slices.Compact(problems) {
		s.messagef("%s", problem)
	}
	if a.Encrypted() && !unlocked && len(problems) > 0 {
		s.messagef("the backups are encrypted: %s", keyHint)
	}
	return nil
}

// backupName returns the name of a backup for a table.
func backupName(b apitypes.BackupListed) string {
	if b.Name == nil {
		return "-"
	}
	return *b.Name
}

func (s *shell) backupVerify() *cobra.Command {
	var p backupSource
	cmd := &cobra.Command{
		Use:   "verify [SNAPSHOT|latest]",
		Short: "Verify backup checksums",
		Long: `Verify backup checksums. The command reads every byte of one backup or, without an
argument, of all backups in the directory. It lists missing and damaged files. Files
that no backup uses are only counted; "deedkeep backup prune" deletes them. Nothing is
changed.

Checksums of encrypted backups can be verified without a key. With the passphrase or an
identity, the command also decrypts the backups and checks their contents.

Exit code 3: damage found.`,
		Example: "  deedkeep backup verify --from /mnt/nas/deedkeep\n  deedkeep backup verify latest --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			a, _, err := s.openBackups(cmd.Context(), &p)
			if err != nil {
				return err
			}
			found, err := withProgress(s, "verify", func(report func(apitypes.Progress)) (archive.VerifyReport, error) {
				return a.Verify(cmd.Context(), strings.Join(args, ""), unitProgress(report, "bytes"))
			})
			if err != nil {
				return err
			}
			return s.printBackupVerify(found)
		},
	}
	p.addFlags(cmd)
	return cmd
}

func unitProgress(report func(apitypes.Progress), unit string) func(done, total int64) {
	return func(done, total int64) { report(apitypes.Progress{Done: done, Total: total, Unit: unit}) }
}

func (s *shell) printBackupVerify(r archive.VerifyReport) error {
	out := apitypes.BackupVerify{
		OK: len(r.Findings) == 0, Snapshots: int64(r.Snapshots), Blobs: int64(r.Blobs), Bytes: r.Bytes, ChecksumsOnly: r.NotDecrypted,
		Orphans: int64(r.Orphans), Leftovers: int64(r.Leftovers), Findings: make([]apitypes.Finding, 0, len(r.Findings)),
	}
	for _, f := range r.Findings {
		out.Findings = append(out.Findings, apitypes.Finding{Kind: f.Kind, Subject: f.Subject, Problem: f.Problem})
	}
	verdict := "OK"
	switch {
	case !out.OK:
		verdict = "DAMAGED"
		isContent := func(f archive.Finding) bool { return f.Kind == "document" || f.Kind == "text" }
		if !s.json && slices.ContainsFunc(r.Findings, isContent) {
			s.messagef(`move the damaged documents out of the folder "blobs" and change nothing else there; then run "deedkeep backup create" to copy them from the data directory again`)
		}
	case out.ChecksumsOnly:
		verdict = "OK (checksums only; to check the encrypted contents, provide the passphrase or an identity)"
	}
	return s.printReport(out, out.OK, findingLines(out.Findings)+fmt.Sprintf("%s: %s, %s, %s read; %s, %s, %s\n",
		verdict, apitypes.Count(out.Snapshots, "backup", "backups"), apitypes.Count(out.Blobs, "document", "documents"), apitypes.HumanSize(out.Bytes),
		apitypes.Count(out.Orphans, "orphaned file", "orphaned files"), apitypes.Count(out.Leftovers, "temporary file", "temporary files"),
		apitypes.Count(len(out.Findings), "finding", "findings")))
}

func (s *shell) backupPrune() *cobra.Command {
	var p backupSource
	var keep archive.Retention
	var dryRun, forget bool
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Delete old backups according to the retention policy",
		Long: `Delete old backups according to the retention policy. The command keeps the newest
backup of each of the last days, weeks, and months (in UTC) that have one. It never
deletes the newest backup, and keeps the last one before an upgrade for 90 days, because
the old version can't restore later ones. It keeps a backup with a name, such as
before-upgrade-0.3.0, until there is a newer one with a name. It also deletes documents
that no remaining backup uses.

Without flags, the settings backup.keep_daily, backup.keep_weekly, and
backup.keep_monthly apply.`,
		Example: "  deedkeep backup prune --keep-daily 7 --keep-weekly 5 --keep-monthly 12\n  deedkeep backup prune --dry-run",
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, c, err := s.openBackups(cmd.Context(), &p)
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
				return &usageError{errors.New("this would delete all backups except the newest; set --keep-daily, --keep-weekly, or --keep-monthly")}
			}
			_ = a.Unlock() // if this fails, the secret of the vault may still open them
			if forget && !dryRun {
				if err := a.ForgetMissing(); err != nil {
					return err
				}
			}
			done, err := withProgress(s, "prune", func(report func(apitypes.Progress)) (archive.PruneResult, error) {
				return a.Prune(cmd.Context(), keep, dryRun, unitProgress(report, "documents"))
			})
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
	cmd.Flags().IntVar(&keep.Daily, "keep-daily", 0, "number of daily backups to keep")
	cmd.Flags().IntVar(&keep.Weekly, "keep-weekly", 0, "number of weekly backups to keep")
	cmd.Flags().IntVar(&keep.Monthly, "keep-monthly", 0, "number of monthly backups to keep")
	cmd.Flags().BoolVar(&forget, "forget-missing", false, "stop reporting missing backups")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "preview only: list the backups that would be deleted")
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
		s.messagef("the backups were deleted, but the deletion was not recorded in the audit log: %s", message(err))
	}
}

func (s *shell) printPruned(p archive.PruneResult, dryRun bool) error {
	verb, text := "deleted", ""
	if dryRun {
		verb = "would be deleted"
	}
	for _, name := range p.Removed {
		text += name + " " + verb + "\n"
	}
	report := apitypes.BackupPrune{Kept: p.Kept, Removed: p.Removed, Blobs: int64(p.Blobs), Bytes: p.Bytes, DryRun: dryRun}
	return s.print(report, "%s%s, %d %s; %s (%s) freed\n", text, apitypes.Count(len(p.Kept), "backup kept", "backups kept"), len(p.Removed), verb,
		apitypes.Count(p.Blobs, "document", "documents"), apitypes.HumanSize(p.Bytes))
}

// backupRows returns the rows about backups in the output of "deedkeep status".
func (s *shell) backupRows(status apitypes.Status) [][]string {
	last := s.formatTime(status.LastBackupAt)
	if b := status.LastBackup; b != nil {
		last = fmt.Sprintf("%s, %s, to %s", last, apitypes.Count(b.Files, "file", "files"), b.To)
	}
	if status.BackupProblem != nil && status.LastBackupAt == nil {
		last = "UNKNOWN"
	}
	rows := [][]string{{"backup", last}}
	if status.BackupProblem != nil {
		rows[0][1] += ": " + *status.BackupProblem
	}
	if f := status.BackupFailure; f != nil {
		rows = append(rows, []string{"", fmt.Sprintf("FAILED %s: %s", s.formatTime(&f.At), f.Reason)})
	}
	if status.NextBackupAt != nil {
		rows = append(rows, []string{"", "next " + s.formatTime(status.NextBackupAt)})
	}
	return rows
}

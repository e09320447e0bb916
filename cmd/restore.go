package cmd

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"deedkeep/app/apitypes"
	"deedkeep/app/backup"
	"deedkeep/app/backup/archive"
	"deedkeep/app/config"
	"deedkeep/app/control"
	"deedkeep/app/doctor"
	"deedkeep/app/encode"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
)

func (s *shell) restoreCommand() *cobra.Command {
	var src backupSource
	var file, output string
	cmd := &cobra.Command{
		Use:   "restore SNAPSHOT|latest",
		Short: "Restore a backup into an empty data directory",
		Long: `Restore a backup into an empty data directory, on this or another machine or operating
system. The directory must not exist or must be empty, except for config.yaml,
patterns.yaml, and the folder languages. Live data is never overwritten. The command
opens the restored data and verifies all records and documents. If it is interrupted,
run it again to resume; until it finishes, nothing else can open the directory. If you
restore another backup instead, it replaces the unfinished restore.

Without --from, the command uses the directory in the setting backup.to. With "latest",
it uses the newest backup that this version of deedkeep can read. It prints the name and
age of that backup, and warns if there are newer ones elsewhere. The command checks the
version and the free space before it creates anything.

API keys and users are restored as of the time of the backup. Revoke again any API keys
that you revoked after the backup. All users have to sign in again. Backups don't
contain config.yaml, patterns.yaml, or the folder languages: copy them into the
directory.

If the backup is encrypted with a passphrase, the command prompts for it or reads it
from --passphrase-file or DEEDKEEP_BACKUP_PASSPHRASE. If it is encrypted for an age
recipient, use --identity FILE.

With --file, the command restores one document to the file specified by -o.

Exit code 3: the backup is damaged.`,
		Args: argCount("[SNAPSHOT|latest]"), // not needed for one document
		Example: "  deedkeep restore latest --from /mnt/nas/deedkeep --data /srv/deedkeep\n" +
			"  deedkeep restore latest --from /mnt/cloud/deedkeep --passphrase-file passphrase.txt --data /srv/deedkeep\n" +
			"  deedkeep restore latest --file 17 --from /mnt/nas/deedkeep -o deed.pdf",
		RunE: func(cmd *cobra.Command, args []string) error {
			name := archive.Latest
			switch {
			case len(args) == 1:
				name = args[0]
			case file == "":
				return &usageError{errors.New(`SNAPSHOT is required: latest, or a name from "deedkeep backup list"`)}
			}
			if file != "" || output != "" {
				return s.restoreFile(cmd.Context(), name, &src, file, output)
			}
			return s.restore(cmd.Context(), name, &src)
		},
	}
	src.addFlags(cmd)
	cmd.Flags().StringVar(&file, "file", "", "ID of one document to restore")
	cmd.Flags().StringVarP(&output, "output", "o", "", "output file for that document")
	return cmd
}

// restoreOptions returns the options to restore a complete vault. They don't include the
// secret in the data directory, because the backup contains its own secret.
//
// It chooses the backup and prints which one, how old it is, and where newer ones may be.
func (s *shell) restoreOptions(ctx context.Context, name string, src *backupSource) (config.Config, instance.RestoreOptions, error) {
	a, c, err := s.openBackups(ctx, src)
	if err != nil {
		return c, instance.RestoreOptions{}, err
	}
	if err := s.promptPassphrase(a, c, src); err != nil {
		return c, instance.RestoreOptions{}, err
	}
	opts, err := s.archiveOptions(c, src)
	if err != nil {
		return c, instance.RestoreOptions{}, err
	}
	if a, err = archive.Open(a.Dir(), opts); err == nil {
		err = a.Unlock()
	}
	if err != nil {
		return c, instance.RestoreOptions{}, err
	}
	chosen, skipped, err := a.Choose(name, backup.MaxSchema)
	if err != nil {
		return c, instance.RestoreOptions{}, err
	}
	if name == archive.Latest {
		s.explainChoice(a, chosen, skipped, c)
	}
	return c, instance.RestoreOptions{
		From: a.Dir(), Snapshot: chosen.Snapshot, Archive: opts,
		Vault: instance.Options{Dir: c.Data, Settings: vaultSettings(c), Now: time.Now, Rand: rand.Reader, Log: s.logger(c, slog.LevelWarn)},
	}, nil
}

// explainChoice prints which backup is the latest that this version can read.
func (s *shell) explainChoice(a *archive.Archive, chosen archive.Info, skipped []string, c config.Config) {
	for _, name := range skipped {
		s.messagef("skipped backup %s: a newer version of deedkeep created it", name)
	}
	age := time.Since(chosen.CreatedAt)
	created := apitypes.At(chosen.CreatedAt)
	s.messagef("using backup %s in %s, created %s (%s ago), version %s, schema %d", chosen.Snapshot, a.Dir(), s.formatTime(&created),
		doctor.FormatAge(age), cmp.Or(chosen.Version, "unknown"), chosen.Schema)
	if limit := max(2*c.Backup.Every, 48*time.Hour); age > limit && len(skipped) == 0 {
		s.warn([]string{fmt.Sprintf("the newest backup in %s is %s old; check whether there are newer ones in another directory",
			a.Dir(), doctor.FormatAge(age))})
	}
	s.mentionNewer(a, chosen.Snapshot)
}

// mentionNewer prints which other directories have a newer backup of the same vault than
// newest. The archive knows them from the time when the backups moved there.
func (s *shell) mentionNewer(a *archive.Archive, newest string) {
	others, err := a.Others()
	if err != nil {
		s.messagef("%s", message(err))
		return
	}
	for _, dir := range others {
		other, err := archive.Open(dir, archive.Options{})
		if err == nil && other.Vault() != a.Vault() {
			continue // the directory now has the backups of another vault
		}
		var names []string
		if err == nil {
			names, err = other.Snapshots()
		}
		switch {
		case err != nil:
			s.warn([]string{fmt.Sprintf("later backups of this server went to %s, which can't be read now (%s); they may be newer",
				dir, message(err))})
		case len(names) > 0 && names[len(names)-1] > newest:
			s.warn([]string{fmt.Sprintf("a newer backup, %s, is in %s; to use it, add --from %s",
				names[len(names)-1], dir, dir)})
		}
	}
}

// versionName returns a version for a table.
func versionName(version *string) string {
	if version == nil {
		return "unknown"
	}
	return *version
}

func (s *shell) restore(ctx context.Context, name string, src *backupSource) error {
	c, opts, err := s.restoreOptions(ctx, name, src) // may read a passphrase file that only root can read
	if err != nil {
		return err
	}
	if err := s.becomeOwner(c); err != nil {
		return err
	}
	if err := checkNoServer(ctx, c); err != nil {
		if errors.Is(err, control.ErrInUse) {
			return &errs.Error{Kind: errs.Locked, Err: control.ErrInUse,
				Message: fmt.Sprintf("a server is using %s; restore never overwrites live data, so choose another directory with --data", c.Data)}
		}
		return err
	}
	if err := s.checkLocalDisk(c); err != nil {
		return err
	}
	started := time.Now()
	result, err := withProgress(s, "restore", func(report func(apitypes.Progress)) (instance.RestoreResult, error) {
		opts.Progress = unitProgress(report, "bytes")
		return instance.Restore(ctx, opts)
	})
	if err != nil {
		return err
	}
	if n := result.DamagedTexts; n > 0 {
		s.messagef("the text of %s is damaged in the backup; OCR reads the pages again", apitypes.Count(n, "document", "documents"))
	}
	data, err := filepath.Abs(c.Data)
	if err != nil {
		return err
	}
	if result.Replaced != "" {
		s.messagef("replaced an unfinished restore of backup %s", result.Replaced)
	}
	done := apitypes.Restored{
		From: opts.From, Version: encode.OptionalString(result.Info.Version), Schema: result.Info.Schema,
		Snapshot: result.Info.Snapshot, CreatedAt: apitypes.At(result.Info.CreatedAt), Data: data, Files: int64(result.Report.Files), Bytes: result.Report.Bytes,
		Seconds: time.Since(started).Seconds(),
	}
	s.messagef("backups don't contain the settings; copy your config.yaml, the files it refers to (certificate, passphrase file), "+
		"and any patterns.yaml and languages folder to %s", data)
	if !s.json {
		s.messagef("API keys, users, passwords, and two-factor settings are as of %s; revoke again any keys revoked since then; all users are signed out", s.formatTime(&done.CreatedAt))
	}
	return s.print(done, "restored and verified backup %s: %s (%s) in %.1f s, in %s\n",
		done.Snapshot, apitypes.Count(done.Files, "file", "files"), apitypes.HumanSize(done.Bytes), done.Seconds, done.Data)
}

func (s *shell) restoreFile(ctx context.Context, name string, src *backupSource, file, output string) error {
	id, err := strconv.ParseUint(file, 10, 63)
	if err != nil || id == 0 {
		return &usageError{fmt.Errorf("--file must be a document ID, not %q", file)}
	}
	if output == "" {
		return &usageError{errors.New("-o is required with --file: the output file")}
	}
	_, opts, err := s.restoreOptions(ctx, name, src)
	if err != nil {
		return err
	}
	path, err := filepath.Abs(output)
	if err != nil {
		return err
	}
	restored, err := backup.RestoreFile(ctx, opts.From, name, opts.Archive, id, path)
	if err != nil {
		return err
	}
	return s.print(apitypes.RestoredFile{ID: int64(restored.ID), Filename: restored.Filename, Size: restored.Size, Path: path},
		"%s: document %d, %q, %s\n", path, restored.ID, restored.Filename, apitypes.HumanSize(restored.Size))
}

func (s *shell) backupDrill() *cobra.Command {
	var src backupSource
	var scratch string
	cmd := &cobra.Command{
		Use:   "drill [SNAPSHOT|latest]",
		Short: "Test-restore a backup",
		Long: `Test-restore a backup. The command restores a backup (the newest by default) into a
temporary folder, opens it there, verifies every byte, compares it with the
backup, and deletes the folder. Live data isn't touched. The folder needs free space for
all documents and contains them unencrypted during the test. Without --scratch, it is
the folder "drill" in the data directory.

With --ask, the command prompts for the passphrase and ignores the one in the settings.
Type it from your paper copy to check that the copy is correct.

Exit code 1: the restored data couldn't be deleted. Exit code 3: the test failed.`,
		Example: "  deedkeep backup drill --from /mnt/nas/deedkeep\n  deedkeep backup drill --ask\n  deedkeep backup drill --scratch /var/tmp/drill",
		RunE: func(cmd *cobra.Command, args []string) error {
			name := archive.Latest
			if len(args) == 1 {
				name = args[0]
			}
			c, opts, err := s.restoreOptions(cmd.Context(), name, &src)
			if err != nil {
				return err
			}
			if scratch == "" {
				if _, err := os.Stat(c.Data); err != nil {
					return &usageError{errors.New("no data directory to hold the temporary folder; specify a temporary folder with --scratch")}
				}
				if err := s.becomeOwner(c); err != nil {
					return err
				}
				scratch = filepath.Join(c.Data, "drill")
			}
			return s.drill(cmd.Context(), scratch, opts)
		},
	}
	src.addFlags(cmd)
	cmd.Flags().BoolVar(&src.prompt, "ask", false, "prompt for the passphrase and ignore the one in the settings")
	cmd.Flags().StringVar(&scratch, "scratch", "", "temporary folder to restore into; deleted afterward")
	return cmd
}

func (s *shell) drill(ctx context.Context, scratch string, opts instance.RestoreOptions) error {
	result, err := withProgress(s, "drill", func(report func(apitypes.Progress)) (instance.RestoreTestResult, error) {
		opts.Progress = unitProgress(report, "bytes")
		return instance.TestRestore(ctx, scratch, opts)
	})
	if err != nil {
		return err
	}
	report := apitypes.RestoreTest{
		OK: result.OK(), Snapshot: result.Info.Snapshot, Summary: drillSummary(result),
		Files: int64(result.Info.Files), Bytes: result.Info.Bytes, Seconds: result.Duration.Seconds(),
	}
	if result.NotDeleted != nil {
		report.NotDeleted = result.NotDeleted.Error()
	}
	err = s.printReport(report, report.OK, report.Summary+"\n")
	if err == nil && result.NotDeleted != nil {
		return fmt.Errorf("could not delete the restored data in %s (%w); it contains decrypted documents, so delete it now",
			scratch, result.NotDeleted)
	}
	return err
}

func drillSummary(result instance.RestoreTestResult) string {
	if !result.OK() {
		return "Restore test FAILED: " + result.Problem
	}
	return fmt.Sprintf("Restore test passed: backup %s restored %s (%s, %s) and %s, all verified, in %s.",
		result.Info.Snapshot, apitypes.Count(result.Report.Files, "file", "files"), apitypes.Count(result.Report.Blobs, "document", "documents"), apitypes.HumanSize(result.Report.Bytes),
		apitypes.Count(result.Info.Events, "audit log entry", "audit log entries"), result.Duration.Round(time.Second/10))
}

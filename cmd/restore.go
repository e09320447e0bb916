package cmd

import (
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
	"deedkeep/app/errs"
	"deedkeep/app/instance"
)

func (s *shell) restoreCommand() *cobra.Command {
	var src backupSource
	var file, output string
	cmd := &cobra.Command{
		Use:   "restore SNAPSHOT|latest --from DIR",
		Short: "Bring a backup back into an empty data directory",
		Long: `Bring a backup back into the data directory, which must be absent or empty, on this
or another machine and operating system. Everything is checked before it says done:
the vault is opened, and every record and byte verified. Cut off, the same command
goes on; until it is done nothing else opens the directory. It never goes over live
data. Keys and users are as they were at that time: revoke again what was revoked
since. Sessions are ended: everybody signs in again.

If the backup is encrypted with a passphrase, the command prompts for it, or reads it
from --passphrase-file or DEEDKEEP_BACKUP_PASSPHRASE. --identity FILE opens a backup
that is encrypted for an age recipient. The directory must be empty: config.yaml goes
there after the restore.

With --file one document is brought back to the file that -o names.`,
		Args:    argCount("[SNAPSHOT|latest]"), // not needed for one document
		Example: "  deedkeep restore latest --from /mnt/nas/deedkeep --data /srv/deedkeep\n  deedkeep restore latest --from /mnt/cloud/deedkeep --passphrase-file passphrase.txt --data /srv/deedkeep\n  deedkeep restore latest --file 17 --from /mnt/nas/deedkeep -o deed.pdf",
		RunE: func(cmd *cobra.Command, args []string) error {
			name := archive.Latest
			switch {
			case len(args) == 1:
				name = args[0]
			case file == "":
				return &usageError{errors.New(`name the backup to bring back: one that "deedkeep backup list" shows, or latest`)}
			}
			if file != "" || output != "" {
				return s.restoreFile(cmd.Context(), name, &src, file, output)
			}
			return s.restore(cmd.Context(), name, &src)
		},
	}
	src.addFlags(cmd)
	cmd.Flags().StringVar(&file, "file", "", "the number of one document")
	cmd.Flags().StringVarP(&output, "output", "o", "", "where that document goes to")
	return cmd
}

// restoreOptions returns the options to restore a complete vault. They don't include the
// secret in the data directory, because the backup contains its own secret.
func (s *shell) restoreOptions(name string, src *backupSource) (config.Config, instance.RestoreOptions, error) {
	a, c, err := s.openBackups(src)
	if err != nil {
		return c, instance.RestoreOptions{}, err
	}
	if err := s.promptPassphrase(a, c, src); err != nil {
		return c, instance.RestoreOptions{}, err
	}
	opts, err := s.archiveOptions(c, src)
	log := s.logger(c, slog.LevelWarn)
	return c, instance.RestoreOptions{
		From: a.Dir(), Snapshot: name, Archive: opts,
		Vault: instance.Options{Dir: c.Data, Settings: vaultSettings(c), Now: time.Now, Rand: rand.Reader, Log: log},
	}, err
}

func (s *shell) restore(ctx context.Context, name string, src *backupSource) error {
	if c, err := s.load(); err == nil { // otherwise, restoreOptions returns the error
		if err := s.becomeOwner(c); err != nil {
			return err
		}
	}
	c, opts, err := s.restoreOptions(name, src)
	if err != nil {
		return err
	}
	if err := checkNoServer(ctx, c); err != nil {
		if errors.Is(err, control.ErrInUse) {
			return &errs.Error{Kind: errs.Locked, Err: control.ErrInUse, Message: fmt.Sprintf("a server is running on %s: a restore never goes over live data; choose another directory with --data", c.Data)}
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
	data, err := filepath.Abs(c.Data)
	if err != nil {
		return err
	}
	done := apitypes.Restored{
		Snapshot: result.Info.Snapshot, CreatedAt: apitypes.At(result.Info.CreatedAt), Data: data, Files: int64(result.Report.Files), Bytes: result.Report.Bytes,
		Seconds: time.Since(started).Seconds(),
	}
	s.messagef("the settings are not in a backup: copy your config.yaml into %s, and what it names (certificate, passphrase file)", data)
	if !s.json {
		s.messagef("API keys, users, passwords, and two-factor settings are as of %s: revoke again what was revoked since; everyone is signed out", s.formatTime(&done.CreatedAt))
	}
	return s.print(done, "restored and verified: snapshot %s, %s, %s of documents in %.1f s, in %s\n",
		done.Snapshot, apitypes.Count(done.Files, "file", "files"), apitypes.HumanSize(done.Bytes), done.Seconds, done.Data)
}

func (s *shell) restoreFile(ctx context.Context, name string, src *backupSource, file, output string) error {
	id, err := strconv.ParseUint(file, 10, 63)
	if err != nil || id == 0 {
		return &usageError{fmt.Errorf("--file wants the number of a document, not %q", file)}
	}
	if output == "" {
		return &usageError{errors.New("-o must say where the document goes to")}
	}
	_, opts, err := s.restoreOptions(name, src)
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
	return s.print(apitypes.RestoredFile{ID: int64(restored.ID), Filename: restored.Filename, Size: restored.Size, Path: path}, "%s: file %d, %q, %s\n", path, restored.ID, restored.Filename, apitypes.HumanSize(restored.Size))
}

func (s *shell) backupDrill() *cobra.Command {
	var src backupSource
	var scratch string
	cmd := &cobra.Command{
		Use:   "drill [SNAPSHOT|latest]",
		Short: "Try a backup out: restore it into a scratch folder and verify it there",
		Long: `Restore a backup (the newest, when none is named) into a scratch folder, open the
vault there, verify every byte, compare it with what was backed up, remove the folder,
and say in one sentence whether this backup would save the firm. The exit code is 3
when it would not. The folder needs room for all documents and holds them unencrypted
for that time: without --scratch it is the folder "drill" in the data directory.

With --ask the command prompts for the passphrase and does not use the one in the
settings. Type it from the copy on paper: this proves that the copy is right.`,
		Example: "  deedkeep backup drill --from /mnt/nas/deedkeep\n  deedkeep backup drill --ask\n  deedkeep backup drill --scratch /var/tmp/drill",
		RunE: func(cmd *cobra.Command, args []string) error {
			name := archive.Latest
			if len(args) == 1 {
				name = args[0]
			}
			c, opts, err := s.restoreOptions(name, &src)
			if err != nil {
				return err
			}
			if scratch == "" {
				if _, err := os.Stat(c.Data); err != nil {
					return &usageError{errors.New("there is no data directory here to make the scratch folder in: name one with --scratch")}
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
	cmd.Flags().BoolVar(&src.prompt, "ask", false, "prompt for the passphrase; do not use the one in the settings")
	cmd.Flags().StringVar(&scratch, "scratch", "", "the folder to restore into; it is removed afterwards")
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
	return s.printReport(apitypes.RestoreTest{
		OK: result.OK(), Snapshot: result.Info.Snapshot, Sentence: drillSummary(result), Files: int64(result.Info.Files), Bytes: result.Info.Bytes, Seconds: result.Duration.Seconds(),
	}, result.OK(), drillSummary(result)+"\n")
}

func drillSummary(result instance.RestoreTestResult) string {
	if !result.OK() {
		return "This backup would NOT save the firm: " + result.Problem
	}
	return fmt.Sprintf("This backup would save the firm: snapshot %s gave back all of %s (%s, %s) and %s, each checked, in %s.",
		result.Info.Snapshot, apitypes.Count(result.Report.Files, "file", "files"), apitypes.Count(result.Report.Blobs, "document", "documents"), apitypes.HumanSize(result.Report.Bytes),
		apitypes.Count(result.Info.Events, "event", "events"), result.Duration.Round(time.Second/10))
}

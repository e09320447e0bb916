package cmd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deedkeep/app/apitypes"
	"deedkeep/app/backup"
	"deedkeep/app/backup/archive"
	"deedkeep/app/blobstore"
	"deedkeep/app/client"
	"deedkeep/app/config"
	"deedkeep/app/instance"
	"deedkeep/app/secret"
)

func (s *shell) backupCommand() *cobra.Command {
	return group("backup", "Make, list, check, try out and thin out backups", "  deedkeep backup create --to /mnt/nas/deedkeep",
		s.backupCreate(), s.backupList(), s.backupVerify(), s.backupDrill(), s.backupPrune())
}

// backupSettings are the settings backup.* as the vault takes them.
func backupSettings(c config.Config) backup.Settings {
	b := c.Backup
	return backup.Settings{
		To: b.To, Every: b.Every, Keep: archive.Retention{Daily: b.KeepDaily, Weekly: b.KeepWeekly, Monthly: b.KeepMonthly},
		Recipients: b.Recipients, Passphrase: b.Passphrase, PassphraseFile: b.PassphraseFile,
	}
}

func (s *shell) backupCreate() *cobra.Command {
	var to string
	var anew bool
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
			seal, err := s.seal()
			if err != nil {
				return err
			}
			return s.ask(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				report, finish := s.bar("backup")
				defer finish()
				made, err := c.CreateBackup(ctx, apitypes.BackupCreate{To: to, Encryption: seal, NewArchive: anew}, report)
				finish()
				if err != nil {
					return misused(err)
				}
				s.sayConfig()
				if len(made.Damaged) > 0 {
					s.say("damaged in the vault, intact in this backup: %s (\"deedkeep status\" says what to do)", damagedFiles(made.Damaged))
				}
				if s.json {
					return s.printJSON(made)
				}
				return s.print("%s: %s, %s of documents, %s written in %.1f s to %s, %s\n",
					made.Snapshot, apitypes.Count(made.Files, "file", "files"), apitypes.HumanSize(made.Bytes), apitypes.HumanSize(made.BytesWritten), made.Seconds, made.To, sealedWord(made.Sealed))
			})
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "the directory (default: the setting backup.to)")
	cmd.Flags().BoolVar(&anew, "new", false, "begin anew where the directory held other backups before")
	return cmd
}

// seal is what the settings of this command say about encryption: a server that has
// others must not be taken for one that has these.
func (s *shell) seal() (*apitypes.BackupEncryption, error) {
	c, err := s.load()
	if err != nil {
		return nil, err
	}
	s.warnOfExposures(c)
	says, err := backupSettings(c).Encryption(rand.Reader)
	return &apitypes.BackupEncryption{Recipients: says.Recipients, Passphrase: says.PassphraseFingerprint}, err
}

// sayConfig reminds of the settings, which no backup holds, where there are any.
func (s *shell) sayConfig() {
	if path, exists, err := s.settingsFile(); err == nil && exists {
		s.say("the settings are not in a backup: keep a copy of %s as well", path)
	}
}

func sealedWord(sealed bool) string {
	if sealed {
		return "encrypted"
	}
	return "NOT encrypted"
}

// place is a directory of backups as a command names it, and what opens them.
type place struct {
	from, identity, passphraseFile string
	ask                            bool   // prompt for the passphrase, whatever the settings say
	typed                          string // the passphrase that was entered
	looked                         bool   // whether others can read the files
}

func (p *place) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.from, "from", "", "the directory of the backups (default: the setting backup.to)")
	cmd.Flags().StringVar(&p.identity, "identity", "", "the file of an age identity that opens them")
	cmd.Flags().StringVar(&p.passphraseFile, "passphrase-file", "", "the file of the passphrase that opens them (default: the setting backup.passphrase_file)")
}

// options are what opens the backups: passphrase or identity, and, where there is a
// vault in the data directory, its secret. No server is asked, and no vault opened.
func (s *shell) archiveOptions(c config.Config, p *place) (archive.Options, error) {
	p.warnOfExposures(s)
	identities := ""
	if p.identity != "" {
		raw, err := os.ReadFile(p.identity)
		if err != nil {
			return archive.Options{}, fmt.Errorf("identity: %w", err)
		}
		identities = string(raw)
	}
	ring, err := existingRing(c.Data)
	if err != nil {
		return archive.Options{}, err
	}
	set, given := backupSettings(c), p.typed
	if given == "" && p.passphraseFile != "" {
		if given, err = backup.ReadPassphrase(p.passphraseFile); err != nil {
			return archive.Options{}, fmt.Errorf("--passphrase-file: %w", err)
		}
	}
	if given != "" {
		set.Passphrase, set.PassphraseFile = given, ""
	}
	opts, err := backup.ArchiveOptions(ring, set, identities)
	opts.Now, opts.Rand, opts.FreeSpace = time.Now, rand.Reader, blobstore.FreeSpace
	return opts, err
}

// warnOfExposures says once which of the files that flags name other users can read.
func (p *place) warnOfExposures(s *shell) {
	for _, path := range []string{p.identity, p.passphraseFile} {
		if e, exposed := config.ExposureOf("", path); exposed && !p.looked {
			s.warn([]string{e.String()})
		}
	}
	p.looked = true
}

// existingRing is nil where there is no secret.
func existingRing(data string) (*secret.Keys, error) {
	path := filepath.Join(data, "secret.key")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // a command needs no vault here
	}
	ring, _, err := secret.LoadKeys(path, rand.Reader)
	return ring, err
}

// backups opens the directory that a command names. Its backups may be another
// vault's.
func (s *shell) backups(p *place) (*archive.Archive, config.Config, error) {
	c, err := s.load()
	if err != nil {
		return nil, c, err
	}
	if p.from == "" {
		p.from = c.Backup.To
	}
	if p.from == "" {
		return nil, c, &usageError{errors.New("there is no directory of backups: name one with --from, or in the setting backup.to")}
	}
	opts, err := s.archiveOptions(c, p)
	if err != nil {
		return nil, c, err
	}
	opts.Vault = ""
	a, err := archive.Open(p.from, opts)
	return a, c, err
}

// passphraseTries is how often a terminal is asked for a passphrase.
const passphraseTries = 3

// askPassphrase prompts for the passphrase of encrypted backups if nothing else that
// could open them was given and someone is at the terminal, or if the command was told
// to ask. The passphrase is checked before askPassphrase returns.
func (s *shell) askPassphrase(a *archive.Archive, c config.Config, p *place) error {
	if !a.NeedsPassphrase() {
		if p.ask {
			return &usageError{fmt.Errorf("--ask: the backups in %s are not encrypted with a passphrase", a.Dir())}
		}
		return nil
	}
	if !p.ask {
		opts, err := s.archiveOptions(c, p)
		if err != nil || opts.Decryption != (archive.Decryption{}) || !s.terminal(s.in) {
			return err
		}
	}
	for try := 1; ; try++ {
		typed, err := s.readSecret("passphrase of the backup")
		if err != nil {
			return err
		}
		opened, err := archive.Open(a.Dir(), archive.Options{Decryption: archive.Decryption{Passphrase: typed}})
		if err == nil {
			err = opened.Unlock()
		}
		if errors.Is(err, archive.ErrDecrypt) && s.terminal(s.in) && try < passphraseTries {
			s.say("wrong passphrase, try again")
			continue
		}
		p.typed = typed
		return err
	}
}

func (s *shell) backupList() *cobra.Command {
	var p place
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the backups in a directory, oldest first",
		Example: "  deedkeep backup list --from /mnt/nas/deedkeep\n  deedkeep backup list --json",
		Args:    cobra.NoArgs,
		RunE: func(_ *cobra.Command, _ []string) error {
			a, _, err := s.backups(&p)
			if err != nil {
				return err
			}
			unlocked := a.Unlock() == nil // without, the vault's own secret may do
			names, err := a.Snapshots()
			if err != nil {
				return err
			}
			list := make(apitypes.List[apitypes.BackupListed], 0, len(names))
			for _, name := range names {
				list = append(list, listed(a, name))
			}
			if s.json {
				return s.printJSON(list)
			}
			return s.printBackups(a, list, unlocked)
		},
	}
	p.flags(cmd)
	return cmd
}

func listed(a *archive.Archive, name string) apitypes.BackupListed {
	info, err := a.Info(name)
	if err != nil {
		return apitypes.BackupListed{Snapshot: name, Problem: err.Error()}
	}
	return apitypes.BackupListed{Snapshot: name, CreatedAt: new(apitypes.At(info.CreatedAt)), Files: int64(info.Files), Bytes: info.Bytes}
}

func (s *shell) printBackups(a *archive.Archive, list []apitypes.BackupListed, unlocked bool) error {
	if len(list) == 0 {
		return s.print("no backup yet\n")
	}
	rows := [][]string{{"SNAPSHOT", "MADE", "FILES", "DOCUMENTS"}}
	var problems []string
	for _, b := range list {
		if b.Problem != "" {
			rows = append(rows, []string{b.Snapshot, "-", "-", "cannot be read"})
			problems = append(problems, b.Problem)
			continue
		}
		rows = append(rows, []string{b.Snapshot, s.moment(b.CreatedAt), fmt.Sprint(b.Files), apitypes.HumanSize(b.Bytes)})
	}
	if err := s.printTable(rows); err != nil {
		return err
	}
	for _, problem := range problems {
		s.say("%s", problem)
	}
	if a.Encrypted() && !unlocked && len(problems) > 0 {
		s.say("the backups are encrypted: %s", keyHint)
	}
	return nil
}

func (s *shell) backupVerify() *cobra.Command {
	var p place
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
			a, _, err := s.backups(&p)
			if err != nil {
				return err
			}
			report, finish := s.bar("verify")
			defer finish()
			found, err := a.Verify(cmd.Context(), strings.Join(args, ""), inBytes(report))
			finish()
			if err != nil {
				return err
			}
			return s.printBackupVerify(found)
		},
	}
	p.flags(cmd)
	return cmd
}

func inBytes(report func(apitypes.Progress)) func(done, total int64) {
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
		if err := s.print("%s %s: %s\n", f.Kind, f.Subject, f.Problem); err != nil {
			return err
		}
	}
	word := "all is well"
	switch {
	case !r.OK:
		word = "DAMAGED"
		s.say(`move the damaged documents out of the folder blobs and change nothing else by hand; "deedkeep backup create" then copies again what the vault still has`)
	case r.Sealed:
		word = "all is well (from outside: without passphrase or identity nothing could be decrypted)"
	}
	return s.print("%s: %s, %s, %s read; %s, %s, %s\n",
		word, apitypes.Count(r.Snapshots, "backup", "backups"), apitypes.Count(r.Blobs, "document", "documents"), apitypes.HumanSize(r.Bytes),
		apitypes.Count(r.Orphans, "orphan", "orphans"), apitypes.Count(r.Leftovers, "leftover", "leftovers"), apitypes.Count(len(r.Findings), "finding", "findings"))
}

func (s *shell) backupPrune() *cobra.Command {
	var p place
	var keep archive.Retention
	var try bool
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove old backups, and the bytes that no backup names any more",
		Long: `Keep the newest backup of each of the last days, weeks and months (in UTC) that have
one, and remove the others; the newest of all always stays. What no backup names any
more is removed then. Without flags, the settings backup.keep_* say how many.`,
		Example: "  deedkeep backup prune --keep-daily 7 --keep-weekly 5 --keep-monthly 12\n  deedkeep backup prune --dry-run",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, c, err := s.backups(&p)
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
			_ = a.Unlock() // without, the vault's own secret may do
			report, finish := s.bar("prune")
			defer finish()
			done, err := a.Prune(cmd.Context(), keep, try, func(done, total int64) { report(apitypes.Progress{Done: done, Total: total, Unit: "documents"}) })
			finish()
			if !try {
				s.logPruned(cmd.Context(), a.Dir(), done.Removed)
			}
			if err != nil {
				return err
			}
			return s.printPruned(done, try)
		},
	}
	p.flags(cmd)
	cmd.Flags().IntVar(&keep.Daily, "keep-daily", 0, "of how many days the newest stays")
	cmd.Flags().IntVar(&keep.Weekly, "keep-weekly", 0, "of how many weeks")
	cmd.Flags().IntVar(&keep.Monthly, "keep-monthly", 0, "of how many months")
	cmd.Flags().BoolVar(&try, "dry-run", false, "only say what would be removed")
	return cmd
}

// logPruned has the vault's log say what was removed, where there is a vault. What is
// gone is gone: a log that cannot be written is told, and is no failure.
func (s *shell) logPruned(ctx context.Context, from string, removed []string) {
	if len(removed) == 0 {
		return
	}
	from, err := filepath.Abs(from)
	if err == nil {
		err = s.ask(context.WithoutCancel(ctx), func(ctx context.Context, c *client.Client) error {
			return c.BackupsPruned(ctx, apitypes.BackupPruned{From: from, Removed: removed})
		})
	}
	if err != nil && !errors.Is(err, instance.ErrNoVault) {
		s.say("the log of events does not say what was removed: %s", message(err))
	}
}

func (s *shell) printPruned(p archive.PruneResult, try bool) error {
	if s.json {
		return s.printJSON(apitypes.BackupPrune{Kept: p.Kept, Removed: p.Removed, Blobs: int64(p.Blobs), Bytes: p.Bytes, DryRun: try})
	}
	verb := "removed"
	if try {
		verb = "would be removed"
	}
	for _, name := range p.Removed {
		if err := s.print("%s %s\n", name, verb); err != nil {
			return err
		}
	}
	return s.print("%s, %d %s; %s (%s) freed\n", apitypes.Count(len(p.Kept), "backup stays", "backups stay"), len(p.Removed), verb,
		apitypes.Count(p.Blobs, "document", "documents"), apitypes.HumanSize(p.Bytes))
}

// backupRows are the lines of status about backups.
func (s *shell) backupRows(is apitypes.Status) [][]string {
	last := s.moment(is.LastBackupAt)
	if b := is.LastBackup; b != nil {
		last = fmt.Sprintf("%s, %s, to %s", last, apitypes.Count(b.Files, "file", "files"), b.To)
	}
	rows := [][]string{{"backup", last}}
	if f := is.BackupFailure; f != nil {
		rows = append(rows, []string{"", fmt.Sprintf("FAILED %s: %s", s.moment(&f.At), f.Reason)})
	}
	if is.NextBackupAt != nil {
		rows = append(rows, []string{"", "next " + s.moment(is.NextBackupAt)})
	}
	return rows
}

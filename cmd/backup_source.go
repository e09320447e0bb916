package cmd

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"deedkeep/app/backup"
	"deedkeep/app/backup/archive"
	"deedkeep/app/blobstore"
	"deedkeep/app/config"
	"deedkeep/app/secret"
)

// backupSource is a directory of backups as a command names it, and what opens them.
type backupSource struct {
	dir, identityFile, passphraseFile string
	prompt                            bool   // prompt for the passphrase, whatever the settings say
	passphrase                        string // the passphrase that was entered
	warned                            bool   // whether others can read the files
}

func (p *backupSource) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.dir, "from", "", "the directory of the backups (default: the setting backup.to)")
	cmd.Flags().StringVar(&p.identityFile, "identity", "", "the file of an age identity that opens them")
	cmd.Flags().StringVar(&p.passphraseFile, "passphrase-file", "", "the file of the passphrase that opens them (default: the setting backup.passphrase_file)")
}

// options are what opens the backups: passphrase or identity, and, where there is a
// vault in the data directory, its secret. No server is asked, and no vault opened.
func (s *shell) archiveOptions(c config.Config, p *backupSource) (archive.Options, error) {
	p.warnOfExposures(s)
	identities := ""
	if p.identityFile != "" {
		raw, err := os.ReadFile(p.identityFile)
		if err != nil {
			return archive.Options{}, fmt.Errorf("identity: %w", err)
		}
		identities = string(raw)
	}
	ring, err := loadExistingKeys(c.Data)
	if err != nil {
		return archive.Options{}, err
	}
	set, given := backupSettings(c), p.passphrase
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
func (p *backupSource) warnOfExposures(s *shell) {
	for _, path := range []string{p.identityFile, p.passphraseFile} {
		if e, exposed := config.ExposureOf("", path); exposed && !p.warned {
			s.warn([]string{e.String()})
		}
	}
	p.warned = true
}

// loadExistingKeys is nil where there is no secret.
func loadExistingKeys(data string) (*secret.Keys, error) {
	path := filepath.Join(data, "secret.key")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // a command needs no vault here
	}
	ring, _, err := secret.LoadKeys(path, rand.Reader)
	return ring, err
}

// openBackups opens the directory that a command names. Its backups may be another
// vault's.
func (s *shell) openBackups(p *backupSource) (*archive.Archive, config.Config, error) {
	c, err := s.load()
	if err != nil {
		return nil, c, err
	}
	if p.dir == "" {
		p.dir = c.Backup.To
	}
	if p.dir == "" {
		return nil, c, &usageError{errors.New("there is no directory of backups: name one with --from, or in the setting backup.to")}
	}
	opts, err := s.archiveOptions(c, p)
	if err != nil {
		return nil, c, err
	}
	opts.Vault = ""
	a, err := archive.Open(p.dir, opts)
	return a, c, err
}

// maxPassphraseAttempts is how often a terminal is asked for a passphrase.
const maxPassphraseAttempts = 3

// promptPassphrase prompts for the passphrase of encrypted backups if nothing else that
// could open them was given and someone is at the terminal, or if the command was told
// to ask. The passphrase is checked before promptPassphrase returns.
func (s *shell) promptPassphrase(a *archive.Archive, c config.Config, p *backupSource) error {
	if !a.NeedsPassphrase() {
		if p.prompt {
			return &usageError{fmt.Errorf("--ask: the backups in %s are not encrypted with a passphrase", a.Dir())}
		}
		return nil
	}
	if !p.prompt {
		opts, err := s.archiveOptions(c, p)
		if err != nil || opts.Decryption != (archive.Decryption{}) || !s.isInteractive(s.in) {
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
		if errors.Is(err, archive.ErrDecrypt) && s.isInteractive(s.in) && try < maxPassphraseAttempts {
			s.messagef("wrong passphrase, try again")
			continue
		}
		p.passphrase = typed
		return err
	}
}

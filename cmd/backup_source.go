package cmd

import (
	"context"
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

// backupSource is a directory of backups and the keys to open them, as specified by a
// command's flags.
type backupSource struct {
	dir, identityFile, passphraseFile string
	prompt                            bool   // always prompt, even if the settings have a passphrase
	passphrase                        string // entered at the prompt
	warned                            bool   // warnOfExposures has run
}

func (src *backupSource) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&src.dir, "from", "", "backup directory (default: setting backup.to)")
	cmd.Flags().StringVar(&src.identityFile, "identity", "", "age identity file to decrypt the backups")
	cmd.Flags().StringVar(&src.passphraseFile, "passphrase-file", "", "passphrase file to decrypt the backups (default: setting backup.passphrase_file)")
}

// archiveOptions returns the options to open the backups of src. They contain the
// passphrase or identity and, if the data directory contains a vault, its secret.
// archiveOptions neither contacts a server nor opens the vault. The backups may belong to a
// different vault.
func (s *shell) archiveOptions(c config.Config, src *backupSource) (archive.Options, error) {
	src.warnOfExposures(s)
	identities := ""
	if src.identityFile != "" {
		raw, err := os.ReadFile(src.identityFile)
		if err != nil {
			return archive.Options{}, fmt.Errorf("--identity: %w", err)
		}
		identities = string(raw)
	}
	keys, err := loadExistingKeys(c.Data)
	if err != nil {
		return archive.Options{}, err
	}
	settings, passphrase := backupSettings(c), src.passphrase
	if passphrase == "" && src.passphraseFile != "" {
		if passphrase, err = backup.ReadPassphrase(src.passphraseFile); err != nil {
			return archive.Options{}, fmt.Errorf("--passphrase-file: %w", err)
		}
	}
	if passphrase != "" {
		settings.Passphrase, settings.PassphraseFile = passphrase, ""
	}
	opts, err := backup.ArchiveOptions(keys, settings, identities)
	opts.Vault, opts.Now, opts.Rand, opts.FreeSpace = "", time.Now, rand.Reader, blobstore.FreeSpace
	return opts, err
}

// warnOfExposures prints a warning, once, if other users can read a file that a flag names.
func (src *backupSource) warnOfExposures(s *shell) {
	for _, path := range []string{src.identityFile, src.passphraseFile} {
		if exposure, exposed := config.ExposureOf("", path); exposed && !src.warned {
			s.warn([]string{exposure.String()})
		}
	}
	src.warned = true
}

// loadExistingKeys returns the keys of the vault in the data directory, or nil if it has
// no secret.key.
func loadExistingKeys(data string) (*secret.Keys, error) {
	path := filepath.Join(data, "secret.key")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // commands on backups work without a vault
	}
	keys, _, err := secret.LoadKeys(path, rand.Reader)
	return keys, err
}

// openBackups opens the directory of backups specified by src or, if there is none, by the
// setting backup.to.
func (s *shell) openBackups(ctx context.Context, src *backupSource) (*archive.Archive, config.Config, error) {
	c, err := s.load(ctx, nil)
	if err != nil {
		return nil, c, err
	}
	if src.dir == "" {
		src.dir = c.Backup.To
	}
	if src.dir == "" {
		return nil, c, &usageError{errors.New("no backup directory; use --from or the setting backup.to")}
	}
	opts, err := s.archiveOptions(c, src)
	if err != nil {
		return nil, c, err
	}
	a, err := archive.Open(src.dir, opts)
	return a, c, err
}

// maxPassphraseAttempts is the maximum number of times promptPassphrase prompts on a
// terminal.
const maxPassphraseAttempts = 3

// promptPassphrase prompts for the passphrase of encrypted backups if --ask was given, or
// if no other key was given and the command is running on a terminal. It returns an error
// unless the passphrase is correct.
func (s *shell) promptPassphrase(a *archive.Archive, c config.Config, src *backupSource) error {
	if !a.NeedsPassphrase() {
		if src.prompt {
			return &usageError{fmt.Errorf("--ask: the backups in %s are not encrypted with a passphrase", a.Dir())}
		}
		return nil
	}
	if !src.prompt {
		opts, err := s.archiveOptions(c, src)
		if err != nil || opts.Decryption != (archive.Decryption{}) || !s.isInteractive(s.in) {
			return err
		}
	}
	for attempt := 1; ; attempt++ {
		if src.prompt && !s.isInteractive(s.in) {
			s.messagef("--ask: there is no terminal; reading the passphrase from standard input")
		}
		passphrase, err := s.readSecret("backup passphrase")
		if err == nil && passphrase == "" {
			err = &usageError{errors.New("no passphrase; run the command on a terminal, or pass the passphrase on standard input")}
		}
		if err != nil {
			return err
		}
		opened, err := archive.Open(a.Dir(), archive.Options{Decryption: archive.Decryption{Passphrase: passphrase}})
		if err == nil {
			err = opened.Unlock()
		}
		if errors.Is(err, archive.ErrDecrypt) && s.isInteractive(s.in) && attempt < maxPassphraseAttempts {
			s.messagef("incorrect passphrase; try again")
			continue
		}
		src.passphrase = passphrase
		return err
	}
}

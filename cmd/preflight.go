package cmd

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"deedkeep/app/backup"
	"deedkeep/app/backup/archive"
	"deedkeep/app/certificate"
	"deedkeep/app/config"
)

// preflight checks settings that are valid in themselves but can't work on this machine.
// Problems are reported like invalid settings, with file, line, and reason.
func preflight(c config.Config) error {
	var problems config.Problems
	addProblem := func(key string, err error) {
		if err != nil {
			problems = append(problems, config.Problem{Source: c.SourceOf(key), Key: key, Reason: strings.TrimPrefix(message(err), key+": ")})
		}
	}
	if c.Backup.To != "" {
		addProblem("backup.to", backup.CheckTarget(c.Backup.To, c.Data))
	}
	addProblem("backup.recipients", archive.CheckRecipients(c.Backup.Recipients))
	if c.Backup.PassphraseFile != "" {
		_, err := backupSettings(c).Encryption(rand.Reader)
		addProblem("backup.passphrase_file", err)
	}
	if t := c.TLS; t.Cert != "" {
		cert, key := checkReadable(t.Cert), checkReadable(t.Key)
		addProblem("tls.cert", cert)
		addProblem("tls.key", key)
		if cert == nil && key == nil {
			_, _, err := certificate.Load(t.Cert, t.Key)
			addProblem("tls.cert", err)
		}
	}
	if len(problems) > 0 {
		return &usageError{problems}
	}
	return nil
}

// configWarnings returns warnings about settings that work but may be unintended. Each
// warning says what to do.
func configWarnings(c config.Config) []string {
	list := c.Warnings()
	if dir := c.Backup.To; dir != "" && !filepath.IsAbs(dir) {
		list = append(list, fmt.Sprintf("backup.to is %s, a path relative to the directory where deedkeep starts (for a service, often /); use an absolute path", dir))
	}
	for _, e := range c.Exposures() {
		list = append(list, e.String())
	}
	return list
}

func checkReadable(path string) error {
	f, err := os.Open(path)
	if err != nil {
		if reason, ok := errors.AsType[*fs.PathError](err); ok {
			err = reason.Err
		}
		return fmt.Errorf("can't read %s: %w", path, err)
	}
	return f.Close()
}

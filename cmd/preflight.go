package cmd

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

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
	if dir := c.Backup.To; dir != "" {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			list = append(list, fmt.Sprintf("backup.to is %s, which doesn't exist; the next backup creates it; "+
				"if it should be on another disk or a share, check that it is mounted", dir))
		}
	}
	for _, rule := range []struct {
		key          string
		value, usual time.Duration
		consequence  string
	}{
		{"backup.every", c.Backup.Every, time.Hour, "each backup reads the complete database"},
		{"scrub.every", c.Scrub.Every, 24 * time.Hour, "the server reads all documents in this time, again and again"},
		{"retention.keep", c.Retention.Keep, 365 * 24 * time.Hour, "abstracts in the trash are deleted permanently after this time"},
	} {
		if rule.value > 0 && rule.value < rule.usual {
			list = append(list, fmt.Sprintf("%s is %s: %s; use %s or more", rule.key, config.FormatDuration(rule.value), rule.consequence,
				config.FormatDuration(rule.usual)))
		}
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

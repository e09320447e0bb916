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
	"deedkeep/app/doctor"
)

// problemList collects problems of settings.
type problemList struct {
	found config.Problems
	of    config.Config
}

func (l *problemList) add(key string, err error) {
	if err != nil {
		l.found = append(l.found, config.Problem{Source: l.of.SourceOf(key), Key: key, Reason: strings.TrimPrefix(message(err), key+": ")})
	}
}

// err returns the problems as an error, or nil if there are none.
func (l *problemList) err() error {
	if len(l.found) == 0 {
		return nil
	}
	return l.found
}

// preflight checks settings that are valid in themselves but can't work on this machine.
// Problems are reported like invalid settings, with file, line, and reason.
func preflight(c config.Config) error {
	if err := errors.Join(preflightBackup(c), preflightCertificate(c)); err != nil {
		return &usageError{err}
	}
	return nil
}

// preflightServe is preflight for a starting server. A certificate that can't be read is not a usage error, because the
// program that renews it may be writing it. A service manager starts the server again (RestartPreventExitStatus=2).
func preflightServe(c config.Config) error {
	if err := preflightBackup(c); err != nil {
		return &usageError{err}
	}
	return preflightCertificate(c)
}

func preflightBackup(c config.Config) error {
	problems := backupProblems(c)
	return problems.err()
}

// storedProblems returns the problems of settings that can be stored in the data directory.
func storedProblems(c config.Config) config.Problems {
	problems := backupProblems(c)
	if c.Backup.To != "" && !filepath.IsAbs(c.Backup.To) { // no one on a page knows in which directory the server runs
		problems.add("backup.to", errors.New(`must be a complete path, such as /mnt/backups or D:\backups`))
	}
	return problems.found
}

func backupProblems(c config.Config) problemList {
	problems := problemList{of: c}
	if c.Backup.To != "" {
		problems.add("backup.to", backup.CheckTarget(c.Backup.To, c.Data))
	}
	problems.add("backup.recipients", archive.CheckRecipients(c.Backup.Recipients))
	if c.Backup.PassphraseFile != "" {
		_, err := backupSettings(c).Encryption(rand.Reader)
		problems.add("backup.passphrase_file", err)
	}
	return problems
}

func preflightCertificate(c config.Config) error {
	problems := problemList{of: c}
	if t := c.TLS; t.Cert != "" {
		cert, key := checkReadable(t.Cert), checkReadable(t.Key)
		problems.add("tls.cert", cert)
		problems.add("tls.key", key)
		if cert == nil && key == nil {
			_, _, err := certificate.Load(t.Cert, t.Key)
			problems.add("tls.cert", err)
		}
	}
	return problems.err()
}

// configWarnings returns warnings about settings that work but may be unintended. Each
// warning says what to do.
func configWarnings(c config.Config) []string {
	list := c.Warnings()
	if ignored := c.IgnoredFile(); ignored != "" {
		list = append(list, fmt.Sprintf("%s is ignored, because the settings are in %s; move its lines there and remove it", ignored, c.File()))
	}
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
		{"scrub.every", c.Scrub.Every, 24 * time.Hour, "the server reads all documents that often"},
		{"retention.keep", c.Retention.Keep, 365 * 24 * time.Hour, "abstracts in the trash are deleted permanently after this time"},
	} {
		if rule.value > 0 && rule.value < rule.usual {
			list = append(list, fmt.Sprintf("%s is %s: %s; use %s or more", rule.key, config.FormatDuration(rule.value), rule.consequence,
				config.FormatDuration(rule.usual)))
		}
	}
	if t := c.TLS; t.Cert != "" {
		_, info, err := certificate.Load(t.Cert, t.Key)
		if problem := info.Problem(time.Now()); err == nil && problem != "" {
			list = append(list, fmt.Sprintf("tls.cert: the certificate %s is %s (valid from %s to %s); replace the certificate and key files",
				t.Cert, strings.Replace(problem, "expires soon", "about to expire", 1),
				info.NotBefore.In(c.Location()).Format(time.DateOnly), info.NotAfter.In(c.Location()).Format(time.DateOnly)))
		}
	}
	if missing, installed, err := doctor.MissingLanguages(c); c.OCR.Enabled && len(missing) > 0 {
		reason := "installed: " + strings.Join(installed, ", ")
		if err != nil {
			reason = err.Error()
		}
		list = append(list, fmt.Sprintf("ocr.languages: OCR can't use %s, because %s has no such language file; %s",
			strings.Join(missing, ", "), c.LanguageDir(), reason))
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

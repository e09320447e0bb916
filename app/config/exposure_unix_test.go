//go:build unix

package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Exposures lists a file only if it contains a secret and other users can read it.
func TestExposures(t *testing.T) {
	t.Parallel()
	group := groupReaders // if root owns the file, its group may be how the server gets access
	if os.Geteuid() == 0 {
		group = ""
	}
	const phrase = "backup: {passphrase: correct horse battery}\n"
	for _, row := range []struct {
		name, settings   string
		settingsMode     os.FileMode
		secret           string // the setting that contains the file's path
		mode             os.FileMode
		env              string
		key, path, reads string
	}{
		{"settings for all", phrase, 0o644, "", 0, "", "backup.passphrase", "config.yaml", otherReaders},
		{"settings for a group", phrase, 0o640, "", 0, "", "backup.passphrase", "config.yaml", group},
		{"settings for the service", phrase, 0o600, "", 0, "", "", "", ""},
		{"settings without a secret", "listen: 127.0.0.1:1\n", 0o644, "", 0, "", "", "", ""},
		{"secret of the environment", "listen: 127.0.0.1:1\n", 0o644, "", 0, "DEEDKEEP_BACKUP_PASSPHRASE=correct horse battery", "", "", ""},
		{"passphrase for all", "", 0o600, "backup.passphrase_file", 0o604, "", "backup.passphrase_file", "secret", otherReaders},
		{"passphrase for a group", "", 0o600, "backup.passphrase_file", 0o640, "", "backup.passphrase_file", "secret", group},
		{"passphrase for the service", "", 0o600, "backup.passphrase_file", 0o600, "", "", "", ""},
		{"key for all", "", 0o600, "tls.key", 0o644, "", "tls.key", "secret", otherReaders},
		{"key for a group", "", 0o600, "tls.key", 0o640, "", "", "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write := func(name, content string, mode os.FileMode) string {
				path := filepath.Join(dir, name)
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatalf("write %s: %v", name, err)
				}
				if err := os.Chmod(path, mode); err != nil { // unlike WriteFile, Chmod ignores the umask
					t.Fatalf("change the mode of %s: %v", name, err)
				}
				return path
			}
			settings := row.settings
			if section, key, ok := strings.Cut(row.secret, "."); ok {
				path := write("secret", "x", row.mode)
				settings = section + ": {" + key + ": " + path + "}\n"
				if key == "key" {
					settings = section + ": {cert: " + path + ", key: " + path + "}\n"
				}
			}
			source := Source{File: write("config.yaml", settings, row.settingsMode)}
			if row.env != "" {
				source.Env = []string{row.env}
			}
			c, err := Load(source)
			if err != nil {
				t.Fatalf("load: %v", err)
			}
			got := c.Exposures()
			if row.reads == "" {
				if len(got) > 0 {
					t.Errorf("got %v, want none", got)
				}
				return
			}
			want := Exposure{row.key, filepath.Join(dir, row.path), row.reads}
			if len(got) != 1 || got[0] != want {
				t.Fatalf("got %v, want %v", got, want)
			}
			if text := got[0].String(); !strings.Contains(text, "can be read by "+row.reads) || !strings.Contains(text, "chmod go= "+want.Path) {
				t.Errorf("String() = %q, want the readers %q and a chmod command", text, row.reads)
			}
		})
	}
	if e, exposed := ExposureOf("", filepath.Join(t.TempDir(), "nothing")); exposed {
		t.Errorf("exposure of a missing file: got %v, want none", e)
	}
}

// Load rejects the settings file of an installed package if every user can change or replace it.
func TestInstalledFileOfEveryUser(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name      string
		dir, file os.FileMode
		changed   string // what every user can change
	}{
		{"only the owner", 0o755, 0o640, ""},
		{"a group", 0o775, 0o660, ""},
		{"file", 0o755, 0o646, "etc/config.yaml"},
		{"directory", 0o757, 0o640, "etc"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			base := t.TempDir()
			dir := filepath.Join(base, "etc")
			path := filepath.Join(dir, fileName)
			if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(path, []byte("listen: :1\n"), 0o600),
				os.Chmod(path, row.file), os.Chmod(dir, row.dir)); err != nil {
				t.Fatalf("write a settings file: %v", err)
			}
			c, err := Load(Source{Installed: Installed{File: path, Data: base}})
			if row.changed == "" {
				if err != nil || c.Listen != ":1" {
					t.Errorf("got %s, %v; want :1", c.Listen, err)
				}
				return
			}
			changed := filepath.Join(base, row.changed)
			want := path + ": every user of this machine can change " + changed + "; run: chmod o-w " + changed
			if got := problemText(err); got != want || c.Listen == ":1" {
				t.Errorf("got %s, %q; want %q", c.Listen, got, want)
			}
		})
	}
}

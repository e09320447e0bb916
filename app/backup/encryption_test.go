package backup_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deedkeep/app/backup"
	"deedkeep/app/backup/archive"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/vaulttest"
)

// CheckEncryption accepts only the encryption in the server's settings.
func TestCheckEncryption(t *testing.T) {
	passphrase := backup.Settings{Passphrase: "correct horse battery"}
	recipients := backup.Settings{Recipients: []string{"age1b", "age1a"}}
	for _, row := range []struct {
		name           string
		server, client backup.Settings
		wantError      string // "": no error
	}{
		{"both unencrypted", backup.Settings{}, backup.Settings{}, ""},
		{"same passphrase", passphrase, passphrase, ""},
		{"same recipients in another sequence", recipients, backup.Settings{Recipients: []string{"age1a", "age1b"}}, ""},
		{"client has a passphrase, server unencrypted", backup.Settings{}, passphrase,
			"encrypted with a passphrase, but the running server's backups are not encrypted"},
		{"client unencrypted, server has a passphrase", passphrase, backup.Settings{},
			"not encrypted, but the running server's backups are encrypted with a passphrase"},
		{"another passphrase", passphrase, backup.Settings{Passphrase: "correct horse stapler"}, "are encrypted with another passphrase"},
		{"other recipients", recipients, backup.Settings{Recipients: []string{"age1a"}},
			"encrypted for age1a, but the running server's backups are encrypted for age1b, age1a"},
		{"missing passphrase file", backup.Settings{PassphraseFile: "/nowhere/phrase"}, passphrase,
			"The server's backup settings are not valid: backup.passphrase_file"},
	} {
		t.Run(row.name, func(t *testing.T) {
			opts := vaulttest.Options(t)
			opts.Settings.Backup = row.server
			v := vaulttest.Open(t, opts)
			expected, err := row.client.Encryption(vaulttest.Rand())
			if err != nil {
				t.Fatalf("asks.Encryption: %v", err)
			}
			if strings.Contains(expected.PassphraseFingerprint, "horse") {
				t.Errorf("the fingerprint contains the passphrase: %s", expected.PassphraseFingerprint)
			}
			err = v.Backups.CheckEncryption(expected)
			if row.wantError == "" && err != nil || row.wantError != "" &&
				(errs.KindOf(err) != errs.Conflict || !strings.Contains(err.Error(), row.wantError)) {
				t.Errorf("CheckEncryption() = %v, want %q", err, row.wantError)
			}
		})
	}
}

// A server with only the recipients' public keys writes backups that it can't read.
func TestBackupForRecipients(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.Settings.Backup.Recipients = []string{"age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj"}
	})
	vaulttest.UploadDocs(t, v, vaulttest.NewDoc("Smith.txt", []byte("a deed of Smith")))
	to := filepath.Join(t.TempDir(), "b")
	vaulttest.CreateBackup(t, v, to)
	second := vaulttest.CreateBackup(t, v, to)
	if second.BytesWritten > 20<<10 {
		t.Errorf("second backup = %+v, want at most %d bytes written", second, 20<<10)
	}
	opts := vaulttest.RestoreOptions(t, to)
	_, err := instance.Restore(t.Context(), opts)
	if !errors.Is(err, archive.ErrDecrypt) {
		t.Errorf("Restore without a key: %v, want ErrDecrypt", err)
	}
	if _, err := os.Stat(opts.Vault.Dir); !os.IsNotExist(err) {
		t.Errorf("data directory: %v, want that it doesn't exist", err)
	}
	for _, path := range vaulttest.FilesUnder(t, to, ".") {
		raw, err := os.ReadFile(path)
		if err != nil || bytes.Contains(raw, []byte("Smith")) || strings.Contains(path, "Smith") {
			t.Errorf("%s: got %v, \"Smith\" in the name: %v; want no plain text", path, err, strings.Contains(path, "Smith"))
		}
	}
}

func TestPassphraseFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "passphrase")
	settings := backup.Settings{PassphraseFile: path}
	if _, err := backup.ArchiveOptions(nil, settings, ""); err == nil || !strings.Contains(err.Error(), "backup.passphrase_file") {
		t.Errorf("ArchiveOptions without the file: %v, want \"backup.passphrase_file\" in it", err)
	}
	for _, row := range []struct{ name, content, want string }{
		{"with line feed", "correct horse\n", "correct horse"},
		{"with carriage return", "two words \r\n", "two words "},
		{"empty", "", ""},
		{"empty line", "\n", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(row.content), 0o600); err != nil {
				t.Fatalf("write file: %v", err)
			}
			opts, err := backup.ArchiveOptions(nil, settings, "")
			if (err != nil) != (row.want == "") || opts.Encryption.Passphrase != row.want {
				t.Errorf("passphrase of %q = %q, %v; want %q", row.content, opts.Encryption.Passphrase, err, row.want)
			}
		})
	}
}

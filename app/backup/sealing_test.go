package backup_test

import (
	"strings"
	"testing"

	"deedkeep/app/backup"
	"deedkeep/app/errs"
	"deedkeep/app/vaulttest"
)

// Only who says the same about encryption as the vault's own settings has a backup made.
func TestBackupSettingsAgree(t *testing.T) {
	phrase := backup.Settings{Passphrase: "correct horse battery"}
	people := backup.Settings{Recipients: []string{"age1b", "age1a"}}
	for _, row := range []struct {
		name      string
		own, asks backup.Settings
		says      string // "": agreed
	}{
		{"both plain", backup.Settings{}, backup.Settings{}, ""},
		{"the same phrase", phrase, phrase, ""},
		{"the same people in another order", people, backup.Settings{Recipients: []string{"age1a", "age1b"}}, ""},
		{"asks for a phrase, server plain", backup.Settings{}, phrase, "encrypted under a passphrase, those of the running server say not encrypted"},
		{"asks for plain, server sealed", phrase, backup.Settings{}, "not encrypted, those of the running server say encrypted under a passphrase"},
		{"another phrase", phrase, backup.Settings{Passphrase: "correct horse stapler"}, "say the same under another passphrase"},
		{"other people", people, backup.Settings{Recipients: []string{"age1a"}}, "encrypted for age1a, those of the running server say encrypted for age1b, age1a"},
		{"the file is gone", backup.Settings{PassphraseFile: "/nowhere/phrase"}, phrase, "The server's settings: backup.passphrase_file"},
	} {
		t.Run(row.name, func(t *testing.T) {
			opts := vaulttest.Options(t)
			opts.Settings.Backup = row.own
			v := vaulttest.Open(t, opts)
			asked, err := row.asks.Encryption(vaulttest.Rand())
			if err != nil {
				t.Fatalf("asks.Encryption: %v", err)
			}
			if strings.Contains(asked.PassphraseFingerprint, "horse") {
				t.Errorf("the secret is told: %s", asked.PassphraseFingerprint)
			}
			err = v.Backups.CheckEncryption(asked)
			if row.says == "" && err != nil || row.says != "" && (errs.KindOf(err) != errs.Conflict || !strings.Contains(err.Error(), row.says)) {
				t.Errorf("%v", err)
			}
		})
	}
}

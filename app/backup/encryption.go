package backup

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"deedkeep/app/errs"
)

// Encryption describes how backups are encrypted. It doesn't contain the passphrase. The
// zero value means no encryption. PassphraseFingerprint is an HMAC of the passphrase with
// a random salt, so it differs from request to request:
//
//	<32 hex digits, the salt>.<64 hex digits, HMAC-SHA-256(salt, passphrase)>
type Encryption struct {
	Recipients            []string
	PassphraseFingerprint string
}

const saltSize = 16

// Encryption returns the encryption that the settings specify. It reads the passphrase
// file.
func (s Settings) Encryption(rand io.Reader) (Encryption, error) {
	passphrase, err := s.passphrase()
	if err != nil || passphrase == "" {
		return Encryption{Recipients: s.Recipients}, err
	}
	salt := make([]byte, saltSize)
	if _, err := io.ReadFull(rand, salt); err != nil {
		return Encryption{}, fmt.Errorf("hash passphrase: %w", err)
	}
	return Encryption{Recipients: s.Recipients, PassphraseFingerprint: fingerprint(salt, passphrase)}, nil
}

func fingerprint(salt []byte, passphrase string) string {
	mac := hmac.New(sha256.New, salt)
	mac.Write([]byte(passphrase)) // never fails
	return hex.EncodeToString(salt) + "." + hex.EncodeToString(mac.Sum(nil))
}

// describe returns a description for error messages.
func (e Encryption) describe() string {
	switch {
	case e.PassphraseFingerprint != "":
		return "encrypted with a passphrase"
	case len(e.Recipients) > 0:
		return "encrypted for " + strings.Join(e.Recipients, ", ")
	}
	return "not encrypted"
}

// CheckEncryption compares the encryption that a command expects with the server's
// settings. It returns Conflict if they differ, so that no one relies on encryption that
// the server doesn't use.
func (b *Backups) CheckEncryption(expected Encryption) error {
	settings := b.settings
	passphrase, err := settings.passphrase()
	if err != nil {
		return Conflict("The server's backup settings are not valid: %v", err)
	}
	actual := Encryption{Recipients: settings.Recipients}
	if passphrase != "" {
		saltHex, _, _ := strings.Cut(expected.PassphraseFingerprint, ".")
		salt, _ := hex.DecodeString(saltHex) // an invalid salt matches nothing
		actual.PassphraseFingerprint = fingerprint(salt, passphrase)
	}
	if slices.Equal(sortedCopy(expected.Recipients), sortedCopy(actual.Recipients)) &&
		hmac.Equal([]byte(expected.PassphraseFingerprint), []byte(actual.PassphraseFingerprint)) {
		return nil
	}
	expectedText, actualText := expected.describe(), actual.describe()
	if expectedText == actualText {
		actualText = "encrypted with another passphrase"
	}
	return &errs.Error{Kind: errs.Conflict,
		Message: fmt.Sprintf("The settings of this command require backups that are %s, but the running server's backups are %s. "+
			"No backup was created. Set backup.passphrase_file or backup.recipients in config.yaml of the data directory and restart the server.",
			expectedText, actualText)}
}

func sortedCopy(list []string) []string { return slices.Sorted(slices.Values(list)) }

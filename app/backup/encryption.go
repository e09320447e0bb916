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

// Encryption is what settings say about the encryption of backups, without the secret:
// the zero value is none. Print is the fingerprint of a passphrase under a salt of
// this one asking, so that it is worth nothing at another time:
//
//	<32 hex digits, the salt>.<64 hex digits, HMAC-SHA-256(salt, passphrase)>
type Encryption struct {
	Recipients            []string
	PassphraseFingerprint string
}

const saltSize = 16

// Encryption says it of these settings; it reads the passphrase's file.
func (s Settings) Encryption(chance io.Reader) (Encryption, error) {
	phrase, err := s.passphrase()
	if err != nil || phrase == "" {
		return Encryption{Recipients: s.Recipients}, err
	}
	salt := make([]byte, saltSize)
	if _, err := io.ReadFull(chance, salt); err != nil {
		return Encryption{}, fmt.Errorf("fingerprint of the passphrase: %w", err)
	}
	return Encryption{Recipients: s.Recipients, PassphraseFingerprint: fingerprint(salt, phrase)}, nil
}

func fingerprint(salt []byte, phrase string) string {
	mac := hmac.New(sha256.New, salt)
	mac.Write([]byte(phrase)) // a hash takes everything
	return hex.EncodeToString(salt) + "." + hex.EncodeToString(mac.Sum(nil))
}

func (s Encryption) describe() string {
	switch {
	case s.PassphraseFingerprint != "":
		return "encrypted under a passphrase"
	case len(s.Recipients) > 0:
		return "encrypted for " + strings.Join(s.Recipients, ", ")
	}
	return "not encrypted"
}

// CheckEncryption holds what the asking side's settings say against the vault's own: Conflict
// with a sentence where they differ, so that nobody believes in an encryption that
// nobody makes.
func (b *Backups) CheckEncryption(asked Encryption) error {
	set := b.settings
	phrase, err := set.passphrase()
	if err != nil {
		return Conflict("The server's settings: %v", err)
	}
	own := Encryption{Recipients: set.Recipients}
	if phrase != "" {
		digits, _, _ := strings.Cut(asked.PassphraseFingerprint, ".")
		salt, _ := hex.DecodeString(digits) // another one than was sent agrees with nothing
		own.PassphraseFingerprint = fingerprint(salt, phrase)
	}
	if slices.Equal(sorted(asked.Recipients), sorted(own.Recipients)) && hmac.Equal([]byte(asked.PassphraseFingerprint), []byte(own.PassphraseFingerprint)) {
		return nil
	}
	asks, does := asked.describe(), own.describe()
	if asks == does {
		does = "the same under another passphrase"
	}
	return &errs.Error{Kind: errs.Conflict, Message: fmt.Sprintf("The settings of this command say that the backup is to be %s, those of the running server say %s: "+
		"no backup was made. backup.passphrase_file and backup.recipients belong into config.yaml of the data directory, and the server must be restarted to know them.", asks, does)}
}

func sorted(words []string) []string { return slices.Sorted(slices.Values(words)) }

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

// Sealing is what settings say about the encryption of backups, without the secret:
// the zero value is none. Print is the fingerprint of a passphrase under a salt of
// this one asking, so that it is worth nothing at another time:
//
//	<32 hex digits, the salt>.<64 hex digits, HMAC-SHA-256(salt, passphrase)>
type Sealing struct {
	Recipients []string
	Print      string
}

const saltSize = 16

// Sealing says it of these settings; it reads the passphrase's file.
func (s BackupSettings) Sealing(chance io.Reader) (Sealing, error) {
	phrase, err := s.passphrase()
	if err != nil || phrase == "" {
		return Sealing{Recipients: s.Recipients}, err
	}
	salt := make([]byte, saltSize)
	if _, err := io.ReadFull(chance, salt); err != nil {
		return Sealing{}, fmt.Errorf("fingerprint of the passphrase: %w", err)
	}
	return Sealing{Recipients: s.Recipients, Print: fingerprint(salt, phrase)}, nil
}

func fingerprint(salt []byte, phrase string) string {
	mac := hmac.New(sha256.New, salt)
	mac.Write([]byte(phrase)) // a hash takes everything
	return hex.EncodeToString(salt) + "." + hex.EncodeToString(mac.Sum(nil))
}

func (s Sealing) words() string {
	switch {
	case s.Print != "":
		return "encrypted under a passphrase"
	case len(s.Recipients) > 0:
		return "encrypted for " + strings.Join(s.Recipients, ", ")
	}
	return "not encrypted"
}

// Agree holds what the asking side's settings say against the vault's own: Conflict
// with a sentence where they differ, so that nobody believes in an encryption that
// nobody makes.
func (b *Backups) Agree(asked Sealing) error {
	set := b.set
	phrase, err := set.passphrase()
	if err != nil {
		return Conflict("The server's settings: %v", err)
	}
	own := Sealing{Recipients: set.Recipients}
	if phrase != "" {
		digits, _, _ := strings.Cut(asked.Print, ".")
		salt, _ := hex.DecodeString(digits) // another one than was sent agrees with nothing
		own.Print = fingerprint(salt, phrase)
	}
	if slices.Equal(sorted(asked.Recipients), sorted(own.Recipients)) && hmac.Equal([]byte(asked.Print), []byte(own.Print)) {
		return nil
	}
	asks, does := asked.words(), own.words()
	if asks == does {
		does = "the same under another passphrase"
	}
	return &errs.Error{Kind: errs.Conflict, Message: fmt.Sprintf("The settings of this command say that the backup is to be %s, those of the running server say %s: "+
		"no backup was made. backup.passphrase_file and backup.recipients belong into config.yaml of the data directory, and the server must be restarted to know them.", asks, does)}
}

func sorted(words []string) []string { return slices.Sorted(slices.Values(words)) }

package archive

import (
	"bytes"
	"cmp"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"filippo.io/age"
	"golang.org/x/crypto/chacha20poly1305"

	"deedkeep/app/blobstore"
)

// Encryption specifies how to encrypt a new archive: for age recipients ("age1…") or with
// a passphrase. If both are empty, the archive isn't encrypted.
type Encryption struct {
	Recipients []string
	Passphrase string

	workFactor int // work factor of scrypt; 0: passphraseWork. Tests use a lower one.
}

// Decryption contains the keys to decrypt an archive: age identities, in the format of a
// file written by age-keygen, or the passphrase.
type Decryption struct {
	Identities string
	Passphrase string
}

// passphraseWork is the work factor of scrypt. Each guess costs 2^16 rounds, 64 MiB, and
// 0.2 seconds. maxPassphraseWork limits the cost of decrypting a key that another program
// wrote.
const (
	passphraseWork    = 16
	maxPassphraseWork = 18
	maxKeySize        = 64 << 10 // maximum size of key.age in bytes
)

// CheckRecipients returns an error if one of the texts is not the public key of an age
// identity.
func CheckRecipients(texts []string) error {
	_, err := parseRecipients(texts)
	return err
}

func parseRecipients(texts []string) (list []age.Recipient, err error) {
	for _, text := range texts {
		found, err := age.ParseRecipients(strings.NewReader(text))
		if err != nil || len(found) != 1 {
			return nil, fmt.Errorf("%q is not a valid age recipient; create one with age-keygen (age1…)", text)
		}
		list = append(list, found[0])
	}
	return list, nil
}

// recipientNames returns the value of "for" in the header.
func (e Encryption) recipientNames() []string {
	if e.Passphrase != "" {
		return []string{forPassphrase}
	}
	return e.Recipients
}

// newArchiveKey creates the identity of an archive. It returns the identity's public key
// and the content of key.age.
func newArchiveKey(s Encryption) (public string, key []byte, err error) {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		return "", nil, fmt.Errorf("create backup key: %w", err)
	}
	to, err := parseRecipients(s.Recipients)
	if s.Passphrase != "" {
		var phrase *age.ScryptRecipient
		phrase, err = age.NewScryptRecipient(s.Passphrase)
		if err == nil {
			phrase.SetWorkFactor(cmp.Or(s.workFactor, passphraseWork))
			to = []age.Recipient{phrase}
		}
	}
	if err != nil {
		return "", nil, fmt.Errorf("encrypt backup key: %w", err)
	}
	var out bytes.Buffer
	w, err := age.Encrypt(&out, to...)
	if err != nil {
		return "", nil, fmt.Errorf("encrypt backup key: %w", err)
	}
	_, err = io.WriteString(w, identity.String()+"\n")
	if err := errors.Join(err, w.Close()); err != nil {
		return "", nil, fmt.Errorf("encrypt backup key: %w", err)
	}
	return identity.Recipient().String(), out.Bytes(), nil
}

// readKeyFile reads key.age and verifies it with the checksum in the header.
func (a *Archive) readKeyFile() ([]byte, error) {
	raw, err := readLimited(a.path(keyName), maxKeySize)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != a.header.Key {
		return nil, fmt.Errorf("%s: %w: wrong checksum", keyName, ErrDamaged)
	}
	return raw, nil
}

// decryptKey decrypts key.age and returns the identity of the archive.
func (a *Archive) decryptKey(keys Decryption) (*age.X25519Identity, error) {
	identities, err := keys.identities()
	if err != nil {
		return nil, err
	}
	raw, err := a.readKeyFile()
	if err != nil {
		return nil, err
	}
	r, err := age.Decrypt(bytes.NewReader(raw), identities...)
	if noMatch := new(age.NoIdentityMatchError); errors.As(err, &noMatch) {
		return nil, fmt.Errorf("%s: %w: %s", a.dir, ErrDecrypt, a.requiredKey())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", keyName, ErrDamaged, err)
	}
	text, err := io.ReadAll(io.LimitReader(r, maxKeySize))
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", keyName, ErrDamaged, err)
	}
	identity, err := age.ParseX25519Identity(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w: no identity found", keyName, ErrDamaged)
	}
	if identity.Recipient().String() != a.header.Recipient {
		return nil, fmt.Errorf("%s: %w: the key belongs to another backup", keyName, ErrDamaged)
	}
	return identity, nil
}

func (a *Archive) requiredKey() string {
	if len(a.header.For) == 1 && a.header.For[0] == forPassphrase {
		return "incorrect passphrase"
	}
	return "the identity doesn't match; the backup is encrypted for " + strings.Join(a.header.For, ", ")
}

func (d Decryption) identities() (list []age.Identity, err error) {
	if d.Identities != "" {
		if list, err = age.ParseIdentities(strings.NewReader(d.Identities)); err != nil {
			return nil, fmt.Errorf("%w: identity file: %w", ErrDecrypt, err)
		}
	}
	if d.Passphrase != "" {
		phrase, err := age.NewScryptIdentity(d.Passphrase)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDecrypt, err)
		}
		phrase.SetMaxWorkFactor(maxPassphraseWork)
		list = append(list, phrase)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: passphrase or identity required", ErrDecrypt)
	}
	return list, nil
}

// NeedsPassphrase reports whether the archive is encrypted with a passphrase.
func (a *Archive) NeedsPassphrase() bool { return slices.Contains(a.header.For, forPassphrase) }

// Unlock decrypts the key of an encrypted archive, which is needed to read documents and
// databases. It returns ErrDecrypt if the keys in the options don't match. It does
// nothing for a plain archive.
func (a *Archive) Unlock() error {
	s, encrypted := a.format.(*encryptedFormat)
	if !encrypted || s.identity != nil {
		return nil
	}
	identity, err := a.decryptKey(a.opts.Decryption)
	if err != nil {
		return err
	}
	s.identity = identity
	return nil
}

// format implements the differences between plain and encrypted archives.
type format interface {
	// blobName returns the name of a blob file without its sum. isComplete reports whether
	// that is the complete name, because the format adds no sum.
	blobName(d blobstore.Digest) (name string, isComplete bool)
	newWriter(w io.Writer, manifest bool) (io.WriteCloser, error)
	newReader(r io.Reader, manifest bool) (io.Reader, error)
	// storedSize returns the size of a file whose content has the given size.
	storedSize(size int64) int64
}

type plainFormat struct{}

func (plainFormat) blobName(d blobstore.Digest) (string, bool)            { return d.String(), true }
func (plainFormat) newWriter(w io.Writer, _ bool) (io.WriteCloser, error) { return nopCloser{w}, nil }
func (plainFormat) newReader(r io.Reader, _ bool) (io.Reader, error)      { return r, nil }
func (plainFormat) storedSize(size int64) int64                           { return size }

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

type encryptedFormat struct {
	recipient                *age.X25519Recipient
	identity                 *age.X25519Identity // nil before Unlock
	blobNameKey, manifestKey [32]byte
}

func (e *encryptedFormat) blobName(d blobstore.Digest) (string, bool) {
	mac := hmac.New(sha256.New, e.blobNameKey[:])
	mac.Write(d[:])
	return hex.EncodeToString(mac.Sum(nil)[:16]), false
}

func (e *encryptedFormat) newWriter(w io.Writer, manifest bool) (io.WriteCloser, error) {
	to := []age.Recipient{e.recipient}
	if manifest {
		to = append(to, stanzaKey(e.manifestKey))
	}
	return age.Encrypt(w, to...)
}

func (e *encryptedFormat) newReader(r io.Reader, manifest bool) (io.Reader, error) {
	var identities []age.Identity
	if e.identity != nil {
		identities = append(identities, e.identity)
	}
	if manifest && e.manifestKey != [32]byte{} {
		identities = append(identities, stanzaKey(e.manifestKey))
	}
	if len(identities) == 0 {
		return nil, fmt.Errorf("%w: passphrase or identity required", ErrDecrypt)
	}
	decrypted, err := age.Decrypt(r, identities...)
	noMatch := new(age.NoIdentityMatchError)
	switch {
	case !errors.As(err, &noMatch):
		return decrypted, err
	case e.identity != nil: // the archive is unlocked
		return nil, fmt.Errorf("%w: the file header was changed, or the file belongs to another backup", ErrDamaged)
	}
	return nil, fmt.Errorf("%w: the file is encrypted for another key", ErrDecrypt)
}

// An age file for one recipient has a header of fixed size, a nonce of 16 bytes, and
// chunks of 64 KiB. Each chunk has 16 additional bytes.
const (
	ageHeaderSize = 168
	ageChunkSize  = 64 << 10
)

func (e *encryptedFormat) storedSize(size int64) int64 {
	return ageHeaderSize + 16 + size + 16*max(1, (size+ageChunkSize-1)/ageChunkSize)
}

// stanzaKey encrypts the file key of a manifest with a key derived from the vault's
// secret.
type stanzaKey [32]byte

const stanzaType = "deedkeep"

// box returns the cipher for a salt. The salt makes its key unique, so the nonce can be zero.
func (k stanzaKey) box(salt []byte) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, k[:], salt, "deedkeep/1/stanza", chacha20poly1305.KeySize)
	if err != nil {
		return nil, err
	}
	return chacha20poly1305.New(key)
}

// Wrap implements age.Recipient.
func (k stanzaKey) Wrap(fileKey []byte) ([]*age.Stanza, error) {
	salt := make([]byte, 16)
	if _, err := io.ReadFull(rand.Reader, salt); err != nil {
		return nil, fmt.Errorf("generate age stanza salt: %w", err)
	}
	box, err := k.box(salt)
	if err != nil {
		return nil, err
	}
	body := box.Seal(nil, make([]byte, chacha20poly1305.NonceSize), fileKey, nil)
	return []*age.Stanza{{Type: stanzaType, Args: []string{base64.RawStdEncoding.EncodeToString(salt)}, Body: body}}, nil
}

// Unwrap implements age.Identity.
func (k stanzaKey) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	for _, s := range stanzas {
		if s.Type != stanzaType || len(s.Args) != 1 {
			continue
		}
		salt, err := base64.RawStdEncoding.Strict().DecodeString(s.Args[0])
		if err != nil || len(salt) != 16 {
			continue
		}
		box, err := k.box(salt)
		if err != nil {
			return nil, err
		}
		if fileKey, err := box.Open(nil, make([]byte, chacha20poly1305.NonceSize), s.Body, nil); err == nil {
			return fileKey, nil
		}
	}
	return nil, age.ErrIncorrectIdentity
}

package archive

import (
	"bytes"
	"cmp"
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
)

// Encryption says whom a new archive is encrypted for: recipients ("age1…"), or a
// passphrase, or, when both are empty, nobody: the plain form.
type Encryption struct {
	Recipients []string
	Passphrase string

	work int // of the passphrase; 0: passphraseWork. Tests have no time for that.
}

// Decryption are what may open an encrypted archive: age identities, as the text of a file
// that age-keygen writes, or the passphrase.
type Decryption struct {
	Identities string
	Passphrase string
}

// passphraseWork is the cost of a guess: 2^16 rounds of scrypt, 64 MiB and a fifth of
// a second; passphraseWorkMost is what is tried on a key that others made.
const (
	passphraseWork     = 16
	passphraseWorkMost = 18
	keyMost            = 64 << 10 // bytes in key.age
)

// CheckRecipients is nil when every text is the public key of an age identity.
func CheckRecipients(texts []string) error {
	_, err := recipientsOf(texts)
	return err
}

func recipientsOf(texts []string) (list []age.Recipient, err error) {
	for _, text := range texts {
		found, err := age.ParseRecipients(strings.NewReader(text))
		if err != nil || len(found) != 1 {
			return nil, fmt.Errorf("%q is no age recipient; age-keygen prints one like age1…", text)
		}
		list = append(list, found[0])
	}
	return list, nil
}

// names is what the head says of the seal.
func (s Encryption) names() []string {
	if s.Passphrase != "" {
		return []string{forPassphrase}
	}
	return s.Recipients
}

// newKey makes the archive's own identity: its public half, and key.age.
func newKey(s Encryption) (public string, key []byte, err error) {
	own, err := age.GenerateX25519Identity()
	if err != nil {
		return "", nil, fmt.Errorf("make the backup's key: %w", err)
	}
	to, err := recipientsOf(s.Recipients)
	if s.Passphrase != "" {
		var phrase *age.ScryptRecipient
		phrase, err = age.NewScryptRecipient(s.Passphrase)
		if err == nil {
			phrase.SetWorkFactor(cmp.Or(s.work, passphraseWork))
			to = []age.Recipient{phrase}
		}
	}
	if err != nil {
		return "", nil, fmt.Errorf("encrypt the backup's key: %w", err)
	}
	var out bytes.Buffer
	w, err := age.Encrypt(&out, to...)
	if err != nil {
		return "", nil, fmt.Errorf("encrypt the backup's key: %w", err)
	}
	_, err = io.WriteString(w, own.String()+"\n")
	if err := errors.Join(err, w.Close()); err != nil {
		return "", nil, fmt.Errorf("encrypt the backup's key: %w", err)
	}
	return own.Recipient().String(), out.Bytes(), nil
}

// rawKey reads key.age, and holds it against the head.
func (a *Archive) rawKey() ([]byte, error) {
	raw, err := readSmall(a.path(keyName), keyMost)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != a.head.Key {
		return nil, fmt.Errorf("%s: %w: it is not what was written", keyName, ErrDamaged)
	}
	return raw, nil
}

// openKey reads the archive's own identity.
func (a *Archive) openKey(keys Decryption) (*age.X25519Identity, error) {
	identities, err := keys.identities()
	if err != nil {
		return nil, err
	}
	raw, err := a.rawKey()
	if err != nil {
		return nil, err
	}
	r, err := age.Decrypt(bytes.NewReader(raw), identities...)
	if noMatch := new(age.NoIdentityMatchError); errors.As(err, &noMatch) {
		return nil, fmt.Errorf("%s: %w: %s", a.dir, ErrDecrypt, a.whoOpens())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", keyName, ErrDamaged, err)
	}
	text, err := io.ReadAll(io.LimitReader(r, keyMost))
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", keyName, ErrDamaged, err)
	}
	own, err := age.ParseX25519Identity(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w: it holds no identity", keyName, ErrDamaged)
	}
	if own.Recipient().String() != a.head.Recipient {
		return nil, fmt.Errorf("%s: %w: it is the key of another backup", keyName, ErrDamaged)
	}
	return own, nil
}

func (a *Archive) whoOpens() string {
	if len(a.head.For) == 1 && a.head.For[0] == forPassphrase {
		return "the passphrase is not the one that it was made with"
	}
	return "the identity is none of those that it was made for: " + strings.Join(a.head.For, ", ")
}

func (k Decryption) identities() (list []age.Identity, err error) {
	if k.Identities != "" {
		if list, err = age.ParseIdentities(strings.NewReader(k.Identities)); err != nil {
			return nil, fmt.Errorf("%w: the identity file: %w", ErrDecrypt, err)
		}
	}
	if k.Passphrase != "" {
		phrase, err := age.NewScryptIdentity(k.Passphrase)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDecrypt, err)
		}
		phrase.SetMaxWorkFactor(passphraseWorkMost)
		list = append(list, phrase)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: it needs its passphrase or an identity", ErrDecrypt)
	}
	return list, nil
}

// NeedsPassphrase reports whether the archive is encrypted with a passphrase.
func (a *Archive) NeedsPassphrase() bool { return slices.Contains(a.head.For, forPassphrase) }

// Unlock opens what only the holder of the passphrase or of an identity can read:
// documents and databases of an encrypted archive. ErrDecrypt where the keys of the
// options do not. Of a plain one it is nil at once.
func (a *Archive) Unlock() error {
	s, encrypted := a.form.(*sealed)
	if !encrypted || s.identity != nil {
		return nil
	}
	own, err := a.openKey(a.opts.Decryption)
	if err != nil {
		return err
	}
	s.identity = own
	return nil
}

// form is what the plain and the encrypted archive do differently.
type form interface {
	// name of a document's blob, before the sum; whole when there is none
	name(d Digest) (name string, whole bool)
	seal(w io.Writer, manifest bool) (io.WriteCloser, error)
	open(r io.Reader, manifest bool) (io.Reader, error)
	// stored is the length of a sealed file, for the room it needs
	stored(size int64) int64
}

type plain struct{}

func (plain) name(d Digest) (string, bool)                     { return d.String(), true }
func (plain) seal(w io.Writer, _ bool) (io.WriteCloser, error) { return unclosed{w}, nil }
func (plain) open(r io.Reader, _ bool) (io.Reader, error)      { return r, nil }
func (plain) stored(size int64) int64                          { return size }

type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

type sealed struct {
	own              *age.X25519Recipient
	identity         *age.X25519Identity // after Unlock
	names, manifests [32]byte
}

func (s *sealed) name(d Digest) (string, bool) {
	mac := hmac.New(sha256.New, s.names[:])
	mac.Write(d[:])
	return hex.EncodeToString(mac.Sum(nil)[:16]), false
}

func (s *sealed) seal(w io.Writer, manifest bool) (io.WriteCloser, error) {
	to := []age.Recipient{s.own}
	if manifest {
		to = append(to, stanzaKey(s.manifests))
	}
	return age.Encrypt(w, to...)
}

func (s *sealed) open(r io.Reader, manifest bool) (io.Reader, error) {
	var with []age.Identity
	if s.identity != nil {
		with = append(with, s.identity)
	}
	if manifest && s.manifests != [32]byte{} {
		with = append(with, stanzaKey(s.manifests))
	}
	if len(with) == 0 {
		return nil, fmt.Errorf("%w: it needs its passphrase or an identity", ErrDecrypt)
	}
	opened, err := age.Decrypt(r, with...)
	noMatch := new(age.NoIdentityMatchError)
	switch {
	case !errors.As(err, &noMatch):
		return opened, err
	case s.identity != nil: // which is the archive's own
		return nil, fmt.Errorf("%w: its head was changed, or it is of another backup", ErrDamaged)
	}
	return nil, fmt.Errorf("%w: it was written for another key", ErrDecrypt)
}

// An age file for one recipient: its head is of one length, then 16 bytes, then
// pieces of 64 KiB with 16 bytes more each.
const (
	ageHead  = 168
	agePiece = 64 << 10
)

func (s *sealed) stored(size int64) int64 {
	return ageHead + 16 + size + 16*max(1, (size+agePiece-1)/agePiece)
}

// stanzaKey wraps the file key of a manifest under the vault's own subkey.
type stanzaKey [32]byte

const stanzaType = "deedkeep"

func (k stanzaKey) key(salt []byte) ([]byte, error) {
	return hkdf.Key(sha256.New, k[:], salt, "deedkeep/1/stanza", chacha20poly1305.KeySize)
}

// Wrap is age.Recipient.
func (k stanzaKey) Wrap(fileKey []byte) ([]*age.Stanza, error) {
	salt := make([]byte, 16)
	if _, err := io.ReadFull(rand.Reader, salt); err != nil {
		return nil, fmt.Errorf("salt of a stanza: %w", err)
	}
	key, err := k.key(salt)
	if err != nil {
		return nil, err
	}
	box, err := chacha20poly1305.New(key)
	if err != nil {
		return nil, err
	}
	// The key is of this salt alone, so the nonce may be zero.
	body := box.Seal(nil, make([]byte, chacha20poly1305.NonceSize), fileKey, nil)
	return []*age.Stanza{{Type: stanzaType, Args: []string{base64.RawStdEncoding.EncodeToString(salt)}, Body: body}}, nil
}

// Unwrap is age.Identity.
func (k stanzaKey) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	for _, s := range stanzas {
		if s.Type != stanzaType || len(s.Args) != 1 {
			continue
		}
		salt, err := base64.RawStdEncoding.Strict().DecodeString(s.Args[0])
		if err != nil || len(salt) != 16 {
			continue
		}
		key, err := k.key(salt)
		if err != nil {
			return nil, err
		}
		box, err := chacha20poly1305.New(key)
		if err != nil {
			return nil, err
		}
		if fileKey, err := box.Open(nil, make([]byte, chacha20poly1305.NonceSize), s.Body, nil); err == nil {
			return fileKey, nil
		}
	}
	return nil, age.ErrIncorrectIdentity
}

package archive

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filippo.io/age"
)

// HeaderFile is the name of the file that identifies a backup directory.
const HeaderFile = "deedkeep-backup"

const (
	headerName = HeaderFile
	readmeName = "README.txt"
	keyName    = "key.age"
	blobsDir   = "blobs"
	snapsDir   = "snapshots"
	tmpDir     = "tmp"

	headerMagic   = "deedkeep-backup"
	headerVersion = "1"
	maxHeaderSize = 64 << 10 // bytes
	formPlain     = "plain"
	formEncrypted = "encrypted"
	forPassphrase = "passphrase"
)

// header is the content of the header file. The package comment describes it.
type header struct {
	Archive   string    `json:"archive"`
	Vault     string    `json:"vault"`
	CreatedAt time.Time `json:"created_at"`
	Form      string    `json:"form"`
	Recipient string    `json:"recipient,omitempty"`
	Key       string    `json:"key,omitempty"` // sum of key.age
	For       []string  `json:"for,omitempty"`
	Proof     string    `json:"proof"` // HMAC with the header key
}

func encodeHeader(h header) ([]byte, error) {
	body, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("encode backup header: %w", err)
	}
	body = append(body, '\n')
	return append(fmt.Appendf(nil, "%s %s %x\n", headerMagic, headerVersion, sha256.Sum256(body)), body...), nil
}

// decodeHeader parses a header. It returns an error for any text that encodeHeader
// doesn't produce.
func decodeHeader(raw []byte) (header, error) {
	var h header
	first, body, found := bytes.Cut(raw, []byte{'\n'})
	words := strings.Split(string(first), " ")
	switch {
	case len(raw) > maxHeaderSize, !found, len(words) != 3, words[0] != headerMagic:
		return h, fmt.Errorf("%w: invalid backup header", ErrDamaged)
	case words[1] != headerVersion:
		return h, ErrNewerVersion
	case words[2] != fmt.Sprintf("%x", sha256.Sum256(body)):
		return h, fmt.Errorf("%w: wrong checksum", ErrDamaged)
	}
	if err := json.Unmarshal(body, &h); err != nil {
		return h, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	canonical, err := encodeHeader(h)
	if err != nil || !bytes.Equal(canonical, raw) {
		return h, fmt.Errorf("%w: header is not in canonical form", ErrDamaged)
	}
	return h, h.check()
}

func (h header) check() error {
	if raw, err := hex.DecodeString(h.Archive); err != nil || len(raw) != 16 || h.Vault == "" {
		return fmt.Errorf("%w: vault fingerprint is missing", ErrDamaged)
	}
	isEncrypted := h.Recipient != "" && h.Key != "" && len(h.For) > 0
	isPlain := h.Recipient == "" && h.Key == "" && len(h.For) == 0
	switch {
	case h.Form != formPlain && h.Form != formEncrypted:
		return fmt.Errorf("%w: unknown backup format %.40q", ErrDamaged, h.Form)
	case h.Form == formEncrypted && !isEncrypted, h.Form == formPlain && !isPlain:
		return fmt.Errorf("%w: contradictory encryption settings", ErrDamaged)
	}
	return nil
}

// sign returns the proof: the HMAC of all other fields.
func (h header) sign(key [32]byte) (string, error) {
	h.Proof = ""
	body, err := json.Marshal(h)
	if err != nil {
		return "", fmt.Errorf("encode backup header: %w", err)
	}
	mac := hmac.New(sha256.New, key[:])
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil)), nil
}

func (h header) verifySignature(key [32]byte) bool {
	want, err := h.sign(key)
	return err == nil && key != [32]byte{} && hmac.Equal([]byte(want), []byte(h.Proof))
}

// newFormat returns the implementation of the header's format.
func (h header) newFormat(opts Options) (format, error) {
	if h.Form == formPlain {
		return plainFormat{}, nil
	}
	recipient, err := age.ParseX25519Recipient(h.Recipient)
	if err != nil {
		return nil, fmt.Errorf("%w: invalid recipient: %w", ErrDamaged, err)
	}
	return &encryptedFormat{recipient: recipient, blobNameKey: opts.BlobNameKey, manifestKey: opts.ManifestKey}, nil
}

// checkEncryption returns an error if the encryption of an existing archive differs from
// the settings.
func (a *Archive) checkEncryption() error {
	if a.Encrypted() {
		if _, err := a.readKeyFile(); err != nil {
			return err
		}
	}
	want := a.opts.Encryption.recipientNames()
	if slices.Equal(a.header.For, want) {
		return a.checkPassphrase()
	}
	return fmt.Errorf("%s: %w: the existing backups are %s, but the settings (backup.recipients, backup.passphrase_file) require new backups that are %s; "+
		"to change the encryption, choose another directory",
		a.dir, ErrForeign, describe(a.header.For), describe(want))
}

func describe(recipients []string) string {
	if len(recipients) == 0 {
		return "not encrypted"
	}
	return "encrypted " + recipientList(recipients)
}

// recipientList returns how an archive is encrypted: with a passphrase, or for whom.
func recipientList(recipients []string) string {
	if slices.Contains(recipients, forPassphrase) {
		return "with a passphrase"
	}
	return "for " + strings.Join(recipients, ", ")
}

// checkPassphrase verifies that the passphrase in the settings decrypts the archive, so
// that it will also decrypt new snapshots.
func (a *Archive) checkPassphrase() error {
	if a.opts.Encryption.Passphrase == "" {
		return nil
	}
	_, err := a.decryptKey(Decryption{Passphrase: a.opts.Encryption.Passphrase})
	if errors.Is(err, ErrDecrypt) {
		return fmt.Errorf("%s: %w: the passphrase in the settings is not the passphrase of the existing backups; "+
			"to use a new passphrase, choose another directory", a.dir, ErrDecrypt)
	}
	return err
}

// create creates an archive in a missing or empty directory. It writes the header last,
// so that after a crash, the next create can continue.
func create(dir string, opts Options) error {
	if err := errors.Join(checkVacant(dir), checkFolders(dir)); err != nil {
		return err
	}
	var id [16]byte
	if _, err := io.ReadFull(opts.Rand, id[:]); err != nil {
		return fmt.Errorf("generate backup ID: %w", err)
	}
	h := header{Archive: hex.EncodeToString(id[:]), Vault: opts.Vault, CreatedAt: opts.Now().UTC().Truncate(time.Second), Form: formPlain}
	for _, folder := range []string{"", blobsDir, snapsDir, tmpDir} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o700); err != nil {
			return fmt.Errorf("create backup directory: %w", err)
		}
	}
	if h.For = opts.Encryption.recipientNames(); len(h.For) > 0 {
		recipient, encryptedKey, err := newArchiveKey(opts.Encryption)
		if err != nil {
			return err
		}
		h.Form, h.Recipient = formEncrypted, recipient
		h.Key = fmt.Sprintf("%x", sha256.Sum256(encryptedKey))
		if err := writeFile(dir, keyName, encryptedKey); err != nil {
			return err
		}
	}
	var err error
	if h.Proof, err = h.sign(opts.HeaderKey); err != nil {
		return err
	}
	raw, err := encodeHeader(h)
	if err != nil {
		return err
	}
	if err := writeFile(dir, readmeName, []byte(readme(h))); err != nil {
		return err
	}
	return writeFile(dir, headerName, raw)
}

// checkVacant checks that a new archive can be created in dir. It returns ErrForeign if dir
// contains unknown files, and ErrDamaged if dir contains blobs or snapshots but no header. Hidden
// files, files of the operating system, and files left by an interrupted call to create are allowed.
func checkVacant(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read backup directory: %w", err)
	}
	known := []string{readmeName, keyName, contentsName, blobsDir, snapsDir, tmpDir, lockName, readingName, leaseName, "lost+found"}
	for _, e := range entries {
		if name := e.Name(); !slices.Contains(known, name) && !strings.HasPrefix(name, ".") && name != "System Volume Information" {
			return fmt.Errorf("%s: %w: the directory contains %q; choose an empty or new directory", dir, ErrForeign, name)
		}
	}
	for _, folder := range []string{blobsDir, snapsDir} {
		if inside, err := os.ReadDir(filepath.Join(dir, folder)); err == nil && len(inside) > 0 {
			return fmt.Errorf("%s: %w: the file %s is missing; restore it, or choose another directory", dir, ErrDamaged, headerName)
		}
	}
	return nil
}

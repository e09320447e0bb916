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

// HeaderFile is the file by which a directory of backups is known.
const HeaderFile = "deedkeep-backup"

const (
	headName   = HeaderFile
	readmeName = "README.txt"
	keyName    = "key.age"
	blobsDir   = "blobs"
	snapsDir   = "snapshots"
	tmpDir     = "tmp"

	headMagic     = "deedkeep-backup"
	headVersion   = "1"
	headMost      = 64 << 10 // bytes
	formPlain     = "plain"
	formEncrypted = "encrypted"
	forPassphrase = "passphrase"
)

// head is drawn in the package comment.
type head struct {
	Archive   string    `json:"archive"`
	Vault     string    `json:"vault"`
	CreatedAt time.Time `json:"created_at"`
	Form      string    `json:"form"`
	Recipient string    `json:"recipient,omitempty"`
	Key       string    `json:"key,omitempty"` // sum of key.age
	For       []string  `json:"for,omitempty"`
	Proof     string    `json:"proof"` // that the vault wrote it
}

func encodeHead(h head) ([]byte, error) {
	body, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("encode the head: %w", err)
	}
	body = append(body, '\n')
	return append(fmt.Appendf(nil, "%s %s %x\n", headMagic, headVersion, sha256.Sum256(body)), body...), nil
}

// decodeHead refuses every byte that encodeHead would not have written there.
func decodeHead(raw []byte) (head, error) {
	var h head
	first, body, found := bytes.Cut(raw, []byte{'\n'})
	words := strings.Split(string(first), " ")
	switch {
	case len(raw) > headMost, !found, len(words) != 3, words[0] != headMagic:
		return h, fmt.Errorf("%w: it is no head of a backup", ErrDamaged)
	case words[1] != headVersion:
		return h, ErrNewerVersion
	case words[2] != fmt.Sprintf("%x", sha256.Sum256(body)):
		return h, fmt.Errorf("%w: its checksum does not match", ErrDamaged)
	}
	if err := json.Unmarshal(body, &h); err != nil {
		return h, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	again, err := encodeHead(h)
	if err != nil || !bytes.Equal(again, raw) {
		return h, fmt.Errorf("%w: it is spelled in another way than it was written", ErrDamaged)
	}
	return h, h.check()
}

func (h head) check() error {
	if raw, err := hex.DecodeString(h.Archive); err != nil || len(raw) != 16 || h.Vault == "" {
		return fmt.Errorf("%w: it does not say whose it is", ErrDamaged)
	}
	sealed := h.Recipient != "" && h.Key != "" && len(h.For) > 0
	open := h.Recipient == "" && h.Key == "" && len(h.For) == 0
	switch {
	case h.Form != formPlain && h.Form != formEncrypted:
		return fmt.Errorf("%w: the form %.40q is not known", ErrDamaged, h.Form)
	case h.Form == formEncrypted && !sealed, h.Form == formPlain && !open:
		return fmt.Errorf("%w: it contradicts itself about whether it is encrypted", ErrDamaged)
	}
	return nil
}

// prove is the HMAC of everything else in the head.
func (h head) prove(key [32]byte) (string, error) {
	h.Proof = ""
	body, err := json.Marshal(h)
	if err != nil {
		return "", fmt.Errorf("encode the head: %w", err)
	}
	mac := hmac.New(sha256.New, key[:])
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil)), nil
}

func (h head) proven(key [32]byte) bool {
	want, err := h.prove(key)
	return err == nil && key != [32]byte{} && hmac.Equal([]byte(want), []byte(h.Proof))
}

// form gives what the head's form does with bytes and names.
func (h head) form(opts Options) (form, error) {
	if h.Form == formPlain {
		return plain{}, nil
	}
	own, err := age.ParseX25519Recipient(h.Recipient)
	if err != nil {
		return nil, fmt.Errorf("%w: recipient: %w", ErrDamaged, err)
	}
	return &sealed{own: own, names: opts.BlobNameKey, manifests: opts.ManifestKey}, nil
}

// agrees holds an archive that is there against what a new one would be.
func (a *Archive) agrees() error {
	if a.Encrypted() {
		if _, err := a.rawKey(); err != nil {
			return err
		}
	}
	want := a.opts.Encryption.names()
	if slices.Equal(a.head.For, want) {
		return a.samePassphrase()
	}
	return fmt.Errorf("%s: %w: it is %s, and the settings (backup.recipients, backup.passphrase_file) say %s: choose another directory for that",
		a.dir, ErrForeign, describe(a.head.For), describe(want))
}

func describe(recipients []string) string {
	if len(recipients) == 0 {
		return "not encrypted"
	}
	return "encrypted for " + strings.Join(recipients, ", ")
}

// samePassphrase makes sure that the passphrase in the settings is the one that will
// open what is added now.
func (a *Archive) samePassphrase() error {
	if a.opts.Encryption.Passphrase == "" {
		return nil
	}
	_, err := a.openKey(Decryption{Passphrase: a.opts.Encryption.Passphrase})
	if errors.Is(err, ErrDecrypt) {
		return fmt.Errorf("%s: %w: the passphrase in the settings is not the one that it was made with; choose another directory for a new one", a.dir, ErrDecrypt)
	}
	return err
}

// create makes an archive in a directory that is absent or empty; the head comes
// last, so that a crash leaves what the next create takes for its own.
func create(dir string, opts Options) error {
	if err := errors.Join(vacant(dir), ownFolders(dir)); err != nil {
		return err
	}
	var id [16]byte
	if _, err := io.ReadFull(opts.Rand, id[:]); err != nil {
		return fmt.Errorf("name the backup: %w", err)
	}
	h := head{Archive: hex.EncodeToString(id[:]), Vault: opts.Vault, CreatedAt: opts.Now().UTC().Truncate(time.Second), Form: formPlain}
	for _, folder := range []string{"", blobsDir, snapsDir, tmpDir} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o700); err != nil {
			return fmt.Errorf("make the backup directory: %w", err)
		}
	}
	if h.For = opts.Encryption.names(); len(h.For) > 0 {
		own, sealedKey, err := newKey(opts.Encryption)
		if err != nil {
			return err
		}
		h.Form, h.Recipient = formEncrypted, own
		h.Key = fmt.Sprintf("%x", sha256.Sum256(sealedKey))
		if err := writeFile(dir, keyName, sealedKey); err != nil {
			return err
		}
	}
	var err error
	if h.Proof, err = h.prove(opts.HeaderKey); err != nil {
		return err
	}
	raw, err := encodeHead(h)
	if err != nil {
		return err
	}
	if err := writeFile(dir, readmeName, []byte(readme(h))); err != nil {
		return err
	}
	return writeFile(dir, headName, raw)
}

// vacant refuses a directory that holds what no create has made. What one leaves
// that was cut off is no obstacle.
func vacant(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("backup directory: %w", err)
	}
	ours := []string{readmeName, keyName, blobsDir, snapsDir, tmpDir, lockName, readingName, leaseName, "lost+found"}
	for _, e := range entries {
		if name := e.Name(); !slices.Contains(ours, name) && !strings.HasPrefix(name, ".") && name != "System Volume Information" {
			return fmt.Errorf("%s: %w: it holds %q and is no backup: choose an empty or absent directory", dir, ErrForeign, name)
		}
	}
	for _, folder := range []string{blobsDir, snapsDir} {
		if inside, err := os.ReadDir(filepath.Join(dir, folder)); err == nil && len(inside) > 0 {
			return fmt.Errorf("%s: %w: its file %s is missing: put it back, or choose another directory", dir, ErrDamaged, headName)
		}
	}
	return nil
}

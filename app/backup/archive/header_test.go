package archive

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// rewriteHeader changes the header of an archive and updates its checksum.
func rewriteHeader(t *testing.T, dir string, change func(h *header)) {
	t.Helper()
	path := filepath.Join(dir, headerName)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	h, err := decodeHeader(raw)
	if err != nil {
		t.Fatalf("decodeHeader: %v", err)
	}
	change(&h)
	if raw, err = encodeHeader(h); err == nil {
		err = os.WriteFile(path, raw, 0o600)
	}
	if err != nil {
		t.Fatalf("write file: %v", err)
	}
}

// TestChangedHeaderIsRejected checks that an attacker who can write to the directory but
// doesn't have the secret can't make the vault write plain files or encrypt for another
// key.
func TestChangedHeaderIsRejected(t *testing.T) {
	rows := map[string]func(t *testing.T, dir string){
		"form changed to plain": func(t *testing.T, dir string) { rewriteHeader(t, dir, func(h *header) { h.Form = formPlain }) },
		"consistent plain header": func(t *testing.T, dir string) {
			rewriteHeader(t, dir, func(h *header) { h.Form, h.Recipient, h.Key, h.For = formPlain, "", "", nil })
		},
		"attacker's key": func(t *testing.T, dir string) {
			rewriteHeader(t, dir, func(h *header) {
				recipient, key, err := newArchiveKey(Encryption{Recipients: h.For,
					Passphrase: map[bool]string{true: "attacker"}[h.For[0] == forPassphrase], workFactor: 4})
				if err == nil {
					err = os.WriteFile(filepath.Join(dir, keyName), key, 0o600)
				}
				if err != nil {
					t.Fatalf("write file: %v", err)
				}
				h.Recipient, h.Key = recipient, fmt.Sprintf("%x", sha256.Sum256(key))
			})
		},
		"key.age alone": func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, keyName), []byte("attacker"), 0o600); err != nil {
				t.Fatalf("write file: %v", err)
			}
		},
		"no proof": func(t *testing.T, dir string) { rewriteHeader(t, dir, func(h *header) { h.Proof = "" }) },
		"attacker's proof": func(t *testing.T, dir string) {
			rewriteHeader(t, dir, func(h *header) { h.Proof, _ = h.sign([32]byte{}) })
		},
	}
	for name, opts := range allFormats(t) {
		if name == "plain" {
			continue
		}
		for label, do := range rows {
			t.Run(name+"/"+label, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "b")
				h := newTestVault("a deed")
				h.backUp(t, dir, opts)
				do(t, dir)
				before := readTree(t, dir)
				h.addDocuments("CANARY")
				keyless := opts
				keyless.Decryption = Decryption{}
				if _, _, err := h.tryBackUp(context.Background(), t, dir, keyless); !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrForeign) {
					t.Errorf("tryBackUp = %v, want ErrDamaged or ErrForeign", err)
				}
				for file, content := range readTree(t, dir) {
					if before[file] != content || strings.Contains(content, "CANARY") {
						t.Errorf("%s was written, want no change", file)
					}
				}
			})
		}
	}
}

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

// rewrite puts another head in the place of the archive's, its checksum right.
func rewrite(t *testing.T, dir string, with func(h *head)) {
	t.Helper()
	path := filepath.Join(dir, headName)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	h, err := decodeHead(raw)
	if err != nil {
		t.Fatal(err)
	}
	with(&h)
	if raw, err = encodeHead(h); err == nil {
		err = os.WriteFile(path, raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Whoever can write in the directory, and has not the secret, makes the vault write
// nothing in clear and nothing for a key of theirs.
func TestAHeadThatWasChangedGetsNothing(t *testing.T) {
	rows := map[string]func(t *testing.T, dir string){
		"one word: plain": func(t *testing.T, dir string) { rewrite(t, dir, func(h *head) { h.Form = formPlain }) },
		"plain, without contradictions": func(t *testing.T, dir string) {
			rewrite(t, dir, func(h *head) { h.Form, h.Recipient, h.Key, h.For = formPlain, "", "", nil })
		},
		"a key of theirs": func(t *testing.T, dir string) {
			rewrite(t, dir, func(h *head) {
				own, key, err := newKey(Encryption{Recipients: h.For, Passphrase: map[bool]string{true: "theirs"}[h.For[0] == forPassphrase], work: 4})
				if err == nil {
					err = os.WriteFile(filepath.Join(dir, keyName), key, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
				h.Recipient, h.Key = own, fmt.Sprintf("%x", sha256.Sum256(key))
			})
		},
		"key.age alone": func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, keyName), []byte("theirs"), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"no proof": func(t *testing.T, dir string) { rewrite(t, dir, func(h *head) { h.Proof = "" }) },
		"a proof of theirs": func(t *testing.T, dir string) {
			rewrite(t, dir, func(h *head) { h.Proof, _ = h.prove([32]byte{}) })
		},
	}
	for name, opts := range forms(t) {
		if name == "plain" {
			continue
		}
		for what, do := range rows {
			t.Run(name+"/"+what, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "b")
				h := newHouse("a deed")
				h.take(t, dir, opts)
				do(t, dir)
				before := tree(t, dir)
				h.file("CANARY")
				keyless := opts
				keyless.Decryption = Decryption{}
				if _, _, err := h.try(context.Background(), t, dir, keyless); !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrForeign) {
					t.Errorf("got %v", err)
				}
				for file, content := range tree(t, dir) {
					if before[file] != content || strings.Contains(content, "CANARY") {
						t.Errorf("%s was written", file)
					}
				}
			})
		}
	}
}

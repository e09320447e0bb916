//go:build scale && linux

package cmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"deedkeep/app/vaulttest"
)

// scaleMix is what the vault of N abstracts holds in which is searched: a tenth of N
// documents have 1,000 words each.
func scaleMix(size int) vaulttest.Mix {
	return vaulttest.Mix{Until: vaulttest.MixUntil, Orders: size, Texts: max(size/10, 1)}
}

// recoveryMix has a tenth of N documents, and half as many abstracts and orders; every
// document has 1,000 words.
func recoveryMix(size int) vaulttest.Mix {
	documents := max(size/10, vaulttest.FilesPerOrder)
	return vaulttest.Mix{Until: vaulttest.MixUntil, Orders: documents / vaulttest.FilesPerOrder, Texts: documents}
}

// TestScaleSearchVault makes the vaults of TestScaleSearch and TestScaleIndexRecovery,
// where they are to be kept.
func TestScaleSearchVault(t *testing.T) {
	fillMix(t, scaleMix(scaleSize(t)), "")
	fillMix(t, recoveryMix(scaleSize(t)), "-recovery")
}

// fillMix gives the directory of the vault, and makes it where it was not kept: under
// another name until it is whole. The suffix tells it from others kept beside it.
func fillMix(t *testing.T, m vaulttest.Mix, suffix string) string {
	t.Helper()
	dir := os.Getenv("DEEDKEEP_TEST_VAULT")
	if dir == "" {
		dir = filepath.Join(t.TempDir(), "mix")
	}
	dir += suffix
	note, what := dir+".mix", fmt.Sprintf("%d moments, %d texts\n", m.Orders, m.Texts)
	if _, err := os.Stat(dir); err == nil {
		if had, err := os.ReadFile(note); err != nil || string(had) != what {
			t.Fatalf("%s is another vault than of %s: %s, %v", dir, what, had, err)
		}
		return dir
	}
	start, said, unfinished := time.Now(), time.Now(), dir+".unfinished"
	if err := os.RemoveAll(unfinished); err != nil {
		t.Fatalf("remove directory: %v", err)
	}
	err := m.Fill(t.Context(), unfinished, func(what string, done, total int) {
		if time.Since(said) > 10*time.Second || done == total {
			said = time.Now()
			fmt.Printf("%6.0f s: %s %d of %d\n", time.Since(start).Seconds(), what, done, total)
		}
	})
	if err := errors.Join(err, os.WriteFile(note, []byte(what), 0o600), os.Rename(unfinished, dir)); err != nil {
		t.Fatalf("write file and rename file: %v", err)
	}
	return dir
}

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

// scaleMix describes the vault used for search tests: size abstracts, size orders, and size/10
// documents of 1,000 words each.
func scaleMix(size int) vaulttest.Mix {
	return vaulttest.Mix{Until: vaulttest.MixUntil, Orders: size, Texts: max(size/10, 1)}
}

// recoveryMix describes the vault used for index recovery: size/10 documents of 1,000 words each,
// and half as many abstracts and orders.
func recoveryMix(size int) vaulttest.Mix {
	documents := max(size/10, vaulttest.FilesPerOrder)
	return vaulttest.Mix{Until: vaulttest.MixUntil, Orders: documents / vaulttest.FilesPerOrder, Texts: documents}
}

// TestScaleSearchVault only creates the vaults for TestScaleSearch and TestScaleIndexRecovery, so
// that they are available for later runs.
func TestScaleSearchVault(t *testing.T) {
	fillMix(t, scaleMix(scaleSize(t)), "")
	fillMix(t, recoveryMix(scaleSize(t)), "-recovery")
}

// fillMix returns the directory of a vault that contains the records of m. If DEEDKEEP_TEST_VAULT is
// set, it uses the vault in the directory with that name plus suffix, if it exists. Otherwise, it
// creates the vault in a temporary directory or under that name. While it is incomplete, the
// directory has a different name.
func fillMix(t *testing.T, m vaulttest.Mix, suffix string) string {
	t.Helper()
	dir := os.Getenv("DEEDKEEP_TEST_VAULT")
	if dir == "" {
		dir = filepath.Join(t.TempDir(), "mix")
	}
	dir += suffix
	note, want := dir+".mix", fmt.Sprintf("%d moments, %d texts, %d instruments\n", m.Orders, m.Texts, m.Instruments)
	if _, err := os.Stat(dir); err == nil {
		if got, err := os.ReadFile(note); err != nil || string(got) != want {
			t.Fatalf("vault in %s: got %q, %v, want %q", dir, got, err, want)
		}
		return dir
	}
	start, lastReport, unfinished := time.Now(), time.Now(), dir+".unfinished"
	if err := os.RemoveAll(unfinished); err != nil {
		t.Fatalf("remove directory: %v", err)
	}
	err := m.Fill(t.Context(), unfinished, func(phase string, done, total int) {
		if time.Since(lastReport) > 10*time.Second || done == total {
			lastReport = time.Now()
			fmt.Printf("%6.0f s: %s %d of %d\n", time.Since(start).Seconds(), phase, done, total)
		}
	})
	if err := errors.Join(err, os.WriteFile(note, []byte(want), 0o600), os.Rename(unfinished, dir)); err != nil {
		t.Fatalf("fill vault: %v", err)
	}
	return dir
}

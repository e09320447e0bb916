package segment

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A read error of the disk is not reported as damage because callers delete a damaged index.
func TestReadErrorIsNotDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, make([]byte, 4*footerSize), 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0) // reading from it fails
	if err != nil {
		t.Fatalf("open file: %v", err)
	}
	defer func() { _ = f.Close() }()
	p := &pageFile{file: f, size: 4 * footerSize}
	if err := p.readFooter(1, 0); err == nil || errors.Is(err, ErrDamaged) {
		t.Errorf("readFooter = %v, want an error that is not ErrDamaged", err)
	}
}

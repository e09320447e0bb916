package vault

import (
	"io"
)

// spaceCheckInterval is the number of bytes read between two checks of the free disk
// space.
const spaceCheckInterval = 8 << 20

// DiskGuardReader fails when the free disk space falls below the reserve. This prevents
// concurrent uploads from using up the reserve together.
type DiskGuardReader struct {
	io.Reader
	Vault      *Vault
	sinceCheck int64
}

// Read reads from the underlying reader and regularly checks the free disk space.
func (r *DiskGuardReader) Read(p []byte) (int, error) {
	if r.sinceCheck >= spaceCheckInterval {
		if err := r.Vault.CheckSpace(); err != nil {
			return 0, err
		}
		r.sinceCheck = 0
	}
	n, err := r.Reader.Read(p)
	r.sinceCheck += int64(n)
	return n, err
}

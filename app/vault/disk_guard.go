package vault

import (
	"io"
)

// spaceCheckInterval is after how many bytes of an arriving document the disk is looked at.
const spaceCheckInterval = 8 << 20

// roomReader ends a document when the disk falls below its reserve, so that what
// arrives at the same time cannot use it up together.
type DiskGuardReader struct {
	io.Reader
	Vault      *Vault
	sinceCheck int64
}

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

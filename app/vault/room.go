package vault

import (
	"io"
)

// roomEvery is after how many bytes of an arriving document the disk is looked at.
const roomEvery = 8 << 20

// roomReader ends a document when the disk falls below its reserve, so that what
// arrives at the same time cannot use it up together.
type RoomReader struct {
	io.Reader
	V     *Vault
	since int64
}

func (r *RoomReader) Read(p []byte) (int, error) {
	if r.since >= roomEvery {
		if err := r.V.CheckSpace(); err != nil {
			return 0, err
		}
		r.since = 0
	}
	n, err := r.Reader.Read(p)
	r.since += int64(n)
	return n, err
}

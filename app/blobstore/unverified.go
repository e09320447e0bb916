package blobstore

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
)

// holdBack is how much of a document's end waits for the digest of all of it.
const holdBack = 64 << 10

// VerifyingReader reads a blob from its beginning and verifies it on the way. It hands out
// the last holdBack bytes only after all bytes have the blob's digest; else the read
// fails with ErrDamaged. No one who reads all of it gets a damaged one complete. A
// part from elsewhere is read as it lies on the disk: Sound says what was verified.
// It is for one goroutine.
type VerifyingReader struct {
	store  *Store
	f      *os.File
	digest Digest
	stamp  stamp

	pos    int64
	hashed int64 // bytes from the beginning that are in hash
	hash   hash.Hash
	end    []byte // the last bytes, once they were verified
	sound  bool
	err    error
}

func newUnverified(s *Store, f *os.File, d Digest, at stamp) *VerifyingReader {
	return &VerifyingReader{store: s, f: f, digest: d, stamp: at, hash: sha256.New()}
}

// Digest is the name of the blob.
func (u *VerifyingReader) Digest() Digest { return u.digest }

// Verified reports whether all bytes were read and have the blob's digest.
func (u *VerifyingReader) Verified() bool { return u.sound }

// Err is the ErrDamaged that reading came upon, or nil.
func (u *VerifyingReader) Err() error { return u.err }

// Seek is of io.Seeker.
func (u *VerifyingReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += u.pos
	case io.SeekEnd:
		offset += u.stamp.size
	}
	if offset < 0 {
		return 0, fmt.Errorf("seek to %d", offset)
	}
	u.pos = offset
	return offset, nil
}

// Read is of io.Reader.
func (u *VerifyingReader) Read(p []byte) (n int, err error) {
	size := u.stamp.size
	switch {
	case u.err != nil:
		return 0, u.err
	case u.pos >= size:
		return 0, io.EOF
	case len(p) == 0:
		return 0, nil
	}
	endsAt := size - min(size, holdBack)
	if !u.sound && u.pos == u.hashed && u.pos >= endsAt {
		if err := u.finish(size); err != nil {
			return 0, err
		}
	}
	if u.sound && u.pos >= size-int64(len(u.end)) {
		n = copy(p, u.end[u.pos-(size-int64(len(u.end))):])
		u.pos += int64(n)
		return n, nil
	}
	p = p[:min(int64(len(p)), size-u.pos)]
	if u.pos < endsAt {
		p = p[:min(int64(len(p)), endsAt-u.pos)]
	}
	n, err = u.f.ReadAt(p, u.pos)
	if n < len(p) {
		return 0, u.damaged(fmt.Errorf("after %d bytes: %w", u.pos+int64(n), err))
	}
	if !u.sound && u.pos == u.hashed {
		u.hash.Write(p)
		u.hashed += int64(n)
	}
	u.pos += int64(n)
	return n, nil
}

// finish reads what is left and judges all of it.
func (u *VerifyingReader) finish(size int64) error {
	end := make([]byte, size-u.hashed+1) // one more: it may have grown
	n, err := u.f.ReadAt(end, u.hashed)
	if int64(n) != size-u.hashed || !errors.Is(err, io.EOF) {
		return u.damaged(fmt.Errorf("%d bytes from %d on, %d are on record: %w", n, u.hashed, size-u.hashed, err))
	}
	end = end[:n]
	u.hash.Write(end)
	if got := Digest(u.hash.Sum(nil)); got != u.digest {
		return u.damaged(fmt.Errorf("its %d bytes have the digest %s", size, got))
	}
	u.sound, u.hashed, u.end = true, size, end
	u.store.judge(u.digest, u.f, u.stamp, nil)
	return nil
}

func (u *VerifyingReader) damaged(cause error) error {
	u.err = fmt.Errorf("blob %s: %w: %w", u.digest, ErrDamaged, cause)
	u.store.judge(u.digest, u.f, u.stamp, u.err)
	return u.err
}

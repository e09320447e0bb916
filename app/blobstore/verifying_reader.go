package blobstore

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"

	"deedkeep/app/blob"
)

// tailSize is the number of bytes at the end of a blob that Read returns only after it
// has verified the digest.
const tailSize = 64 << 10

// VerifyingReader verifies a blob while reading it. If the blob is read from start to
// end, Read returns the last tailSize bytes only if all bytes match the digest.
// Otherwise, it fails with ErrDamaged, so a client never receives a complete but damaged
// document. Bytes read after a Seek to another position are not verified. Verified
// reports whether all bytes were. VerifyingReader is not safe for concurrent use.
type VerifyingReader struct {
	store  *Store
	f      blob.Reader
	digest Digest
	state  blob.State

	pos      int64
	hashed   int64 // number of leading bytes that were hashed
	hash     hash.Hash
	tail     []byte // the last tailSize bytes, set once all bytes are verified
	verified bool
	err      error
}

func newVerifyingReader(s *Store, f blob.Reader, d Digest, at blob.State) *VerifyingReader {
	return &VerifyingReader{store: s, f: f, digest: d, state: at, hash: sha256.New()}
}

// Digest returns the digest of the blob.
func (u *VerifyingReader) Digest() Digest { return u.digest }

// Verified reports whether all bytes were read and match the digest.
func (u *VerifyingReader) Verified() bool { return u.verified }

// Err returns the ErrDamaged error that a Read returned, or nil.
func (u *VerifyingReader) Err() error { return u.err }

// Seek implements io.Seeker.
func (u *VerifyingReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += u.pos
	case io.SeekEnd:
		offset += u.state.Size
	}
	if offset < 0 {
		return 0, fmt.Errorf("seek to invalid offset %d", offset)
	}
	u.pos = offset
	return offset, nil
}

// Read implements io.Reader.
func (u *VerifyingReader) Read(p []byte) (n int, err error) {
	size := u.state.Size
	switch {
	case u.err != nil:
		return 0, u.err
	case u.pos >= size:
		return 0, io.EOF
	case len(p) == 0:
		return 0, nil
	}
	tailStart := size - min(size, tailSize)
	if !u.verified && u.pos == u.hashed && u.pos >= tailStart {
		if err := u.verifyTail(size); err != nil {
			return 0, err
		}
	}
	if u.verified && u.pos >= size-int64(len(u.tail)) {
		n = copy(p, u.tail[u.pos-(size-int64(len(u.tail))):])
		u.pos += int64(n)
		return n, nil
	}
	p = p[:min(int64(len(p)), size-u.pos)]
	if u.pos < tailStart {
		p = p[:min(int64(len(p)), tailStart-u.pos)]
	}
	n, err = u.f.ReadAt(p, u.pos)
	if n < len(p) {
		return 0, u.fail(fmt.Errorf("read failed after %d bytes: %w", u.pos+int64(n), err))
	}
	if !u.verified && u.pos == u.hashed {
		u.hash.Write(p)
		u.hashed += int64(n)
	}
	u.pos += int64(n)
	return n, nil
}

// verifyTail reads the remaining bytes and verifies the complete blob.
func (u *VerifyingReader) verifyTail(size int64) error {
	tail := make([]byte, size-u.hashed+1) // one extra byte, to detect a file that has grown
	n, err := u.f.ReadAt(tail, u.hashed)
	if int64(n) != size-u.hashed || !errors.Is(err, io.EOF) {
		return u.fail(fmt.Errorf("read %d bytes at offset %d, expected %d: %w", n, u.hashed, size-u.hashed, err))
	}
	tail = tail[:n]
	u.hash.Write(tail)
	if got := Digest(u.hash.Sum(nil)); got != u.digest {
		return u.fail(fmt.Errorf("digest mismatch: read %d bytes with digest %s", size, got))
	}
	u.verified, u.hashed, u.tail = true, size, tail
	u.store.recordCheck(u.digest, u.f, u.state, nil)
	return nil
}

func (u *VerifyingReader) fail(cause error) error {
	u.err = fmt.Errorf("blob %s: %w: %w", u.digest, ErrDamaged, cause)
	u.store.recordCheck(u.digest, u.f, u.state, u.err)
	return u.err
}

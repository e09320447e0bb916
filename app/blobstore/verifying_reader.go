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
func (v *VerifyingReader) Digest() Digest { return v.digest }

// Verified reports whether all bytes were read and match the digest.
func (v *VerifyingReader) Verified() bool { return v.verified }

// Err returns the ErrDamaged error that a Read returned, or nil.
func (v *VerifyingReader) Err() error { return v.err }

// Seek implements io.Seeker.
func (v *VerifyingReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += v.pos
	case io.SeekEnd:
		offset += v.state.Size
	}
	if offset < 0 {
		return 0, fmt.Errorf("seek to invalid offset %d", offset)
	}
	v.pos = offset
	return offset, nil
}

// Read implements io.Reader.
func (v *VerifyingReader) Read(p []byte) (n int, err error) {
	size := v.state.Size
	switch {
	case v.err != nil:
		return 0, v.err
	case v.pos >= size:
		return 0, io.EOF
	case len(p) == 0:
		return 0, nil
	}
	tailStart := size - min(size, tailSize)
	if !v.verified && v.pos == v.hashed && v.pos >= tailStart {
		if err := v.verifyTail(size); err != nil {
			return 0, err
		}
	}
	if v.verified && v.pos >= size-int64(len(v.tail)) {
		n = copy(p, v.tail[v.pos-(size-int64(len(v.tail))):])
		v.pos += int64(n)
		return n, nil
	}
	p = p[:min(int64(len(p)), size-v.pos)]
	if v.pos < tailStart {
		p = p[:min(int64(len(p)), tailStart-v.pos)]
	}
	n, err = v.f.ReadAt(p, v.pos)
	if n < len(p) {
		return 0, v.fail(fmt.Errorf("read failed after %d bytes: %w", v.pos+int64(n), err))
	}
	if !v.verified && v.pos == v.hashed {
		v.hash.Write(p)
		v.hashed += int64(n)
	}
	v.pos += int64(n)
	return n, nil
}

// verifyTail reads the remaining bytes and verifies the complete blob.
func (v *VerifyingReader) verifyTail(size int64) error {
	tail := make([]byte, size-v.hashed+1) // one extra byte, to detect a file that has grown
	n, err := v.f.ReadAt(tail, v.hashed)
	if int64(n) != size-v.hashed || !errors.Is(err, io.EOF) {
		return v.fail(fmt.Errorf("read %d bytes at offset %d, expected %d: %w", n, v.hashed, size-v.hashed, err))
	}
	tail = tail[:n]
	v.hash.Write(tail)
	if got := Digest(v.hash.Sum(nil)); got != v.digest {
		return v.fail(fmt.Errorf("digest mismatch: read %d bytes with digest %s", size, got))
	}
	v.verified, v.hashed, v.tail = true, size, tail
	v.store.recordCheck(v.digest, v.f, v.state, nil)
	return nil
}

func (v *VerifyingReader) fail(cause error) error {
	v.err = fmt.Errorf("blob %s: %w: %w", v.digest, ErrDamaged, cause)
	v.store.recordCheck(v.digest, v.f, v.state, v.err)
	return v.err
}

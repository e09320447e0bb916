package blobstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"deedkeep/app/blob"
)

// verification is the result of the last read or write of a blob.
type verification struct {
	state   blob.State
	at      time.Time
	damaged error // nil if the content matches the digest
}

// verifyCache contains the verification results of this process, up to maxVerifications.
// Entries expire because bit rot on the disk doesn't change a state.
type verifyCache struct {
	mu       sync.Mutex
	byDigest map[Digest]verification
}

const (
	maxVerifications = 1 << 16 // about 10 MB of memory
	// Defaults of Options.
	defaultVerifiedTTL     = 24 * time.Hour
	defaultVerifyOnOpenMax = 1 << 20
	// evictSample is the number of random entries of which evict removes the oldest.
	evictSample = 32
)

func (v *verifyCache) put(d Digest, entry verification) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.byDigest == nil {
		v.byDigest = map[Digest]verification{}
	}
	if _, known := v.byDigest[d]; !known && len(v.byDigest) >= maxVerifications {
		v.evict()
	}
	v.byDigest[d] = entry
}

// evict removes the oldest entry of a random sample.
func (v *verifyCache) evict() {
	var oldest Digest
	sampled := 0
	for d, entry := range v.byDigest { // the iteration order is random
		if sampled == 0 || entry.at.Before(v.byDigest[oldest].at) {
			oldest = d
		}
		if sampled++; sampled == evictSample {
			break
		}
	}
	delete(v.byDigest, oldest)
}

func (v *verifyCache) get(d Digest) (verification, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	entry, known := v.byDigest[d]
	return entry, known
}

func (v *verifyCache) remove(d Digest) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.byDigest, d)
}

// recordCheck caches the result of reading f, unless f has changed since it was opened.
func (s *Store) recordCheck(d Digest, f blob.Reader, before blob.State, result error) {
	if result != nil && !errors.Is(result, ErrDamaged) {
		return
	}
	if after, err := f.State(); err != nil || after != before {
		s.verifications.remove(d)
		return
	}
	s.verifications.put(d, verification{before, s.now(), result})
}

// recordWritten caches a blob as intact, because it was just written and hashed.
func (s *Store) recordWritten(ctx context.Context, d Digest) {
	f, err := s.Open(ctx, d)
	if err != nil {
		s.verifications.remove(d)
		return
	}
	defer f.Close() //nolint:errcheck // only stat is called
	if at, err := f.State(); err == nil {
		s.verifications.put(d, verification{at, s.now(), nil})
	}
}

// lookupVerification returns the cached result for an open blob. If there is no result,
// intact is false and damaged is nil.
func (s *Store) lookupVerification(d Digest, now blob.State) (intact bool, damaged error) {
	entry, known := s.verifications.get(d)
	switch {
	case !known || entry.state != now:
		return false, nil
	case entry.damaged != nil:
		return false, entry.damaged
	}
	// A negative age means that the clock was set back, so the entry is not used.
	age := s.now().Sub(entry.at)
	return age >= 0 && age < cmp.Or(s.verifiedTTL, defaultVerifiedTTL), nil
}

// OpenVerified opens a blob that is about to be sent. The reader is nil if the blob was
// verified recently, or if it is small and OpenVerified has verified it. For a larger
// blob, it returns a reader that verifies the blob while reading it. The error is
// ErrDamaged if the blob is known to be damaged or its size isn't size, ErrMissing, or an
// operating system error. The caller closes the file, which the reader uses.
func (s *Store) OpenVerified(ctx context.Context, d Digest, size int64) (blob.Reader, *VerifyingReader, error) {
	f, err := s.Open(ctx, d)
	if err != nil {
		return nil, nil, convertOpenError(d, err)
	}
	u, err := s.openVerified(ctx, f, d, size)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, u, nil
}

func (s *Store) openVerified(ctx context.Context, f blob.Reader, d Digest, size int64) (*VerifyingReader, error) {
	at, err := f.State()
	if err != nil {
		return nil, fmt.Errorf("blob %s: %w", d, err)
	}
	if at.Size != size {
		return nil, fmt.Errorf("blob %s: %w: size is %d bytes, expected %d", d, ErrDamaged, at.Size, size)
	}
	intact, damaged := s.lookupVerification(d, at)
	switch {
	case damaged != nil:
		return nil, damaged
	case intact:
		return nil, nil //nolint:nilnil // already verified
	case size > cmp.Or(s.verifyOnOpenMax, defaultVerifyOnOpenMax):
		return newVerifyingReader(s, f, d, at), nil
	}
	if err := s.check(ctx, f, d, at, nil); err != nil {
		return nil, err
	}
	_, err = f.Seek(0, io.SeekStart)
	return nil, err
}

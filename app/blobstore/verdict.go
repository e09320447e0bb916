package blobstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// stamp tells one state of a file from another without reading it.
type stamp struct {
	size              int64
	modified, changed int64 // nanoseconds since 1970; changed is 0 where the system has none
	device, file      uint64
}

// verdict is what the last reading of a blob found, or what it was written with.
type verdict struct {
	stamp   stamp
	at      time.Time
	damaged error // nil: its bytes have its digest
}

// verdicts are those of this process, no more than mostVerdicts. They are a memory of
// what was read, never a proof: bytes that decay on the disk leave every stamp as it
// was, so a verdict expires.
type verdicts struct {
	mu   sync.Mutex
	seen map[Digest]verdict
}

const (
	mostVerdicts = 1 << 16 // about 10 MB
	// trustFor and verifyFirst are the settings where Options has none.
	trustFor    = 24 * time.Hour
	verifyFirst = 1 << 20
	// evictAmong is how many verdicts are looked at for the oldest when one must go.
	evictAmong = 32
)

func (v *verdicts) note(d Digest, is verdict) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.seen == nil {
		v.seen = map[Digest]verdict{}
	}
	if _, known := v.seen[d]; !known && len(v.seen) >= mostVerdicts {
		v.evict()
	}
	v.seen[d] = is
}

func (v *verdicts) evict() {
	var oldest Digest
	looked := 0
	for d, one := range v.seen { // in no order
		if looked == 0 || one.at.Before(v.seen[oldest].at) {
			oldest = d
		}
		if looked++; looked == evictAmong {
			break
		}
	}
	delete(v.seen, oldest)
}

func (v *verdicts) of(d Digest) (verdict, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	one, known := v.seen[d]
	return one, known
}

func (v *verdicts) forget(d Digest) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.seen, d)
}

// judge notes what a reading of f found, unless the file changed in the meantime.
func (s *Store) judge(d Digest, f *os.File, before stamp, found error) {
	if found != nil && !errors.Is(found, ErrDamaged) {
		return
	}
	if after, err := stampOf(f); err != nil || after != before {
		s.verdicts.forget(d)
		return
	}
	s.verdicts.note(d, verdict{before, s.now(), found})
}

// vouch notes that a blob was written just now, and its digest taken from the bytes
// as they were written.
func (s *Store) vouch(d Digest) {
	f, err := s.Open(d)
	if err != nil {
		s.verdicts.forget(d)
		return
	}
	defer f.Close() //nolint:errcheck // only looked at
	if at, err := stampOf(f); err == nil {
		s.verdicts.note(d, verdict{at, s.now(), nil})
	}
}

// verdict is what is known of an open blob: sound, damaged, or neither.
func (s *Store) verdict(d Digest, now stamp) (sound bool, damaged error) {
	one, known := s.verdicts.of(d)
	switch {
	case !known || one.stamp != now:
		return false, nil
	case one.damaged != nil:
		return false, one.damaged
	}
	// A clock that was set back proves nothing, so the verdict doesn't count then.
	age := s.now().Sub(one.at)
	return age >= 0 && age < cmp.Or(s.trust, trustFor), nil
}

// OpenVerified opens a blob to be sent. One that was verified recently, or is small
// enough to be verified first, comes without Unverified; a larger one with a reader
// that verifies it while it is read. ErrDamaged when it is known to be damaged or has
// another length than size, ErrMissing, or an error of the operating system. The
// caller closes the file, which Unverified reads from.
func (s *Store) OpenVerified(ctx context.Context, d Digest, size int64) (*os.File, *VerifyingReader, error) {
	f, err := s.Open(d)
	if err != nil {
		return nil, nil, missing(d, err)
	}
	u, err := s.openVerified(ctx, f, d, size)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, u, nil
}

func (s *Store) openVerified(ctx context.Context, f *os.File, d Digest, size int64) (*VerifyingReader, error) {
	at, err := stampOf(f)
	if err != nil {
		return nil, fmt.Errorf("blob %s: %w", d, err)
	}
	if at.size != size {
		return nil, fmt.Errorf("blob %s: %w: %d bytes are there, %d are on record", d, ErrDamaged, at.size, size)
	}
	sound, damaged := s.verdict(d, at)
	switch {
	case damaged != nil:
		return nil, damaged
	case sound:
		return nil, nil //nolint:nilnil // nothing is left to verify
	case size > cmp.Or(s.first, verifyFirst):
		return newUnverified(s, f, d, at), nil
	}
	if err := s.check(ctx, f, d, at, nil); err != nil {
		return nil, err
	}
	_, err = f.Seek(0, io.SeekStart)
	return nil, err
}

package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"deedkeep/app/blobstore"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// Damage describes a damaged or missing blob. The entry is removed when the blob is
// verified as intact or when no document refers to it anymore.
type Damage struct {
	Digest    string    `json:"digest"`
	FileID    uint64    `json:"file_id"` // one of the documents with this content
	Problem   string    `json:"problem"`
	FoundAt   time.Time `json:"found_at"`
	CheckedAt time.Time `json:"checked_at"`
	Logged    bool      `json:"logged"` // whether the audit log has an entry for it
}

// RecentlyChecked reports whether the blob doesn't have to be verified again yet. After the clock was set back,
// it does.
func (d Damage) RecentlyChecked(now time.Time) bool {
	passed := now.Sub(d.CheckedAt)
	return passed >= 0 && passed < recheckAfter
}

// DamagedError reports that a document cannot be returned because its blob is damaged.
type DamagedError struct {
	File  model.File
	Cause error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("file %d is damaged: %v", e.File.ID, e.Cause)
}

// Unwrap returns Cause.
func (e *DamagedError) Unwrap() error { return e.Cause }

const (
	// MaxDamagedBlobs is the maximum number of damaged blobs that are tracked.
	MaxDamagedBlobs = 1000
	// maxProblemLength is the maximum length of a description in bytes.
	maxProblemLength = 300
)

// damagedBlobs is the set of known damaged blobs. It is saved together with the
// scrubber's state.
type damagedBlobs struct {
	mu       sync.Mutex
	ByDigest map[blobstore.Digest]Damage
}

// List returns the damaged blobs, sorted by document ID.
func (d *damagedBlobs) List() []Damage {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.SortedFunc(maps.Values(d.ByDigest), func(a, b Damage) int {
		return cmp.Or(cmp.Compare(a.FileID, b.FileID), cmp.Compare(a.Digest, b.Digest))
	})
}

// Count returns the number of damaged blobs.
func (d *damagedBlobs) Count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.ByDigest)
}

// add records a damaged blob and reports whether the blob was not recorded before.
func (d *damagedBlobs) add(digest blobstore.Digest, file uint64, problem string, at time.Time) (first bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known, marked := d.ByDigest[digest]
	switch {
	case !marked && len(d.ByDigest) >= MaxDamagedBlobs:
		return false
	case !marked:
		known = Damage{Digest: digest.String(), FileID: file, FoundAt: at}
	}
	known.Problem, known.CheckedAt = problem, at
	d.ByDigest[digest] = known
	return !marked
}

// update calls change for a blob if it is recorded as damaged.
func (d *damagedBlobs) update(digest blobstore.Digest, change func(*Damage)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known, marked := d.ByDigest[digest]; marked {
		change(&known)
		d.ByDigest[digest] = known
	}
}

// Lookup returns what is known about a damaged blob.
func (d *damagedBlobs) Lookup(digest blobstore.Digest) (known Damage, marked bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known, marked = d.ByDigest[digest]
	return known, marked
}

func (d *damagedBlobs) remove(digest blobstore.Digest) (was bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, was = d.ByDigest[digest]
	delete(d.ByDigest, digest)
	return was
}

// Damaged returns the damaged blobs, sorted by document ID.
func (s *Storage) Damaged() []Damage { return s.DamagedBlobs.List() }

// DamagedRecords returns an entry for each document with a damaged blob, including those in
// the trash, sorted by blob. If the documents of a blob can't be read, it returns the one
// that was recorded.
func (s *Storage) DamagedRecords(ctx context.Context) (list []Damage, err error) {
	err = s.Store.View(ctx, func(t *store.Tx) error {
		list = s.DamagedRecordsIn(t)
		return nil
	})
	return list, err
}

// DamagedRecordsIn is like DamagedRecords but reads in a transaction.
func (s *Storage) DamagedRecordsIn(t *store.Tx) (list []Damage) {
	for _, known := range s.DamagedBlobs.List() {
		digest, err := blobstore.ParseDigest(known.Digest)
		var files []model.File
		if err == nil {
			files, err = t.FilesByDigest(digest)
		}
		if err != nil || len(files) == 0 {
			list = append(list, known)
			continue
		}
		for _, file := range files {
			known.FileID = file.ID
			list = append(list, known)
		}
	}
	return list
}

// DamagedFileIDs returns the IDs of all documents with damaged blobs, in order.
func (s *Storage) DamagedFileIDs(ctx context.Context) (files []uint64, err error) {
	list, err := s.DamagedRecords(ctx)
	for _, known := range list {
		files = append(files, known.FileID)
	}
	slices.Sort(files)
	return files, err
}

// IsDamageError reports whether err means that a blob is damaged or missing.
func IsDamageError(err error) bool {
	return errors.Is(err, blobstore.ErrDamaged) || errors.Is(err, blobstore.ErrMissing)
}

// RecordDamage records that a blob is damaged. It logs the damage only the first time.
func (s *Storage) RecordDamage(ctx context.Context, digest blobstore.Digest, file uint64, cause error) {
	if s.Store.CheckFile() != nil {
		return // without the data directory, every blob seems to be missing
	}
	problem := cause.Error()
	if len(problem) > maxProblemLength {
		problem = problem[:maxProblemLength]
	}
	if !s.DamagedBlobs.add(digest, file, problem, s.Now()) {
		return
	}
	s.Log.Error("stored document is damaged", "file", file, "sha256", digest.String(), "error", cause)
	s.LogDamage(context.WithoutCancel(ctx), digest)
	s.saveDamagedBlobs()
}

// LogDamage adds an audit entry for a damaged blob if there is none yet. If the vault is
// read-only or the disk is full, a later call adds the entry.
func (s *Storage) LogDamage(ctx context.Context, digest blobstore.Digest) {
	known, marked := s.DamagedBlobs.Lookup(digest)
	if !marked || known.Logged {
		return
	}
	err := s.Store.Update(ctx, nil, func(t *store.Tx) error {
		return s.AddEvent(t, s.Now(), model.SystemActor(), "file.damaged", model.RecordRef("file", known.FileID),
			map[string]string{"sha256": known.Digest, "problem": known.Problem})
	})
	if err != nil {
		if !errs.NotWritable(err) {
			s.Log.Error("damaged document not recorded in the audit log", "file", known.FileID, "error", err)
		}
		return
	}
	s.DamagedBlobs.update(digest, func(d *Damage) { d.Logged = true })
}

// ClearDamage removes verified or rewritten blobs from the set of damaged blobs.
func (s *Storage) ClearDamage(digests ...blobstore.Digest) {
	healed := false
	for _, digest := range digests {
		if known, marked := s.DamagedBlobs.Lookup(digest); marked && s.DamagedBlobs.remove(digest) {
			s.Log.Info("previously damaged document is intact again", "file", known.FileID, "sha256", known.Digest)
			healed = true
		}
	}
	if healed {
		s.saveDamagedBlobs()
	}
}

// VerifyBlob reads a blob and records whether it is damaged. Damage is not an error:
// VerifyBlob returns an error only if it can't read the blob for another reason.
func (s *Storage) VerifyBlob(ctx context.Context, digest blobstore.Digest, file model.File) error {
	err := s.Blobs.CheckThrottled(ctx, digest, (&txn.Throttle{Activity: s.Activity}).Pause)
	if err == nil && file.Size >= 0 {
		var size int64
		if size, err = s.Blobs.Size(ctx, digest); err == nil && size != file.Size {
			err = fmt.Errorf("%w: size in the record is %d bytes, actual size is %d bytes", blobstore.ErrDamaged, file.Size, size)
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		s.ClearDamage(digest)
		return nil
	case !IsDamageError(err):
		return err
	}
	return s.WithFileOfBlob(ctx, digest, func(now model.File) {
		if now.Size >= 0 || errors.Is(err, blobstore.ErrDamaged) {
			s.RecordDamage(ctx, digest, now.ID, err)
		}
	})
}

// WithFileOfBlob calls fn with one of the documents that refer to a blob. If no document
// refers to it, it removes the blob from the set of damaged blobs.
func (s *Storage) WithFileOfBlob(ctx context.Context, digest blobstore.Digest, fn func(model.File)) error {
	if err := s.Store.CheckFile(); err != nil {
		return err
	}
	var file model.File
	var used bool
	err := s.Store.View(ctx, func(t *store.Tx) error {
		file, used = t.FileByDigest(digest)
		return nil
	})
	switch {
	case err != nil:
		return err
	case used:
		fn(file)
	case s.DamagedBlobs.remove(digest):
		s.saveDamagedBlobs()
	}
	return nil
}

// If a document with a damaged blob is requested, the blob is verified again if its last
// check is older than recheckAfter.
const recheckAfter = 10 * time.Minute

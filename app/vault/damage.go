package vault

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
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// Damage is a stored document whose bytes on the disk are known to be damaged or
// missing. It stays until they are found intact, or no document has them any more.
type Damage struct {
	Digest  string    `json:"sha256"`
	File    uint64    `json:"file"` // one of the documents that have these bytes
	Problem string    `json:"problem"`
	Found   time.Time `json:"found_at"`
	Checked time.Time `json:"checked_at"`
	Logged  bool      `json:"logged"` // the audit log has it
}

// DamagedError says that a document is not sent because its stored bytes are damaged.
type DamagedError struct {
	File  model.File
	Cause error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("file %d is damaged: %v", e.File.ID, e.Cause)
}

// Unwrap gives what was found.
func (e *DamagedError) Unwrap() error { return e.Cause }

const (
	// mostDamaged is how many are remembered, in a note that is written for each.
	MostDamaged = 1000
	// mostProblem bounds the sentence of one.
	mostProblem = 300
)

// damages are what is known of damage. They are kept in the note of the scrub.
type damages struct {
	mu    sync.Mutex
	Marks map[blobstore.Digest]Damage
}

func (d *damages) List() []Damage {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.SortedFunc(maps.Values(d.Marks), func(a, b Damage) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Digest, b.Digest))
	})
}

func (d *damages) Count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.Marks)
}

// mark remembers damage; first says that it is news.
func (d *damages) mark(digest blobstore.Digest, file uint64, problem string, at time.Time) (first bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known, marked := d.Marks[digest]
	switch {
	case !marked && len(d.Marks) >= MostDamaged:
		return false
	case !marked:
		known = Damage{Digest: digest.String(), File: file, Found: at}
	}
	known.Problem, known.Checked = problem, at
	d.Marks[digest] = known
	return !marked
}

// change changes one that is marked.
func (d *damages) change(digest blobstore.Digest, change func(*Damage)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known, marked := d.Marks[digest]; marked {
		change(&known)
		d.Marks[digest] = known
	}
}

func (d *damages) of(digest blobstore.Digest) (known Damage, marked bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known, marked = d.Marks[digest]
	return known, marked
}

func (d *damages) drop(digest blobstore.Digest) (was bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, was = d.Marks[digest]
	delete(d.Marks, digest)
	return was
}

// Damaged are the documents whose stored bytes are known to be damaged, by number.
func (v *Vault) Damaged() []Damage { return v.Damages.List() }

// knownDamaged are the numbers of the documents whose bytes are known to be damaged.
func (v *Vault) KnownDamaged() (files []uint64) {
	for _, known := range v.Damages.List() {
		files = append(files, known.File)
	}
	return files
}

// isDamage reports whether an error means that a document's bytes are damaged or gone.
func IsDamage(err error) bool {
	return errors.Is(err, blobstore.ErrDamaged) || errors.Is(err, blobstore.ErrMissing)
}

// foundDamaged notes that a document's bytes are damaged: once for each, until they are
// found intact.
func (v *Vault) FoundDamaged(ctx context.Context, digest blobstore.Digest, file uint64, cause error) {
	if v.Store.CheckFile() != nil {
		return // the data directory is gone, and so is every document
	}
	problem := cause.Error()
	if len(problem) > mostProblem {
		problem = problem[:mostProblem]
	}
	if !v.Damages.mark(digest, file, problem, v.Now()) {
		return
	}
	v.Log.Error("a stored document is damaged", "file", file, "sha256", digest.String(), "error", cause)
	v.LogDamage(context.WithoutCancel(ctx), digest)
	v.saveDamages()
}

// logDamage writes the audit log's entry about damage that has none. A vault that is
// full or read-only gets it later.
func (v *Vault) LogDamage(ctx context.Context, digest blobstore.Digest) {
	known, marked := v.Damages.of(digest)
	if !marked || known.Logged {
		return
	}
	err := v.Store.Update(ctx, nil, func(t *store.Tx) error {
		return v.AddEvent(t, v.Now(), model.SystemActor(), "file.damaged", txn.RecordRef("file", known.File), map[string]string{"sha256": known.Digest, "problem": known.Problem})
	})
	if err != nil {
		if !txn.NotWritable(err) {
			v.Log.Error("the audit log has no entry yet for a damaged document", "file", known.File, "error", err)
		}
		return
	}
	v.Damages.change(digest, func(d *Damage) { d.Logged = true })
}

// foundIntact takes the mark away from bytes that were read or written and are right.
func (v *Vault) FoundIntact(digests ...blobstore.Digest) {
	healed := false
	for _, digest := range digests {
		if known, marked := v.Damages.of(digest); marked && v.Damages.drop(digest) {
			v.Log.Info("a damaged document is intact again", "file", known.File, "sha256", known.Digest)
			healed = true
		}
	}
	if healed {
		v.saveDamages()
	}
}

// inspectBytes reads a document's bytes and notes what it finds. The error is about the
// reading, and says nothing about the bytes.
func (v *Vault) InspectBytes(ctx context.Context, digest blobstore.Digest, file model.File) error {
	err := v.Blobs.CheckThrottled(ctx, digest, (&txn.Throttle{Activity: v.Activity}).Pause)
	if err == nil && file.Size >= 0 {
		var size int64
		if size, err = v.Blobs.Size(digest); err == nil && size != file.Size {
			err = fmt.Errorf("%w: its record says %d bytes, there are %d", blobstore.ErrDamaged, file.Size, size)
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		v.FoundIntact(digest)
		return nil
	case !IsDamage(err):
		return err
	}
	return v.StillHas(ctx, digest, func(now model.File) {
		if now.Size >= 0 || errors.Is(err, blobstore.ErrDamaged) {
			v.FoundDamaged(ctx, digest, now.ID, err)
		}
	})
}

// stillHas calls fn with a document that has these bytes; where there is none any more,
// no one misses them.
func (v *Vault) StillHas(ctx context.Context, digest blobstore.Digest, fn func(model.File)) error {
	if err := v.Store.CheckFile(); err != nil {
		return err
	}
	var file model.File
	var used bool
	err := v.Store.View(ctx, func(t *store.Tx) error {
		file, used = t.FileByDigest(digest)
		return nil
	})
	switch {
	case err != nil:
		return err
	case used:
		fn(file)
	case v.Damages.drop(digest):
		v.saveDamages()
	}
	return nil
}

// lookAgain is how old a finding of damage must be for a request to check it again.
const lookAgain = 10 * time.Minute

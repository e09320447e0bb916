package integrity

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"deedkeep/app/blobstore"
	"deedkeep/app/errs"
	"deedkeep/app/jobs"
	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/secret"
	"deedkeep/app/store"
	"deedkeep/app/txn"
	"deedkeep/app/vault"
	"deedkeep/app/vault/storage"
)

// Checker verifies and repairs a vault.
type Checker struct {
	*txn.DB
	*Scrubber
	Vault  *vault.Vault
	Search *search.Service
}

// Report is the result of Verify. Findings are damage. Orphans (documents without a record)
// and leftovers in tmp are not damage, because crashes leave them behind, and the sweeper
// or the next start removes them. Text and previews that have to be rebuilt are not damage
// either, because no data is lost.
type Report struct {
	Records, Files, Events, Blobs int
	Bytes                         int64
	Orphans, Leftovers            int
	IndexBytes                    int64  // number of bytes of the search index that were read; a new one has none yet
	IndexReady, IndexBuilding     bool   // whether there is a search index, and whether one is being built
	Texts                         uint64 // number of documents whose text is still missing in the search index
	OtherVersion, DamagedPreviews int    // number of texts and previews to rebuild because they are from another version or damaged
	Findings                      []store.Finding
	Unreadable                    map[store.Finding]bool // findings about data that can't be read and may be intact

	rebuild    []blobstore.Digest // documents whose text has to be rebuilt
	requeueOCR []blobstore.Digest // documents whose OCR results are missing
}

// OK reports whether the verification found no damage.
func (r Report) OK() bool { return len(r.Findings) == 0 }

// Verify checks every record, index, and document of the vault while it is in use. It reads
// the records from a snapshot. It doesn't change any data, but it schedules the rebuild of
// unusable text and reports damaged documents to the running server. It reports damage as
// findings and returns an error only if the verification itself fails.
func (c *Checker) Verify(ctx context.Context, progress func(done, total int)) (Report, error) {
	var r Report
	addFinding := func(f store.Finding) { r.Findings = append(r.Findings, f) }
	copied, done, err := c.snapshot(ctx, "verify")
	if message, damaged := store.DescribeDamage(err); damaged {
		addFinding(store.Finding{Kind: "database", Subject: "pages", Problem: message})
		return r, nil
	}
	if err != nil {
		return r, err
	}
	err = c.verify(ctx, copied, &r, addFinding, progress)
	if err == nil {
		err = c.verifyIndex(ctx, &r, addFinding)
	}
	if err == nil {
		err = c.rebuildTexts(ctx, r.rebuild)
	}
	if err == nil {
		if err = c.requeueOCR(ctx, r.requeueOCR); errs.NotWritable(err) {
			err = nil // the next verification does it
		}
	}
	return r, errors.Join(err, done())
}

// snapshot returns a consistent copy of the database in tmp or in the system's temporary
// directory. If neither disk is writable or has enough space in addition to the reserve, it
// returns the live database, so that a vault on a full or read-only disk can still be
// verified.
func (c *Checker) snapshot(ctx context.Context, prefix string) (copied *store.Copy, done func() error, err error) {
	copied, done, err = c.CopyDatabase(ctx, prefix, os.TempDir())
	if isUnwritable(err) {
		copied = c.Store.LiveCopy()
		return copied, copied.Close, nil
	}
	return copied, done, err
}

// CopyDatabase copies the database to tmp. If that disk is not writable or doesn't have
// enough space in addition to the reserve, it uses the first of fallbackDirs whose disk
// does. If there is none, it returns InsufficientStorage. The caller must call done to
// remove the copy. A read-only database is used without making a copy.
func (c *Checker) CopyDatabase(ctx context.Context, prefix string, fallbackDirs ...string) (copied *store.Copy, done func() error,
	err error) {
	if c.Store.ReadOnly() {
		copied = c.Store.LiveCopy()
		return copied, copied.Close, nil
	}
	token, err := secret.NewToken(c.Rand)
	if err != nil {
		return nil, nil, err
	}
	name := prefix + "-" + token[:12] + ".db"
	path, release := c.Vault.Blobs.ReserveTmp(name)
	paths := []string{path}
	for _, other := range fallbackDirs {
		paths = append(paths, filepath.Join(other, "deedkeep-"+name))
	}
	var shortages []string
	for _, path := range paths {
		if err = c.checkSpaceForCopy(filepath.Dir(path)); err == nil {
			copied, err = c.Store.Snapshot(ctx, path)
		}
		if err == nil {
			return copied, func() error {
				defer release()
				return copied.Close()
			}, nil
		}
		if !isUnwritable(err) {
			break
		}
		shortages = append(shortages, errs.UserMessage(err))
	}
	release()
	if isUnwritable(err) {
		err = &errs.Error{Kind: errs.InsufficientStorage,
			Message: fmt.Sprintf(
				"A backup first copies the database (%d MB) and leaves %d MB of each disk free (disk.reserve). No disk has enough space: %s.",
				c.Store.Size()>>20, c.MinFree>>20, strings.Join(shortages, "; ")), Err: err}
	}
	return nil, nil, err
}

// isUnwritable reports whether err means that the disk is full or not writable or that the
// directory is missing.
func isUnwritable(err error) bool {
	return errs.KindOf(err) == errs.InsufficientStorage || errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission) ||
		errors.Is(err, fs.ErrNotExist)
}

// checkSpaceForCopy returns InsufficientStorage if a copy of the database would use the
// disk reserve, because a backup must not make uploads fail.
func (c *Checker) checkSpaceForCopy(dir string) error {
	free, err := blobstore.FreeSpace(dir)
	if err != nil {
		return err
	}
	database, reserve := uint64(max(c.Store.Size(), 0)), c.MinFree
	if need := database + reserve; need < reserve || free <= need {
		return &errs.Error{Kind: errs.InsufficientStorage, Message: fmt.Sprintf("%s has %d MB free", dir, free>>20)}
	}
	return nil
}

func (c *Checker) verify(ctx context.Context, copied *store.Copy, r *Report, addFinding func(store.Finding),
	progress func(done, total int)) error {
	// Count the leftovers before reading the records, so that uploads that finish during
	// the verification are not counted.
	leftovers, _, err := c.Vault.Blobs.StaleTmp()
	if err != nil {
		return fmt.Errorf("read temporary folder: %w", err)
	}
	r.Leftovers = leftovers
	summary, err := copied.Check(ctx, addFinding)
	r.Records, r.Files, r.Events = summary.Records, summary.Files, summary.Events
	if err != nil {
		return err
	}
	known := map[blobstore.Digest]bool{}
	err = copied.EachDigest(func(d [32]byte, _ []model.File) error { known[d] = true; return nil })
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		addFinding(store.Finding{Kind: "database", Subject: "file_digests", Problem: store.ProblemText(err)})
		return nil // without the digests, orphans can't be detected
	}
	err = copied.EachDigest(func(d [32]byte, files []model.File) error {
		r.Blobs++
		progress(r.Blobs, max(r.Blobs, len(known))) // documents may be added during the verification
		return c.verifyBlob(ctx, d, files, r, addFinding)
	})
	if err != nil {
		return err
	}
	err = c.countOrphans(ctx, known, r)
	if _, damaged := store.DescribeDamage(err); damaged || errors.Is(err, fs.ErrNotExist) || isUnreadable(err) {
		finding := store.Finding{Kind: "database", Subject: "orphans", Problem: "orphaned files can't be counted: " + store.ProblemText(err)}
		r.markUnreadable(finding, err)
		addFinding(finding)
		return nil
	}
	return err
}

// verifyBlob reads a document and compares it with its digest and with the size in the
// records of all files that have it.
func (c *Checker) verifyBlob(ctx context.Context, d blobstore.Digest, files []model.File, r *Report, addFinding func(store.Finding)) error {
	damage := c.Vault.Blobs.Check(ctx, d)
	var size int64
	if damage == nil {
		size, damage = c.Vault.Blobs.Size(ctx, d)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if damage != nil {
		purged, err := c.purged(ctx, d)
		if purged || err != nil {
			return err
		}
	}
	r.Bytes += size
	c.recordVerification(ctx, d, files, size, damage)
	c.verifyPreviews(d, files, r, addFinding)
	c.verifyOCR(d, files, r, addFinding)
	for _, file := range files {
		finding := store.Finding{Kind: "file", Subject: fmt.Sprint(file.ID)}
		switch {
		case damage != nil:
			finding.Problem = damage.Error()
			r.markUnreadable(finding, damage)
		case file.Size >= 0 && file.Size != size:
			finding.Problem = fmt.Sprintf("size in the record is %d bytes, actual size is %d bytes", file.Size, size)
		default:
			continue
		}
		addFinding(finding)
	}
	return nil
}

// isUnreadable reports whether err means that a file can't be read because of a missing
// permission or an error of the disk, and not that its content is wrong or missing.
func isUnreadable(err error) bool {
	_, isSystemErr := errors.AsType[syscall.Errno](err)
	return isSystemErr && !errors.Is(err, fs.ErrNotExist)
}

// markUnreadable records that a finding is only about an error while reading.
func (r *Report) markUnreadable(f store.Finding, err error) {
	if !isUnreadable(err) {
		return
	}
	if r.Unreadable == nil {
		r.Unreadable = map[store.Finding]bool{}
	}
	r.Unreadable[f] = true
}

// recordVerification updates the list of damaged documents in the running server.
func (c *Checker) recordVerification(ctx context.Context, d blobstore.Digest, files []model.File, size int64, damage error) {
	switch {
	case !c.Vault.ServerStarted || len(files) == 0:
	case damage == nil && (files[0].Size < 0 || files[0].Size == size):
		c.Vault.ClearDamage(d)
	case storage.IsDamageError(damage):
		c.Vault.RecordDamage(ctx, d, files[0].ID, damage)
	}
}

// purged reports whether no record refers to a digest anymore because its documents were
// deleted permanently after the records were read.
func (c *Checker) purged(ctx context.Context, d blobstore.Digest) (bool, error) {
	return store.Read(ctx, c.Store, func(t *store.Tx) (bool, error) { return !t.DigestInUse(d), nil })
}

// verifyPreviews checks the text and previews of a document. It schedules a rebuild if they
// are damaged or from another version. If a file can't be read, that is a finding, because
// the documents are on the same disk.
func (c *Checker) verifyPreviews(d blobstore.Digest, files []model.File, r *Report, addFinding func(store.Finding)) {
	health, err := c.Vault.Previews.Check(d.String())
	r.OtherVersion += health.OtherVersion
	r.DamagedPreviews += health.Damaged
	if health.TextAffected {
		r.rebuild = append(r.rebuild, d)
	}
	if err != nil && len(files) > 0 {
		finding := store.Finding{Kind: "previews", Subject: fmt.Sprint("file ", files[0].ID),
			Problem: "can't read the text or a preview of this document; the document is intact: " + err.Error()}
		r.markUnreadable(finding, err)
		addFinding(finding)
	}
}

// rebuildTexts marks documents as changed. The indexer then looks for their text again, and
// the TextRebuilder of this server process or the next regenerates it.
func (c *Checker) rebuildTexts(ctx context.Context, list []blobstore.Digest) error {
	for chunk := range slices.Chunk(list, jobs.RebuildBatchSize) {
		err := c.Store.Update(ctx, nil, func(t *store.Tx) error {
			for _, d := range chunk {
				t.MarkDigestChanged(d, jobs.MaxDuplicatesMarked)
			}
			return nil
		})
		if errs.NotWritable(err) {
			return nil // the next verification does it
		}
		if err != nil {
			return fmt.Errorf("queue document text for rebuilding: %w", err)
		}
	}
	return nil
}

// countOrphans counts the documents that had no record when the copy was made and still
// don't have one.
func (c *Checker) countOrphans(ctx context.Context, known map[blobstore.Digest]bool, r *Report) error {
	return c.Vault.Blobs.Walk(ctx, func(e blobstore.Entry) error {
		if known[e.Digest] {
			return nil
		}
		purged, err := c.purged(ctx, e.Digest)
		if purged {
			r.Orphans++
		}
		return err
	}, func(string) error {
		r.Leftovers++
		return nil
	})
}

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
)

// Checker verifies and repairs a vault.
type Checker struct {
	*txn.DB
	*Scrubber
	Vault  *vault.Vault
	Search *search.SearchService
}

// Report is what a Verify found. Findings are damage; orphans (bytes that no record
// names) and leftovers in tmp are not: a crash leaves them, and a sweep or the next
// start takes them away. Nor are texts and previews that have to be rebuilt: nothing is
// lost with them.
type Report struct {
	Records, Files, Events, Blobs int
	Bytes                         int64
	Orphans, Leftovers            int
	IndexBytes                    int64  // of the search index that answers, which were read; 0: there is none
	Texts                         uint64 // of documents, for searches, that are still to be made again
	OtherVersion, DamagedPreviews int    // texts and previews to be rebuilt: those from another version, and damaged ones
	Findings                      []store.Finding

	rebuild []blobstore.Digest // documents whose text is to be rebuilt
}

// OK reports whether nothing is missing or differs.
func (r Report) OK() bool { return len(r.Findings) == 0 }

// Verify holds every record, index and byte of the vault against each other while
// it keeps working: the records of one moment, copied aside. It changes nothing, but
// has texts that are of no use rebuilt by the server, now or when one starts, and a
// server know of damage.
// The error is about the verification, never about what it found.
func (c *Checker) Verify(ctx context.Context, progress func(done, total int)) (Report, error) {
	var r Report
	find := func(f store.Finding) { r.Findings = append(r.Findings, f) }
	copied, done, err := c.snapshot(ctx, "verify")
	if sentence, damaged := store.DescribeDamage(err); damaged {
		find(store.Finding{Kind: "database", Subject: "pages", Problem: sentence})
		return r, nil
	}
	if err != nil {
		return r, err
	}
	err = c.verify(ctx, copied, &r, find, progress)
	if err == nil {
		err = c.verifyIndex(ctx, &r, find)
	}
	if err == nil {
		err = c.rebuildTexts(ctx, r.rebuild)
	}
	return r, errors.Join(err, done())
}

// snapshot gives the records of one moment for a verification: a copy in tmp, or in the
// temporary directory of the system. Where neither disk has space for one above the
// reserve, or takes writes, it is the database itself: a full or a read-only disk can
// still be verified.
func (c *Checker) snapshot(ctx context.Context, what string) (copied *store.Copy, done func() error, err error) {
	copied, done, err = c.CopyDatabase(ctx, what, os.TempDir())
	if isUnwritable(err) {
		copied = c.Store.LiveCopy()
		return copied, copied.Close, nil
	}
	return copied, done, err
}

// copyInto copies the database into tmp, or into the first of others whose disk has space
// for it above the reserve and takes writes; else Full. done removes the copy. There is
// no need for one where nothing changes the database.
func (c *Checker) CopyDatabase(ctx context.Context, what string, others ...string) (copied *store.Copy, done func() error, err error) {
	if c.Store.ReadOnly() {
		copied = c.Store.LiveCopy()
		return copied, copied.Close, nil
	}
	token, err := secret.NewToken(c.Rand)
	if err != nil {
		return nil, nil, err
	}
	name := what + "-" + token[:12] + ".db"
	path, release := c.Vault.Blobs.ReserveTmp(name)
	paths := []string{path}
	for _, other := range others {
		paths = append(paths, filepath.Join(other, "deedkeep-"+name))
	}
	var lacks []string
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
		lacks = append(lacks, txn.UserMessage(err))
	}
	release()
	if isUnwritable(err) {
		err = &errs.Error{Kind: errs.InsufficientStorage, Message: fmt.Sprintf("A backup first copies the database (%d MB), and keeps %d MB of each disk in reserve (disk.reserve). No disk has the space: %s.",
			c.Store.Size()>>20, c.MinFree>>20, strings.Join(lacks, "; ")), Err: err}
	}
	return nil, nil, err
}

// isUnwritable reports an error of a disk that is full or can't be written to, and of a
// directory that is not there.
func isUnwritable(err error) bool {
	return errs.KindOf(err) == errs.InsufficientStorage || errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist)
}

// checkSpaceForCopy is Full where a copy of the database would take from the reserve of a
// directory's disk: a backup is no reason to deny an upload.
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

func (c *Checker) verify(ctx context.Context, copied *store.Copy, r *Report, find func(store.Finding), progress func(done, total int)) error {
	// Before the records: what is swept or finished meanwhile is then no leftover.
	leftovers, _, err := c.Vault.Blobs.StaleTmp()
	if err != nil {
		return fmt.Errorf("read tmp: %w", err)
	}
	r.Leftovers = leftovers
	census, err := copied.Check(ctx, find)
	r.Records, r.Files, r.Events = census.Records, census.Files, census.Events
	if err != nil {
		return err
	}
	known := map[blobstore.Digest]bool{}
	err = copied.EachDigest(func(d [32]byte, _ []model.File) error { known[d] = true; return nil })
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		find(store.Finding{Kind: "database", Subject: "file_digests", Problem: txn.ProblemText(err)})
		return nil // nobody knows then which bytes are named
	}
	err = copied.EachDigest(func(d [32]byte, files []model.File) error {
		r.Blobs++
		progress(r.Blobs, max(r.Blobs, len(known))) // documents may come in between
		return c.verifyBlob(ctx, d, files, r, find)
	})
	if err != nil {
		return err
	}
	err = c.countOrphans(ctx, known, r)
	if _, damaged := store.DescribeDamage(err); damaged || errors.Is(err, fs.ErrNotExist) {
		find(store.Finding{Kind: "database", Subject: "orphans", Problem: "they could not be counted: " + txn.ProblemText(err)})
		return nil
	}
	return err
}

// verifyBlob reads the bytes of a document and holds them against their name, and
// the sizes on record of all files that have them.
func (c *Checker) verifyBlob(ctx context.Context, d blobstore.Digest, files []model.File, r *Report, find func(store.Finding)) error {
	damage := c.Vault.Blobs.Check(ctx, d)
	var size int64
	if damage == nil {
		size, damage = c.Vault.Blobs.Size(d)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if damage != nil {
		gone, err := c.purged(ctx, d)
		if gone || err != nil {
			return err
		}
	}
	r.Bytes += size
	c.recordVerification(ctx, d, files, size, damage)
	c.verifyPreviews(d, files, r, find)
	for _, file := range files {
		finding := store.Finding{Kind: "file", Subject: fmt.Sprint(file.ID)}
		switch {
		case damage != nil:
			finding.Problem = damage.Error()
		case file.Size >= 0 && file.Size != size:
			finding.Problem = fmt.Sprintf("its record says %d bytes, there are %d", file.Size, size)
		default:
			continue
		}
		find(finding)
	}
	return nil
}

// recordVerification has a server that sends documents know what was found.
func (c *Checker) recordVerification(ctx context.Context, d blobstore.Digest, files []model.File, size int64, damage error) {
	switch {
	case !c.Vault.ServerStarted || len(files) == 0:
	case damage == nil && (files[0].Size < 0 || files[0].Size == size):
		c.Vault.ClearDamage(d)
	case vault.IsDamageError(damage):
		c.Vault.RecordDamage(ctx, d, files[0].ID, damage)
	}
}

// purged reports whether no record has these bytes any more: their documents were deleted
// permanently after the records were read.
func (c *Checker) purged(ctx context.Context, d blobstore.Digest) (gone bool, err error) {
	err = c.Store.View(ctx, func(t *store.Tx) error { gone = !t.DigestInUse(d); return nil })
	return gone, err
}

// verifyPreviews reads the text and the previews of a document. What is damaged in them,
// or from another version, is rebuilt; a file that the disk does not give is a finding,
// because that disk has the documents too.
func (c *Checker) verifyPreviews(d blobstore.Digest, files []model.File, r *Report, find func(store.Finding)) {
	health, err := c.Vault.Previews.Check(d.String())
	r.OtherVersion += health.OtherVersion
	r.DamagedPreviews += health.Damaged
	if health.TextAffected {
		r.rebuild = append(r.rebuild, d)
	}
	if err != nil && len(files) > 0 {
		find(store.Finding{Kind: "previews", Subject: fmt.Sprint("file ", files[0].ID),
			Problem: "its text or a preview cannot be read; the document is intact: " + err.Error()})
	}
}

// rebuildTexts has the index look for the texts of documents again, and so the remaker of
// a server: this one, or the next to start.
func (c *Checker) rebuildTexts(ctx context.Context, list []blobstore.Digest) error {
	for some := range slices.Chunk(list, jobs.RebuildBatchSize) {
		err := c.Store.Update(ctx, nil, func(t *store.Tx) error {
			for _, d := range some {
				t.MarkDigestChanged(d, jobs.MaxDuplicatesMarked)
			}
			return nil
		})
		if txn.NotWritable(err) {
			return nil // the next verification does it
		}
		if err != nil {
			return fmt.Errorf("have texts rebuilt: %w", err)
		}
	}
	return nil
}

// countOrphans counts bytes that no record named when the copy was made, nor does now.
func (c *Checker) countOrphans(ctx context.Context, known map[blobstore.Digest]bool, r *Report) error {
	return c.Vault.Blobs.Walk(ctx, func(e blobstore.Entry) error {
		if known[e.Digest] {
			return nil
		}
		gone, err := c.purged(ctx, e.Digest)
		if gone {
			r.Orphans++
		}
		return err
	}, func(string) error {
		r.Leftovers++
		return nil
	})
}

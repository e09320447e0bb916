package integrity

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"deedkeep/app/blobstore"
	"deedkeep/app/jobs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// verifyOCR checks the OCR results of a document. Damaged results are a finding, because reading the
// pages again takes a long time. Results that are missing, for example after a restore, are not: the
// verification queues the pages again. A torn end is neither, because its pages are still queued.
func (c *Checker) verifyOCR(d blobstore.Digest, files []model.File, r *Report, addFinding func(store.Finding)) {
	read, err := c.Vault.OCRFiles.Pages(d.String())
	if err == nil {
		err = c.Vault.OCRFiles.Check(d.String())
	}
	known := errors.Is(err, blobstore.ErrOCRDamaged) || errors.Is(err, blobstore.ErrOCRVersion)
	missing := errors.Is(err, fs.ErrNotExist) && !known
	for _, file := range files {
		lost := file.OCR != nil && len(read) < file.OCR.Read
		switch {
		case err == nil && !lost, known && file.WaitsForOCR() && !lost:
		case missing && !lost: // nothing has been read
		case missing || err == nil:
			r.requeueOCR = append(r.requeueOCR, d)
		case known:
			addFinding(store.Finding{Kind: "ocr", Subject: fmt.Sprint("file ", file.ID),
				Problem: fmt.Sprintf("%v; the document is intact. To read its pages again, run \"deedkeep verify --repair\"", err)})
		default:
			finding := store.Finding{Kind: "ocr", Subject: fmt.Sprint("file ", file.ID),
				Problem: "can't read the OCR results; the document is intact: " + err.Error()}
			r.markUnreadable(finding, err)
			addFinding(finding)
		}
	}
}

// requeueOCR queues documents whose OCR results are missing.
func (c *Checker) requeueOCR(ctx context.Context, list []blobstore.Digest) error {
	for _, d := range list {
		err := c.Store.Update(ctx, nil, func(t *store.Tx) error { return t.ResetOCR(d, jobs.MaxDuplicatesMarked) })
		if err != nil {
			return fmt.Errorf("queue documents for OCR: %w", err)
		}
	}
	return nil
}

// RereadOCR removes what is damaged in the OCR results of a document, and queues the document, so that
// lost pages are read again. lost is false if no page is, because only the end was torn.
func (c *Checker) RereadOCR(ctx context.Context, d blobstore.Digest, files []model.File) (lost bool, err error) {
	if _, err := c.repairResults(ctx, d); err != nil {
		return false, err
	}
	read, err := c.Vault.OCRFiles.Pages(d.String())
	for _, file := range files {
		lost = lost || file.OCR != nil && len(read) < file.OCR.Read
	}
	return lost && err == nil, err
}

// repairResults removes what is damaged in the OCR results of a document, and queues the document. It
// does so before the repair, because otherwise, a crash between the two would leave the lost pages out
// of the queue, and after it, because OCR may have finished the document in the meantime with a page
// that the repair removes.
func (c *Checker) repairResults(ctx context.Context, d blobstore.Digest) (changed bool, err error) {
	err = c.Vault.OCRFiles.Check(d.String())
	if errors.Is(err, blobstore.ErrOCRDamaged) || errors.Is(err, blobstore.ErrOCRVersion) {
		if err := c.requeueOCR(ctx, []blobstore.Digest{d}); err != nil {
			return false, err
		}
	}
	changed, err = c.Vault.OCRFiles.Repair(d.String())
	if err != nil || !changed {
		return false, err
	}
	return true, c.requeueOCR(ctx, []blobstore.Digest{d})
}

// repairOCR removes damaged OCR results and queues the documents, so that their pages are read
// again. It also removes results without a document. It returns how many documents it queued.
func (c *Checker) repairOCR(ctx context.Context) (queued int, err error) {
	err = c.Vault.OCRFiles.Walk(ctx, func(e blobstore.Entry) error {
		used, err := store.Read(ctx, c.Store, func(t *store.Tx) (bool, error) { return t.DigestInUse(e.Digest), nil })
		if err != nil {
			return err
		}
		if !used {
			return c.Vault.OCRFiles.Remove(e.Digest.String())
		}
		changed, err := c.repairResults(ctx, e.Digest)
		if changed && err == nil {
			queued++
		}
		return err
	}, nil)
	return queued, err
}

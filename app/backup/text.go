package backup

import (
	"context"
	"errors"
	"io"
	"slices"

	"deedkeep/app/backup/archive"
	"deedkeep/app/blobstore"
	"deedkeep/app/model"
)

// ocrText is the intact part of the OCR results of a document. It doesn't change while the server
// adds results of other pages.
type ocrText struct {
	document, sum blobstore.Digest
	size          int64
	file          uint64 // ID of the document
}

// planText adds the OCR results of a document to the planned snapshot. Results that are damaged or
// can't be read don't prevent a backup: they are left out and reported. Damaged pages are queued for
// OCR again.
func (b *Backups) planText(ctx context.Context, s *archive.SnapshotWriter, d blobstore.Digest, files []model.File, plan *textPlan) {
	size, sum, damage, err := b.vault.OCRFiles.Intact(d)
	if err != nil {
		b.leaveOut(plan, files[0].ID, err)
		return
	}
	if damage != nil {
		lost, err := b.checker.RereadOCR(ctx, d, files)
		switch {
		case err != nil: // as on a full disk
			b.leaveOut(plan, files[0].ID, errors.Join(damage, err))
		case lost:
			b.Log.Warn("damaged text not backed up; the pages will be read by OCR again", "file", files[0].ID, "error", damage)
			plan.damaged = append(plan.damaged, files[0].ID)
		}
	}
	if size > 0 {
		s.PlanText(sum, size)
		plan.texts = append(plan.texts, ocrText{d, sum, size, files[0].ID})
	}
}

// textPlan is the OCR results that a snapshot will contain, and the documents whose results it
// doesn't contain completely.
type textPlan struct {
	texts   []ocrText
	damaged []uint64 // IDs
}

// leaveOut reports a document whose OCR results can't be read.
func (b *Backups) leaveOut(plan *textPlan, id uint64, err error) {
	b.Log.Warn("text read by OCR not backed up", "file", id, "error", err)
	if !slices.Contains(plan.damaged, id) {
		plan.damaged = append(plan.damaged, id)
	}
}

// addTexts copies the planned OCR results. Results that were removed or repaired since then are
// left out and reported.
func (b *Backups) addTexts(ctx context.Context, s *archive.SnapshotWriter, plan *textPlan, progress func(Progress)) error {
	for _, text := range plan.texts {
		progress(Progress(s.Progress()))
		err := s.AddText(ctx, text.document, text.sum, text.size, func() (io.ReadCloser, error) {
			return b.vault.OCRFiles.OpenIntact(text.document, text.size)
		})
		if errors.Is(err, archive.ErrSourceDamaged) && ctx.Err() == nil {
			b.leaveOut(plan, text.file, err)
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

package backup

import (
	"context"
	"errors"
	"io"

	"deedkeep/app/backup/archive"
	"deedkeep/app/blobstore"
	"deedkeep/app/model"
)

// ocrText is the intact part of the OCR results of a document. It doesn't change while the server
// adds results of other pages.
type ocrText struct {
	document, sum blobstore.Digest
	size          int64
}

// planText adds the OCR results of a document to the planned snapshot. Results that are damaged
// don't prevent a backup: they are left out, and their pages are queued for OCR again.
func (b *Backups) planText(ctx context.Context, s *archive.SnapshotWriter, d blobstore.Digest, files []model.File, plan *textPlan) {
	size, sum, damage, err := b.vault.OCRFiles.Intact(d)
	if damage != nil {
		var lost bool
		if lost, err = b.checker.RereadOCR(ctx, d, files); lost {
			b.Log.Warn("damaged text not backed up; the pages will be read by OCR again", "file", files[0].ID, "error", damage)
			plan.damaged = append(plan.damaged, files[0].ID)
		}
	}
	if err != nil {
		b.Log.Warn("text read by OCR not backed up", "file", files[0].ID, "error", err)
		return
	}
	if size > 0 {
		s.PlanText(sum, size)
		plan.texts = append(plan.texts, ocrText{d, sum, size})
	}
}

// textPlan is the OCR results that a snapshot will contain, and the documents whose results are
// damaged.
type textPlan struct {
	texts   []ocrText
	damaged []uint64 // IDs
}

// addTexts copies the planned OCR results. Results that were removed or repaired since then are
// left out.
func (b *Backups) addTexts(ctx context.Context, s *archive.SnapshotWriter, texts []ocrText, progress func(Progress)) error {
	for _, text := range texts {
		progress(Progress(s.Progress()))
		err := s.AddText(ctx, text.document, text.sum, text.size, func() (io.ReadCloser, error) {
			return b.vault.OCRFiles.OpenIntact(text.document, text.size)
		})
		if errors.Is(err, archive.ErrSourceDamaged) && ctx.Err() == nil {
			b.Log.Warn("text read by OCR not backed up", "document", text.document, "error", err)
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

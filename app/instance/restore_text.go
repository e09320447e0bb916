package instance

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"deedkeep/app/backup/archive"
	"deedkeep/app/blobstore"
)

// restoreTexts restores the OCR results of documents. Results that are damaged in the backup are left out. The
// verification then queues their pages for OCR.
func (r *restorer) restoreTexts(ctx context.Context) error {
	files := blobstore.NewOCRFiles(filepath.Join(r.dir, blobstore.OCRDirName))
	for _, e := range r.texts {
		err := r.restoreText(ctx, files, e)
		if errors.Is(err, archive.ErrDamaged) && ctx.Err() == nil {
			r.damagedTexts++
			r.opts.Vault.Log.Warn("damaged text not restored; the pages will be read by OCR again", "document", e.Text, "error", err)
			continue
		}
		if err != nil {
			return fmt.Errorf("restore the text of document %s: %w", e.Text, err)
		}
	}
	return files.SyncFolders()
}

func (r *restorer) restoreText(ctx context.Context, files *blobstore.OCRFiles, e archive.Entry) error {
	d, err := blobstore.ParseDigest(e.Text)
	if err != nil {
		return err
	}
	size, sum, damage, err := files.Intact(d)
	if err != nil {
		return err
	}
	if damage == nil && size == e.Size && sum.String() == e.Digest {
		return ctx.Err() // an earlier run has restored it
	}
	src, err := r.a.Blob(ctx, e)
	if err != nil {
		return err
	}
	return errors.Join(files.Restore(d, src, filepath.Join(r.dir, "tmp")), src.Close())
}

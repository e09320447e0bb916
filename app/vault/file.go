package vault

import (
	"context"
	"fmt"
	"os"

	"deedkeep/app/blob"
	"deedkeep/app/store"
	"deedkeep/app/title"
)

// Files are the verbs on documents.
type Files struct{ v *Vault }

// Upload files the tray's good documents in a folder, or in none. Invalid when the
// folder is not there or no file was sent; then nothing is stored.
func (f *Files) Upload(ctx context.Context, actor title.Actor, draft title.UploadDraft, tray *Tray) (Filed, error) {
	if err := f.v.store.View(ctx, func(t *store.Tx) error { _, err := f.check(t, draft, tray); return err }); err != nil {
		return Filed{}, err
	}
	filing, err := tray.keep()
	if err != nil {
		return Filed{}, err
	}
	defer func() { filing.end(err) }()
	filed := Filed{Failures: filing.failures}
	if len(filing.good) == 0 {
		return filed, nil
	}
	var place title.File
	err = f.v.write(ctx, actor, func(t *store.Tx) (err error) {
		place.FolderID, err = f.check(t, draft, tray)
		return err
	}, func(t *store.Tx) (err error) {
		filed.Files, err = filing.file(f.v, t, f.v.now(), actor, place)
		return err
	})
	f.v.processor.poke()
	return filed, err
}

func (f *Files) check(t *store.Tx, draft title.UploadDraft, tray *Tray) (uint64, error) {
	id, refused := draft.Check(tray.Has(), knownFolder(t, draft.FolderID))
	return id, refused.Err()
}

// Get reads the record of a document; NotFound when there is none.
func (f *Files) Get(ctx context.Context, id uint64) (file title.File, err error) {
	err = f.v.store.View(ctx, func(t *store.Tx) (err error) {
		file, err = t.File(id)
		return err
	})
	return file, err
}

// Open opens a document's bytes, which the caller closes; NotFound when there is
// no such document.
func (f *Files) Open(ctx context.Context, id uint64) (title.File, *os.File, error) {
	file, err := f.Get(ctx, id)
	if err != nil {
		return file, nil, err
	}
	digest, err := blob.ParseDigest(file.Digest)
	if err != nil {
		return file, nil, fmt.Errorf("file %d: %w", id, err)
	}
	bytes, err := f.v.blobs.Open(digest)
	if err != nil {
		return file, nil, fmt.Errorf("bytes of file %d: %w", id, err)
	}
	return file, bytes, nil
}

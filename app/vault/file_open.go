package vault

import (
	"context"
	"fmt"
	"io"

	"deedkeep/app/blob"
	"deedkeep/app/blobstore"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vault/storage"
)

// Open opens the content of a document. The caller must close it. Open returns NotFound
// if the document does not exist, or a DamagedError if its blob is damaged. A blob that
// was not verified recently is verified before Open returns. A large blob is verified
// while the caller reads it. If it is damaged, the last read fails with the reader's Err,
// and the caller must abort the response.
func (f *Files) Open(ctx context.Context, id uint64) (model.File, io.ReadSeekCloser, error) {
	file, err := f.Get(ctx, id)
	if err != nil {
		return file, nil, err
	}
	content, unverified, err := f.v.OpenVerified(ctx, file)
	if err != nil || unverified == nil {
		return file, content, err
	}
	return file, &VerifyingFile{unverified, content, f.v, file}, nil
}

// VerifyingFile is an open large document that is verified while it is read.
type VerifyingFile struct {
	*blobstore.VerifyingReader
	file   blob.Reader
	v      *Vault
	record model.File
}

// Close closes the file and records the result of the verification. If the caller did not
// read the file to the end, Close queues the blob for verification.
func (vf *VerifyingFile) Close() error {
	switch {
	case vf.Err() != nil:
		vf.v.RecordDamage(context.Background(), vf.Digest(), vf.record.ID, vf.Err())
	case vf.Verified():
		vf.v.ClearDamage(vf.Digest())
	default:
		vf.v.VerifySoon(vf.Digest())
	}
	return vf.file.Close()
}

// KnownDamage returns a DamagedError for the first document whose blob is known to be
// damaged, or nil if there is none. It doesn't read any blobs.
func (f *Files) KnownDamage(list ...model.File) error {
	if f.v.DamagedBlobs.Count() == 0 {
		return nil
	}
	for _, file := range list {
		digest, err := blobstore.ParseDigest(file.Digest)
		if err != nil {
			return fmt.Errorf("file %d: %w", file.ID, err)
		}
		if known, marked := f.v.DamagedBlobs.Lookup(digest); marked {
			if !known.RecentlyChecked(f.v.Now()) {
				f.v.VerifySoon(digest)
			}
			return &storage.DamagedError{File: file, Cause: fmt.Errorf("%w: %s", blobstore.ErrDamaged, known.Problem)}
		}
	}
	return nil
}

// OpenVerified opens a document's blob and verifies it. A large blob is not verified yet:
// for it, OpenVerified also returns a reader that verifies the blob while it is read.
func (v *Vault) OpenVerified(ctx context.Context, file model.File) (blob.Reader, *blobstore.VerifyingReader, error) {
	digest, err := blobstore.ParseDigest(file.Digest)
	if err != nil {
		return nil, nil, fmt.Errorf("file %d: %w", file.ID, err)
	}
	content, unverified, err := v.Blobs.OpenVerified(ctx, digest, file.Size)
	switch {
	case err == nil && unverified == nil:
		v.ClearDamage(digest)
		return content, nil, nil
	case err == nil:
		return content, unverified, nil
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case !storage.IsDamageError(err):
		return nil, nil, fmt.Errorf("open document %d: %w", file.ID, err)
	}
	damaged := errs.RecordNotFound("file", file.ID) // returned if the file was purged in the meantime
	failed := v.WithFileOfBlob(ctx, digest, func(model.File) {
		damaged = &storage.DamagedError{File: file, Cause: err}
		known, marked := v.DamagedBlobs.Lookup(digest)
		if marked && known.RecentlyChecked(v.Now()) {
			return
		}
		v.RecordDamage(ctx, digest, file.ID, err)
		if marked {
			v.VerifySoon(digest)
		}
	})
	if failed != nil {
		return nil, nil, failed
	}
	return nil, nil, damaged
}

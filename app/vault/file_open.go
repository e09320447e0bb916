package vault

import (
	"context"
	"fmt"
	"io"
	"os"

	"deedkeep/app/blobstore"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/txn"
)

// Open opens a document's bytes to be sent; the caller closes them. NotFound when there
// is no such document, a DamagedError when its bytes are known to be damaged, or are
// found so: a document that was not verified recently is verified before its first byte
// is handed out, or, if it is large, before its last. Then reading fails in the end,
// and Err says so; who sends it must break the connection off.
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

// VerifyingFile is a large document that is verified while it is read.
type VerifyingFile struct {
	*blobstore.VerifyingReader
	file   *os.File
	v      *Vault
	record model.File
}

// Close closes it. What was not read to its end is verified later.
func (o *VerifyingFile) Close() error {
	switch {
	case o.Err() != nil:
		o.v.RecordDamage(context.Background(), o.Digest(), o.record.ID, o.Err())
	case o.Verified():
		o.v.ClearDamage(o.Digest())
	default:
		o.v.VerifySoon(o.Digest())
	}
	return o.file.Close()
}

// KnownDamage is a DamagedError for the first of the documents whose bytes are known to be
// damaged, or nil. It reads nothing.
func (f *Files) KnownDamage(list ...model.File) error {
	if f.v.DamagedBlobs.Count() == 0 {
		return nil
	}
	for _, file := range list {
		digest, err := blobstore.ParseDigest(file.Digest)
		if err != nil {
			return fmt.Errorf("file %d: %w", file.ID, err)
		}
		if known, marked := f.v.DamagedBlobs.lookup(digest); marked {
			if !txn.Within(known.CheckedAt, f.v.Now(), recheckAfter) {
				f.v.VerifySoon(digest)
			}
			return &DamagedError{file, fmt.Errorf("%w: %s", blobstore.ErrDamaged, known.Problem)}
		}
	}
	return nil
}

func (v *Vault) OpenVerified(ctx context.Context, file model.File) (*os.File, *blobstore.VerifyingReader, error) {
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
	case !IsDamageError(err):
		return nil, nil, fmt.Errorf("bytes of file %d: %w", file.ID, err)
	}
	damaged := errs.RecordNotFound("file", file.ID) // it was purged in the meantime
	failed := v.WithFileOfBlob(ctx, digest, func(model.File) {
		damaged = &DamagedError{file, err}
		known, marked := v.DamagedBlobs.lookup(digest)
		if marked && txn.Within(known.CheckedAt, v.Now(), recheckAfter) {
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

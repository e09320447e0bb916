package upload

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
)

// outcome is the stored result of an upload. It is the body of an idempotency record.
type outcome struct {
	File      uint64 `json:"file,omitempty"`
	Size      int64  `json:"size"`
	Rejection string `json:"refusal,omitempty"`
}

// outcomeKey returns the key of an upload's idempotency record. The key depends on the
// owner, so that other users can't find the outcome.
func outcomeKey(owner, name string) [32]byte {
	return sha256.Sum256([]byte("upload\n" + owner + "\n" + name))
}

// findOutcome returns the outcome of an upload. found is false if the upload has not
// ended or does not exist.
func (u *Uploads) findOutcome(ctx context.Context, actor model.Actor, id string) (up Upload, found bool, err error) {
	name := uploadName(id)
	if name == "" {
		return up, false, errs.RecordNotFound("upload", "of "+actor.Record())
	}
	r, found, err := u.vault.StoredResponse(ctx, outcomeKey(actor.Record(), name))
	if err != nil || !found {
		return up, false, err
	}
	var out outcome
	if err := json.Unmarshal(r.Body, &out); err != nil {
		return up, false, err
	}
	if out.File == 0 {
		return u.endedUpload(id, out, nil, r.At), true, nil
	}
	file, err := u.vault.Files.Get(ctx, out.File)
	if errs.KindOf(err) == errs.NotFound {
		file, err = model.File{ID: out.File, Size: out.Size}, nil // moved to the trash in the meantime
	}
	return u.endedUpload(id, out, &file, r.At), true, err
}

// endedUpload returns an upload that ended at the given time. file is the stored document,
// or nil if it was rejected.
func (u *Uploads) endedUpload(id string, out outcome, file *model.File, at time.Time) Upload {
	return Upload{ID: id, Size: out.Size, Offset: out.Size, ExpiresAt: at.Add(u.vault.Settings.IdempotencyPeriod), File: file, Rejection: out.Rejection}
}

// finishTimeout limits the time to inspect and commit a document. This includes waiting
// for the inspection of other documents.
const finishTimeout = 2 * time.Minute

// finish stores or rejects a document after all its bytes are received. It continues even
// if the client disconnects. If it returns an error, it has stored nothing, but has
// flushed the received bytes.
func (u *Uploads) finish(ctx context.Context, actor model.Actor, id string, open *openUpload) (Upload, error) {
	finishCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	if err := u.setCancel(open, cancel); err != nil {
		return Upload{}, err
	}
	stored, err := u.store(finishCtx, actor, open)
	switch kind := errs.KindOf(err); {
	case err != nil && u.isCanceled(open):
		return Upload{}, errors.Join(errCanceled, err)
	case kind == errs.NotFound && open.Abstract != 0:
		stored, err = u.reject(finishCtx, actor, open, "The abstract was deleted")
	case kind == errs.Invalid && len(open.Path) > 0:
		stored, err = u.reject(finishCtx, actor, open, rejectionReason(err))
	case kind == errs.NotFound, kind == errs.Invalid:
		stored, err = u.reject(finishCtx, actor, open, "The folder was deleted")
	}
	switch {
	case errors.Is(err, vault.ErrAlreadyProcessed): // an earlier attempt succeeded
		up, _, err := u.findOutcome(finishCtx, actor, id)
		return up, err
	case err != nil:
		return Upload{}, errors.Join(err, u.vault.StorageError(open.Flush()))
	}
	out, file := newOutcome(open, stored)
	return u.endedUpload(id, out, file, u.vault.Now()), nil
}

// rejectionReason returns the message of an error without the final period.
func rejectionReason(err error) string {
	e, _ := errors.AsType[*errs.Error](err)
	return strings.TrimSuffix(e.Message, ".")
}

// errCanceled is returned if the user canceled the upload before the commit.
var errCanceled = &errs.Error{Kind: errs.NotFound, Message: "The upload was canceled."}

// setCancel allows Cancel to interrupt finish until the commit starts. It returns
// errCanceled if the upload is already canceled.
func (u *Uploads) setCancel(open *openUpload, cancel context.CancelFunc) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if open.canceled {
		return errCanceled
	}
	open.cancel = cancel
	return nil
}

func (u *Uploads) isCanceled(open *openUpload) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return open.canceled
}

// startCommit is called inside the transaction. It fails if the upload has been canceled.
// Once it succeeds, Cancel fails.
func (u *Uploads) startCommit(open *openUpload) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if open.canceled {
		return errCanceled
	}
	open.committing = true
	return nil
}

// store adds the document to the vault in the same way as other uploads.
func (u *Uploads) store(ctx context.Context, actor model.Actor, open *openUpload) (stored vault.AbstractWithFiles, err error) {
	recorder := u.outcomeRecorder(actor, open)
	err = u.vault.Store.View(ctx, func(t *store.Tx) error {
		// Check this before creating the blob, so that a rejected upload doesn't leave an
		// orphaned blob.
		if err := u.vault.CheckActor(t, actor); err != nil {
			return err
		}
		if open.Abstract == 0 {
			return u.checkDestination(t, 0, open.Folder)
		}
		_, err := t.Abstract(open.Abstract) // if the abstract is full, Attach rejects the document
		return err
	})
	if err != nil {
		return stored, err
	}
	staged, err := u.vault.Files.Stage(ctx)
	if err != nil {
		return stored, err
	}
	defer staged.Discard()
	if err := staged.Adopt(open.Filename, open.Partial); err != nil {
		return stored, err
	}
	if open.Batch != "" {
		staged.BatchItem = vault.NewBatchItem(&u.batches, open.Owner+"\n"+open.Batch, open.Position)
	}
	if open.Abstract != 0 {
		return u.vault.Abstracts.Attach(ctx, actor, open.Abstract, model.UploadDraft{}, staged, recorder)
	}
	return u.vault.Files.Upload(ctx, actor, model.UploadDraft{FolderID: model.NewIDInput(open.Folder), Path: open.Path}, staged, recorder)
}

// newOutcome returns the outcome of an upload and the stored document, if there is one.
func newOutcome(open *openUpload, stored vault.AbstractWithFiles) (out outcome, file *model.File) {
	out.Size = open.Size
	switch {
	case len(stored.Failures) > 0:
		out.Rejection = stored.Failures[0].Reason
	case len(stored.Files) > 0: // all other files of the abstract have lower IDs
		newest := slices.MaxFunc(stored.Files, func(a, b model.File) int { return cmp.Compare(a.ID, b.ID) })
		out.File, file = newest.ID, &newest
	}
	return out, file
}

// outcomeRecorder returns the Idempotency that stores the outcome in the transaction.
func (u *Uploads) outcomeRecorder(actor model.Actor, open *openUpload) vault.Idempotency[vault.AbstractWithFiles] {
	return vault.Idempotency[vault.AbstractWithFiles]{KeyHash: outcomeKey(actor.Record(), open.Name()), RequestHash: open.Name(),
		Render: func(stored vault.AbstractWithFiles) (int, map[string]string, []byte, error) {
			out, _ := newOutcome(open, stored)
			body, err := json.Marshal(out)
			return 0, nil, body, err
		}, BeforeCommit: func() error { return u.startCommit(open) }}
}

// reject ends an upload by storing a rejection, for example because its destination no
// longer exists.
func (u *Uploads) reject(ctx context.Context, actor model.Actor, open *openUpload, reason string) (vault.AbstractWithFiles, error) {
	recorder := u.outcomeRecorder(actor, open)
	rejected := vault.AbstractWithFiles{Failures: []model.RejectedFile{{Filename: open.Filename, Reason: reason}}}
	return rejected, u.vault.Update(ctx, actor, func(t *store.Tx) error { return recorder.CheckUnused(t, u.vault) }, func(t *store.Tx) error {
		return recorder.SaveResponse(t, u.vault.Now(), rejected)
	})
}

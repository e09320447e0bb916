package upload

import (
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

// outcome is what is kept of an upload that has ended, as the body of a
// title.Replay.
type outcome struct {
	File      uint64 `json:"file,omitempty"`
	Size      int64  `json:"size"`
	Rejection string `json:"refusal,omitempty"`
}

// outcomeKey is where that is kept: only who began it finds it.
func outcomeKey(actor model.Actor, name string) [32]byte {
	return sha256.Sum256([]byte("upload\n" + actor.Record() + "\n" + name))
}

// findOutcome gives what became of an upload; found is false where it has not ended, or
// there is none.
func (u *Uploads) findOutcome(ctx context.Context, actor model.Actor, id string) (up Upload, found bool, err error) {
	name := uploadName(id)
	if name == "" {
		return up, false, errs.RecordNotFound("upload", "of "+actor.Record())
	}
	r, found, err := u.vault.StoredResponse(ctx, outcomeKey(actor, name))
	if err != nil || !found {
		return up, false, err
	}
	var end outcome
	if err := json.Unmarshal(r.Body, &end); err != nil {
		return up, false, err
	}
	up = Upload{ID: id, Size: end.Size, Offset: end.Size, ExpiresAt: r.At.Add(u.vault.Settings.IdempotencyPeriod), Rejection: end.Rejection}
	if end.File == 0 {
		return up, true, nil
	}
	file, err := u.vault.Files.Get(ctx, end.File)
	if errs.KindOf(err) == errs.NotFound {
		file, err = model.File{ID: end.File, Size: end.Size}, nil // moved to the trash since
	}
	up.File = &file
	return up, true, err
}

// finishTimeout is how long it may take to file what has arrived: its inspection waits
// for others.
const finishTimeout = 2 * time.Minute

// finish files a document whose bytes are all there, or refuses it, for good. Who
// asked may leave: it goes on. With an error nothing came of it, and the bytes are
// durable where they lie, as far as Settled says.
func (u *Uploads) finish(ctx context.Context, actor model.Actor, id string, one *openUpload) (Upload, error) {
	up, found, err := u.findOutcome(ctx, actor, id)
	if err != nil {
		return up, errors.Join(err, u.vault.StorageError(one.Flush()))
	}
	if found {
		return up, nil // an earlier try succeeded after all
	}
	filing, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	if err := u.setCancel(one, cancel); err != nil {
		return Upload{}, err
	}
	err = u.store(filing, actor, one)
	switch kind := errs.KindOf(err); {
	case err != nil && u.isCanceled(one):
		return Upload{}, errors.Join(errCanceled, err)
	case errors.Is(err, vault.ErrAlreadyProcessed):
		err = nil
	case kind == errs.NotFound && one.Abstract != 0:
		err = u.reject(filing, actor, one, "The abstract is no longer there")
	case kind == errs.Invalid && len(one.Path) > 0:
		err = u.reject(filing, actor, one, rejectionReason(err))
	case kind == errs.NotFound, kind == errs.Invalid:
		err = u.reject(filing, actor, one, "The folder is no longer there")
	}
	if err != nil {
		return Upload{}, errors.Join(err, u.vault.StorageError(one.Flush()))
	}
	up, _, err = u.findOutcome(filing, actor, id)
	return up, err
}

// rejectionReason is what is said of a refusal, without the full stop that reasons lack.
func rejectionReason(err error) string {
	named, _ := errors.AsType[*errs.Error](err)
	return strings.TrimSuffix(named.Message, ".")
}

// errCanceled: its user gave the upload up while it was being filed.
var errCanceled = &errs.Error{Kind: errs.NotFound, Message: "The upload was cancelled."}

// setCancel lets Cancel end the filing, until its record is being written.
func (u *Uploads) setCancel(one *openUpload, cancel context.CancelFunc) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if one.canceled {
		return errCanceled
	}
	one.cancel = cancel
	return nil
}

func (u *Uploads) isCanceled(one *openUpload) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return one.canceled
}

// startCommit is asked in the transaction: who has canceled by now files nothing, and
// from here on nobody cancels.
func (u *Uploads) startCommit(one *openUpload) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if one.canceled {
		return errCanceled
	}
	one.committing = true
	return nil
}

// store is the way that every document takes into the vault.
func (u *Uploads) store(ctx context.Context, actor model.Actor, one *openUpload) error {
	keep := u.outcomeRecorder(actor, one)
	err := u.vault.Store.View(ctx, func(t *store.Tx) error {
		// Before the bytes become a blob: whoever may not file leaves none behind.
		if err := u.vault.CheckActor(t, actor); err != nil {
			return err
		}
		if one.Abstract == 0 {
			return u.checkDestination(t, 0, one.Folder)
		}
		_, err := t.Abstract(one.Abstract) // a full one refuses the document, with its reason
		return err
	})
	if err != nil {
		return err
	}
	tray, err := u.vault.Files.Stage(ctx)
	if err != nil {
		return err
	}
	defer tray.Discard()
	if err := tray.Adopt(one.Filename, one.Partial); err != nil {
		return err
	}
	if one.Batch != "" {
		tray.BatchItem = vault.NewBatchItem(&u.batches, one.Owner+"\n"+one.Batch, one.Position)
	}
	if one.Abstract != 0 {
		_, err = u.vault.Abstracts.Attach(ctx, actor, one.Abstract, model.UploadDraft{}, tray, keep)
		return err
	}
	draft := model.UploadDraft{}
	if one.Folder != 0 {
		draft.FolderID = model.IDInput{Present: true, Valid: true, Value: int64(one.Folder)}
	}
	_, err = u.vault.Files.UploadInto(ctx, actor, draft, one.Path, tray, keep)
	return err
}

// outcomeRecorder is how the end of an upload is kept in the transaction of its record.
func (u *Uploads) outcomeRecorder(actor model.Actor, one *openUpload) vault.Idempotency[vault.AbstractWithFiles] {
	return vault.Idempotency[vault.AbstractWithFiles]{KeyHash: outcomeKey(actor, one.Name()), RequestHash: one.Name(), Render: func(made vault.AbstractWithFiles) (int, map[string]string, []byte, error) {
		end := outcome{Size: one.Size}
		switch {
		case len(made.Failures) > 0:
			end.Rejection = made.Failures[0].Reason
		case len(made.Files) > 0:
			end.File = slices.Max(vault.FileIDs(made.Files)) // an abstract's others are older
		}
		body, err := json.Marshal(end)
		return 0, nil, body, err
	}, BeforeCommit: func() error { return u.startCommit(one) }}
}

// reject ends an upload whose place has gone.
func (u *Uploads) reject(ctx context.Context, actor model.Actor, one *openUpload, reason string) error {
	keep := u.outcomeRecorder(actor, one)
	err := u.vault.Update(ctx, actor, func(t *store.Tx) error { return keep.CheckUnused(t, u.vault) }, func(t *store.Tx) error {
		return keep.SaveResponse(t, u.vault.Now(), vault.AbstractWithFiles{Failures: []model.RejectedFile{{Filename: one.Filename, Reason: reason}}})
	})
	if errors.Is(err, vault.ErrAlreadyProcessed) {
		return nil
	}
	return err
}

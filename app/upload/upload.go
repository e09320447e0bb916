// Package upload implements resumable uploads. A document can be sent in several
// requests, even after a lost connection or a server restart. Once it is complete, the
// document is added to an abstract or folder of the vault.
package upload

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"deedkeep/app/blobstore"
	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/app/store"
	"deedkeep/app/vault"
	"deedkeep/app/vault/storage"
)

// Uploads creates, continues, and finishes resumable uploads. Only the user or API key
// that created an upload can continue it.
//
// A document is added to the vault only once, even if a request is repeated. The outcome
// is stored in the transaction that adds the document, and is kept as long as other
// idempotency records.
type Uploads struct {
	vault     *vault.Vault
	settings  Settings
	paused    chan struct{} // closed by Pause
	pauseOnce sync.Once
	active    sync.WaitGroup // requests in progress

	mu       sync.Mutex
	partials *blobstore.Partials    // nil until load is called
	byName   map[string]*openUpload // by the SHA-256 hash of the ID, in hexadecimal

	batches vault.Batches // has its own lock
}

// openUpload is an upload that has not ended. Uploads.mu guards the fields after the blank
// line.
type openUpload struct {
	*blobstore.Partial
	uploadInfo

	busy       bool
	canceled   bool               // canceled or expired; if a request is in progress, it removes the upload
	cancel     context.CancelFunc // cancels the request in progress
	committing bool               // the transaction has started, so it is too late to cancel
}

// uploadInfo is stored as JSON with the partial file.
type uploadInfo struct {
	Owner string `json:"owner"` // model.Actor.Record of the creator
	Plan
	CreatedAt time.Time `json:"created_at"`
}

// Plan describes a document to upload and its destination: an abstract, a folder, or
// neither if both IDs are 0. It is stored as part of uploadInfo.
type Plan struct {
	Abstract uint64   `json:"abstract,omitempty"`
	Folder   uint64   `json:"folder,omitempty"`
	Path     []string `json:"path,omitempty"` // names of nested folders below Folder; missing ones are created
	Filename string   `json:"filename"`       // as returned by decode.Filename
	Size     int64    `json:"size"`           // bytes
	// Documents with the same Batch (not "") were selected together. They appear in the
	// abstract in the order of Position, no matter which one arrives first.
	Batch    string `json:"batch,omitempty"`
	Position int    `json:"position,omitempty"`
	// Metadata is opaque client data that is returned unchanged.
	Metadata string `json:"metadata,omitempty"`
}

// Upload is the progress of an upload or, if the upload has ended, its outcome.
type Upload struct {
	ID        string // unguessable; only its hash is stored
	Size      int64
	Offset    int64     // number of bytes received and synced to the disk
	Received  bool      // whether all bytes are received, even if not synced yet
	ExpiresAt time.Time // when the upload expires if no more bytes arrive
	// Metadata is Plan.Metadata. It is "" if the upload has ended.
	Metadata  string
	File      *model.File
	Rejection string // reason if the document was rejected; otherwise ""
}

// Ended reports whether the document was stored or rejected.
func (u Upload) Ended() bool { return u.File != nil || u.Rejection != "" }

// Settings contains the uploads.* settings (see config.example.yaml). 0 values mean the
// defaults: 24 hours, 200 uploads, and 20 GB.
type Settings struct {
	Keep         time.Duration // how long an upload is kept after the last byte
	PerUser      int           // maximum number of open uploads per user or API key
	BytesPerUser int64         // maximum total size of these uploads
}

func (s Settings) retention() time.Duration { return cmp.Or(s.Keep, 24*time.Hour) }
func (s Settings) maxPerUser() int          { return cmp.Or(s.PerUser, 200) }
func (s Settings) maxBytesPerUser() int64   { return cmp.Or(s.BytesPerUser, 20<<30) }

// minIdleToEvict is how long an upload must be idle before it can be evicted for another
// upload of the same user.
const minIdleToEvict = 10 * time.Minute

// These errors are wrapped in a Conflict error from Write.
var (
	// ErrOffset means that the offset of a write doesn't match the number of received
	// bytes.
	ErrOffset = errors.New("offset doesn't match")
	// ErrUploadBusy means that another request is writing to the upload.
	ErrUploadBusy = errors.New("another request is writing to the upload")
)

// NewUploads returns the uploads of a vault.
func NewUploads(v *vault.Vault, settings Settings) *Uploads {
	return &Uploads{vault: v, settings: settings, paused: make(chan struct{})}
}

// MaxSize returns the maximum size of a document in bytes.
func (u *Uploads) MaxSize() int64 { return u.vault.Settings.MaxFileSize }

// TooLargeReason returns the reason for rejecting a document above MaxSize.
func (u *Uploads) TooLargeReason() string {
	return document.ReasonTooLarge(u.vault.Settings.MaxFileSize)
}

// Begin creates an upload. If the document can already be rejected, it returns Invalid
// with the reason. An upload that Begin returned survives a power failure, even if no bytes
// have arrived. It returns NotFound if the abstract or folder does not exist,
// Forbidden if the actor may not upload, InsufficientStorage if the disk is full, and
// Conflict if the owner's open uploads are too many or too large.
func (u *Uploads) Begin(ctx context.Context, actor model.Actor, plan Plan) (Upload, error) {
	if err := u.precheck(ctx, actor, plan); err != nil {
		return Upload{}, err
	}
	if err := u.vault.Ready(ctx); err != nil {
		return Upload{}, err
	}
	token, err := secret.NewToken(u.vault.Rand)
	if err != nil {
		return Upload{}, err
	}
	open, err := u.create(uploadName(token), uploadInfo{Owner: actor.Record(), Plan: plan, CreatedAt: u.vault.Now()})
	if err != nil {
		return Upload{}, err
	}
	up, err := u.runExclusive(ctx, token, open, func(context.Context) (Upload, error) {
		return u.status(token, open), u.vault.StorageError(open.Sync()) // without the lock, so that uploads sync together
	})
	if err != nil {
		u.mu.Lock()
		defer u.mu.Unlock()
		return Upload{}, errors.Join(err, u.remove(open))
	}
	return up, nil
}

// create creates the files of an upload, which are not durable yet.
func (u *Uploads) create(name string, info uploadInfo) (*openUpload, error) {
	raw, err := json.Marshal(info)
	if err != nil {
		return nil, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.isPaused() {
		return nil, errPaused
	}
	if err := errors.Join(u.load(), u.removeExpired()); err != nil {
		return nil, err
	}
	if err := u.checkLimits(info); err != nil {
		return nil, err
	}
	partial, err := u.partials.Create(name, raw)
	if err != nil {
		return nil, u.vault.StorageError(err)
	}
	open := &openUpload{Partial: partial, uploadInfo: info}
	u.byName[name] = open
	return open, nil
}

// uploadName returns the name of an upload on disk. It is a hash of the token, so that
// read access to the directory is not enough to continue the upload.
func uploadName(token string) string {
	hash, ok := secret.HashToken(token)
	if !ok {
		return ""
	}
	return hex.EncodeToString(hash[:])
}

// precheck returns an error if the document can be rejected before its bytes arrive.
func (u *Uploads) precheck(ctx context.Context, actor model.Actor, plan Plan) error {
	if reason := u.vault.Files.CheckNameAndSize(plan.Filename, plan.Size); reason != "" {
		return &errs.Error{Kind: errs.Invalid, Message: reason}
	}
	return u.vault.Store.View(ctx, func(t *store.Tx) error {
		if err := u.vault.CheckActor(t, actor); err != nil {
			return err
		}
		if err := u.checkDestination(t, plan.Abstract, plan.Folder); err != nil {
			return err
		}
		if plan.Abstract != 0 && len(plan.Path) > 0 {
			return errs.InvalidField("path", "Documents of an abstract can't be in folders. Omit `path`.")
		}
		_, _, err := vault.ResolvePath(t, plan.Folder, plan.Path)
		return err
	})
}

// checkDestination returns an error if the abstract or folder does not exist or is full.
func (u *Uploads) checkDestination(t *store.Tx, abstract, folder uint64) error {
	switch {
	case abstract != 0:
		a, err := t.Abstract(abstract)
		if err == nil && len(a.Files) >= u.vault.MaxFilesPerAbstract() {
			err = &errs.Error{Kind: errs.Invalid, Message: document.ReasonAbstractFull}
		}
		return err
	case folder != 0 && !t.HasFolder(folder):
		return errs.RecordNotFound("folder", folder)
	}
	return nil
}

// reservationTTL is how long disk space stays reserved for an upload after its last bytes
// were received.
const reservationTTL = 2 * time.Minute

// status returns the progress of an upload that has not ended.
func (u *Uploads) status(id string, open *openUpload) Upload {
	return Upload{ID: id, Size: open.Size, Offset: open.FlushedOffset(), Received: open.Offset() == open.Size,
		ExpiresAt: open.UpdatedAt().Add(u.settings.retention()), Metadata: open.Metadata}
}

// Get returns the progress of an upload. If all bytes are received, it first tries to
// finish the upload, because an earlier attempt may have failed. It returns NotFound if
// the upload does not exist, is expired, or belongs to another user.
func (u *Uploads) Get(ctx context.Context, actor model.Actor, id string) (Upload, error) {
	if up, found, err := u.findOutcome(ctx, actor, id); found || err != nil {
		return up, err
	}
	open, free, err := u.find(actor, id)
	if err != nil || !free || open.Offset() < open.Size {
		return u.statusOr(id, open, err)
	}
	return u.runExclusive(ctx, id, open, func(ctx context.Context) (Upload, error) { return u.finish(ctx, actor, id, open) })
}

func (u *Uploads) statusOr(id string, open *openUpload, err error) (Upload, error) {
	if err != nil {
		return Upload{}, err
	}
	return u.status(id, open), nil
}

// Offset returns the offset at which a client can resume an upload or, if the upload has
// ended, its outcome. Unlike Get, it never finishes the upload. If all bytes are received
// but not yet synced to the disk, it returns Conflict with ErrUploadBusy, because the
// offset may still change.
func (u *Uploads) Offset(ctx context.Context, actor model.Actor, id string) (Upload, error) {
	if up, found, err := u.findOutcome(ctx, actor, id); found || err != nil {
		return up, err
	}
	open, free, err := u.find(actor, id)
	if err == nil && !free && open.Offset() == open.Size && open.FlushedOffset() < open.Size {
		err = errUploadBusy
	}
	return u.statusOr(id, open, err)
}

var errUploadBusy = &errs.Error{Kind: errs.Conflict, Message: "Another request is sending this document. Try again in a moment.",
	Err: ErrUploadBusy}

// find returns an upload that belongs to the actor. free reports whether no request is
// writing to it.
func (u *Uploads) find(actor model.Actor, id string) (open *openUpload, free bool, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := u.load(); err != nil {
		return nil, false, err
	}
	open = u.byName[uploadName(id)]
	if open == nil || open.canceled || open.Owner != actor.Record() || u.isExpired(open) {
		return nil, false, errs.RecordNotFound("upload", "of "+actor.Record())
	}
	return open, !open.busy, nil
}

// Write appends the bytes of r to an upload at an offset. It returns Conflict with
// ErrOffset if the offset is wrong, or with ErrUploadBusy if another request is writing.
// It returns the error of r if reading fails, InsufficientStorage or Unavailable if
// writing fails, and Invalid if r is longer than the rest of the upload. Bytes received
// before an error are kept.
//
// After the last byte, Write stores or rejects the document. If a temporary error
// prevents this, the bytes are kept, and Get tries again.
func (u *Uploads) Write(ctx context.Context, actor model.Actor, id string, offset int64, r io.Reader) (Upload, error) {
	if up, found, err := u.findOutcome(ctx, actor, id); found || err != nil {
		return up, err
	}
	if err := u.vault.Ready(ctx); err != nil {
		return Upload{}, err
	}
	open, _, err := u.find(actor, id)
	if err != nil {
		return Upload{}, err
	}
	return u.runExclusive(ctx, id, open, func(ctx context.Context) (Upload, error) {
		if at := open.Offset(); at != offset {
			return u.status(id, open), &errs.Error{Kind: errs.Conflict, Message: fmt.Sprintf("The upload resumes at byte %d.", at), Err: ErrOffset}
		}
		if err := u.receive(ctx, actor, open, r); err != nil || open.Offset() < open.Size {
			return u.status(id, open), err
		}
		up, err := u.finish(ctx, actor, id, open)
		switch kind := errs.KindOf(err); {
		case kind == errs.Unauthenticated, kind == errs.Forbidden, errors.Is(err, errCanceled), err != nil && open.FlushedOffset() < open.Size:
			return u.status(id, open), err
		case err != nil:
			u.vault.Log.Warn("complete upload not stored yet", "error", err, "request_id", actor.RequestID)
			return u.status(id, open), nil
		}
		return up, nil
	})
}

// receive appends the bytes of r to an upload.
func (u *Uploads) receive(ctx context.Context, actor model.Actor, open *openUpload, r io.Reader) error {
	if err := u.vault.Store.View(ctx, func(t *store.Tx) error { return u.vault.CheckActor(t, actor) }); err != nil {
		return err
	}
	u.vault.Activity.Begin()
	defer u.vault.Activity.End()
	err := open.Append(ctx, &storage.DiskGuardReader{Reader: &pausableReader{r, u}, Storage: u.vault.Storage}, open.Size)
	if errors.Is(err, blobstore.ErrTooLarge) {
		return &errs.Error{Kind: errs.Invalid, Message: "The upload has more bytes than its Upload-Length.", Err: err}
	}
	return u.vault.StorageError(err)
}

// runExclusive calls fn if no other request is using the upload. Otherwise, it returns
// errUploadBusy. Cancel cancels the context passed to fn.
func (u *Uploads) runExclusive(
	ctx context.Context, id string, open *openUpload, fn func(context.Context) (Upload, error),
) (up Upload, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := u.acquire(open, cancel); err != nil {
		return u.status(id, open), err
	}
	defer func() { err = errors.Join(err, u.release(open, up.Ended())) }() // even if fn panics
	return fn(ctx)
}

func (u *Uploads) acquire(open *openUpload, cancel context.CancelFunc) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.isPaused():
		return errPaused
	case open.canceled:
		return errs.RecordNotFound("upload", open.Name())
	case open.busy:
		return errUploadBusy
	}
	open.busy, open.cancel = true, cancel
	u.active.Add(1)
	return nil
}

func (u *Uploads) release(open *openUpload, ended bool) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	defer u.active.Done()
	open.busy, open.committing = false, false
	if ended || open.canceled {
		return u.remove(open)
	}
	return nil
}

// Cancel removes an upload. If the document has already been stored, Cancel does nothing.
// It returns NotFound if the upload does not exist, and Conflict with ErrUploadBusy while
// the document is being committed.
func (u *Uploads) Cancel(ctx context.Context, actor model.Actor, id string) error {
	if _, found, err := u.findOutcome(ctx, actor, id); found || err != nil {
		return err
	}
	open, _, err := u.find(actor, id)
	if err != nil {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case open.canceled:
		return nil
	case open.committing:
		return &errs.Error{Kind: errs.Conflict, Message: "The server is storing the document. Try again in a moment.", Err: ErrUploadBusy}
	}
	return u.remove(open)
}

package upload

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"deedkeep/app/blobstore"
	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/app/store"
	"deedkeep/app/vault"
)

// Uploads are the verbs on documents that arrive in several requests, and go on after
// a lost connection or a restart of the server. Only who began one goes on with it.
//
// A document is filed once, whatever is asked again: what became of it is kept under
// the upload's own slot, in the transaction of its record, for as long as answers are.
type Uploads struct {
	vault     *vault.Vault
	settings  Settings
	paused    chan struct{} // closed by Pause
	pauseOnce sync.Once
	active    sync.WaitGroup // writes and filings

	mu       sync.Mutex
	partials *blobstore.Partials    // nil until the first use
	byName   map[string]*openUpload // by the SHA-256 of the id, in hex

	batches vault.Batches // has a lock of its own
}

// openUpload is one upload. What is behind the first blank line is guarded by Uploads.mu.
type openUpload struct {
	*blobstore.Partial
	uploadInfo

	busy       bool
	canceled   bool               // canceled or over; who is at work removes it
	cancel     context.CancelFunc // of who is at work
	committing bool               // its record is being written: too late to cancel
}

// uploadInfo is what stands in the note of an upload (app/blobstore/note.go).
type uploadInfo struct {
	Owner     string    `json:"owner"` // title.Actor.Record of who began it
	Abstract  uint64    `json:"abstract,omitempty"`
	Folder    uint64    `json:"folder,omitempty"`
	Path      []string  `json:"path,omitempty"`
	Filename  string    `json:"filename"`
	Size      int64     `json:"size"`
	Batch     string    `json:"batch,omitempty"`
	Position  int       `json:"turn,omitempty"`
	Metadata  string    `json:"metadata,omitempty"`
	CreatedAt time.Time `json:"at"`
}

// Plan is a document that is to arrive: with an abstract, in a folder, or, with
// both 0, in none.
type Plan struct {
	Abstract, Folder uint64
	Path             []string // names of folders within one another, below Folder; they are created where they are missing
	Filename         string   // a label, as body.Filename makes one
	Size             int64    // bytes
	// Documents of one Batch ("": none) that were chosen together stand in the order of
	// their turns among an abstract's, whichever is there first.
	Batch    string
	Position int
	// Metadata is what the client said about it, for the client alone.
	Metadata string
}

// Upload is how far one is, and, at its end, what became of it.
type Upload struct {
	ID        string // unguessable; told by Begin and kept nowhere
	Size      int64
	Offset    int64     // bytes that are there and durable
	Received  bool      // all bytes are there, durable or not
	ExpiresAt time.Time // when it is over unless more bytes come
	// Metadata is that of the plan; "" once it has ended.
	Metadata  string
	File      *model.File
	Rejection string // why it was refused; "" unless it was
}

// Ended reports whether it was filed or refused.
func (u Upload) Ended() bool { return u.File != nil || u.Rejection != "" }

// Settings are the settings uploads.* of config.example.yaml; 24 hours, 200, and
// 20 GB where they are 0.
type Settings struct {
	Keep         time.Duration // since the last byte
	PerUser      int           // open at once, of a person or an API key
	BytesPerUser int64         // of those together
}

func (s Settings) retention() time.Duration { return cmp.Or(s.Keep, 24*time.Hour) }
func (s Settings) maxPerUser() int          { return cmp.Or(s.PerUser, 200) }
func (s Settings) maxBytesPerUser() int64   { return cmp.Or(s.BytesPerUser, 20<<30) }

// minIdleToEvict is how long an upload must have stood still to make room for another of
// the same user.
const minIdleToEvict = 10 * time.Minute

// In the chain of a Conflict of Write.
var (
	// ErrOffset: the bytes begin elsewhere than where those that are there end.
	ErrOffset = errors.New("another offset")
	// ErrUploadBusy: another request is writing it.
	ErrUploadBusy = errors.New("the upload is being written")
)

func NewUploads(v *vault.Vault, set Settings) *Uploads {
	return &Uploads{vault: v, settings: set, paused: make(chan struct{})}
}

// load reads what an earlier run left, once. Its caller holds the lock.
func (u *Uploads) load() error {
	if u.partials != nil {
		return nil
	}
	partials, left, err := u.vault.Blobs.OpenPartials(filepath.Join(u.vault.Dir, "uploads"), u.vault.Now)
	if err != nil {
		return u.vault.StorageError(err)
	}
	u.byName = map[string]*openUpload{}
	for _, x := range left {
		one := &openUpload{Partial: x}
		if err := json.Unmarshal(x.OwnerData, &one.uploadInfo); err != nil {
			u.vault.Log.Warn("an upload that cannot go on is removed", "error", err)
			if err := x.Remove(); err != nil {
				return err
			}
			continue
		}
		u.byName[x.Name()] = one
	}
	u.partials = partials
	return nil
}

// MaxSize is how many bytes a document may have.
func (u *Uploads) MaxSize() int64 { return u.vault.Settings.MaxFileSize }

// TooLargeReason is the reason for which one with more is refused.
func (u *Uploads) TooLargeReason() string {
	return document.ReasonTooLarge(u.vault.Settings.MaxFileSize)
}

// Begin makes room for a document. It refuses what is known beforehand: Invalid with
// the sentence of the refusal, NotFound without the abstract or folder, Forbidden,
// Full, or Conflict with too many open at once.
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
	name := uploadName(token)
	note := uploadInfo{Owner: actor.Record(), Abstract: plan.Abstract, Folder: plan.Folder, Path: plan.Path, Filename: plan.Filename, Size: plan.Size, Batch: plan.Batch, Position: plan.Position, Metadata: plan.Metadata, CreatedAt: u.vault.Now()}
	raw, err := json.Marshal(note)
	if err != nil {
		return Upload{}, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.isPaused() {
		return Upload{}, errPaused
	}
	if err := errors.Join(u.load(), u.removeExpired()); err != nil {
		return Upload{}, err
	}
	if err := u.checkLimits(note); err != nil {
		return Upload{}, err
	}
	x, err := u.partials.Create(name, raw)
	if err != nil {
		return Upload{}, u.vault.StorageError(err)
	}
	one := &openUpload{Partial: x, uploadInfo: note}
	u.byName[name] = one
	return u.status(token, one), nil
}

// uploadName is what an upload is called on the disk: who reads it there cannot go on.
func uploadName(token string) string {
	hash, ok := secret.HashToken(token)
	if !ok {
		return ""
	}
	return hex.EncodeToString(hash[:])
}

// precheck refuses what can be refused without the bytes.
func (u *Uploads) precheck(ctx context.Context, actor model.Actor, plan Plan) error {
	if refusal := u.vault.Files.CheckNameAndSize(plan.Filename, plan.Size); refusal != "" {
		return &errs.Error{Kind: errs.Invalid, Message: refusal}
	}
	return u.vault.Store.View(ctx, func(t *store.Tx) error {
		if err := u.vault.CheckActor(t, actor); err != nil {
			return err
		}
		if err := u.checkDestination(t, plan.Abstract, plan.Folder); err != nil {
			return err
		}
		if plan.Abstract != 0 && len(plan.Path) > 0 {
			return errs.InvalidField("path", "An abstract has no folders.")
		}
		_, _, err := vault.ResolvePath(t, plan.Folder, plan.Path)
		return err
	})
}

// checkDestination is nil where the place is there and has room.
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

// reservationTTL is how long the room for an upload is kept free from others while
// nobody goes on with it.
const reservationTTL = 2 * time.Minute

// remove removes one. Its caller holds the lock.
func (u *Uploads) remove(one *openUpload) error {
	one.canceled = true
	if one.busy {
		one.cancel()
		return nil
	}
	delete(u.byName, one.Name())
	return one.Remove()
}

// status is what is told of one that has not ended.
func (u *Uploads) status(id string, one *openUpload) Upload {
	return Upload{ID: id, Size: one.Size, Offset: one.FlushedOffset(), Received: one.Offset() == one.Size, ExpiresAt: one.UpdatedAt().Add(u.settings.retention()), Metadata: one.Metadata}
}

// Get tells how far an upload is; one whose bytes are all there is filed first, where
// that did not succeed before. NotFound for one that never was, is over, or is another
// user's.
func (u *Uploads) Get(ctx context.Context, actor model.Actor, id string) (Upload, error) {
	if up, found, err := u.findOutcome(ctx, actor, id); found || err != nil {
		return up, err
	}
	one, free, err := u.find(actor, id)
	if err != nil || !free || one.Offset() < one.Size {
		return u.statusOr(id, one, err)
	}
	return u.runExclusive(ctx, id, one, func(ctx context.Context) (Upload, error) { return u.finish(ctx, actor, id, one) })
}

func (u *Uploads) statusOr(id string, one *openUpload, err error) (Upload, error) {
	if err != nil {
		return Upload{}, err
	}
	return u.status(id, one), nil
}

// Offset is Get for a client that only wants to know where to resume. While all bytes
// are there and not yet durable it is Conflict with ErrUploadBusy: no offset would be
// right for long.
func (u *Uploads) Offset(ctx context.Context, actor model.Actor, id string) (Upload, error) {
	if up, found, err := u.findOutcome(ctx, actor, id); found || err != nil {
		return up, err
	}
	one, free, err := u.find(actor, id)
	if err == nil && !free && one.Offset() == one.Size && one.FlushedOffset() < one.Size {
		err = errUploadBusy
	}
	return u.statusOr(id, one, err)
}

var errUploadBusy = &errs.Error{Kind: errs.Conflict, Message: "Another request is sending this document; try again in a moment.", Err: ErrUploadBusy}

// find gives an actor's own upload; free is whether nobody writes it.
func (u *Uploads) find(actor model.Actor, id string) (one *openUpload, free bool, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := u.load(); err != nil {
		return nil, false, err
	}
	one = u.byName[uploadName(id)]
	if one == nil || one.canceled || one.Owner != actor.Record() || u.isExpired(one) {
		return nil, false, errs.RecordNotFound("upload", "of "+actor.Record())
	}
	return one, !one.busy, nil
}

// Write goes on with an upload at an offset, to the end of r. What arrived counts,
// also with an error: r's own as r said it, Full, Closing, or Invalid when r has more
// than was promised. Conflict with ErrOffset or ErrUploadBusy where it cannot go on
// here. With the last byte the document is filed or refused; where that does not
// succeed now, the upload is as it was, all of it there, and Get tries again.
func (u *Uploads) Write(ctx context.Context, actor model.Actor, id string, offset int64, r io.Reader) (Upload, error) {
	if up, found, err := u.findOutcome(ctx, actor, id); found || err != nil {
		return up, err
	}
	if err := u.vault.Ready(ctx); err != nil {
		return Upload{}, err
	}
	one, _, err := u.find(actor, id)
	if err != nil {
		return Upload{}, err
	}
	return u.runExclusive(ctx, id, one, func(ctx context.Context) (Upload, error) {
		if at := one.Offset(); at != offset {
			return u.status(id, one), &errs.Error{Kind: errs.Conflict, Message: fmt.Sprintf("The upload resumes at byte %d.", at), Err: ErrOffset}
		}
		if err := u.receive(ctx, actor, one, r); err != nil || one.Offset() < one.Size {
			return u.status(id, one), err
		}
		up, err := u.finish(ctx, actor, id, one)
		switch kind := errs.KindOf(err); {
		case kind == errs.Unauthenticated, kind == errs.Forbidden, errors.Is(err, errCanceled), err != nil && one.FlushedOffset() < one.Size:
			return u.status(id, one), err
		case err != nil:
			u.vault.Log.Warn("a document that is all there is not filed yet", "error", err, "request_id", actor.RequestID)
			return u.status(id, one), nil
		}
		return up, nil
	})
}

// receive lets the bytes arrive.
func (u *Uploads) receive(ctx context.Context, actor model.Actor, one *openUpload, r io.Reader) error {
	if err := u.vault.Store.View(ctx, func(t *store.Tx) error { return u.vault.CheckActor(t, actor) }); err != nil {
		return err
	}
	u.vault.Activity.Begin()
	defer u.vault.Activity.End()
	err := one.Append(ctx, &vault.DiskGuardReader{Reader: &pausableReader{r, u}, Vault: u.vault}, one.Size)
	if errors.Is(err, blobstore.ErrTooLarge) {
		return &errs.Error{Kind: errs.Invalid, Message: "More bytes arrived than the upload was to have.", Err: err}
	}
	return u.vault.StorageError(err)
}

// runExclusive runs do on an upload that nobody else works on, in a time that ends with the
// vault's, or with a Cancel.
func (u *Uploads) runExclusive(ctx context.Context, id string, one *openUpload, do func(context.Context) (Upload, error)) (Upload, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := u.acquire(one, cancel); err != nil {
		return u.status(id, one), err
	}
	up, err := do(ctx)
	return up, errors.Join(err, u.release(one, up.Ended()))
}

func (u *Uploads) acquire(one *openUpload, cancel context.CancelFunc) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.isPaused():
		return errPaused
	case one.canceled:
		return errs.RecordNotFound("upload", one.Name())
	case one.busy:
		return errUploadBusy
	}
	one.busy, one.cancel = true, cancel
	u.active.Add(1)
	return nil
}

func (u *Uploads) release(one *openUpload, ended bool) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	defer u.active.Done()
	one.busy, one.committing = false, false
	if ended || one.canceled {
		return u.remove(one)
	}
	return nil
}

// Cancel forgets an upload; NotFound where there is none, Conflict with ErrUploadBusy
// while its record is being written. What was filed stays filed; of what was forgotten
// nothing is filed.
func (u *Uploads) Cancel(ctx context.Context, actor model.Actor, id string) error {
	if _, found, err := u.findOutcome(ctx, actor, id); found || err != nil {
		return err
	}
	one, _, err := u.find(actor, id)
	if err != nil {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case one.canceled:
		return nil
	case one.committing:
		return &errs.Error{Kind: errs.Conflict, Message: "The document is being filed just now; try again in a moment.", Err: ErrUploadBusy}
	}
	return u.remove(one)
}

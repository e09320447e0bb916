package upload

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"time"

	"deedkeep/app/errs"
)

// load reads the uploads that existed when the server started. If it was killed after an
// upload ended, the files of the upload may be left, and load removes them. Later calls do
// nothing. The caller must hold mu.
func (u *Uploads) load() error {
	if u.partials != nil {
		return nil
	}
	partials, existing, err := u.vault.Blobs.OpenPartials(filepath.Join(u.vault.Dir, "uploads"), u.vault.Now)
	if err != nil {
		return u.vault.StorageError(err)
	}
	u.byName = map[string]*openUpload{}
	for _, partial := range existing {
		open := &openUpload{Partial: partial}
		if err := json.Unmarshal(partial.OwnerData, &open.uploadInfo); err != nil {
			u.vault.Log.Warn("removed an upload that can't be resumed", "error", err)
			if err := partial.Remove(); err != nil {
				return err
			}
			continue
		}
		switch _, ended, err := u.vault.StoredResponse(context.Background(), outcomeKey(open.Owner, partial.Name())); {
		case err != nil:
			u.vault.Log.Warn("outcome of an upload not read", "error", err) // it stays until it expires
		case ended:
			if err := partial.Remove(); err != nil {
				return err
			}
			continue
		}
		u.byName[partial.Name()] = open
	}
	u.partials = partials
	return nil
}

// errPaused is returned for every write while the server is stopping.
var errPaused = errs.ServerStopping()

// isPaused reports whether uploads have stopped accepting bytes.
func (u *Uploads) isPaused() bool {
	select {
	case <-u.paused:
		return true
	default:
		return false
	}
}

// pausableReader reads from r until uploads are paused. After that, it returns errPaused.
type pausableReader struct {
	r io.Reader
	u *Uploads
}

func (p *pausableReader) Read(b []byte) (int, error) {
	if p.u.isPaused() {
		return 0, errPaused
	}
	n, err := p.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) && p.u.isPaused() {
		err = errPaused // the pause made the read fail
	}
	return n, err
}

// Paused returns a channel that Pause closes. Handlers that read a request body for Write
// then stop reading, so that the server can stop during a long upload.
func (u *Uploads) Paused() <-chan struct{} { return u.paused }

// Pause permanently stops accepting bytes. Clients can resume their uploads after the
// server restarts.
func (u *Uploads) Pause() { u.pauseOnce.Do(func() { close(u.paused) }) }

// closeTimeout is how long Close waits for requests in progress. They end quickly after
// their connections are closed.
const closeTimeout = 10 * time.Second

// Close pauses uploads and waits for requests in progress.
func (u *Uploads) Close() {
	u.mu.Lock() // wait for a running acquire, which checks isPaused before it adds to active
	u.Pause()
	u.mu.Unlock()
	done := make(chan struct{})
	go func() {
		u.active.Wait()
		close(done)
	}()
	timer := time.NewTimer(closeTimeout)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		u.vault.Log.Warn("stopped waiting for an upload in progress")
	}
}

// expireInterval is the time between checks for expired uploads.
const expireInterval = 10 * time.Minute

// Run removes expired uploads until ctx ends.
func (u *Uploads) Run(ctx context.Context) {
	tick := time.NewTicker(expireInterval)
	defer tick.Stop()
	for {
		if err := u.Expire(); err != nil {
			u.vault.Log.Error("expired uploads not removed", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Expire removes expired uploads.
func (u *Uploads) Expire() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := u.load(); err != nil {
		return err
	}
	return u.removeExpired()
}

func (u *Uploads) removeExpired() (err error) {
	for _, open := range u.byName {
		if !open.busy && u.isExpired(open) {
			err = errors.Join(err, u.remove(open))
		}
	}
	return err
}

// remove deletes an upload. If a request is in progress, remove cancels it, and the
// upload is deleted when the request ends. The caller must hold mu.
func (u *Uploads) remove(open *openUpload) error {
	open.canceled = true
	if open.busy {
		open.cancel()
		return nil
	}
	delete(u.byName, open.Name())
	return open.Remove()
}

// isExpired reports whether an upload has received no bytes for the retention time.
func (u *Uploads) isExpired(open *openUpload) bool {
	return !u.vault.Now().Before(open.UpdatedAt().Add(u.settings.retention()))
}

package upload

import (
	"context"
	"errors"
	"io"
	"time"

	"deedkeep/app/errs"
)

// errPaused is the error of all writes while the server stops.
var errPaused = &errs.Error{Kind: errs.Unavailable, Message: "The service is stopping; try again in a moment."}

// isPaused reports whether uploads accept no more bytes.
func (u *Uploads) isPaused() bool {
	select {
	case <-u.paused:
		return true
	default:
		return false
	}
}

// pausableReader returns errPaused once uploads are paused.
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
		err = errPaused // the read failed because of the pause
	}
	return n, err
}

// Paused returns a channel that is closed by Pause. A handler that reads a body for Write
// stops reading then, so that the server can stop during a long upload.
func (u *Uploads) Paused() <-chan struct{} { return u.paused }

// Pause permanently stops accepting bytes. Uploads resume after the next start.
func (u *Uploads) Pause() { u.pauseOnce.Do(func() { close(u.paused) }) }

// closeTimeout is how long Close waits for requests in progress. After their connections
// are closed they end quickly.
const closeTimeout = 10 * time.Second

// Close pauses uploads and waits for requests in progress.
func (u *Uploads) Close() {
	u.mu.Lock() // wait for acquire, which checks isPaused and then adds to active
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
		u.vault.Log.Warn("an upload did not end")
	}
}

// expireInterval is the time between two checks for expired uploads.
const expireInterval = 10 * time.Minute

// Run removes expired uploads until ctx ends.
func (u *Uploads) Run(ctx context.Context) {
	tick := time.NewTicker(expireInterval)
	defer tick.Stop()
	for {
		if err := u.Expire(); err != nil {
			u.vault.Log.Error("uploads", "error", err)
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

// isExpired reports whether an upload has received no bytes for longer than its retention.
func (u *Uploads) isExpired(open *openUpload) bool {
	return !u.vault.Now().Before(open.UpdatedAt().Add(u.settings.retention()))
}

package upload

import (
	"context"
	"errors"
	"io"
	"time"

	"deedkeep/app/errs"
)

var errPaused = &errs.Error{Kind: errs.Unavailable, Message: "The service is stopping; try again in a moment."}

// isPaused reports whether no more bytes are taken.
func (u *Uploads) isPaused() bool {
	select {
	case <-u.paused:
		return true
	default:
		return false
	}
}

// pausableReader ends a document with errPaused once no more bytes are taken.
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
		err = errPaused // who reads it was told to stop
	}
	return n, err
}

// Paused is closed when no more bytes are taken: who reads a body for Write stops
// reading then, so that a server stops without waiting for a long document.
func (u *Uploads) Paused() <-chan struct{} { return u.paused }

// Pause takes no more bytes, for good: the uploads go on after the next start.
func (u *Uploads) Pause() { u.pauseOnce.Do(func() { close(u.paused) }) }

// closeTimeout is how long Close waits for what is being written: with its connection
// cut, each is settled in a moment.
const closeTimeout = 10 * time.Second

// close waits for what is under way.
func (u *Uploads) Close() {
	u.mu.Lock() // nobody is between looking and beginning
	u.Pause()
	u.mu.Unlock()
	done := make(chan struct{})
	go func() {
		u.active.Wait()
		close(done)
	}()
	over := time.NewTimer(closeTimeout)
	defer over.Stop()
	select {
	case <-done:
	case <-over.C:
		u.vault.Log.Warn("an upload did not end")
	}
}

// expireInterval is how often uploads are looked at whose time is over.
const expireInterval = 10 * time.Minute

// run removes what nobody went on with.
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

// Expire removes the uploads whose time is over.
func (u *Uploads) Expire() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := u.load(); err != nil {
		return err
	}
	return u.removeExpired()
}

func (u *Uploads) removeExpired() (err error) {
	for _, one := range u.byName {
		if !one.busy && u.isExpired(one) {
			err = errors.Join(err, u.remove(one))
		}
	}
	return err
}

// isExpired reports whether an upload has stood still for too long.
func (u *Uploads) isExpired(one *openUpload) bool {
	return !u.vault.Now().Before(one.UpdatedAt().Add(u.settings.retention()))
}

package upload

import (
	"context"
	"errors"
	"io"
	"time"

	"deedkeep/app/errs"
)

var errPaused = &errs.Error{Kind: errs.Unavailable, Message: "The service is stopping; try again in a moment."}

// over reports whether no more bytes are taken.
func (u *Uploads) over() bool {
	select {
	case <-u.ending:
		return true
	default:
		return false
	}
}

// pausing ends a document with errPaused once no more bytes are taken.
type pausing struct {
	r io.Reader
	u *Uploads
}

func (p *pausing) Read(b []byte) (int, error) {
	if p.u.over() {
		return 0, errPaused
	}
	n, err := p.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) && p.u.over() {
		err = errPaused // who reads it was told to stop
	}
	return n, err
}

// Pausing is closed when no more bytes are taken: who reads a body for Write stops
// reading then, so that a server stops without waiting for a long document.
func (u *Uploads) Pausing() <-chan struct{} { return u.ending }

// Pause takes no more bytes, for good: the uploads go on after the next start.
func (u *Uploads) Pause() { u.pause.Do(func() { close(u.ending) }) }

// uploadsEnding is how long Close waits for what is being written: with its connection
// cut, each is settled in a moment.
const uploadsEnding = 10 * time.Second

// close waits for what is under way.
func (u *Uploads) Close() {
	u.mu.Lock() // nobody is between looking and beginning
	u.Pause()
	u.mu.Unlock()
	done := make(chan struct{})
	go func() {
		u.under.Wait()
		close(done)
	}()
	over := time.NewTimer(uploadsEnding)
	defer over.Stop()
	select {
	case <-done:
	case <-over.C:
		u.vault.Log.Warn("an upload did not end")
	}
}

// expireEvery is how often uploads are looked at whose time is over.
const expireEvery = 10 * time.Minute

// run removes what nobody went on with.
func (u *Uploads) Run(ctx context.Context) {
	tick := time.NewTicker(expireEvery)
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
	return u.expire()
}

func (u *Uploads) expire() (err error) {
	for _, one := range u.all {
		if !one.busy && u.isOver(one) {
			err = errors.Join(err, u.forget(one))
		}
	}
	return err
}

// isOver reports whether an upload has stood still for too long.
func (u *Uploads) isOver(one *arriving) bool {
	return !u.vault.Now().Before(one.UpdatedAt().Add(u.set.keep()))
}

package certificate

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Options are the options of Open. If Cert and Key are set, the certificate is read from these
// files. If Dir is set, Open creates a self-signed certificate for Names in that directory if
// necessary.
type Options struct {
	Cert, Key    string
	Dir          string
	Names        []string
	RequiredName string // the self-signed certificate is renewed if it doesn't cover this name; "" if no name is required
	Now          func() time.Time
	Rand         io.Reader
	Log          *slog.Logger
}

// Reloader provides the current certificate. It is safe for concurrent use.
type Reloader struct {
	opts Options

	mu        sync.Mutex
	pair      *tls.Certificate
	info      Info
	files     [2]fileState
	checkedAt time.Time
	lastError string    // the last error that was logged; "" if there is none
	warnedAt  time.Time // when the last expiration warning was logged
}

// fileState identifies a version of a file.
type fileState struct {
	at   time.Time
	size int64
}

const (
	// checkInterval is the minimum time between two checks of the files. The checks are triggered
	// by handshakes.
	checkInterval = 2 * time.Second
)

// Open loads the certificate. If necessary, it creates a self-signed one. The error says which file
// to fix and how.
func Open(opts Options) (*Reloader, error) {
	l := &Reloader{opts: opts}
	if l.isSelfSigned() {
		l.opts.Cert = filepath.Join(opts.Dir, CertAndKeyFile)
		l.opts.Key = l.opts.Cert
		if err := l.renewIfNeeded(); err != nil {
			return nil, err
		}
	}
	l.checkedAt, l.files = opts.Now(), l.fileStates()
	if err := l.load(); err != nil {
		return nil, err
	}
	l.warnExpiry()
	return l, nil
}

func (r *Reloader) isSelfSigned() bool { return r.opts.Dir != "" }

// Info returns a description of the current certificate.
func (r *Reloader) Info() Info {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.info
}

// Close does nothing: a Reloader keeps no file open.
func (r *Reloader) Close() {}

// GetCertificate implements tls.Config.GetCertificate. It checks the files for changes at
// intervals. If they are invalid, the previous certificate stays in use.
func (r *Reloader) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := r.opts.Now(); now.Sub(r.checkedAt) >= checkInterval || now.Before(r.checkedAt) {
		r.checkedAt = now
		r.reloadIfNeeded()
	}
	return r.pair, nil
}

// reloadIfNeeded reloads the files if they changed or if the last attempt to load them failed.
func (r *Reloader) reloadIfNeeded() {
	if r.isSelfSigned() && r.opts.Now().After(r.info.NotAfter.Add(-renewBefore)) {
		if err := r.renewIfNeeded(); err != nil {
			r.logError(err)
			return
		}
	}
	if files := r.fileStates(); files != r.files || r.lastError != "" {
		r.files = files
		r.logError(r.load())
	}
	r.warnExpiry()
}

// logError logs an error unless it is the same as the last one. The previous certificate stays in
// use until it expires.
func (r *Reloader) logError(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != "" && text != r.lastError {
		r.opts.Log.Error("new certificate is not valid; the current one stays in use", "error", text, "until", r.info.NotAfter)
	}
	r.lastError = text
}

func (r *Reloader) fileStates() (all [2]fileState) {
	for i, path := range []string{r.opts.Cert, r.opts.Key} {
		if info, err := os.Stat(path); err == nil { // if the file is missing, load returns an error
			all[i] = fileState{info.ModTime(), info.Size()}
		}
	}
	return all
}

func (r *Reloader) load() error {
	pair, info, err := Load(r.opts.Cert, r.opts.Key)
	if err != nil {
		return err
	}
	now := r.opts.Now()
	if r.pair != nil && now.After(info.NotAfter) && now.Before(r.info.NotAfter) {
		return fmt.Errorf("certificate %s: expired on %s", r.opts.Cert, info.NotAfter.Format(time.DateOnly))
	}
	info.SelfSigned = r.isSelfSigned()
	if r.pair != nil && info.Fingerprint != r.info.Fingerprint {
		r.opts.Log.Warn("new certificate loaded", "fingerprint", info.Fingerprint, "until", info.NotAfter)
	}
	r.pair, r.info = &pair, info
	return nil
}

// renewIfNeeded creates a self-signed certificate if there is none, if the current one expires
// soon, or if it doesn't cover RequiredName.
func (r *Reloader) renewIfNeeded() error {
	_, info, err := Load(r.opts.Cert, r.opts.Key)
	if _, statErr := os.Stat(r.opts.Cert); err != nil && !errors.Is(statErr, fs.ErrNotExist) {
		return fmt.Errorf("%w; delete the file to create a new certificate", err)
	}
	if err == nil && r.opts.Now().Before(info.NotAfter.Add(-renewBefore)) && (r.opts.RequiredName == "" || info.Covers(r.opts.RequiredName)) {
		return nil
	}
	if err := generate(r.opts.Dir, r.opts.Names, r.opts.Now(), r.opts.Rand); err != nil {
		return fmt.Errorf("self-signed certificate in %s: %w", r.opts.Dir, err)
	}
	return nil
}

// warnExpiry logs a warning once a day if the certificate expires soon.
func (r *Reloader) warnExpiry() {
	now := r.opts.Now()
	if now.Before(r.info.NotAfter.Add(-ExpiryWarning)) || now.Sub(r.warnedAt) < 24*time.Hour {
		return
	}
	r.warnedAt = now
	r.opts.Log.Warn("the certificate expires soon or has expired; replace the files tls.cert and tls.key",
		"cert", r.opts.Cert, "until", r.info.NotAfter)
}

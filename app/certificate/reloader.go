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

func (l *Reloader) isSelfSigned() bool { return l.opts.Dir != "" }

// Info returns a description of the current certificate.
func (l *Reloader) Info() Info {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.info
}

// GetCertificate implements tls.Config.GetCertificate. It checks the files for changes at
// intervals. If they are invalid, the previous certificate stays in use.
func (l *Reloader) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := l.opts.Now(); now.Sub(l.checkedAt) >= checkInterval || now.Before(l.checkedAt) {
		l.checkedAt = now
		l.reloadIfNeeded()
	}
	return l.pair, nil
}

// reloadIfNeeded reloads the files if they changed or if the last attempt to load them failed.
func (l *Reloader) reloadIfNeeded() {
	if l.isSelfSigned() && l.opts.Now().After(l.info.NotAfter.Add(-renewBefore)) {
		if err := l.renewIfNeeded(); err != nil {
			l.logError(err)
			return
		}
	}
	if files := l.fileStates(); files != l.files || l.lastError != "" {
		l.files = files
		l.logError(l.load())
	}
	l.warnExpiry()
}

// logError logs an error unless it is the same as the last one. The previous certificate stays in
// use until it expires.
func (l *Reloader) logError(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != "" && text != l.lastError {
		l.opts.Log.Error("new certificate is not valid; the current one stays in use", "error", text, "until", l.info.NotAfter)
	}
	l.lastError = text
}

func (l *Reloader) fileStates() (all [2]fileState) {
	for i, path := range []string{l.opts.Cert, l.opts.Key} {
		if info, err := os.Stat(path); err == nil { // if the file is missing, load returns an error
			all[i] = fileState{info.ModTime(), info.Size()}
		}
	}
	return all
}

func (l *Reloader) load() error {
	pair, info, err := Load(l.opts.Cert, l.opts.Key)
	if err != nil {
		return err
	}
	now := l.opts.Now()
	if l.pair != nil && now.After(info.NotAfter) && now.Before(l.info.NotAfter) {
		return fmt.Errorf("certificate %s: expired on %s", l.opts.Cert, info.NotAfter.Format(time.DateOnly))
	}
	info.SelfSigned = l.isSelfSigned()
	if l.pair != nil && info.Fingerprint != l.info.Fingerprint {
		l.opts.Log.Warn("new certificate loaded", "fingerprint", info.Fingerprint, "until", info.NotAfter)
	}
	l.pair, l.info = &pair, info
	return nil
}

// renewIfNeeded creates a self-signed certificate if there is none, if the current one expires
// soon, or if it doesn't cover RequiredName.
func (l *Reloader) renewIfNeeded() error {
	_, info, err := Load(l.opts.Cert, l.opts.Key)
	if _, statErr := os.Stat(l.opts.Cert); err != nil && !errors.Is(statErr, fs.ErrNotExist) {
		return fmt.Errorf("%w; delete the file to create a new certificate", err)
	}
	if err == nil && l.opts.Now().Before(info.NotAfter.Add(-renewBefore)) && (l.opts.RequiredName == "" || info.Covers(l.opts.RequiredName)) {
		return nil
	}
	if err := generate(l.opts.Dir, l.opts.Names, l.opts.Now(), l.opts.Rand); err != nil {
		return fmt.Errorf("self-signed certificate in %s: %w", l.opts.Dir, err)
	}
	return nil
}

// warnExpiry logs a warning once a day if the certificate expires soon.
func (l *Reloader) warnExpiry() {
	now := l.opts.Now()
	if now.Before(l.info.NotAfter.Add(-ExpiryWarning)) || now.Sub(l.warnedAt) < 24*time.Hour {
		return
	}
	l.warnedAt = now
	l.opts.Log.Warn("the certificate expires soon or has expired; replace the files tls.cert and tls.key",
		"cert", l.opts.Cert, "until", l.info.NotAfter)
}

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

// Options of Open. With Cert and Key the certificate is the firm's own; else one is
// kept in the folder Dir, made when there is none, for Names.
type Options struct {
	Cert, Key    string
	Dir          string
	Names        []string
	RequiredName string // a name without which a made certificate is made anew; "" for none
	Now          func() time.Time
	Rand         io.Reader
	Log          *slog.Logger
}

// Reloader is a certificate in use. It is safe for use by several goroutines.
type Reloader struct {
	opts Options

	mu        sync.Mutex
	pair      *tls.Certificate
	facts     Info
	files     [2]stamp
	looked    time.Time
	complaint string    // what was last told to be wrong
	warned    time.Time // when its end was last told
}

// stamp tells whether a file has changed.
type stamp struct {
	at   time.Time
	size int64
}

const (
	// lookEvery is how often the files are looked at, while somebody connects.
	lookEvery = 2 * time.Second
	// soon is how long before its end a certificate is told of, once a day.
	soon = 14 * 24 * time.Hour
)

// Open reads the certificate, making it where that is asked for; an error says what
// to do about which file.
func Open(opts Options) (*Reloader, error) {
	l := &Reloader{opts: opts}
	if l.made() {
		l.opts.Cert = filepath.Join(opts.Dir, CertAndKeyFile)
		l.opts.Key = l.opts.Cert
		if err := l.renew(); err != nil {
			return nil, err
		}
	}
	l.looked, l.files = opts.Now(), l.stamps()
	if err := l.load(); err != nil {
		return nil, err
	}
	l.tellEnd()
	return l, nil
}

func (l *Reloader) made() bool { return l.opts.Dir != "" }

// Info are those of the certificate that is in use now.
func (l *Reloader) Info() Info {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.facts
}

// GetCertificate gives the certificate for a handshake (tls.Config.GetCertificate). Its files
// are looked at from time to time; what cannot be used leaves the one before in use.
func (l *Reloader) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := l.opts.Now(); now.Sub(l.looked) >= lookEvery || now.Before(l.looked) {
		l.looked = now
		l.look()
	}
	return l.pair, nil
}

// look reads the files again if they have changed, or were of no use the last time.
func (l *Reloader) look() {
	if l.made() && l.opts.Now().After(l.facts.NotAfter.Add(-renewal)) {
		if err := l.renew(); err != nil {
			l.complain(err)
			return
		}
	}
	if files := l.stamps(); files != l.files || l.complaint != "" {
		l.files = files
		l.complain(l.load())
	}
	l.tellEnd()
}

// complain logs what is wrong once, and aloud: the certificate of before runs out one day.
func (l *Reloader) complain(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != "" && text != l.complaint {
		l.opts.Log.Error("the new certificate cannot be used; the one of before stays in use", "error", text, "until", l.facts.NotAfter)
	}
	l.complaint = text
}

func (l *Reloader) stamps() (all [2]stamp) {
	for i, path := range []string{l.opts.Cert, l.opts.Key} {
		if info, err := os.Stat(path); err == nil { // load says what is wrong with one that is not there
			all[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return all
}

func (l *Reloader) load() error {
	pair, facts, err := Load(l.opts.Cert, l.opts.Key)
	if err != nil {
		return err
	}
	now := l.opts.Now()
	if l.pair != nil && now.After(facts.NotAfter) && now.Before(l.facts.NotAfter) {
		return fmt.Errorf("certificate %s: it ended on %s", l.opts.Cert, facts.NotAfter.Format(time.DateOnly))
	}
	facts.SelfSigned = l.made()
	if l.pair != nil && facts.Fingerprint != l.facts.Fingerprint {
		l.opts.Log.Warn("another certificate is in use from now on", "fingerprint", facts.Fingerprint, "until", facts.NotAfter)
	}
	l.pair, l.facts = &pair, facts
	return nil
}

// renew makes a certificate where there is none that will last, or none for Must.
func (l *Reloader) renew() error {
	_, facts, err := Load(l.opts.Cert, l.opts.Key)
	if _, gone := os.Stat(l.opts.Cert); err != nil && !errors.Is(gone, fs.ErrNotExist) {
		return fmt.Errorf("%w; delete it to have one made anew", err)
	}
	if err == nil && l.opts.Now().Before(facts.NotAfter.Add(-renewal)) && (l.opts.RequiredName == "" || facts.Covers(l.opts.RequiredName)) {
		return nil
	}
	if err := generate(l.opts.Dir, l.opts.Names, l.opts.Now(), l.opts.Rand); err != nil {
		return fmt.Errorf("self-signed certificate in %s: %w", l.opts.Dir, err)
	}
	return nil
}

// tellEnd warns once a day of a certificate that nobody renews.
func (l *Reloader) tellEnd() {
	now := l.opts.Now()
	if now.Before(l.facts.NotAfter.Add(-soon)) || now.Sub(l.warned) < 24*time.Hour {
		return
	}
	l.warned = now
	l.opts.Log.Warn("the certificate ends soon, or has ended: get a new one and put it in the place of the files of tls.cert and tls.key",
		"cert", l.opts.Cert, "until", l.facts.NotAfter)
}

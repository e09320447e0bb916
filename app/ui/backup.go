package ui

import (
	"errors"
	"net/http"
	"slices"

	"deedkeep/app/backup/archive"
	"deedkeep/app/errs"
	"deedkeep/app/vault"
)

// backupPage is how the backups go.
type backupPage struct {
	vault.BackupPlace
	Health  vault.BackupHealth
	Warning string
	Age     string // of the last good one
	Settled string // the path of the settings file
	Home    string // the data directory
	Now     backupNow
	Check   backupCheck
	Stored  storedHealth
}

// storedHealth is what is known of the documents on the disk.
type storedHealth struct {
	vault.ScrubState
	Damaged []vault.Damage // the first of them
	More    int
	Percent int // of the round under way
}

// mostDamagedShown is how many damaged documents the page names.
const mostDamagedShown = 20

func (p *pages) storedHealth() storedHealth {
	s := storedHealth{ScrubState: p.Vault.Scrub(), Damaged: p.Vault.Damaged()}
	s.Percent = int(100 * s.Progress)
	s.More = max(0, len(s.Damaged)-mostDamagedShown)
	s.Damaged = s.Damaged[:len(s.Damaged)-s.More]
	return s
}

// backupNow is the backup under way, or what the last that was asked for came to.
type backupNow struct {
	vault.Progress[vault.Backup]
	Settled bool // there is a directory
	Failed  string
}

// backupCheck is the verification under way, or what the last one found.
type backupCheck struct {
	vault.Progress[archive.VerifyReport]
	Failed string
}

// mostSnapshots is how many are listed; each is a small file that is read.
const mostSnapshots = 60

func (p *pages) backups(w http.ResponseWriter, r *http.Request, who visitor) error {
	place, err := p.Vault.Backups.Place(r.Context(), who.Actor, mostSnapshots)
	if err != nil {
		return err
	}
	h, err := p.Vault.Health(r.Context())
	if err != nil {
		return err
	}
	shown := backupPage{
		BackupPlace: place, Health: h.Backup, Warning: backupWarning(h.Backup, p.Now()), Home: p.Vault.Dir(),
		Settled: p.SettingsFile, Now: p.backupNow(), Check: p.backupCheck(),
		Stored: p.storedHealth(),
	}
	if good := h.Backup.Good; good != nil {
		shown.Age = age(p.Now().Sub(good.At))
	}
	return p.show(w, r, who, http.StatusOK, "backups.html", page{Heading: "Backups", Section: "admin", Data: shown, Styles: adminStyles})
}

func (p *pages) backupNow() backupNow {
	now := backupNow{Progress: p.Vault.Backups.Running(), Settled: true}
	now.Failed = told(now.Err)
	return now
}

func (p *pages) backupCheck() backupCheck {
	check := backupCheck{Progress: p.Vault.Backups.Verified()}
	check.Failed = told(check.Err)
	return check
}

// told is the sentence of an error of long work; administrators see it all.
func told(err error) string {
	var named *errs.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &named):
		return named.Message
	}
	return err.Error()
}

// runBackup begins a backup; one that is under way goes on.
func (p *pages) runBackup(w http.ResponseWriter, r *http.Request, who visitor) error {
	err := p.Vault.Backups.Begin(r.Context(), who.Actor)
	said := "A backup is being made."
	if errs.KindOf(err) == errs.Locked {
		said, err = "A backup is being made already.", nil
	}
	if err != nil {
		return asConflict(err)
	}
	p.health.forget()
	if isPart(r) {
		return p.part(w, r, who, http.StatusOK, "backups.html", "backup-now", p.backupNow())
	}
	return p.see(w, r, "/admin/backups", said)
}

// verifyBackup begins the verification of one snapshot, or of all.
func (p *pages) verifyBackup(w http.ResponseWriter, r *http.Request, who visitor) error {
	err := p.Vault.Backups.BeginVerify(r.Context(), who.Actor, r.PostForm.Get("snapshot"))
	said := "The backups are being verified: every byte is read."
	if errs.KindOf(err) == errs.Locked {
		said, err = "A verification is under way already.", nil
	}
	if err != nil {
		return asConflict(err)
	}
	if isPart(r) {
		return p.part(w, r, who, http.StatusOK, "backups.html", "backup-check", p.backupCheck())
	}
	return p.see(w, r, "/admin/backups", said)
}

// asConflict shows the sentence of an error whose place is not in a form.
func asConflict(err error) error {
	var named *errs.Error
	if errors.As(err, &named) && slices.Contains([]errs.Kind{errs.Invalid, errs.NotFound, errs.InsufficientStorage}, named.Kind) {
		return &errs.Error{Kind: errs.Conflict, Message: named.Message, Err: err}
	}
	return err
}

// backupPart is one of the two parts that a script asks for again while something goes
// on. When that has ended the whole page is worth reading anew.
func (p *pages) backupPart(w http.ResponseWriter, r *http.Request, who visitor) error {
	var name string
	var data any
	var running bool
	switch r.PathValue("part") {
	case "now":
		now := p.backupNow()
		name, data, running = "backup-now", now, now.Running
	case "check":
		check := p.backupCheck()
		name, data, running = "backup-check", check, check.Running
	default:
		return absentPath(r)
	}
	if !isPart(r) {
		redirect(w, r, "/admin/backups")
		return nil
	}
	if !running {
		p.health.forget()
		w.Header().Set("HX-Refresh", "true")
	}
	return p.part(w, r, who, http.StatusOK, "backups.html", name, data)
}

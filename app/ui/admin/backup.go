package admin

import (
	"errors"
	"net/http"
	"slices"

	"deedkeep/app/backup"
	"deedkeep/app/backup/archive"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/integrity"
	"deedkeep/app/txn"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault/storage"
)

// backupPage is the template data of the backups page.
type backupPage struct {
	backup.Destination
	Health  instance.BackupHealth
	Warning string
	Age     string // age of the last good backup
	Settled string // path of the settings file
	Home    string // data directory
	Now     taskView[backup.Backup]
	Check   taskView[archive.VerifyReport]
	Stored  scrubStatus
}

// scrubStatus is the state of the integrity check of stored documents.
type scrubStatus struct {
	integrity.ScrubState
	Damaged []storage.Damage // at most maxDamagedShown damaged documents
	More    int
	Percent int // progress of the current check
}

// maxDamagedShown is the maximum number of damaged documents listed on the page.
const maxDamagedShown = 20

func (p *Pages) scrubStatus() scrubStatus {
	s := scrubStatus{ScrubState: p.App.Integrity.State(), Damaged: p.App.Damaged()}
	s.Percent = int(100 * s.Progress)
	s.More = max(0, len(s.Damaged)-maxDamagedShown)
	s.Damaged = s.Damaged[:len(s.Damaged)-s.More]
	return s
}

// taskView is the progress or result of a background task.
type taskView[T any] struct {
	txn.Progress[T]
	Failed string // why the task failed
}

func newTaskView[T any](progress txn.Progress[T]) taskView[T] {
	return taskView[T]{progress, errorText(progress.Err)}
}

// maxSnapshots is the maximum number of listed snapshots. Each one requires reading a file.
const maxSnapshots = 60

func (p *Pages) backupPage(r *page.Request) error {
	backups, err := p.App.Backups.Destination(r.Context(), r.Actor, maxSnapshots)
	if err != nil {
		return err
	}
	h, err := p.App.Health(r.Context())
	if err != nil {
		return err
	}
	view := backupPage{
		Destination: backups, Health: h.Backup, Warning: page.BackupWarning(h.Backup, p.Now()), Home: p.App.Dir,
		Settled: p.SettingsFile, Stored: p.scrubStatus(),
		Now: newTaskView(p.App.Backups.Progress()), Check: newTaskView(p.App.Backups.VerifyProgress()),
	}
	if good := h.Backup.LastGood; good != nil {
		view.Age = page.FormatAge(p.Now().Sub(good.At))
	}
	return p.RenderPage(r, http.StatusOK, "backups.html", page.Page{
		Heading: "Backups", Section: "admin", Data: view, Styles: adminStyles,
	})
}

// errorText returns the text of an error in a background task. It includes internal errors because
// only administrators see it.
func errorText(err error) string {
	if domainErr, ok := errors.AsType[*errs.Error](err); ok {
		return domainErr.Message
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// runBackup starts a backup unless one is already running.
func (p *Pages) runBackup(r *page.Request) error {
	err := p.App.Backups.StartCreate(r.Context(), r.Actor, "")
	p.ResetWarnings()
	return p.showStarted(r, "now", err, "Backup started.", "A backup is already running.")
}

// verifyBackup starts verifying the given snapshot or, if none is given, all snapshots.
func (p *Pages) verifyBackup(r *page.Request) error {
	err := p.App.Backups.StartVerify(r.Context(), r.Actor, r.PostForm.Get("snapshot"))
	return p.showStarted(r, "check", err, "Verification started.", "A verification is already running.")
}

// showStarted responds to a form that starts a background task. err is the error of starting it.
func (p *Pages) showStarted(r *page.Request, part string, err error, started, alreadyRunning string) error {
	if errs.KindOf(err) == errs.Locked {
		started, err = alreadyRunning, nil
	}
	if err != nil {
		return asConflict(err)
	}
	if r.IsPart() {
		task, _ := p.backupTask(part)
		return p.RenderPart(r, http.StatusOK, "backups.html", "backup-"+part, task)
	}
	return p.RedirectWithNotice(r, "/admin/backups", started)
}

// asConflict converts an error that doesn't belong to a form field, so that its message is shown.
func asConflict(err error) error {
	if domainErr, ok := errors.AsType[*errs.Error](err); ok && slices.Contains([]errs.Kind{errs.Invalid, errs.NotFound, errs.InsufficientStorage}, domainErr.Kind) {
		return &errs.Error{Kind: errs.Conflict, Message: domainErr.Message, Err: err}
	}
	return err
}

// backupTask returns the named task, or nil if there is none.
func (p *Pages) backupTask(part string) (task any, running bool) {
	switch part {
	case "now":
		now := newTaskView(p.App.Backups.Progress())
		return now, now.Running
	case "check":
		check := newTaskView(p.App.Backups.VerifyProgress())
		return check, check.Running
	}
	return nil, false
}

// backupPart renders the state of the backup or verification. A script requests it repeatedly while
// that is running and reloads the page when it has finished.
func (p *Pages) backupPart(r *page.Request) error {
	part := r.PathValue("part")
	task, running := p.backupTask(part)
	if task == nil {
		return page.NotFound(r)
	}
	if !r.IsPart() {
		return r.Redirect("/admin/backups")
	}
	if !running {
		p.ResetWarnings()
		r.W.Header().Set("HX-Refresh", "true")
	}
	return p.RenderPart(r, http.StatusOK, "backups.html", "backup-"+part, task)
}

package instance

import (
	"context"
	"errors"
	"slices"
	"time"

	"deedkeep/app/backup"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
)

// Dashboard is the data of the start page.
type Dashboard struct {
	Today, DueTo      string    // the given day and the day DueDays later, YYYY-MM-DD
	Overdue           DueOrders // open orders that were due before Today
	Due               DueOrders // open orders due from Today to DueTo
	Orders, Abstracts []vault.StatusCount
	Latest            []vault.Document // the newest documents, newest first
	Failed            []vault.Document // documents whose processing failed, permanent failures of the last week only; Status.Failed counts all
	Health
}

const (
	// DueDays is how many days ahead the dashboard lists due orders.
	DueDays = 7
	// MaxCounted is the maximum value of DueOrders.Count.
	MaxCounted = 100

	dashboardItems = 10 // maximum length of each list
	// failedScanLimit is the maximum number of failed documents to read when looking for
	// recent ones.
	failedScanLimit = 500
	// The dashboard warns if the disk has no space for lowDiskFiles files of the maximum
	// size.
	lowDiskFiles = 10
)

// DueOrders are open orders within a range of due dates, sorted by due date.
type DueOrders struct {
	Orders []model.Order
	Count  int  // number of all such orders, at most MaxCounted
	More   bool // whether there are more than Count
}

// BackupHealth describes whether backups are working.
type BackupHealth struct {
	LastGood *backup.Backup  // nil: there is no backup yet
	Failed   *backup.Failure // failure after LastGood; nil if there is none
	Next     *time.Time      // when the next backup is scheduled; nil: no schedule
	Missing  bool            // whether there are records but no backup
	Problem  string          // why the outcome of the last backups is unknown; "" if it is known
	TooOld   bool            // whether LastGood is older than two backup intervals, or than a week if there is no schedule
}

// Dashboard returns the dashboard for a day in the user's time zone (YYYY-MM-DD). It
// takes the same time no matter how many records are stored. It returns Invalid if today
// is not a valid date.
func (in *Instance) Dashboard(ctx context.Context, today string) (Dashboard, error) {
	d := Dashboard{Today: today}
	day, err := time.Parse(time.DateOnly, today)
	if err != nil {
		return d, errs.InvalidField("today", "The day must be a date such as 2026-05-29.")
	}
	date := func(days int) string { return day.AddDate(0, 0, days).Format(time.DateOnly) }
	d.DueTo = date(DueDays)
	err = in.Store.View(ctx, func(t *store.Tx) error {
		var errOver, errDue, errOrders, errAbstracts, errLatest, errFailed error
		d.Overdue, errOver = dueOrders(t, "", date(-1))
		d.Due, errDue = dueOrders(t, today, d.DueTo)
		d.Orders, errOrders = vault.OrderStatuses(t)
		d.Abstracts, errAbstracts = vault.AbstractStatuses(t)
		d.Latest, errLatest = in.latestDocuments(t)
		d.Failed, errFailed = in.failedDocuments(t, dashboardItems)
		return errors.Join(errOver, errDue, errOrders, errAbstracts, errLatest, errFailed)
	})
	if err != nil {
		return d, err
	}
	d.Health, err = in.Health(ctx)
	return d, err
}

func dueOrders(t *store.Tx, from, to string) (w DueOrders, err error) {
	page, err := t.ListOrders(store.Query{Sort: model.SortDue, OpenOnly: true, DueFrom: from, DueTo: to, Limit: dashboardItems})
	w.Orders, w.Count = page.Items, t.CountOpenOrders(from, to, MaxCounted+1)
	if w.More = w.Count > MaxCounted; w.More {
		w.Count = MaxCounted
	}
	return w, err
}

// LatestDocuments returns the newest documents for the dashboard, newest first.
func (in *Instance) LatestDocuments(ctx context.Context) ([]vault.Document, error) {
	return store.Read(ctx, in.Store, in.latestDocuments)
}

func (in *Instance) latestDocuments(t *store.Tx) ([]vault.Document, error) {
	page, err := t.ListFiles(store.Query{Descending: true, Limit: dashboardItems})
	return in.WithLocations(t, page.Items), err
}

// FailedDocuments returns the documents whose processing failed, like Dashboard.Failed, up to a fixed number.
func (in *Instance) FailedDocuments(ctx context.Context) ([]vault.Document, error) {
	return store.Read(ctx, in.Store, func(t *store.Tx) ([]vault.Document, error) { return in.failedDocuments(t, failedScanLimit) })
}

func (in *Instance) failedDocuments(t *store.Tx, limit int) ([]vault.Document, error) {
	files, err := t.FailedFiles(1, failedScanLimit)
	// Permanent failures can't be fixed, so the dashboard shows them for a week only.
	since := in.Now().Add(-maxManualBackupAge)
	files = slices.DeleteFunc(files, func(f model.File) bool { return !f.Retryable() && f.CreatedAt.Before(since) })
	return in.WithLocations(t, files[:min(len(files), limit)]), err
}

// maxManualBackupAge is the maximum age of the last backup if no schedule is configured.
// The doctor command warns at the same age.
const maxManualBackupAge = 7 * 24 * time.Hour

func (in *Instance) backupHealth(s Status) (h BackupHealth) {
	state := in.Backups.State()
	h.LastGood, h.Failed, h.Next, h.Problem = state.LastGood, state.Failed, state.Next, state.Problem
	if state.Next != nil && state.Scheduled.Failed != nil {
		h.Failed = state.Scheduled.Failed // a backup to another directory doesn't fix the scheduled one
	}
	h.Missing = h.LastGood == nil && h.Problem == "" && s.Abstracts+s.Orders+s.Files > 0
	maxAge := maxManualBackupAge
	if state.Next != nil {
		maxAge = 2 * in.settings.Backup.Every
	}
	h.TooOld = h.LastGood != nil && in.Now().Sub(h.LastGood.At) > maxAge
	return h
}

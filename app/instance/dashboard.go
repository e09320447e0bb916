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

// Dashboard is what somebody wants to know who sits down to work.
type Dashboard struct {
	Today, DueTo      string    // the YYYY-MM-DD that was asked for, and the one DueDays later
	Overdue           DueOrders // open orders that were due before
	Due               DueOrders // and those that are, or will be within DueDays
	Orders, Abstracts []vault.StatusCount
	Latest            []vault.Document // the last that came, the newest first
	Failed            []vault.Document // whose processing failed, those for good a week long; Status.Failed counts them all
	Status            Status
	Backup            BackupHealth
	LowDisk           bool // there is little room above the reserve
}

const (
	// DueDays is how far ahead the desk looks.
	DueDays = 7
	// MaxCounted is up to where work is counted.
	MaxCounted = 100

	dashboardItems = 10 // of each kind
	// failedScanLimit is among how many those are looked for whose processing failed.
	failedScanLimit = 500
	// lowDiskFiles is for how many of the largest documents the disk should have room.
	lowDiskFiles = 10
)

// DueOrders is orders that want doing, those due first first.
type DueOrders struct {
	Orders []model.Order
	Count  int  // of them all, at most MaxCounted
	More   bool // there are more than Count
}

// BackupHealth is how the backups go.
type BackupHealth struct {
	LastGood *backup.Backup  // the last
	Failed   *backup.Failure // since then
	Next     *time.Time      // when the plan makes the next; nil: there is no plan
	Missing  bool            // something is stored, and there is none
	TooOld   bool            // Good is older than two rounds of the plan, or a week without one
}

// Dashboard reads what stands on the desk on a day, YYYY-MM-DD, as the reader's calendar has
// it. What it costs does not depend on how much is stored.
func (in *Instance) Dashboard(ctx context.Context, today string) (Dashboard, error) {
	d := Dashboard{Today: today}
	day, err := time.Parse(time.DateOnly, today)
	if err != nil {
		return d, errs.InvalidField("today", "The day must be a date, like 2026-05-29.")
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
		d.Failed, errFailed = in.failedDocuments(t)
		return errors.Join(errOver, errDue, errOrders, errAbstracts, errLatest, errFailed)
	})
	if err != nil {
		return d, err
	}
	if d.Status, err = in.Status(ctx); err != nil {
		return d, err
	}
	d.LowDisk = in.lowDisk(d.Status)
	d.Backup, err = in.backupHealth(d.Status)
	return d, err
}

func dueOrders(t *store.Tx, from, to string) (w DueOrders, err error) {
	page, err := t.ListOrders(store.Query{Sort: store.SortDue, OpenOnly: true, DueFrom: from, DueTo: to, Limit: dashboardItems})
	w.Orders, w.Count = page.Items, t.CountOpenOrders(from, to, MaxCounted+1)
	if w.More = w.Count > MaxCounted; w.More {
		w.Count = MaxCounted
	}
	return w, err
}

// LatestDocuments are the documents that came last, the newest first, as they stand on the desk.
func (in *Instance) LatestDocuments(ctx context.Context) (list []vault.Document, err error) {
	err = in.Store.View(ctx, func(t *store.Tx) error {
		list, err = in.latestDocuments(t)
		return err
	})
	return list, err
}

func (in *Instance) latestDocuments(t *store.Tx) ([]vault.Document, error) {
	page, err := t.ListFiles(store.Query{Descending: true, Limit: dashboardItems})
	return in.WithLocations(t, page.Items), err
}

func (in *Instance) failedDocuments(t *store.Tx) ([]vault.Document, error) {
	files, err := t.FailedFiles(1, failedScanLimit)
	// What nobody can mend is told for a week; after that only where it lies.
	since := in.Now().Add(-maxManualBackupAge)
	files = slices.DeleteFunc(files, func(f model.File) bool { return !f.Retryable() && f.CreatedAt.Before(since) })
	return in.WithLocations(t, files[:min(len(files), dashboardItems)]), err
}

// maxManualBackupAge is how old a backup may be where no plan makes one (app/doctor warns then, too).
const maxManualBackupAge = 7 * 24 * time.Hour

func (in *Instance) backupHealth(s Status) (h BackupHealth, err error) {
	state, err := in.Backups.State()
	if err != nil {
		return h, err
	}
	h.LastGood, h.Failed, h.Next = state.LastGood, state.Failed, state.Next
	if state.Next != nil && state.Scheduled.Failed != nil {
		h.Failed = state.Scheduled.Failed // one made elsewhere does not mend the plan
	}
	h.Missing = h.LastGood == nil && s.Abstracts+s.Orders+s.Files > 0
	most := maxManualBackupAge
	if state.Next != nil {
		most = 2 * in.settings.Backup.Every
	}
	h.TooOld = h.LastGood != nil && in.Now().Sub(h.LastGood.At) > most
	return h, nil
}

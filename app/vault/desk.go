package vault

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Desk is what somebody wants to know who sits down to work.
type Desk struct {
	Today, DueTo      string // the YYYY-MM-DD that was asked for, and the one DueDays later
	Overdue           Work   // open orders that were due before
	Due               Work   // and those that are, or will be within DueDays
	Orders, Abstracts []StatusCount
	Latest            []Document // the last that came, the newest first
	Failed            []Document // whose processing failed, those for good a week long; Status.Failed counts them all
	Status            Status
	Backup            BackupHealth
	LowDisk           bool // there is little room above the reserve
}

const (
	// DueDays is how far ahead the desk looks.
	DueDays = 7
	// MostCounted is up to where work is counted.
	MostCounted = 100

	onDesk = 10 // of each kind
	// failedLooked is among how many those are looked for whose processing failed.
	failedLooked = 500
	// roomForFiles is for how many of the largest documents the disk should have room.
	roomForFiles = 10
)

// Work is orders that want doing, those due first first.
type Work struct {
	Orders []model.Order
	Count  int  // of them all, at most MostCounted
	More   bool // there are more than Count
}

// StatusCount is how many live records have a status.
type StatusCount struct {
	Status string // as the firm writes or wrote it; folded where that is not known; "" are those without one
	Count  uint64
	Open   bool // of orders: see title.OpenStatus
}

// Document is a document, and where it is filed.
type Document struct {
	model.File
	Place string // the heading of its abstract or the name of its folder; "" where it has neither
}

// BackupHealth is how the backups go.
type BackupHealth struct {
	Good    *Backup        // the last
	Failed  *BackupFailure // since then
	Next    *time.Time     // when the plan makes the next; nil: there is no plan
	Missing bool           // something is stored, and there is none
	TooOld  bool           // Good is older than two rounds of the plan, or a week without one
}

// Desk reads what stands on the desk on a day, YYYY-MM-DD, as the reader's calendar has
// it. What it costs does not depend on how much is stored.
func (in *Instance) Desk(ctx context.Context, today string) (Desk, error) {
	d := Desk{Today: today}
	day, err := time.Parse(time.DateOnly, today)
	if err != nil {
		return d, errs.InvalidField("today", "The day must be a date, like 2026-05-29.")
	}
	date := func(days int) string { return day.AddDate(0, 0, days).Format(time.DateOnly) }
	d.DueTo = date(DueDays)
	err = in.Store.View(ctx, func(t *store.Tx) error {
		var errOver, errDue, errOrders, errAbstracts, errLatest, errFailed error
		d.Overdue, errOver = work(t, "", date(-1))
		d.Due, errDue = work(t, today, d.DueTo)
		d.Orders, errOrders = orderStatuses(t)
		d.Abstracts, errAbstracts = abstractStatuses(t)
		d.Latest, errLatest = in.latest(t)
		d.Failed, errFailed = in.failed(t)
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

func work(t *store.Tx, from, to string) (w Work, err error) {
	page, err := t.ListOrders(store.Query{Sort: store.SortDue, OpenOnly: true, DueFrom: from, DueTo: to, Limit: onDesk})
	w.Orders, w.Count = page.Items, t.CountOpenOrders(from, to, MostCounted+1)
	if w.More = w.Count > MostCounted; w.More {
		w.Count = MostCounted
	}
	return w, err
}

// orderStatuses are those of the workspace in their order, then what orders have
// besides.
func orderStatuses(t *store.Tx) ([]StatusCount, error) {
	names, err := t.OrderStatuses()
	list := counted(t.ValueCounts(orderNoun.name, store.ColumnStatus), names)
	for i := range list {
		list[i].Open = model.IsOpenStatus(list[i].Status)
	}
	return list, err
}

// Statuses gives the statuses of abstracts, and how many have each: those of the
// templates in use, in the order of the first that has them, then what abstracts have
// besides, written as a retired template writes it.
func (a *Abstracts) Statuses(ctx context.Context) (list []StatusCount, err error) {
	err = a.v.Store.View(ctx, func(t *store.Tx) error {
		list, err = abstractStatuses(t)
		return err
	})
	return list, err
}

// abstractStatuses is Abstracts.Statuses.
func abstractStatuses(t *store.Tx) ([]StatusCount, error) {
	templates, err := t.Templates()
	var names []string
	retired := map[string]string{}
	for _, template := range templates {
		for _, name := range template.Statuses {
			switch fold := model.Fold(name); {
			case template.Retired:
				retired[fold] = name
			case !slices.ContainsFunc(names, func(known string) bool { return model.Fold(known) == fold }):
				names = append(names, name)
			}
		}
	}
	list := counted(t.ValueCounts(abstractNoun.name, store.ColumnStatus), names)
	for i := range list[len(names):] {
		c := &list[len(names)+i]
		c.Status = cmp.Or(retired[c.Status], c.Status)
	}
	return list, err
}

// counted puts the names before what nobody named, which goes in alphabetical order.
func counted(tallies []store.ValueCount, names []string) (list []StatusCount) {
	for _, name := range names {
		c := StatusCount{Status: name}
		fold := model.Fold(name)
		if i := slices.IndexFunc(tallies, func(t store.ValueCount) bool { return t.Value == fold }); i >= 0 {
			c.Count = tallies[i].Count
			tallies = slices.Delete(tallies, i, i+1)
		}
		list = append(list, c)
	}
	for _, t := range tallies {
		list = append(list, StatusCount{Status: t.Value, Count: t.Count})
	}
	return list
}

// Latest are the documents that came last, the newest first, as they stand on the desk.
func (in *Instance) Latest(ctx context.Context) (list []Document, err error) {
	err = in.Store.View(ctx, func(t *store.Tx) error {
		list, err = in.latest(t)
		return err
	})
	return list, err
}

func (in *Instance) latest(t *store.Tx) ([]Document, error) {
	page, err := t.ListFiles(store.Query{Descending: true, Limit: onDesk})
	return in.placed(t, page.Items), err
}

func (in *Instance) failed(t *store.Tx) ([]Document, error) {
	files, err := t.FailedFiles(1, failedLooked)
	// What nobody can mend is told for a week; after that only where it lies.
	since := in.Now().Add(-weekOld)
	files = slices.DeleteFunc(files, func(f model.File) bool { return !f.Retryable() && f.CreatedAt.Before(since) })
	return in.placed(t, files[:min(len(files), onDesk)]), err
}

// weekOld is how old a backup may be where no plan makes one (app/doctor warns then, too).
const weekOld = 7 * 24 * time.Hour

func (in *Instance) backupHealth(s Status) (h BackupHealth, err error) {
	state, err := in.Backups.State()
	if err != nil {
		return h, err
	}
	h.Good, h.Failed, h.Next = state.Good, state.Failed, state.Next
	if state.Next != nil && state.Plan.Failed != nil {
		h.Failed = state.Plan.Failed // one made elsewhere does not mend the plan
	}
	h.Missing = h.Good == nil && s.Abstracts+s.Orders+s.Files > 0
	most := weekOld
	if state.Next != nil {
		most = 2 * in.set.Backup.Every
	}
	h.TooOld = h.Good != nil && in.Now().Sub(h.Good.At) > most
	return h, nil
}

package vault

import (
	"context"
	"errors"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/model/origin"
	"deedkeep/app/store"
)

// Retention defines how long abstracts and their documents are kept at least, regardless
// of the trash period (see config.example.yaml). The end of a retention period is computed
// from the record and the current settings, so changed settings also apply to records
// already in the trash. When a document or an instrument leaves an abstract, the end is
// stored in its record, and from then on, it only becomes later (see Vault.putFile).
type Retention struct {
	Default   time.Duration            // 0: no retention beyond the trash period
	Templates map[uint64]time.Duration // by template ID; overrides Default
}

const (
	year = 365 * 24 * time.Hour
	// correctionPeriod is the time after its upload in which a document can be removed
	// from an abstract without being retained, because it was probably uploaded by
	// mistake.
	correctionPeriod = 30 * 24 * time.Hour
	// maxClockSkew is how far the removal time of a document may precede its upload time,
	// which happens if the clock is corrected. If the difference is larger, neither time
	// is reliable.
	maxClockSkew = time.Hour
)

func (r Retention) forTemplate(template uint64) time.Duration {
	if keep, ok := r.Templates[template]; ok {
		return keep
	}
	return r.Default
}

// longest returns the longest retention. It applies to documents whose abstract was purged,
// because the abstract's template is no longer known.
func (r Retention) longest() time.Duration {
	longest := r.Default
	for _, keep := range r.Templates {
		longest = max(longest, keep)
	}
	return longest
}

// addRetention returns the end of a retention period that starts at from. It counts
// complete years as calendar years. It returns the zero time if keep is not positive.
func addRetention(from time.Time, keep time.Duration) time.Time {
	if keep <= 0 {
		return time.Time{}
	}
	return from.AddDate(int(keep/year), 0, 0).Add(keep % year)
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// abstractRetainedUntil returns the end of the retention period of an abstract and its
// documents, or zero if there is none. They are purged together, so the newest document
// determines the end.
func (v *Vault) abstractRetainedUntil(t *store.Tx, a model.Abstract) (time.Time, error) {
	keep, from := v.Settings.Retention().forTemplate(a.TemplateID), a.CreatedAt
	if keep <= 0 || len(a.Files) == 0 {
		return later(a.RetainedUntil, addRetention(from, keep)), nil
	}
	newest := uint64(0)
	for _, id := range a.Files {
		newest = max(newest, id) // later uploads have higher IDs
	}
	f, err := t.FileIncludingTrash(newest)
	if errs.KindOf(err) == errs.NotFound {
		err = missingFileError(newest)
	}
	if err == nil && f.CreatedAt.After(from) {
		from = f.CreatedAt
	}
	return later(a.RetainedUntil, addRetention(from, keep)), err
}

// retainedByOrigin returns the latest end of a retention period of the documents that a new document is created
// from. Zero: none. It returns Conflict if one of them isn't available anymore.
func (v *Vault) retainedByOrigin(t *store.Tx, parts []origin.Part) (until time.Time, err error) {
	read, abstracts := map[uint64]bool{}, map[uint64]bool{}
	for _, part := range parts {
		if read[part.FileID] {
			continue
		}
		read[part.FileID] = true
		f, err := t.File(part.FileID)
		if errs.KindOf(err) == errs.NotFound {
			err = &errs.Error{Kind: errs.Conflict, Message: "The document " + part.Filename + " was deleted. Restore it, and try again."}
		}
		if err != nil {
			return until, err
		}
		if until = later(until, v.fileRetainedBefore(f)); f.AbstractID != 0 {
			abstracts[f.AbstractID] = true
		}
	}
	for id := range abstracts {
		a, err := t.Abstract(id)
		if err != nil {
			return until, err
		}
		retained, err := v.abstractRetainedUntil(t, a)
		if err != nil {
			return until, err
		}
		until = later(until, retained)
	}
	return until, nil
}

// retainedBefore returns the latest end of a retention period that the documents and the
// instruments of an abstract had in abstracts that they left before. Zero: none.
func (v *Vault) retainedBefore(t *store.Tx, in AbstractWithFiles) (until time.Time, err error) {
	for _, f := range in.Files {
		until = later(until, v.fileRetainedBefore(f))
	}
	list, err := t.InstrumentsOfAbstract(in.Abstract.ID, func(i *model.Instrument) bool { return !i.RetainedUntil.IsZero() })
	for _, i := range list {
		until = later(until, i.RetainedUntil)
	}
	return until, err
}

// fileRetainedBefore returns the end of the retention period that a document had in
// abstracts that it left before, or zero if there is none.
func (v *Vault) fileRetainedBefore(f model.File) time.Time {
	if !f.Retained {
		return f.RetainedUntil
	}
	return later(f.RetainedUntil, addRetention(f.CreatedAt, v.Settings.Retention().longest()))
}

// instrumentRetainedUntil returns the end of the retention period of an instrument, or zero
// if there is none. Instruments are retained with their abstract.
func (v *Vault) instrumentRetainedUntil(t *store.Tx, i model.Instrument) (time.Time, error) {
	a, err := t.AbstractIncludingTrash(i.AbstractID)
	if err != nil {
		return time.Time{}, err
	}
	until, err := v.abstractRetainedUntil(t, a)
	return later(i.RetainedUntil, until), err
}

// fileRetainedUntil returns the end of the retention period of a document in the trash,
// or zero if there is none.
func (v *Vault) fileRetainedUntil(t *store.Tx, f model.File) (time.Time, error) {
	if f.Trashed != nil && f.Trashed.With != "" {
		a, err := t.AbstractIncludingTrash(f.AbstractID)
		if err != nil {
			return time.Time{}, err
		}
		return v.abstractRetainedUntil(t, a)
	}
	until, err := v.retainedWhenRemoved(t, f, v.Now())
	return later(v.fileRetainedBefore(f), until), err
}

// retainedWhenRemoved returns the end of the retention period that the abstract of a document
// gives it if it is removed now, or if it was removed when it was moved to the trash. It
// returns zero if there is none, as in the correction period.
func (v *Vault) retainedWhenRemoved(t *store.Tx, f model.File, now time.Time) (time.Time, error) {
	if f.Trashed != nil {
		now = f.Trashed.At
	}
	if f.AbstractID == 0 || !isRetainedAfter(f.CreatedAt, now) {
		return time.Time{}, nil
	}
	keep := v.Settings.Retention().longest()
	switch a, err := t.AbstractIncludingTrash(f.AbstractID); {
	case err == nil:
		keep = v.Settings.Retention().forTemplate(a.TemplateID)
	case errs.KindOf(err) != errs.NotFound && !errors.Is(err, store.ErrDamaged):
		return time.Time{}, err
	}
	return addRetention(f.CreatedAt, keep), nil
}

// RetainedUntil returns for each live document the end of the retention period that it keeps
// if it leaves its abstract now. The zero time means that it keeps none.
func (f *Files) RetainedUntil(ctx context.Context, files []model.File) (ends []time.Time, err error) {
	err = f.v.Store.View(ctx, func(t *store.Tx) error {
		ends = make([]time.Time, 0, len(files))
		for _, file := range files {
			until, err := f.v.fileRetainedUntil(t, file)
			if err != nil {
				return err
			}
			ends = append(ends, until)
		}
		return nil
	})
	return ends, err
}

// isRetainedAfter reports whether a record is retained when it is removed from an abstract.
// This is the case if it is removed after the correction period.
func isRetainedAfter(created, removed time.Time) bool {
	age := removed.Sub(created)
	return age > correctionPeriod || age < -maxClockSkew
}

// trashedUntil returns the time when a record in the trash expires.
func (v *Vault) trashedUntil(in model.Trashed, retained time.Time) time.Time {
	until := in.At.Add(v.Settings.TrashPeriod())
	if retained.After(until) {
		return retained
	}
	return until
}

// trashExpired reports whether a record in the trash has expired.
func (v *Vault) trashExpired(in model.Trashed, retained time.Time) bool {
	return !v.Now().Before(v.trashedUntil(in, retained))
}

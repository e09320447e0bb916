package vault

import (
	"errors"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Retention defines how long abstracts and their documents are kept at least, regardless
// of the trash period (see config.example.yaml). The end of a retention period is not
// stored. It is computed from the record and the current settings, so changed settings
// also apply to records already in the trash.
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

// longest returns the longest retention. It applies to documents whose abstract is
// purged, because the abstract's template is no longer known.
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

// abstractRetainedUntil returns the end of the retention period of an abstract and its
// documents, or zero if there is none. They are purged together, so the newest document
// determines the end.
func (v *Vault) abstractRetainedUntil(t *store.Tx, a model.Abstract) (time.Time, error) {
	keep, from := v.Settings.Retention.forTemplate(a.TemplateID), a.CreatedAt
	if keep <= 0 || len(a.Files) == 0 {
		return addRetention(from, keep), nil
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
	return addRetention(from, keep), err
}

// fileRetainedUntil returns the end of the retention period of a document in the trash,
// or zero if there is none.
func (v *Vault) fileRetainedUntil(t *store.Tx, f model.File) (time.Time, error) {
	id := f.AbstractID
	if f.Trashed != nil && f.Trashed.With != "" {
		a, err := t.AbstractIncludingTrash(id)
		if err != nil {
			return time.Time{}, err
		}
		return v.abstractRetainedUntil(t, a)
	}
	if !underRetention(f) {
		return time.Time{}, nil
	}
	keep := v.Settings.Retention.longest()
	if id != 0 {
		switch a, err := t.AbstractIncludingTrash(id); {
		case err == nil:
			keep = v.Settings.Retention.forTemplate(a.TemplateID)
		case errs.KindOf(err) != errs.NotFound && !errors.Is(err, store.ErrDamaged):
			return time.Time{}, err
		}
	}
	return addRetention(f.CreatedAt, keep), nil
}

// underRetention reports whether a document in the trash is retained on its own. This is
// the case if it belonged to an abstract for longer than the correction period.
func underRetention(f model.File) bool {
	if f.AbstractID == 0 || f.Trashed == nil {
		return f.Retained
	}
	age := f.Trashed.At.Sub(f.CreatedAt)
	return f.Retained || age > correctionPeriod || age < -maxClockSkew
}

// trashedUntil returns the time when a record in the trash expires.
func (v *Vault) trashedUntil(in model.Trashed, retained time.Time) time.Time {
	until := in.At.Add(v.Settings.TrashPeriod)
	if retained.After(until) {
		return retained
	}
	return until
}

// trashExpired reports whether a record in the trash has expired.
func (v *Vault) trashExpired(in model.Trashed, retained time.Time) bool {
	return !v.Now().Before(v.trashedUntil(in, retained))
}

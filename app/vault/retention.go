package vault

import (
	"errors"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Retention is how long what belongs to an abstract is kept, whatever the trash says
// (config.example.yaml). Nothing of it is stored: it follows from the records and from
// the settings in force, so that trash of any age is under it.
type Retention struct {
	Default   time.Duration            // 0: no longer than the trash keeps
	Templates map[uint64]time.Duration // in the place of Keep, by the ID of the abstract's template
}

const (
	year = 365 * 24 * time.Hour
	// correctionPeriod is how long after its upload a document can be removed from its
	// abstract without coming under the retention: it was uploaded by mistake.
	correctionPeriod = 30 * 24 * time.Hour
	// maxClockSkew is how much earlier than its upload a document may have been removed:
	// clocks are set right by less. Beyond it neither time proves anything.
	maxClockSkew = time.Hour
)

func (r Retention) forTemplate(template uint64) time.Duration {
	if keep, own := r.Templates[template]; own {
		return keep
	}
	return r.Default
}

// longest is for documents whose abstract is gone, and with it the word of its template.
func (r Retention) longest() time.Duration {
	longest := r.Default
	for _, keep := range r.Templates {
		longest = max(longest, keep)
	}
	return longest
}

// addRetention counts whole years by the calendar; the zero time is for none.
func addRetention(from time.Time, keep time.Duration) time.Time {
	if keep <= 0 {
		return time.Time{}
	}
	return from.AddDate(int(keep/year), 0, 0).Add(keep % year)
}

// abstractRetainedUntil is until when an abstract and its documents are kept; zero for none.
// They go together, so the newest of them counts.
func (v *Vault) abstractRetainedUntil(t *store.Tx, a model.Abstract) (time.Time, error) {
	keep, from := v.Settings.Retention.forTemplate(a.TemplateID), a.CreatedAt
	if keep <= 0 || len(a.Files) == 0 {
		return addRetention(from, keep), nil
	}
	newest := uint64(0)
	for _, id := range a.Files {
		newest = max(newest, id) // numbers are given in the order of uploads
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

// fileRetainedUntil is until when a document in the trash is kept; zero for none.
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

// underRetention reports a document in the trash that the retention covers on its own: it
// was on an abstract for longer than second thoughts take.
func underRetention(f model.File) bool {
	if f.AbstractID == 0 || f.Trashed == nil {
		return f.Retained
	}
	age := f.Trashed.At.Sub(f.CreatedAt)
	return f.Retained || age > correctionPeriod || age < -maxClockSkew
}

// trashedUntil is when a record's time in the trash is over.
func (v *Vault) trashedUntil(in model.Trashed, retained time.Time) time.Time {
	until := in.At.Add(v.Settings.TrashPeriod)
	if retained.After(until) {
		return retained
	}
	return until
}

// trashExpired reports whether a record's time in the trash has passed, to the microsecond.
func (v *Vault) trashExpired(in model.Trashed, retained time.Time) bool {
	return !v.Now().Before(v.trashedUntil(in, retained))
}

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
	Keep      time.Duration            // 0: no longer than the trash keeps
	Templates map[uint64]time.Duration // in the place of Keep, by the ID of the abstract's template
}

const (
	year = 365 * 24 * time.Hour
	// secondThoughts is how long after its upload a document can be removed from its
	// abstract without coming under the retention: it was uploaded by mistake.
	secondThoughts = 30 * 24 * time.Hour
	// clockSlip is how much earlier than its upload a document may have been removed:
	// clocks are set right by less. Beyond it neither time proves anything.
	clockSlip = time.Hour
)

func (r Retention) of(template uint64) time.Duration {
	if keep, own := r.Templates[template]; own {
		return keep
	}
	return r.Keep
}

// longest is for documents whose abstract is gone, and with it the word of its template.
func (r Retention) longest() time.Duration {
	longest := r.Keep
	for _, keep := range r.Templates {
		longest = max(longest, keep)
	}
	return longest
}

// retainedUntil counts whole years by the calendar; the zero time is for none.
func retainedUntil(from time.Time, keep time.Duration) time.Time {
	if keep <= 0 {
		return time.Time{}
	}
	return from.AddDate(int(keep/year), 0, 0).Add(keep % year)
}

// abstractRetained is until when an abstract and its documents are kept; zero for none.
// They go together, so the newest of them counts.
func (v *Vault) abstractRetained(t *store.Tx, a model.Abstract) (time.Time, error) {
	keep, from := v.Set.Retention.of(a.TemplateID), a.CreatedAt
	if keep <= 0 || len(a.Files) == 0 {
		return retainedUntil(from, keep), nil
	}
	newest := uint64(0)
	for _, id := range a.Files {
		newest = max(newest, id) // numbers are given in the order of uploads
	}
	f, err := t.FileIncludingTrash(newest)
	if errs.KindOf(err) == errs.NotFound {
		err = lostFile(newest)
	}
	if err == nil && f.CreatedAt.After(from) {
		from = f.CreatedAt
	}
	return retainedUntil(from, keep), err
}

// fileRetained is until when a document in the trash is kept; zero for none.
func (v *Vault) fileRetained(t *store.Tx, f model.File) (time.Time, error) {
	id := f.AbstractID
	if f.Trashed != nil && f.Trashed.With != "" {
		a, err := t.AbstractIncludingTrash(id)
		if err != nil {
			return time.Time{}, err
		}
		return v.abstractRetained(t, a)
	}
	if !fromAbstract(f) {
		return time.Time{}, nil
	}
	keep := v.Set.Retention.longest()
	if id != 0 {
		switch a, err := t.AbstractIncludingTrash(id); {
		case err == nil:
			keep = v.Set.Retention.of(a.TemplateID)
		case errs.KindOf(err) != errs.NotFound && !errors.Is(err, store.ErrDamaged):
			return time.Time{}, err
		}
	}
	return retainedUntil(f.CreatedAt, keep), nil
}

// fromAbstract reports a document in the trash that the retention covers on its own: it
// was on an abstract for longer than second thoughts take.
func fromAbstract(f model.File) bool {
	if f.AbstractID == 0 || f.Trashed == nil {
		return f.Retained
	}
	age := f.Trashed.At.Sub(f.CreatedAt)
	return f.Retained || age > secondThoughts || age < -clockSlip
}

// until is when a record's time in the trash is over.
func (v *Vault) until(in model.Trashed, retained time.Time) time.Time {
	until := in.At.Add(v.Set.TrashKeep)
	if retained.After(until) {
		return retained
	}
	return until
}

// over reports whether a record's time in the trash has passed, to the microsecond.
func (v *Vault) over(in model.Trashed, retained time.Time) bool {
	return !v.Now().Before(v.until(in, retained))
}

package instance

import (
	"context"
	"time"

	"deedkeep/app/store"
)

// Checkup is what only the vault knows about its health, besides Status.
type Checkup struct {
	NewestEvent   time.Time // zero: there is none
	MonthBytes    uint64    // that came in the last thirty days
	UncleanStopAt time.Time // since when it is known that a server was killed, or the power failed; zero: never
	CacheCheck    store.CacheCheck
}

const (
	month = 30 * 24 * time.Hour
	// Beyond so many pages the month is worked out of what was seen.
	checkupPages = 20
	checkupPage  = 1000
)

// Checkup reads a little of the newest records, in short transactions.
func (in *Instance) Checkup(ctx context.Context) (Checkup, error) {
	c := Checkup{UncleanStopAt: in.UncleanStopAt(), CacheCheck: in.Store.CacheCheck()}
	err := in.Store.View(ctx, func(t *store.Tx) error {
		page, err := t.ListEvents(store.Query{Descending: true, Limit: 1})
		if err == nil && len(page.Items) == 1 {
			c.NewestEvent = page.Items[0].At
		}
		return err
	})
	if err != nil {
		return c, err
	}
	c.MonthBytes, err = in.monthBytes(ctx)
	return c, err
}

func (in *Instance) monthBytes(ctx context.Context) (sum uint64, err error) {
	now := in.Now()
	q := store.Query{Descending: true, CreatedFrom: now.Add(-month), Limit: checkupPage}
	oldest := now
	for range checkupPages {
		err := in.Store.View(ctx, func(t *store.Tx) error {
			page, err := t.ListFiles(q)
			for _, f := range page.Items {
				sum += uint64(f.Size)
				oldest = f.CreatedAt
			}
			q.Position = page.Next
			return err
		})
		if err != nil || q.Position == nil {
			return sum, err
		}
	}
	span := max(now.Sub(oldest), time.Hour)
	return uint64(float64(sum) * float64(month) / float64(span)), nil
}

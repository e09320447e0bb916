package instance

import (
	"context"
	"time"

	"deedkeep/app/kv"
	"deedkeep/app/store"
)

// Checkup contains data for the doctor command that Status doesn't include.
type Checkup struct {
	NewestEvent   time.Time // time of the newest audit entry; zero if there is none
	MonthBytes    uint64    // bytes uploaded in the last 30 days
	UncleanStopAt time.Time // when an unclean stop of a server was last detected; zero: never
	AtOpen        kv.OpenState
}

const (
	month = 30 * 24 * time.Hour
	// checkupPages is the maximum number of pages of files to read to compute MonthBytes.
	// If there are more, MonthBytes is extrapolated.
	checkupPages = 20
	checkupPage  = 1000
)

// Checkup returns data computed from the newest records. It reads them in short
// transactions.
func (in *Instance) Checkup(ctx context.Context) (Checkup, error) {
	c := Checkup{UncleanStopAt: in.UncleanStopAt(), AtOpen: in.Store.AtOpen()}
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

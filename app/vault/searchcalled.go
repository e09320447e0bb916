package vault

import (
	"context"
	"strconv"
	"time"

	"deedkeep/app/search"
	"deedkeep/app/store"
	"deedkeep/app/title"
)

// called answers searches by what orders and abstracts are called alone.
type called struct{ v *Vault }

// Search is searcher.
func (c called) Search(ctx context.Context, q search.Query) (a search.Answer, err error) {
	a.Counts = map[search.Kind]int{}
	sq := store.Query{Limit: MostSearched}
	for column, value := range map[store.Column]string{store.ColumnCounty: q.County, store.ColumnState: q.State, store.ColumnStatus: q.Status} {
		if value != "" {
			sq.Where = append(sq.Where, store.Where{Column: column, Value: value})
		}
	}
	if q.Dated {
		sq.From = time.Unix(max(0, int64(q.From)*86400), 0)
		sq.To = time.Unix((int64(q.To)+1)*86400-1, 999999000)
	}
	var hits []search.Hit
	err = c.v.store.View(ctx, func(t *store.Tx) error {
		if q.Template == 0 {
			list, _, err := t.CalledOrders(q.Text, sq)
			if err != nil {
				return err
			}
			hits = append(hits, hitsOf(list, search.Order, func(o title.Order) uint64 { return o.ID })...)
		} else {
			sq.Where = append(sq.Where, store.Where{Column: store.ColumnTemplate, Value: strconv.FormatUint(q.Template, 10)})
		}
		list, _, err := t.CalledAbstracts(q.Text, sq)
		hits = append(hits, hitsOf(list, search.Abstract, func(a title.Abstract) uint64 { return a.ID })...)
		return err
	})
	kept := hits[:0]
	for _, h := range hits {
		a.Counts[h.Kind]++
		if q.Kind == 0 || q.Kind == h.Kind {
			kept = append(kept, h)
		}
	}
	kept = kept[min(q.Offset, len(kept)):]
	a.Hits, a.More = kept[:min(q.Limit, len(kept))], len(kept) > q.Limit
	return a, err
}

func hitsOf[T any](list []store.Known[T], kind search.Kind, id func(T) uint64) (hits []search.Hit) {
	for _, k := range list {
		h := search.Hit{Kind: kind, ID: id(k.Record), Score: 1}
		if k.Exact {
			h.Score = 2
		}
		hits = append(hits, h)
	}
	return hits
}

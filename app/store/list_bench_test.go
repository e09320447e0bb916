package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"deedkeep/app/model"
)

// recordGenerator writes records like those of a real title firm: in chronological order, from
// about sixty counties, and with a few statuses.
type recordGenerator struct {
	rng *rand.Rand
	at  time.Time
	n   int
}

func newRecordGenerator() *recordGenerator {
	return &recordGenerator{rng: rand.New(rand.NewPCG(3, 4)), at: testTime}
}

func (g *recordGenerator) property() model.Property {
	return model.Property{Address: fmt.Sprint(g.rng.IntN(9000), " Maple Street"), City: "Troy",
		County: fmt.Sprint("County ", g.rng.IntN(62)), State: pick(g.rng, "NY", "NY", "NY", "VT")}
}

func (g *recordGenerator) parcel() string {
	return fmt.Sprintf("%d.-%d-%d", g.rng.IntN(200), g.rng.IntN(40), g.rng.IntN(99))
}

func (g *recordGenerator) nextTime() time.Time {
	g.at = g.at.Add(time.Second)
	return g.at
}

func (g *recordGenerator) order(t *Tx) error {
	id, err := t.NewOrderID()
	g.n++
	return errors.Join(err, t.PutOrder(model.Order{ID: id, Number: fmt.Sprintf("2026-%07d", g.n),
		Status:  pick(g.rng, "active", "active", "active", "on_hold", "completed", "completed"),
		DueDate: testTime.AddDate(0, 0, g.rng.IntN(400)).Format(time.DateOnly), Property: g.property(),
		Custom:  model.CustomValues{"product": json.RawMessage(`"Full Search"`), "parcel_id": json.RawMessage(`"` + g.parcel() + `"`)},
		Version: 1, CreatedAt: g.nextTime(), UpdatedAt: g.at}))
}

func (g *recordGenerator) abstract(t *Tx) error {
	id, err := t.NewAbstractID()
	g.n++
	return errors.Join(err, t.PutAbstract(model.Abstract{ID: id, TemplateID: 1 + g.rng.Uint64N(4),
		Status: pick(g.rng, "New", "In Search", "Complete"), Property: g.property(), TaxMap: g.parcel(),
		Custom: model.CustomValues{"file_number": fmt.Appendf(nil, `"26-%06d"`, g.n),
			"current_owner": json.RawMessage(`"Ada Smith"`)}, Version: 1, CreatedAt: g.nextTime(), UpdatedAt: g.at}))
}

func (g *recordGenerator) file(t *Tx) error {
	id, err := t.NewFileID()
	g.n++
	return errors.Join(err, t.PutFile(model.File{ID: id, Filename: "deed.pdf", MIME: "application/pdf", Size: 100_000,
		Digest: fmt.Sprintf("%064x", g.rng.Uint64()), FolderID: 1 + g.rng.Uint64N(4), Processing: true, Version: 1, CreatedAt: g.nextTime()}))
}

func (g *recordGenerator) event(t *Tx) error {
	g.n++
	return t.AddEvent(model.Event{At: g.nextTime(), Actor: model.Actor{Kind: "key", ID: 7, Address: "10.0.0.7"}, Kind: "order.created",
		Record: fmt.Sprint("order:", g.n)})
}

// insertMany writes n records without fsync.
func insertMany(b *testing.B, s *Store, n int, put func(*Tx) error) {
	b.Helper()
	withoutSync(s)
	for i := 0; i < n; i += 5_000 {
		update(b, s, func(t *Tx) (err error) {
			for range min(5_000, n-i) {
				if err = put(t); err != nil {
					return err
				}
			}
			return nil
		})
	}
	boltOf(s).NoSync = false
	if err := boltOf(s).Sync(); err != nil {
		b.Fatalf("sync database: %v", err)
	}
}

const manyOrders = 200_000

// BenchmarkPut measures individual and batched writes to an empty and a large database. It doesn't
// include the fsync, whose cost doesn't depend on the size.
func BenchmarkPut(b *testing.B) {
	for _, size := range []int{0, manyOrders} {
		s := open(b, filepath.Join(b.TempDir(), "vault.db"))
		g := newRecordGenerator()
		for _, put := range []func(*Tx) error{g.order, g.abstract, g.file, g.event} {
			insertMany(b, s, size, put)
		}
		withoutSync(s)
		for _, row := range []struct {
			name string
			put  func(*Tx) error
		}{{"order", g.order}, {"abstract", g.abstract}, {"file", g.file}, {"event", g.event}} {
			for _, batch := range []int{1, maxBatch} {
				b.Run(fmt.Sprintf("%s/batch=%d/orders=%d", row.name, batch, size), func(b *testing.B) {
					before := boltOf(s).Stats()
					n := 0
					for b.Loop() {
						err := s.Update(context.Background(), nil, func(t *Tx) (err error) {
							for range batch {
								err = errors.Join(err, row.put(t))
							}
							return err
						})
						if err != nil {
							b.Fatalf("update: %v", err)
						}
						n++
					}
					stats := boltOf(s).Stats()
					stats = stats.Sub(&before)
					b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(n*batch), "µs/record")
					b.ReportMetric(float64(stats.TxStats.GetWrite())/float64(n), "pages/commit")
				})
			}
		}
	}
}

// BenchmarkList reads pages from the middle of a list with each filter.
func BenchmarkList(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "vault.db"))
	g := newRecordGenerator()
	insertMany(b, s, manyOrders, g.order)
	for _, row := range []struct {
		name string
		q    Query
	}{
		{"created", Query{}},
		{"status", Query{Filters: []Filter{{model.ColumnStatus, "on_hold"}}}},
		{"county", Query{Filters: []Filter{{model.ColumnCounty, "county 7"}}}},
		{"county,status,state", Query{Filters: []Filter{{model.ColumnCounty, "county 7"},
			{model.ColumnStatus, "on_hold"}, {model.ColumnState, "VT"}}}},
		{"number", Query{Filters: []Filter{{model.ColumnOrderNumber, "2026-0100000"}}}},
		{"from,to", Query{CreatedFrom: testTime.Add(80_000 * time.Second), CreatedTo: testTime.Add(120_000 * time.Second)}},
		{"due", Query{Sort: model.SortDue}},
		{"due,county", Query{Sort: model.SortDue, Filters: []Filter{{model.ColumnCounty, "county 7"}}}},
		{"due,county,status", Query{Sort: model.SortDue, Filters: []Filter{{model.ColumnCounty, "county 7"},
			{model.ColumnStatus, "on_hold"}}}},
		{"due,900 from,to", Query{Sort: model.SortDue, CreatedFrom: testTime.Add(80_000 * time.Second),
			CreatedTo: testTime.Add(80_900 * time.Second)}},
		{"number sort", Query{Sort: model.SortOrderNumber}},
		{"number sort,county", Query{Sort: model.SortOrderNumber, Filters: []Filter{{model.ColumnCounty, "county 7"}}}},
		{"address sort", Query{Sort: model.SortAddress}},
		{"address sort,county", Query{Sort: model.SortAddress, Filters: []Filter{{model.ColumnCounty, "county 7"}}}},
		{"open,due", Query{Sort: model.SortDue, OpenOnly: true}},
		{"open,created", Query{OpenOnly: true}},
		{"open,due,county", Query{Sort: model.SortDue, OpenOnly: true, Filters: []Filter{{model.ColumnCounty, "county 7"}}}},
		{"due range", Query{Sort: model.SortDue, DueFrom: "2026-06-01", DueTo: "2026-06-03"}},
		{"due range,number sort", Query{Sort: model.SortOrderNumber, DueFrom: "2026-06-01", DueTo: "2026-06-03"}},
	} {
		for _, limit := range []int{25, 100} {
			b.Run(fmt.Sprintf("%s/limit=%d", row.name, limit), func(b *testing.B) {
				q := row.q
				q.Limit = limit
				n := 0
				for b.Loop() {
					var page Page[model.Order]
					view(b, s, func(t *Tx) (err error) { page, err = t.ListOrders(q); return err })
					q.Position = page.Next
					n += len(page.Items)
				}
				b.ReportMetric(float64(n)/float64(b.N), "records/page")
			})
		}
	}
}

// BenchmarkFind searches many records by prefix, with and without matches.
func BenchmarkFind(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "vault.db"))
	g := newRecordGenerator()
	insertMany(b, s, manyOrders/2, g.order)
	insertMany(b, s, manyOrders/2, g.abstract)
	for _, text := range []string{"1", "2026-0050000", "12.-3", "4711 Maple Street", "maple", "26-15"} {
		b.Run(text, func(b *testing.B) {
			n := 0
			for b.Loop() {
				view(b, s, func(t *Tx) error {
					orders, _, err := t.FindOrders(text, Query{Limit: 20})
					abstracts, _, e := t.FindAbstracts(text, Query{Limit: 20})
					n += len(orders) + len(abstracts)
					return errors.Join(err, e)
				})
			}
			b.ReportMetric(float64(n)/float64(b.N), "records")
		})
	}
}

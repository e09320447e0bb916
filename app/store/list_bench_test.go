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

// hall makes records as a firm has them: made one after the other, in some sixty
// counties, in a handful of statuses.
type hall struct {
	rng *rand.Rand
	at  time.Time
	n   int
}

func newHall() *hall { return &hall{rng: rand.New(rand.NewPCG(3, 4)), at: testTime} }

func (h *hall) property() model.Property {
	return model.Property{Address: fmt.Sprint(h.rng.IntN(9000), " Maple Street"), City: "Troy", County: fmt.Sprint("County ", h.rng.IntN(62)), State: pick(h.rng, "NY", "NY", "NY", "VT")}
}

func (h *hall) parcel() string {
	return fmt.Sprintf("%d.-%d-%d", h.rng.IntN(200), h.rng.IntN(40), h.rng.IntN(99))
}

func (h *hall) tick() time.Time {
	h.at = h.at.Add(time.Second)
	return h.at
}

func (h *hall) order(t *Tx) error {
	id, err := t.NewOrderID()
	h.n++
	return errors.Join(err, t.PutOrder(model.Order{ID: id, Number: fmt.Sprintf("2026-%07d", h.n), Status: pick(h.rng, "active", "active", "active", "on_hold", "completed", "completed"),
		DueDate: testTime.AddDate(0, 0, h.rng.IntN(400)).Format(time.DateOnly), Property: h.property(), Custom: model.Values{"product": json.RawMessage(`"Full Search"`), "parcel_id": json.RawMessage(`"` + h.parcel() + `"`)}, Version: 1, CreatedAt: h.tick(), UpdatedAt: h.at}))
}

func (h *hall) abstract(t *Tx) error {
	id, err := t.NewAbstractID()
	h.n++
	return errors.Join(err, t.PutAbstract(model.Abstract{ID: id, TemplateID: 1 + h.rng.Uint64N(4), Status: pick(h.rng, "New", "In Search", "Complete"), Property: h.property(), TaxMap: h.parcel(),
		Custom: model.Values{"file_number": fmt.Appendf(nil, `"26-%06d"`, h.n), "current_owner": json.RawMessage(`"Ada Smith"`)}, Version: 1, CreatedAt: h.tick(), UpdatedAt: h.at}))
}

func (h *hall) file(t *Tx) error {
	id, err := t.NewFileID()
	h.n++
	return errors.Join(err, t.PutFile(model.File{ID: id, Filename: "deed.pdf", MIME: "application/pdf", Size: 100_000, Digest: fmt.Sprintf("%064x", h.rng.Uint64()), FolderID: 1 + h.rng.Uint64N(4), Processing: true, Version: 1, CreatedAt: h.tick()}))
}

func (h *hall) event(t *Tx) error {
	h.n++
	return t.AddEvent(model.Event{At: h.tick(), Actor: model.Actor{Kind: "key", ID: 7, Address: "10.0.0.7"}, Kind: "order.created", Record: fmt.Sprint("order:", h.n)})
}

// furnish writes n of a noun, without waiting for the disk.
func furnish(b *testing.B, s *Store, n int, put func(*Tx) error) {
	b.Helper()
	s.db.NoSync = true
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
	s.db.NoSync = false
	if err := s.db.Sync(); err != nil {
		b.Fatal(err)
	}
}

const manyOrders = 200_000

// What creating costs, alone and in full batches, on an empty vault and on a large
// one. Syncs are left out: they cost the same on both.
func BenchmarkPut(b *testing.B) {
	for _, size := range []int{0, manyOrders} {
		s := open(b, filepath.Join(b.TempDir(), "vault.db"))
		h := newHall()
		for _, put := range []func(*Tx) error{h.order, h.abstract, h.file, h.event} {
			furnish(b, s, size, put)
		}
		s.db.NoSync = true
		for _, row := range []struct {
			name string
			put  func(*Tx) error
		}{{"order", h.order}, {"abstract", h.abstract}, {"file", h.file}, {"event", h.event}} {
			for _, batch := range []int{1, maxBatch} {
				b.Run(fmt.Sprintf("%s/batch=%d/orders=%d", row.name, batch, size), func(b *testing.B) {
					before := s.db.Stats()
					n := 0
					for b.Loop() {
						err := s.Update(context.Background(), nil, func(t *Tx) (err error) {
							for range batch {
								err = errors.Join(err, row.put(t))
							}
							return err
						})
						if err != nil {
							b.Fatal(err)
						}
						n++
					}
					spent := s.db.Stats()
					spent = spent.Sub(&before)
					b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(n*batch), "µs/record")
					b.ReportMetric(float64(spent.TxStats.GetWrite())/float64(n), "pages/commit")
				})
			}
		}
	}
}

// A page from the middle of a list, for every filter.
func BenchmarkList(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "vault.db"))
	h := newHall()
	furnish(b, s, manyOrders, h.order)
	for _, row := range []struct {
		name string
		q    Query
	}{
		{"created", Query{}},
		{"status", Query{Filters: []Filter{{ColumnStatus, "on_hold"}}}},
		{"county", Query{Filters: []Filter{{ColumnCounty, "county 7"}}}},
		{"county,status,state", Query{Filters: []Filter{{ColumnCounty, "county 7"}, {ColumnStatus, "on_hold"}, {ColumnState, "VT"}}}},
		{"number", Query{Filters: []Filter{{ColumnOrderNumber, "2026-0100000"}}}},
		{"from,to", Query{CreatedFrom: testTime.Add(80_000 * time.Second), CreatedTo: testTime.Add(120_000 * time.Second)}},
		{"due", Query{Sort: SortDue}},
		{"due,county", Query{Sort: SortDue, Filters: []Filter{{ColumnCounty, "county 7"}}}},
		{"due,county,status", Query{Sort: SortDue, Filters: []Filter{{ColumnCounty, "county 7"}, {ColumnStatus, "on_hold"}}}},
		{"due,900 from,to", Query{Sort: SortDue, CreatedFrom: testTime.Add(80_000 * time.Second), CreatedTo: testTime.Add(80_900 * time.Second)}},
		{"number sort", Query{Sort: SortOrderNumber}},
		{"number sort,county", Query{Sort: SortOrderNumber, Filters: []Filter{{ColumnCounty, "county 7"}}}},
		{"address sort", Query{Sort: SortAddress}},
		{"address sort,county", Query{Sort: SortAddress, Filters: []Filter{{ColumnCounty, "county 7"}}}},
		{"open,due", Query{Sort: SortDue, OpenOnly: true}},
		{"open,created", Query{OpenOnly: true}},
		{"open,due,county", Query{Sort: SortDue, OpenOnly: true, Filters: []Filter{{ColumnCounty, "county 7"}}}},
		{"due range", Query{Sort: SortDue, DueFrom: "2026-06-01", DueTo: "2026-06-03"}},
		{"due range,number sort", Query{Sort: SortOrderNumber, DueFrom: "2026-06-01", DueTo: "2026-06-03"}},
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

// What is found of many by their beginnings, or not at all.
func BenchmarkFind(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "vault.db"))
	h := newHall()
	furnish(b, s, manyOrders/2, h.order)
	furnish(b, s, manyOrders/2, h.abstract)
	for _, text := range []string{"1", "2026-0050000", "12.-3", "4711 Maple Street", "maple", "26-15"} {
		b.Run(text, func(b *testing.B) {
			n := 0
			for b.Loop() {
				view(b, s, func(t *Tx) error {
					orders, _, err := t.FindOrders(text, 20)
					abstracts, _, e := t.FindAbstracts(text, 20)
					n += len(orders) + len(abstracts)
					return errors.Join(err, e)
				})
			}
			b.ReportMetric(float64(n)/float64(b.N), "records")
		})
	}
}

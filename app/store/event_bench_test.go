package store

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"deedkeep/app/model"
)

// BenchmarkBatchOfOrders measures how much an audit log entry, with or without changes, adds to the
// cost of an order in a full batch.
func BenchmarkBatchOfOrders(b *testing.B) {
	for _, row := range []struct {
		name    string
		events  bool
		changes bool
	}{{"no events", false, false}, {"events", true, false}, {"events with 3 changes", true, true}} {
		b.Run(row.name, func(b *testing.B) {
			s := open(b, filepath.Join(b.TempDir(), "vault.db"))
			for b.Loop() {
				update(b, s, func(tx *Tx) error {
					for range maxBatch {
						if err := putOrder(tx, row.events, row.changes); err != nil {
							return err
						}
					}
					return nil
				})
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/maxBatch, "us/order")
		})
	}
}

// putOrder writes an order. If event is set, it adds an audit log entry. If changes is also set,
// the entry contains three changes.
func putOrder(tx *Tx, event, changes bool) error {
	id, err := tx.NewOrderID()
	if err != nil {
		return err
	}
	err = tx.PutOrder(model.Order{ID: id, Number: fmt.Sprint("A-", id), Status: "active", Version: 1, CreatedAt: testTime})
	if err != nil || !event {
		return err
	}
	e := model.Event{At: testTime, Kind: "order.created", Record: fmt.Sprint("order:", id),
		Actor: model.Actor{Kind: "key", ID: 1, Name: "intake", Address: "192.0.2.1", RequestID: "abcdefghijklmnopqrst"}}
	if changes {
		for _, field := range []string{"county", "city", "custom_fields.search_type"} {
			e.Changes = append(e.Changes, model.Change{Field: field, From: json.RawMessage(`"Essex"`), To: json.RawMessage(`"Kent"`)})
		}
	}
	return tx.AddEvent(e)
}

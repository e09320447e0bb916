package store

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"deedkeep/app/model"
)

// -fixture writes the fixture of the schema this program makes:
//
//	go test ./app/store -run TestMakeFixture -fixture
//
// It is made once, before the first release of a schema, and never again: what it
// holds is what vaults in the world hold.
var makeFixture = flag.Bool("fixture", false, "write testdata/schema-N.db.gz of this schema, where there is none")

func fixturePath(schema int) string {
	return filepath.Join("testdata", fmt.Sprintf("schema-%d.db.gz", schema))
}

func TestMakeFixture(t *testing.T) {
	if !*makeFixture {
		return
	}
	path := filepath.Join(t.TempDir(), "vault.db")
	s := open(t, path)
	fill(t, s, 3)
	update(t, s, func(tx *Tx) error {
		revoked := testTime.Add(time.Hour)
		gone := &model.Trashed{At: revoked, By: model.SystemActor()}
		return errors.Join(tx.RemoveTask(2), tx.PutStoredResponse([32]byte{7}, model.StoredResponse{RequestHash: digest(7), Status: 201, Body: []byte("{}"), At: testTime}),
			tx.PutOrder(model.Order{ID: 2, Number: "A-1", Status: "active", Version: 1, CreatedAt: testTime, Trashed: gone}),
			tx.PutOrder(model.Order{ID: 1, Number: "É 2026/0007", Status: "on_hold", DueDate: "2026-06-15", Version: 2, CreatedAt: testTime, UpdatedAt: revoked}),
			tx.PutOrder(model.Order{ID: 3, Number: "A-2", Status: "Cancelled (by client)", DueDate: "2026-06-01", Custom: model.Values{"parcel_id": json.RawMessage(`"12.-3-4"`)}, Version: 2, CreatedAt: testTime, UpdatedAt: revoked}),
			tx.PutAbstract(model.Abstract{ID: 2, TemplateID: 1, Property: model.Property{Address: "7 Elm St.", City: "Troy"}, Custom: model.Values{"file_number": json.RawMessage(`"26-0017"`)}, Files: []uint64{2}, Version: 2, CreatedAt: testTime}),
			tx.PutKey(model.Key{ID: 1, Name: "intake", Hash: digest(1000), Abilities: []string{"api:v1"}, CreatedAt: testTime, RevokedAt: &revoked}))
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(fixturePath(Schema), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewWriterLevel(file, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	_, err = z.Write(read(t, path))
	if err := errors.Join(err, z.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
}

// Every schema there ever was opens, holds, and takes writes.
func TestEveryPastSchemaOpens(t *testing.T) {
	for schema := 1; schema <= Schema; schema++ {
		t.Run(fmt.Sprint(schema), func(t *testing.T) {
			packed := read(t, fixturePath(schema))
			z, err := gzip.NewReader(bytes.NewReader(packed))
			if err != nil {
				t.Fatal(err)
			}
			content, err := io.ReadAll(z)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "vault.db")
			overwrite(content)(t, path)
			s := open(t, path)
			if findings := check(t, s); len(findings) > 0 {
				t.Errorf("found %+v", findings)
			}
			view(t, s, func(tx *Tx) error {
				order, err := tx.Order(1)
				if err != nil || order.Number != "É 2026/0007" || order.DueDate != "2026-06-15" || !tx.OrderNumberTaken("é 2026/0007") {
					t.Errorf("order %+v, %v", order, err)
				}
				abstract, err := tx.Abstract(3)
				if err != nil || string(abstract.Custom["vesting"]) != `"fee"` || abstract.City != "Troy" || abstract.Files[0] != 3 {
					t.Errorf("abstract %+v, %v", abstract, err)
				}
				if page, err := tx.ListOrders(Query{Limit: 9, Sort: SortDue, Filters: []Filter{{ColumnStatus, "on_hold"}, {ColumnOrderNumber, "É 2026/0007"}}}); err != nil || len(page.Items) != 1 || page.Items[0].ID != 1 {
					t.Errorf("orders by number and status: %+v, %v", page, err)
				}
				if page, err := tx.ListFiles(Query{Limit: 9, Filters: []Filter{{ColumnAbstract, "3"}}}); err != nil || len(page.Items) != 1 || page.Items[0].ID != 3 {
					t.Errorf("files of an abstract: %+v, %v", page, err)
				}
				if page, err := tx.ListEvents(Query{Limit: 9, Filters: []Filter{{ColumnRecord, "file:2"}}}); err != nil || len(page.Items) != 1 {
					t.Errorf("events of a file: %+v, %v", page, err)
				}
				if n := tx.CountBy("order", ColumnStatus, "ON_HOLD"); n != 1 {
					t.Errorf("%d orders on hold", n)
				}
				if key, err := tx.Key(1); err != nil || key.RevokedAt == nil {
					t.Errorf("key %+v, %v", key, err)
				}
				if standard, found, err := tx.DefaultTemplate(); err != nil || !found || standard.Name != "Residential Abstract" || len(standard.Fields) != 14 {
					t.Errorf("default template %+v, %v", standard, err)
				}
				if tx.Count(CountTasks) != 2 || tx.Count(CountBytes) != 60 || tx.Count(CountFiles) != 3 {
					t.Errorf("counters %d %d %d", tx.Count(CountTasks), tx.Count(CountBytes), tx.Count(CountFiles))
				}
				if page, err := tx.ListOrders(Query{Limit: 9, Sort: SortDue, OpenOnly: true}); err != nil || len(page.Items) == 0 || page.Items[0].ID != 1 {
					t.Errorf("open orders: %+v, %v", page, err)
				}
				told, err := tx.Changes(1, 99)
				if want := map[bool]int{true: 13}[schema > 4]; err != nil || len(told) != want || tx.LastChange() != uint64(want) {
					t.Errorf("changes %+v, %v", told, err)
				}
				if schema < 3 {
					return nil
				}
				if schema > 3 {
					knownBy(t, tx)
				}
				page, err := tx.ListTrash(Query{Limit: 9})
				if err != nil || len(page.Items) != 1 || page.Items[0].Type != "order" || page.Items[0].ID != 2 {
					t.Errorf("trash %+v, %v", page, err)
				}
				if kept, found, err := tx.StoredResponse([32]byte{7}); err != nil || !found || string(kept.Body) != "{}" {
					t.Errorf("kept answer %+v, %v", kept, err)
				}
				return nil
			})
			fillMore(t, s)
			if findings := check(t, s); len(findings) > 0 {
				t.Errorf("after writing: %+v", findings)
			}
		})
	}
}

// knownBy looks at what schema 4 has more than 3.
func knownBy(t *testing.T, tx *Tx) {
	t.Helper()
	if list, more, err := tx.FindAbstracts("26 0017", 9); err != nil || more || len(list) != 1 || list[0].Record.ID != 2 || !list[0].Exact {
		t.Errorf("by file number: %+v, %v", list, err)
	}
	if list, _, err := tx.FindOrders("12-3", 9); err != nil || len(list) != 1 || list[0].Record.ID != 3 || list[0].Exact {
		t.Errorf("by parcel: %+v, %v", list, err)
	}
	if page, err := tx.ListAbstracts(Query{Limit: 9, Sort: SortAddress}); err != nil || len(page.Items) != 3 || page.Items[0].ID != 2 {
		t.Errorf("by address: %+v, %v", page, err)
	}
	if page, err := tx.ListOrders(Query{Limit: 9, Sort: SortDue, OpenOnly: true}); err != nil || len(page.Items) != 1 {
		t.Errorf("open orders: %+v, %v", page, err)
	}
}

func fillMore(t *testing.T, s *Store) {
	t.Helper()
	update(t, s, func(tx *Tx) error {
		return errors.Join(putAbstract(tx), tx.AddEvent(model.Event{At: testTime, Actor: model.SystemActor(), Kind: "abstract.created", Record: "abstract:4"}))
	})
}

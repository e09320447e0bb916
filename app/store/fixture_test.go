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

// -fixture writes the fixture of the current schema:
//
//	go test ./app/store -run TestMakeFixture -fixture
//
// A fixture is written once, before the first release of its schema, and is never changed, so that
// it matches the databases that customers have.
var makeFixture = flag.Bool("fixture", false, "write testdata/schema-N.db.gz for the current schema if it doesn't exist")

// fixtureFile returns the path of the fixture of a schema.
func fixtureFile(schema int) string {
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
		trashed := &model.Trashed{At: revoked, By: model.SystemActor()}
		file, err := tx.File(2)
		pages, read := 3, 1
		file.Processing, file.MIME, file.Pages, file.TextPages = false, model.MIMEPDF, &pages, &read
		file.OCR, file.Owner, file.RetainedUntil = &model.OCR{Pages: 2, Read: 1}, "key:1", testTime.AddDate(20, 0, 0)
		return errors.Join(err, tx.PutFile(file), tx.RemoveTask(2), tx.PutStoredResponse([32]byte{7},
			model.StoredResponse{RequestHash: digest(7), Status: 201, Body: []byte("{}"), At: testTime}),
			tx.PutOrder(model.Order{ID: 2, Number: "A-1", Status: "active", Version: 1, CreatedAt: testTime, Trashed: trashed}),
			tx.PutOrder(model.Order{ID: 1, Number: "É 2026/0007", Status: "on_hold", DueDate: "2026-06-15", Version: 2, CreatedAt: testTime,
				UpdatedAt: revoked}),
			tx.PutOrder(model.Order{ID: 3, Number: "A-2", Status: "Cancelled (by client)", DueDate: "2026-06-01", AssigneeID: 4,
				Custom: model.CustomValues{"parcel_id": json.RawMessage(`"12.-3-4"`)}, Version: 2, CreatedAt: testTime, UpdatedAt: revoked}),
			tx.PutAbstract(model.Abstract{ID: 2, TemplateID: 1, Property: model.Property{Address: "7 Elm St.", City: "Troy"},
				Custom: model.CustomValues{"file_number": json.RawMessage(`"26-0017"`)}, Files: []uint64{2}, Version: 2, CreatedAt: testTime}),
			tx.PutKey(model.Key{ID: 1, Name: "intake", Hash: digest(1000), Abilities: []string{"api:v1"}, CreatedAt: testTime, RevokedAt: &revoked}),
			putInstruments(tx, 3), tx.SetVersion("v0.3.0"),
			putView(tx))
	})
	if err := s.Close(); err != nil {
		t.Fatalf("close store: %v", err)
	}
	file, err := os.OpenFile(fixtureFile(Schema), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatalf("open file: %v", err)
	}
	z, err := gzip.NewWriterLevel(file, gzip.BestCompression)
	if err != nil {
		t.Fatalf("create gzip writer: %v", err)
	}
	_, err = z.Write(readFile(t, path))
	if err := errors.Join(err, z.Close(), file.Close()); err != nil {
		t.Fatalf("write fixture: %v", err)
	}
}

// putView creates a view of the list of orders.
func putView(tx *Tx) error {
	return tx.PutView(&model.View{Name: "Kent", Record: "orders", Filters: map[string]string{"county": "Kent"}, Version: 1})
}

// A database of any schema since FirstSchema can be opened, is intact, and can be written to.
func TestEveryPastSchemaCanBeOpened(t *testing.T) {
	for schema := FirstSchema; schema <= Schema; schema++ {
		t.Run(fmt.Sprint(schema), func(t *testing.T) {
			compressed := readFile(t, fixtureFile(schema))
			z, err := gzip.NewReader(bytes.NewReader(compressed))
			if err != nil {
				t.Fatalf("open fixture: %v", err)
			}
			content, err := io.ReadAll(z)
			if err != nil {
				t.Fatalf("read fixture: %v", err)
			}
			path := filepath.Join(t.TempDir(), "vault.db")
			overwrite(content)(t, path)
			s := open(t, path)
			if findings := check(t, s); len(findings) > 0 {
				t.Errorf("got findings %+v, want none", findings)
			}
			view(t, s, func(tx *Tx) error {
				order, err := tx.Order(1)
				if err != nil || order.Number != "É 2026/0007" || order.DueDate != "2026-06-15" || !tx.OrderNumberTaken("é 2026/0007") {
					t.Errorf("Order(1) = %+v, %v, want the order of the fixture", order, err)
				}
				abstract, err := tx.Abstract(3)
				if err != nil || string(abstract.Custom["vesting"]) != `"fee"` || abstract.City != "Troy" || abstract.Files[0] != 3 {
					t.Errorf("Abstract(3) = %+v, %v, want the abstract of the fixture", abstract, err)
				}
				if page, err := tx.ListOrders(Query{Limit: 9, Sort: model.SortDue,
					Filters: []Filter{{model.ColumnStatus, "on_hold"},
						{model.ColumnOrderNumber, "É 2026/0007"}}}); err != nil || len(page.Items) != 1 ||
					page.Items[0].ID != 1 {
					t.Errorf("orders by number and status: got %+v, %v; want order 1", page, err)
				}
				unassigned, err := tx.ListOrders(Query{Limit: 9, Filters: []Filter{{model.ColumnAssignee, ""}}})
				if want := 2 - min(max(schema-14, 0), 1); err != nil || len(unassigned.Items) != want {
					t.Errorf("unassigned orders: got %+v, %v; want %d", unassigned, err, want)
				}
				if page, err := tx.ListFiles(Query{Limit: 9,
					Filters: []Filter{{model.ColumnAbstract, "3"}}}); err != nil || len(page.Items) != 1 ||
					page.Items[0].ID != 3 {
					t.Errorf("files of abstract 3: got %+v, %v; want file 3", page, err)
				}
				if page, err := tx.ListEvents(Query{Limit: 9,
					Filters: []Filter{{model.ColumnRecord, "file:2"}}}); err != nil || len(page.Items) != 1 {
					t.Errorf("events of file 2: got %+v, %v; want one", page, err)
				}
				last, err := tx.LastEvent()
				if upgraded := last.Kind == "vault.upgraded"; err != nil || upgraded != (schema < Schema) {
					t.Errorf("LastEvent = %+v, %v; want an entry for the migration", last, err)
				}
				types, err := tx.DocumentTypes()
				if sheriff, ok := types.ByName("Sheriff's Deed"); err != nil || !ok || sheriff.Retired {
					t.Errorf("document types = %+v, %v; want the Sheriff's Deed since schema 12", types, err)
				}
				if n := tx.CountBy("order", model.ColumnStatus, "ON_HOLD"); n != 1 {
					t.Errorf("got %d orders on hold, want 1", n)
				}
				if key, err := tx.Key(1); err != nil || key.RevokedAt == nil {
					t.Errorf("Key(1) = %+v, %v; want a revoked key", key, err)
				}
				if template, found, err := tx.DefaultTemplate(); err != nil || !found || template.Name != "Residential Abstract" ||
					len(template.Fields) != 14 {
					t.Errorf("DefaultTemplate() = %+v, %v; want Residential Abstract with 14 fields", template, err)
				}
				if tx.Count(CountTasks) != 2 || tx.Count(CountBytes) != 60 || tx.Count(CountFiles) != 3 {
					t.Errorf("got %d tasks, %d bytes, %d files; want 2, 60, 3", tx.Count(CountTasks), tx.Count(CountBytes), tx.Count(CountFiles))
				}
				if page, err := tx.ListOrders(Query{Limit: 9, Sort: model.SortDue, OpenOnly: true}); err != nil ||
					len(page.Items) == 0 ||
					page.Items[0].ID != 1 {
					t.Errorf("open orders: got %+v, %v; want order 1", page, err)
				}
				changes, err := tx.Changes(1, 99)
				const want = 17
				if err != nil || len(changes) != want || tx.LastChange() != uint64(want) {
					t.Errorf("Changes(1, 99) = %+v, %v; want %d", changes, err, want)
				}
				var waiting []model.File
				err = tx.EachForOCR(func(f model.File) error { waiting = append(waiting, f); return nil })
				if err != nil || len(waiting) != 1 || waiting[0].ID != 2 || waiting[0].PagesWaitingForOCR() != 1 {
					t.Fatalf("EachForOCR = %+v, %v; want file 2", waiting, err)
				}
				if schema > 9 && waiting[0].Owner != "key:1" {
					t.Errorf("EachForOCR = %+v, want a file of key 1 since schema 10", waiting)
				}
				file, err := tx.File(2)
				if want := map[bool]time.Time{true: testTime.AddDate(20, 0, 0)}[schema > 10]; err != nil || !file.RetainedUntil.Equal(want) {
					t.Errorf("File(2) = %+v, %v; want it retained until %v", file, err, want)
				}
				keys, damage, err := tx.RunsheetKeys(1)
				if errors.Join(damage, err) != nil || len(keys) != 3 || keys[2].Recorded != "2019-04-03" {
					t.Errorf("RunsheetKeys(1) = %+v, %v; want those of 3 instruments", keys, err)
				}
				checkSortIndexes(t, tx)
				page, err := tx.ListTrash(Query{Limit: 9})
				if err != nil || len(page.Items) != 1 || page.Items[0].Type != "order" || page.Items[0].ID != 2 {
					t.Errorf("ListTrash = %+v, %v; want order 2", page, err)
				}
				if response, found, err := tx.StoredResponse([32]byte{7}); err != nil || !found || string(response.Body) != "{}" {
					t.Errorf("StoredResponse = %+v, %v; want body {}", response, err)
				}
				return nil
			})
			addMoreRecords(t, s)
			if findings := check(t, s); len(findings) > 0 {
				t.Errorf("after writing: got findings %+v, want none", findings)
			}
		})
	}
}

// checkSortIndexes verifies the sort indexes.
func checkSortIndexes(t *testing.T, tx *Tx) {
	t.Helper()
	if list, more, err := tx.FindAbstracts("26 0017", Query{Limit: 9}); err != nil || more || len(list) != 1 || list[0].Record.ID != 2 || !list[0].Exact {
		t.Errorf("by file number: got %+v, %v; want abstract 2", list, err)
	}
	if list, _, err := tx.FindOrders("12-3", Query{Limit: 9}); err != nil || len(list) != 1 || list[0].Record.ID != 3 || list[0].Exact {
		t.Errorf("by parcel: got %+v, %v; want order 3", list, err)
	}
	if page, err := tx.ListAbstracts(Query{Limit: 9, Sort: model.SortAddress}); err != nil || len(page.Items) != 3 ||
		page.Items[0].ID != 2 {
		t.Errorf("by address: got %+v, %v; want abstract 2 first of 3", page, err)
	}
	if page, err := tx.ListOrders(Query{Limit: 9, Sort: model.SortDue, OpenOnly: true}); err != nil || len(page.Items) != 1 {
		t.Errorf("open orders: got %+v, %v; want order 1", page, err)
	}
}

// addMoreRecords writes records of all types to a migrated database.
func addMoreRecords(t *testing.T, s *Store) {
	t.Helper()
	update(t, s, func(tx *Tx) error {
		return errors.Join(putAbstract(tx), putView(tx), tx.AddEvent(model.Event{At: testTime, Actor: model.SystemActor(),
			Kind:   "abstract.created",
			Record: "abstract:4"}))
	})
}

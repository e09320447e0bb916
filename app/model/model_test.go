package model

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// Every record type survives a round trip through its stored JSON.
func TestStoredJSONRoundTrip(t *testing.T) {
	pages := 3
	at := time.Date(2026, 5, 29, 4, 0, 0, 0, time.UTC)
	for name, v := range map[string]any{
		"abstract": Abstract{ID: 1, TemplateID: 2, Status: "New", Property: Property{City: "Troy"}, TaxMap: "1",
			Custom: CustomValues{"a": json.RawMessage(`1.50`)}, Files: []uint64{3, 1}, Version: 1, CreatedAt: at, UpdatedAt: at},
		"order": Order{ID: 1, Number: "A", Status: "active", DueDate: "2026-06-15", Property: Property{State: "NY"},
			Custom: CustomValues{"a": json.RawMessage(`"<&>"`)}, Version: 2, CreatedAt: at, UpdatedAt: at},
		"file": File{ID: 1, Filename: "a.pdf", MIME: "application/pdf", Pages: &pages, Size: 1, Digest: "ab", FolderID: 1,
			AbstractID: 2, Processing: true, Version: 1, CreatedAt: at},
		"folder": Folder{ID: 1, Name: "Inbox", ParentID: 2},
		"task":   ProcessingTask{Seq: 1, FileID: 2, Attempts: 1, DueAt: at},
		"key": Key{ID: 1, Name: "k", Prefix: "dk", Hash: "ab", Abilities: []string{"events"}, CreatedAt: at, LastUsedAt: &at,
			UseCount: 2, ExpiresAt: &at, RevokedAt: &at},
		"template": Template{ID: 1, Name: "t", Statuses: []string{"New"},
			Fields: []Field{{Key: "a", Label: "A", Type: Text, Required: true, Options: []string{"x"}}}, Retired: true},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := json.Marshal(v)
			if err != nil {
				t.Fatalf("encode: %v", err)
			}
			back := reflect.New(reflect.TypeOf(v))
			if err := json.Unmarshal(raw, back.Interface()); err != nil {
				t.Fatalf("decode: %v", err)
			}
			again, err := json.Marshal(back.Interface())
			if err != nil || string(again) != string(raw) {
				t.Errorf("after decoding: %s (%v), want %s", again, err, raw)
			}
		})
	}
}

package model

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"testing"
	"time"
)

func anEvent() Event {
	return Event{Seq: 2, At: time.Date(2026, 5, 29, 4, 0, 0, 123000, time.UTC), Kind: "file.filed", Record: "file:7",
		Actor:  Actor{Kind: "key", ID: 1, Name: "R & D <x>", Address: "192.0.2.1", RequestID: "r-1", Abilities: []string{AbilityAPI}},
		Detail: map[string]string{"sha256": "ab", "abstract": "abstract:3"}}
}

// Chains that are on disk were made with this hash: when this test fails, the form
// of an event was changed and every kept chain would look tampered with.
func TestSealIsPinned(t *testing.T) {
	e, err := anEvent().WithHash("00ff")
	const want = "331bcc4a0e79dbd465e2c763fef9871abe694f7c19683d8a45a46624735232ab"
	if err != nil || e.Hash != want || e.Prev != "00ff" {
		t.Errorf("hash %s (prev %s, %v), want %s", e.Hash, e.Prev, err, want)
	}
	if !slices.Equal(e.Actor.Abilities, []string{AbilityAPI}) {
		t.Error("sealing lost the actor's abilities")
	}
}

func TestSealHoldsAfterReading(t *testing.T) {
	odd := anEvent()
	odd.Actor.Name, odd.Detail = "caf\xe9", map[string]string{"na\xffme": "\xed\xa0\x80", "u": "\u2028\ufffd"}
	local := anEvent()
	local.At = time.Date(2026, 5, 29, 4, 0, 0, 1, time.FixedZone("LMT", -5*3600-17))
	bare := Event{Kind: "vault.created", Detail: map[string]string{}}
	for name, e := range map[string]Event{"usual": anEvent(), "text that is not UTF-8": odd, "a zone with seconds": local, "least": bare} {
		t.Run(name, func(t *testing.T) {
			sealed, err := e.WithHash("p")
			if err != nil {
				t.Fatal(err)
			}
			raw, err := json.Marshal(sealed)
			if err != nil {
				t.Fatal(err)
			}
			var read Event
			if err := json.Unmarshal(raw, &read); err != nil {
				t.Fatal(err)
			}
			if again, err := read.WithHash("p"); err != nil || again.Hash != sealed.Hash {
				t.Errorf("read again: %s, %v; sealed as %s", again.Hash, err, sealed.Hash)
			}
		})
	}
}

func TestSealCoversEveryMember(t *testing.T) {
	first, err := anEvent().WithHash("p")
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Event){
		"seq": func(e *Event) { e.Seq++ }, "time": func(e *Event) { e.At = e.At.Add(time.Microsecond) },
		"kind": func(e *Event) { e.Kind += "x" }, "record": func(e *Event) { e.Record = "" },
		"actor kind": func(e *Event) { e.Actor.Kind = "operator" }, "actor id": func(e *Event) { e.Actor.ID = 2 },
		"actor name": func(e *Event) { e.Actor.Name = "" }, "address": func(e *Event) { e.Actor.Address = "" },
		"request": func(e *Event) { e.Actor.RequestID = "" }, "detail": func(e *Event) { e.Detail["abstract"] = "abstract:4" },
	} {
		t.Run(name, func(t *testing.T) {
			e := anEvent()
			change(&e)
			if changed, err := e.WithHash("p"); err != nil || changed.Hash == first.Hash {
				t.Errorf("the hash does not cover it (%v)", err)
			}
		})
	}
	if other, err := anEvent().WithHash("q"); err != nil || other.Hash == first.Hash {
		t.Errorf("the hash does not cover the one before (%v)", err)
	}
}

func TestActorRecord(t *testing.T) {
	if got := (Actor{Kind: "key", ID: 7}).Record() + " " + SystemActor().Record(); got != "key:7 system" {
		t.Errorf("records %s", got)
	}
}

func TestFileType(t *testing.T) {
	for name, want := range map[string]string{"a.PDF": "pdf", "a.b.TiF": "tif", "Übersicht.ÄÖ": "äö", "README": "readme", "a.": ""} {
		if got := (File{Filename: name}).Extension(); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestFold(t *testing.T) {
	for _, row := range []struct {
		name, a, b string
		same       bool
	}{
		{"case", "Plats & SURVEYS", "plats & surveys", true},
		{"blanks around", " Inbox ", "inbox", true},
		{"sharp s", "STRASSE", "straße", true},
		{"sigma", "ΟΔΟΣ", "οδος", true},
		{"no Turkish rules", "I", "ı", false},
		{"blanks inside", "A B", "AB", false},
		{"accents", "resume", "résumé", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := Fold(row.a) == Fold(row.b); got != row.same {
				t.Errorf("%q and %q: %v", row.a, row.b, got)
			}
		})
	}
}

// The stored JSON of a record without values must stay small, and come back.
func TestStoredShapes(t *testing.T) {
	pages := 3
	at := time.Date(2026, 5, 29, 4, 0, 0, 0, time.UTC)
	for name, v := range map[string]any{
		"abstract": Abstract{ID: 1, TemplateID: 2, Status: "New", Property: Property{City: "Troy"}, TaxMap: "1", Custom: Values{"a": json.RawMessage(`1.50`)}, Files: []uint64{3, 1}, Version: 1, CreatedAt: at, UpdatedAt: at},
		"order":    Order{ID: 1, Number: "A", Status: "active", DueDate: "2026-06-15", Property: Property{State: "NY"}, Custom: Values{"a": json.RawMessage(`"<&>"`)}, Version: 2, CreatedAt: at, UpdatedAt: at},
		"file":     File{ID: 1, Filename: "a.pdf", MIME: "application/pdf", Pages: &pages, Size: 1, Digest: "ab", FolderID: 1, AbstractID: 2, Processing: true, Version: 1, CreatedAt: at},
		"folder":   Folder{ID: 1, Name: "Inbox", ParentID: 2},
		"task":     ProcessingTask{Seq: 1, FileID: 2, Attempts: 1, DueAt: at},
		"key":      Key{ID: 1, Name: "k", Prefix: "dk", Hash: "ab", Abilities: []string{"events"}, CreatedAt: at, LastUsedAt: &at, UseCount: 2, ExpiresAt: &at, RevokedAt: &at},
		"template": Template{ID: 1, Name: "t", Statuses: []string{"New"}, Fields: []Field{{Key: "a", Label: "A", Type: Text, Required: true, Options: []string{"x"}}}, Retired: true},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			back := reflect.New(reflect.TypeOf(v))
			if err := json.Unmarshal(raw, back.Interface()); err != nil {
				t.Fatal(err)
			}
			again, err := json.Marshal(back.Interface())
			if err != nil || string(again) != string(raw) {
				t.Errorf("%s\ncame back as %s (%v)", raw, again, err)
			}
		})
	}
}

// WORKSPACE.md.
func TestNewWorkspace(t *testing.T) {
	w := NewWorkspace()
	var names []string
	for _, template := range w.Templates {
		names = append(names, template.Name)
	}
	if want := []string{"Residential Abstract", "Commercial Abstract", "Ownership and Encumbrance Report", "Update / Bring-Down"}; !slices.Equal(names, want) {
		t.Errorf("templates %q", names)
	}
	for i, want := range []int{14, 18, 6, 5} {
		if got := len(w.Templates[i].Fields); got != want {
			t.Errorf("%s has %d fields, want %d", names[i], got, want)
		}
	}
	if got := w.Templates[0].InitialStatus() + w.Templates[1].InitialStatus() + w.Templates[2].InitialStatus() + w.Templates[3].InitialStatus(); got != "NewNew" {
		t.Errorf("first statuses %q", got)
	}
	if len(w.OrderFields) != 10 || !slices.Equal(w.OrderStatuses, []string{"active", "on_hold", "completed", "cancelled"}) || len(w.Folders) != 4 {
		t.Errorf("orders %d %q, folders %q", len(w.OrderFields), w.OrderStatuses, w.Folders)
	}
	key := regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	sets := [][]Field{w.OrderFields, CoreOrderFields()}
	for _, template := range w.Templates {
		sets = append(sets, template.Fields)
	}
	for _, set := range sets {
		seen := map[string]bool{}
		for _, f := range set {
			chooses := f.Type == Dropdown || f.Type == Multiselect
			if !key.MatchString(f.Key) || seen[f.Key] || f.Label == "" || chooses != (len(f.Options) > 0) {
				t.Errorf("field %+v", f)
			}
			seen[f.Key] = true
		}
	}
}

func TestCoreOrderFields(t *testing.T) {
	var keys []string
	for _, f := range CoreOrderFields() {
		keys = append(keys, f.Key)
		if f.Required != (f.Key == "order_number") {
			t.Errorf("%s: required %v", f.Key, f.Required)
		}
	}
	if !slices.Equal(keys, []string{"order_number", "due_date", "address", "city", "county", "state"}) || CoreOrderFields()[0].Label != "Order #" {
		t.Errorf("core fields %q", keys)
	}
}

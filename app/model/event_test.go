package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

// sampleEvent returns an event with all members.
func sampleEvent() Event {
	return Event{Seq: 2, At: time.Date(2026, 5, 29, 4, 0, 0, 123000, time.UTC), Kind: "file.filed", Record: "file:7",
		Actor:  Actor{Kind: "key", ID: 1, Name: "R & D <x>", Address: "192.0.2.1", RequestID: "r-1", Abilities: []string{AbilityAPI}},
		Detail: map[string]string{"sha256": "ab", "abstract": "abstract:3"}}
}

// Stored audit logs were written with this hash. If this test fails, the encoding of events has
// changed, and every existing log would be reported as tampered with.
func TestEventHashIsStable(t *testing.T) {
	e, err := sampleEvent().WithHash("00ff")
	const want = "331bcc4a0e79dbd465e2c763fef9871abe694f7c19683d8a45a46624735232ab"
	if err != nil || e.Hash != want || e.Prev != "00ff" {
		t.Errorf("WithHash = hash %s, prev %s, %v; want hash %s", e.Hash, e.Prev, err, want)
	}
	if !slices.Equal(e.Actor.Abilities, []string{AbilityAPI}) {
		t.Errorf("abilities after WithHash = %q, want them unchanged", e.Actor.Abilities)
	}
}

func TestEventHashMatchesAfterDecoding(t *testing.T) {
	invalidText := sampleEvent()
	invalidText.Actor.Name, invalidText.Detail = "caf\xe9", map[string]string{"na\xffme": "\xed\xa0\x80", "u": "\u2028\ufffd"}
	local := sampleEvent()
	local.At = time.Date(2026, 5, 29, 4, 0, 0, 1, time.FixedZone("LMT", -5*3600-17))
	bare := Event{Kind: "vault.created", Detail: map[string]string{}}
	for name, e := range map[string]Event{"usual": sampleEvent(), "text that is not UTF-8": invalidText,
		"a zone with seconds": local, "minimal": bare} {
		t.Run(name, func(t *testing.T) {
			hashed, err := e.WithHash("p")
			if err != nil {
				t.Fatalf("hash event: %v", err)
			}
			raw, err := json.Marshal(hashed)
			if err != nil {
				t.Fatalf("encode event: %v", err)
			}
			var read Event
			if err := json.Unmarshal(raw, &read); err != nil {
				t.Fatalf("decode event: %v", err)
			}
			if rehashed, err := read.WithHash("p"); err != nil || rehashed.Hash != hashed.Hash {
				t.Errorf("hash after decoding = %s, %v; want %s", rehashed.Hash, err, hashed.Hash)
			}
		})
	}
}

func TestEventHashCoversEveryMember(t *testing.T) {
	first, err := sampleEvent().WithHash("p")
	if err != nil {
		t.Fatalf("hash event: %v", err)
	}
	for name, change := range map[string]func(*Event){
		"seq": func(e *Event) { e.Seq++ }, "time": func(e *Event) { e.At = e.At.Add(time.Microsecond) },
		"kind": func(e *Event) { e.Kind += "x" }, "record": func(e *Event) { e.Record = "" },
		"actor kind": func(e *Event) { e.Actor.Kind = "operator" }, "actor id": func(e *Event) { e.Actor.ID = 2 },
		"actor name": func(e *Event) { e.Actor.Name = "" }, "address": func(e *Event) { e.Actor.Address = "" },
		"request": func(e *Event) { e.Actor.RequestID = "" }, "detail": func(e *Event) { e.Detail["abstract"] = "abstract:4" },
	} {
		t.Run(name, func(t *testing.T) {
			e := sampleEvent()
			change(&e)
			if changed, err := e.WithHash("p"); err != nil || changed.Hash == first.Hash {
				t.Errorf("hash after the change = %s (%v), want one other than %s", changed.Hash, err, first.Hash)
			}
		})
	}
	if other, err := sampleEvent().WithHash("q"); err != nil || other.Hash == first.Hash {
		t.Errorf("hash with another previous hash = %s (%v), want one other than %s", other.Hash, err, first.Hash)
	}
}

func TestActorRecord(t *testing.T) {
	if got := (Actor{Kind: "key", ID: 7}).Record() + " " + SystemActor().Record(); got != "key:7 system" {
		t.Errorf("Record = %s, want key:7 system", got)
	}
}

// Existing hashes cover this JSON, so neither its members nor their order may change.
func TestEventJSONIsStable(t *testing.T) {
	e := sampleEvent()
	e.Changes = []Change{{Field: "county", To: json.RawMessage(`"Essex <&>"`)},
		{Field: "custom_fields.fee", From: json.RawMessage(`1.50`), To: json.RawMessage(`null`)}}
	e, encoded, err := e.EncodeWithHash("00ff")
	if err != nil {
		t.Fatalf("encode event: %v", err)
	}
	raw, err := json.Marshal(e)
	const want = `{"seq":2,"at":"2026-05-29T04:00:00.000123Z","actor":{"kind":"key","id":1,"name":"R \u0026 D \u003cx\u003e",` +
		`"address":"192.0.2.1","request_id":"r-1"},` +
		`"kind":"file.filed","record":"file:7","detail":{"abstract":"abstract:3","sha256":"ab"},` +
		`"changes":[{"field":"county","from":null,"to":"Essex \u003c\u0026\u003e"},{"field":"custom_fields.fee","from":1.50,"to":null}],` +
		`"prev":"00ff","hash":"870a9107a4663984b0bff7b7ecc5a6854104d40b5f41351c31ca471de1cc5491"}`
	if err != nil || string(raw) != want || string(encoded) != want {
		t.Errorf("encode event: error %v\ngot  %s\n and %s\nwant %s", err, raw, encoded, want)
	}
	var read Event
	if err := json.Unmarshal(raw, &read); err != nil || !read.hashMatches(2) {
		t.Errorf("decoded event %+v (%v): hash doesn't match, want a match", read, err)
	}
}

// chainedEvents returns n hash-chained entries.
func chainedEvents(t *testing.T, n int) []Event {
	t.Helper()
	list := make([]Event, 0, n)
	prev := ""
	for i := range n {
		e, err := Event{Seq: uint64(i + 1), At: time.Date(2026, 5, 29, 4, 0, i, 0, time.UTC), Actor: SystemActor(), Kind: "file.filed",
			Record: fmt.Sprint("file:", i)}.WithHash(prev)
		if err != nil {
			t.Fatalf("hash event %d: %v", i+1, err)
		}
		list, prev = append(list, e), e.Hash
	}
	return list
}

// withHash returns e with Prev set to prev and with the resulting hash.
func withHash(t *testing.T, e Event, prev string) Event {
	t.Helper()
	e, err := e.WithHash(prev)
	if err != nil {
		t.Fatalf("hash event %d: %v", e.Seq, err)
	}
	return e
}

// storedEntry is an entry and the position at which it is stored.
type storedEntry struct {
	seq uint64
	Event
	err error
}

func TestChainVerifierReportsTampering(t *testing.T) {
	broken := errors.New("record is damaged")
	for _, row := range []struct {
		name    string
		written uint64
		change  func([]storedEntry) []storedEntry
		want    []string // "kind subject" of each defect
	}{
		{"nothing", 9, func(p []storedEntry) []storedEntry { return p }, nil},
		{"changed", 9, func(p []storedEntry) []storedEntry { p[4].Record = "file:99"; return p }, []string{"changed 5"}},
		{"changed and rehashed", 9, func(p []storedEntry) []storedEntry {
			p[4].Record = "file:99"
			p[4].Event = withHash(t, p[4].Event, p[4].Prev)
			return p
		}, []string{"changed 5"}},
		{"changed and three rehashed", 9, func(p []storedEntry) []storedEntry {
			p[2].Record = "file:99"
			for i := 2; i < 5; i++ {
				p[i].Event = withHash(t, p[i].Event, p[i-1].Hash)
			}
			return p
		}, []string{"changed 5"}},
		{"only the hash changed", 9, func(p []storedEntry) []storedEntry { p[4].Hash = "00"; return p }, []string{"changed 5"}},
		{"only the previous hash changed", 9, func(p []storedEntry) []storedEntry { p[4].Prev = p[2].Hash; return p }, []string{"changed 5"}},
		{"only the number changed", 9, func(p []storedEntry) []storedEntry { p[4].Seq = 7; return p }, []string{"changed 5"}},
		{"the first", 9, func(p []storedEntry) []storedEntry { p[0].Kind = "x"; return p }, []string{"changed 1"}},
		{"the first hashed with a previous hash", 9,
			func(p []storedEntry) []storedEntry { p[0].Event = withHash(t, p[0].Event, "ab"); return p }, []string{"changed 1"}},
		{"the last", 9, func(p []storedEntry) []storedEntry { p[8].Kind = "x"; return p }, []string{"changed 9"}},
		{"cannot be read", 9, func(p []storedEntry) []storedEntry { p[4].err = broken; return p }, []string{"changed 5"}},
		{"two changed", 9, func(p []storedEntry) []storedEntry { p[2].Kind, p[6].Kind = "x", "y"; return p }, []string{"changed 3", "changed 7"}},
		{"all changed", 4, func(p []storedEntry) []storedEntry {
			for i := range p[:4] {
				p[i].Kind = "x"
			}
			return p[:4]
		}, []string{"changed 1", "changed 2", "changed 3", "changed 4"}},
		{"missing", 9, func(p []storedEntry) []storedEntry { return slices.Delete(p, 4, 5) }, []string{"missing 5"}},
		{"three missing", 9, func(p []storedEntry) []storedEntry { return slices.Delete(p, 4, 7) }, []string{"missing 5-7"}},
		{"the first missing", 9, func(p []storedEntry) []storedEntry { return p[1:] }, []string{"missing 1"}},
		{"the last missing", 9, func(p []storedEntry) []storedEntry { return p[:8] }, []string{"missing 9"}},
		{"all missing", 9, func([]storedEntry) []storedEntry { return nil }, []string{"missing 1-9"}},
		{"missing, the rest renumbered", 9, func(p []storedEntry) []storedEntry { return renumber(slices.Delete(p, 4, 5), 4) },
			[]string{"missing 5"}},
		{"missing, the rest renumbered, and the count reduced", 8,
			func(p []storedEntry) []storedEntry { return renumber(slices.Delete(p, 4, 5), 4) }, []string{"missing 5"}},
		{"three missing, the rest renumbered", 9, func(p []storedEntry) []storedEntry { return renumber(slices.Delete(p, 4, 7), 4) },
			[]string{"missing 5-7"}},
		{"added at the end", 9, func(p []storedEntry) []storedEntry {
			return append(p, storedEntry{10, withHash(t, Event{Seq: 10, Kind: "key.created"}, p[8].Hash), nil})
		}, []string{"added 10"}},
		{"added before the first", 9, func(p []storedEntry) []storedEntry {
			return slices.Insert(p, 0,
				storedEntry{0, Event{}, broken})
		}, []string{"added 0"}},
		{"added, the rest renumbered", 9, func(p []storedEntry) []storedEntry {
			return renumber(slices.Insert(p, 4, storedEntry{5, withHash(t, Event{Seq: 5, Kind: "key.created"}, p[3].Hash), nil}), 5)
		}, []string{"added 5"}},
		{"added, the rest moved but not renumbered", 9, func(p []storedEntry) []storedEntry {
			p = slices.Insert(p, 4, storedEntry{5, withHash(t, Event{Seq: 5, Kind: "key.created"}, p[3].Hash), nil})
			for i := range p {
				p[i].seq = uint64(i + 1)
			}
			return p
		}, []string{"added 5"}},
		{"a copy of another", 9, func(p []storedEntry) []storedEntry { p[1].Event = p[7].Event; return p }, []string{"changed 2"}},
		{"two swapped", 9, func(p []storedEntry) []storedEntry { p[1].Event, p[6].Event = p[6].Event, p[1].Event; return p },
			[]string{"changed 2", "changed 7"}},
		{"one defect of each kind", 30, func(p []storedEntry) []storedEntry {
			p = append(p, chain30(t)[9:]...)
			p[20].Record = "x"
			p = slices.Delete(p, 10, 11)
			return append(p, storedEntry{31, Event{Seq: 31}, nil})
		}, []string{"missing 11", "changed 21", "changed 31", "added 31"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got []string
			c := ChainVerifier{Report: func(f ChainDefect) { got = append(got, f.Kind+" "+f.Subject()) }}
			for _, p := range row.change(chain30(t)[:9:9]) {
				c.Add(p.seq, p.Event, p.err)
			}
			c.Finish(row.written)
			if !slices.Equal(got, row.want) {
				t.Errorf("defects = %q, want %q", got, row.want)
			}
		})
	}
}

func chain30(t *testing.T) (entries []storedEntry) {
	for _, e := range chainedEvents(t, 30) {
		entries = append(entries, storedEntry{e.Seq, e, nil})
	}
	return entries
}

// renumber sets the number of each entry, starting at index from, to its position.
func renumber(entries []storedEntry, from int) []storedEntry {
	for i := from; i < len(entries); i++ {
		entries[i].seq, entries[i].Seq = uint64(i+1), uint64(i+1)
	}
	return entries
}

package model

import (
	"encoding/json"
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

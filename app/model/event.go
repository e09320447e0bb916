package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// ActorKey is the kind of an actor that speaks by an API key; ActorLink that of one who
// followed a signed link and is known by nothing but an address.
const (
	ActorKey  = "key"
	ActorLink = "link"
)

// Actor is who does something: a key, a user, the operator at the machine, somebody
// who is not known yet, or the vault itself.
type Actor struct {
	Kind      string   `json:"kind"` // "key", "user", "link", "operator", "visitor" or "system"
	ID        uint64   `json:"id,omitempty"`
	Name      string   `json:"name,omitempty"`
	Address   string   `json:"address,omitempty"` // network address of the client
	RequestID string   `json:"request_id,omitempty"`
	Abilities []string `json:"-"`
	Role      Role     `json:"-"` // of a user, when last looked at; "" while a second factor is still wanted
	Session   string   `json:"-"` // of a user: the session that speaks, as Session.Hash
}

// Record names who acts, like "key:7".
func (a Actor) Record() string {
	if a.ID == 0 {
		return a.Kind
	}
	return fmt.Sprintf("%s:%d", a.Kind, a.ID)
}

// SystemActor is the vault's own hand.
func SystemActor() Actor { return Actor{Kind: "system"} }

// Event is one entry of the log of who did what. The entries form a chain: Hash
// covers the entry and the Hash of the one before it, so that a changed or missing
// entry shows.
type Event struct {
	Seq     uint64            `json:"seq"`
	At      time.Time         `json:"at"`
	Actor   Actor             `json:"actor"`
	Kind    string            `json:"kind"`   // noun.verb: "abstract.created"
	Record  string            `json:"record"` // noun:number, "" when of the vault
	Detail  map[string]string `json:"detail,omitempty"`
	Changes []Change          `json:"changes,omitempty"` // in the order of the record's fields
	Prev    string            `json:"prev"`
	Hash    string            `json:"hash,omitempty"`
}

// WithHash links the event to the hash before it and sets its own: SHA-256, in hex, of
// the event's JSON with Prev set and Hash absent. The JSON is that of the event as
// it will be read again, so text that JSON cannot carry is replaced first; its
// member order is that of the struct and must never change.
func (e Event) WithHash(prev string) (Event, error) {
	e, _, err := e.EncodeWithHash(prev)
	return e, err
}

// EncodeWithHash is Seal, and gives the JSON of the sealed event, which was made on the way.
func (e Event) EncodeWithHash(prev string) (Event, []byte, error) {
	e.Prev, e.Hash = prev, ""
	raw, err := json.Marshal(e)
	if err != nil {
		return Event{}, nil, fmt.Errorf("encode event %s: %w", e.Kind, err)
	}
	// Only bytes that are not UTF-8 come back as others than they went.
	if bytes.Contains(raw, []byte(`\ufffd`)) {
		if e, raw, err = e.asRead(raw); err != nil {
			return Event{}, nil, err
		}
	}
	sum := sha256.Sum256(raw)
	e.Hash = hex.EncodeToString(sum[:])
	raw = append(raw[:len(raw)-1], `,"hash":"`...) // the last member
	return e, append(append(raw, e.Hash...), `"}`...), nil
}

// asRead is the event as it will be read from its JSON, and the JSON of that.
func (e Event) asRead(raw []byte) (Event, []byte, error) {
	read := Event{}
	if err := json.Unmarshal(raw, &read); err != nil {
		return Event{}, nil, fmt.Errorf("read event %s: %w", e.Kind, err)
	}
	read.Actor.Abilities, read.Actor.Role, read.Actor.Session = e.Actor.Abilities, e.Actor.Role, e.Actor.Session
	again, err := json.Marshal(read)
	if err != nil {
		return Event{}, nil, fmt.Errorf("encode event %s: %w", e.Kind, err)
	}
	return read, again, nil
}

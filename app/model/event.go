package model

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Values of Actor.Kind, in addition to ActorUser. ActorKey is a client with an API key. ActorLink
// is someone who opened a signed link; only their network address is known.
const (
	ActorKey  = "key"
	ActorLink = "link"
)

// Actor identifies who performs an action: an API key, a user, the operator (someone who runs
// commands on the server), an unauthenticated visitor, or the server itself.
type Actor struct {
	Kind      string   `json:"kind"` // "key", "user", "link", "operator", "visitor" or "system"
	ID        uint64   `json:"id,omitempty"`
	Name      string   `json:"name,omitempty"`
	Address   string   `json:"address,omitempty"` // network address of the client
	RequestID string   `json:"request_id,omitempty"`
	Abilities []string `json:"-"`
	Role      Role     `json:"-"` // a user's role when last checked; "" until two-factor sign-in is complete
	Session   string   `json:"-"` // Session.Hash of a user's session
}

// Is reports whether both are the same user, API key, or operator.
func (a Actor) Is(b Actor) bool { return a.Kind == b.Kind && a.ID == b.ID }

// Stored returns the actor as records keep it, without the request.
func (a Actor) Stored() Actor { return Actor{Kind: a.Kind, ID: a.ID, Name: a.Name} }

// Record returns the actor as a record reference, such as "key:7".
func (a Actor) Record() string {
	if a.ID == 0 {
		return a.Kind
	}
	return RecordRef(a.Kind, a.ID)
}

// requestIDKey is the key of a request ID in a context.
type requestIDKey struct{}

// WithRequestID returns a context of a request, for log entries of services that don't know the request.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// RequestID returns the ID of the request that ctx belongs to, or "".
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// SystemActor returns the actor for actions of the server itself.
func SystemActor() Actor { return Actor{Kind: "system"} }

// Event is an entry of the audit log. Entries are hash-chained: Hash covers the entry and the
// hash of the previous entry, so ChainVerifier can detect changed and missing entries.
type Event struct {
	Seq     uint64            `json:"seq"`
	At      time.Time         `json:"at"`
	Actor   Actor             `json:"actor"`
	Kind    string            `json:"kind"`   // noun.verb: "abstract.created"
	Record  string            `json:"record"` // noun:number, or "" if no single record is affected
	Detail  map[string]string `json:"detail,omitempty"`
	Changes []Change          `json:"changes,omitempty"` // in the order of the record's fields
	// Names are the names that the records of Record and Detail had, by record. Later changes of the
	// records don't change them.
	Names map[string]string `json:"names,omitempty"`
	Prev  string            `json:"prev"`
	Hash  string            `json:"hash,omitempty"`
}

// SetNames sets the names of the records that the entry refers to and that have none yet. name returns the display name of a
// record or "".
func (e *Event) SetNames(name func(record string) string) {
	records := []string{e.Record}
	for _, key := range []string{"abstract", "order", "file", "instrument"} {
		records = append(records, e.Detail[key])
	}
	for _, record := range records {
		if !strings.Contains(record, ":") || e.Names[record] != "" {
			continue
		}
		if text := name(record); text != "" {
			if e.Names == nil {
				e.Names = map[string]string{}
			}
			e.Names[record] = text
		}
	}
}

// WithHash returns the event with Prev and Hash set. Hash is the SHA-256, in hex, of the event's
// JSON with Prev set and Hash absent. Text that JSON can't represent is replaced first, so that
// the hash still matches after the event is stored and read back. The members of the JSON have
// the order of the struct fields, which must never change.
func (e Event) WithHash(prev string) (Event, error) {
	e, _, err := e.EncodeWithHash(prev)
	return e, err
}

// EncodeWithHash does the same as WithHash and also returns the JSON of the result.
func (e Event) EncodeWithHash(prev string) (Event, []byte, error) {
	e.Prev, e.Hash = prev, ""
	raw, err := json.Marshal(e)
	if err != nil {
		return Event{}, nil, fmt.Errorf("encode event %s: %w", e.Kind, err)
	}
	// JSON encodes invalid UTF-8 as \ufffd, so the decoded event would differ from this one.
	if bytes.Contains(raw, []byte(`\ufffd`)) {
		if e, raw, err = e.reencode(raw); err != nil {
			return Event{}, nil, err
		}
	}
	sum := sha256.Sum256(raw)
	e.Hash = hex.EncodeToString(sum[:])
	raw = append(raw[:len(raw)-1], `,"hash":"`...) // the last member
	return e, append(append(raw, e.Hash...), `"}`...), nil
}

// reencode decodes raw, the event's JSON, and returns the decoded event and its JSON.
func (e Event) reencode(raw []byte) (Event, []byte, error) {
	decoded := Event{}
	if err := json.Unmarshal(raw, &decoded); err != nil {
		return Event{}, nil, fmt.Errorf("decode event %s: %w", e.Kind, err)
	}
	decoded.Actor.Abilities, decoded.Actor.Role, decoded.Actor.Session = e.Actor.Abilities, e.Actor.Role, e.Actor.Session
	encoded, err := json.Marshal(decoded)
	if err != nil {
		return Event{}, nil, fmt.Errorf("encode event %s: %w", e.Kind, err)
	}
	return decoded, encoded, nil
}

// RecordRef returns the name of a record in the audit log, such as "order:7".
func RecordRef(recordType string, id uint64) string { return fmt.Sprintf("%s:%d", recordType, id) }

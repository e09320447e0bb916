package model

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
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
	Undoes    bool     `json:"-"` // the action undoes an earlier one of the same user
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

// ParseRef returns the type and the ID of a record named as by RecordRef. ok is false if there is no ID.
func ParseRef(record string) (recordType string, id uint64, ok bool) {
	recordType, number, _ := strings.Cut(record, ":")
	id, err := strconv.ParseUint(number, 10, 64)
	return recordType, id, err == nil
}

// Values of ChainDefect.Kind.
const (
	DefectChanged = "changed" // the entry differs from what was written
	DefectMissing = "missing" // an entry that was written is gone
	DefectAdded   = "added"   // an entry exists that was never written
)

// ChainDefect is an inconsistency of the audit log. It affects the entries stored at positions
// First through Last.
type ChainDefect struct {
	Kind        string
	First, Last uint64
	Problem     string
}

// Subject returns the affected entry numbers, such as "17" or "17-20".
func (c ChainDefect) Subject() string {
	if c.First == c.Last {
		return fmt.Sprint(c.First)
	}
	return fmt.Sprintf("%d-%d", c.First, c.Last)
}

// ChainVerifier verifies the hash chain of the audit log. Entries are added in the order in which
// they are stored. Each hash covers its entry and the previous hash, so anyone who changes an
// entry must recompute all later hashes. ChainVerifier reports the first place where that wasn't
// done. It can't detect a change if all later hashes were recomputed. To detect that, compare the
// last hash with one that was saved elsewhere.
type ChainVerifier struct {
	Report func(ChainDefect) // called for each defect, in order

	Entries  uint64 // number of entries added so far
	LastSeq  uint64 // stored position of the last entry
	LastHash string // hash of the last entry; "" if the entry can't be read

	prevUnknown bool   // the next entry's Prev can't be compared with LastHash
	lastChanged uint64 // last entry reported as changed
	shift       int64  // stored position minus original number, if entries were added or removed
}

// maxShift is the maximum number of positions, in either direction, by which a moved entry is
// recognized.
const maxShift = 16

// Add verifies the entry stored at position seq. err is the error from reading the entry, if any.
func (c *ChainVerifier) Add(seq uint64, e Event, err error) {
	c.Entries++
	if seq <= c.LastSeq { // number 0, or a malformed key
		c.Report(ChainDefect{DefectAdded, seq, seq, fmt.Sprintf("unexpected entry (%v)", err)})
		return
	}
	if seq > c.LastSeq+1 {
		c.Report(ChainDefect{DefectMissing, c.LastSeq + 1, seq - 1, "the entry was deleted"})
		c.prevUnknown = true
	}
	if err != nil {
		c.reportChanged(seq, "the entry can't be read: "+err.Error())
		c.advance(seq, "", true)
		return
	}
	switch moved, found := c.locate(seq, e); {
	case !found:
		c.reportChanged(seq, c.describeMismatch(e))
		c.advance(seq, e.Hash, true)
		return
	case moved != 0:
		c.reportMoved(seq, moved)
	case e.Seq != seq && e.Seq != c.expectedSeq(seq):
		c.reportChanged(seq, "the sequence number was changed")
	case !c.prevUnknown && e.Prev != c.LastHash:
		c.reportChanged(c.LastSeq, fmt.Sprintf("the hash doesn't match the previous hash in entry %d", seq))
	}
	c.advance(seq, e.Hash, false)
}

func (c *ChainVerifier) advance(seq uint64, hash string, prevUnknown bool) {
	c.LastSeq, c.LastHash, c.prevUnknown = seq, hash, prevUnknown
}

// reportChanged reports that the entry at seq was changed. It reports an entry only once.
func (c *ChainVerifier) reportChanged(seq uint64, problem string) {
	seq = max(seq, 1) // the first entry has no predecessor
	if c.lastChanged != seq {
		c.lastChanged = seq
		c.Report(ChainDefect{DefectChanged, seq, seq, problem})
	}
}

// describeMismatch explains why an entry doesn't match its position.
func (c *ChainVerifier) describeMismatch(e Event) string {
	if e.hashMatches(e.Seq) {
		return fmt.Sprintf("entry %d is stored at this position", e.Seq)
	}
	return "the hash doesn't match"
}

func (c *ChainVerifier) expectedSeq(seq uint64) uint64 { return seq - uint64(c.shift) }

// locate returns how many positions after its expected position the entry is stored. found is
// false if no position up to maxShift away matches its hash. Anyone who inserted or removed an
// entry may have renumbered all later entries.
func (c *ChainVerifier) locate(seq uint64, e Event) (moved int64, found bool) {
	expected := c.expectedSeq(seq)
	if e.hashMatches(expected) {
		return 0, true
	}
	if c.lastChanged == c.LastSeq && c.lastChanged != 0 {
		return 0, false // don't search again for each entry in a run of changed entries
	}
	if e.Seq == expected-1 { // moved by one, number unchanged
		return 1, e.hashMatches(e.Seq)
	}
	if e.Seq != seq { // a copy of another entry, or swapped with another entry
		return 0, false
	}
	for by := int64(1); by <= maxShift; by++ {
		if e.hashMatches(expected - uint64(by)) {
			return by, true
		}
		if e.hashMatches(expected + uint64(by)) {
			return -by, true
		}
	}
	return 0, false
}

// reportMoved reports entries that were inserted or removed before seq.
func (c *ChainVerifier) reportMoved(seq uint64, by int64) {
	if by > 0 {
		c.Report(ChainDefect{DefectAdded, uint64(max(1, int64(seq)-by)), seq - 1, "later entries have higher numbers than before"})
	} else {
		c.Report(ChainDefect{DefectMissing, seq, seq + uint64(-by) - 1, "later entries have lower numbers than before"})
	}
	c.shift += by
}

// hashMatches reports whether the event's hash is correct for number seq.
func (e Event) hashMatches(seq uint64) bool {
	e.Seq = seq
	rehashed, err := e.WithHash(e.Prev)
	return err == nil && rehashed.Hash == e.Hash
}

// Finish compares the last position with written, the number of entries ever written, and reports
// entries that are missing or were added at the end.
func (c *ChainVerifier) Finish(written uint64) {
	switch {
	case c.LastSeq < written && c.LastSeq != written+uint64(c.shift):
		c.Report(ChainDefect{DefectMissing, c.LastSeq + 1, written, fmt.Sprintf("the log should contain %d entries", written)})
	case c.LastSeq > written && c.LastSeq != written+uint64(c.shift):
		c.Report(ChainDefect{DefectAdded, written + 1, c.LastSeq, fmt.Sprintf("the log should contain %d entries", written)})
	}
}

// Trashed says when and by whom a record was moved to the trash. Records in the trash are
// invisible to all readers until they are restored or purged.
type Trashed struct {
	At       time.Time `json:"at"`
	By       Actor     `json:"by"`
	With     string    `json:"with,omitempty"`  // the record it was deleted with, such as "abstract:7"; restored only with it
	Position int       `json:"place,omitempty"` // former position among the abstract's documents
}

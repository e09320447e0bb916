package search

import (
	"encoding/json"

	"deedkeep/app/store"
)

// checkpointFormat is the version of the rules that turn records into index terms: model.SearchTerms,
// index_record.go, and the analyzer of app/search/query. When you change any of them, increase it so
// that existing indexes are rebuilt.
const checkpointFormat = 7

// checkpoint records which changes an index contains and which database it belongs to. It is stored in
// the index and committed with each batch.
type checkpoint struct {
	Format       int            `json:"format"`
	Change       uint64         `json:"change"` // the last change that the index contains
	Event        uint64         `json:"event"`  // the last audit log event at that time
	Hash         string         `json:"hash"`   // hash of that event
	Generation   string         `json:"generation"`
	Build        *buildProgress `json:"build,omitempty"`         // nil once the build has indexed every record
	PendingFiles []pendingFiles `json:"pending_files,omitempty"` // files to reindex once the index has caught up
	MissingText  idRanges       `json:"missing_text,omitempty"`  // documents whose text was unavailable

	PendingInstruments []pendingInstruments `json:"pending_instruments,omitempty"` // the same as PendingFiles for instruments
}

// buildProgress is the position of a build in the records.
type buildProgress struct {
	Type   string `json:"type"`
	NextID uint64 `json:"next_id"` // ID of the next record
	Done   uint64 `json:"done"`
	Total  uint64 `json:"total"`
}

// encode returns the checkpoint in its stored form.
func (ch checkpoint) encode() []byte {
	raw, _ := json.Marshal(ch) // cannot fail: only numbers and strings
	return raw
}

// decodeCheckpoint parses a stored checkpoint. ok is false if it is invalid or has another format.
func decodeCheckpoint(raw []byte) (m checkpoint, ok bool) {
	err := json.Unmarshal(raw, &m)
	return m, err == nil && m.Format == checkpointFormat
}

// pending returns the number of entries in PendingFiles and PendingInstruments.
func (ch *checkpoint) pending() int { return len(ch.PendingFiles) + len(ch.PendingInstruments) }

// stamp identifies the database in the checkpoint by its generation and the last event of its audit
// log.
func (ch *checkpoint) stamp(t *store.Tx) error {
	last, err := t.LastEvent()
	if err != nil {
		return err
	}
	ch.Event, ch.Hash = last.Seq, last.Hash
	ch.Generation, err = t.Generation()
	return err
}

// matches reports whether the index belongs to this database and can be updated from its change feed. A
// restored copy of the database may have diverged after the checkpoint, so a foreign database must also
// have the same generation.
func (ch *checkpoint) matches(t *store.Tx, foreign bool) (bool, error) {
	if ch.Change > t.LastChange() || ch.Change+1 < t.FirstChange() || t.EventHash(ch.Event) != ch.Hash {
		return false, nil
	}
	current, err := t.Generation()
	return !foreign || current == ch.Generation, err
}

package search

import (
	"encoding/json"

	"deedkeep/app/store"
)

// checkpointFormat is the version of the rules that turn records into index terms: model.SearchTerms,
// index_record.go, and the analyzer of app/search/query. Increase it whenever one of them changes, so
// that existing indexes are rebuilt.
const checkpointFormat = 4

// checkpoint records which changes an index contains and which database it belongs to. It is stored in
// the index and committed with each batch.
type checkpoint struct {
	Format       int            `json:"form"`
	Change       uint64         `json:"change"` // the last change that the index contains
	Event        uint64         `json:"event"`  // the last event of the audit log at that time
	Hash         string         `json:"hash"`   // of that event
	Generation   string         `json:"generation"`
	Build        *buildProgress `json:"place,omitempty"`   // nil once the build has indexed every record
	PendingFiles []pendingFiles `json:"owed,omitempty"`    // files to reindex once the index has caught up
	MissingText  idRanges       `json:"lacking,omitempty"` // documents whose text was unavailable
}

// buildProgress is the progress of a build through the records.
type buildProgress struct {
	Type   string `json:"noun"`
	NextID uint64 `json:"from"` // the next record
	Done   uint64 `json:"done"`
	Total  uint64 `json:"total"`
}

// encode returns the checkpoint in its stored form.
func (m checkpoint) encode() []byte {
	raw, _ := json.Marshal(m) // cannot fail: only numbers and strings
	return raw
}

// decodeCheckpoint parses a stored checkpoint. ok is false for another format.
func decodeCheckpoint(raw []byte) (m checkpoint, ok bool) {
	return m, json.Unmarshal(raw, &m) == nil && m.Format == checkpointFormat
}

// stamp sets the last event of the audit log and the generation of the database, which identify it.
func (m *checkpoint) stamp(t *store.Tx) error {
	last, err := t.LastEvent()
	if err != nil {
		return err
	}
	m.Event, m.Hash = last.Seq, last.Hash
	m.Generation, err = t.Generation()
	return err
}

// matches reports whether the index can follow this database. A restored copy may have diverged after
// the checkpoint, so a foreign database must also have the same generation.
func (m *checkpoint) matches(t *store.Tx, foreign bool) (bool, error) {
	if m.Change > t.LastChange() || m.Change+1 < t.FirstChange() || t.EventHash(m.Event) != m.Hash {
		return false, nil
	}
	word, err := t.Generation()
	return !foreign || word == m.Generation, err
}

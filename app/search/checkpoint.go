package search

import (
	"encoding/json"

	"deedkeep/app/store"
)

// checkpointFormat is of the rules by which documents and their terms are made (title.Known,
// document.go, "Terms" of app/search/query): whoever changes one raises it, and an index of
// others is made anew.
const checkpointFormat = 4

// checkpoint is how far an index has come, and of which database it is. It lies in the
// index itself and changes with what it is about.
type checkpoint struct {
	Format       int            `json:"form"`
	Change       uint64         `json:"change"` // all up to this one are in it
	Event        uint64         `json:"event"`  // the last one of the log then
	Hash         string         `json:"hash"`   // of that
	Generation   string         `json:"generation"`
	Build        *buildProgress `json:"place,omitempty"`   // of one that is still being made
	PendingFiles []pendingFiles `json:"owed,omitempty"`    // files that are looked at when nothing else is to be done
	MissingText  idRanges       `json:"lacking,omitempty"` // documents whose text was not there (lacking.go)
}

// buildProgress is how far the walk over the records has come.
type buildProgress struct {
	Type   string `json:"noun"`
	NextID uint64 `json:"from"` // the next number
	Done   uint64 `json:"done"`
	Total  uint64 `json:"total"`
}

func (m checkpoint) encode() []byte {
	raw, _ := json.Marshal(m) // numbers and texts always encode
	return raw
}

// decodeCheckpoint is false for what is no mark of this program.
func decodeCheckpoint(raw []byte) (m checkpoint, ok bool) {
	return m, json.Unmarshal(raw, &m) == nil && m.Format == checkpointFormat
}

// stamp moves the mark to the log of now.
func (m *checkpoint) stamp(t *store.Tx) error {
	last, err := t.LastEvent()
	if err != nil {
		return err
	}
	m.Event, m.Hash = last.Seq, last.Hash
	m.Generation, err = t.Generation()
	return err
}

// matches reports whether the index can follow this database. One that is not the last that
// was used here may have gone on from before the mark: it must be where it was.
func (m *checkpoint) matches(t *store.Tx, foreign bool) (bool, error) {
	if m.Change > t.LastChange() || m.Change+1 < t.FirstChange() || t.EventHash(m.Event) != m.Hash {
		return false, nil
	}
	word, err := t.Generation()
	return !foreign || word == m.Generation, err
}

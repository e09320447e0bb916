package vault

import (
	"deedkeep/app/txn"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// servingFile tells whether the last server stopped by itself, and since when the clock
// is in doubt (leap.go). One that cannot be read is as one that is not there.
//
//	serving.json  {"started_at":"…","stopped_at":"…","cut_at":"…","leapt_at":"…"}   cut_at: the last start after one that did not stop
const ServingFile = "serving.json"

type serving struct {
	StartedAt time.Time `json:"started_at"`
	StoppedAt time.Time `json:"stopped_at,omitzero"`
	CutAt     time.Time `json:"cut_at,omitzero"`
	LeaptAt   time.Time `json:"leapt_at,omitzero"`
}

// cutAt is since when it is known that a server did not stop by itself: the next one
// has started, or, when none runs, its own start. Zero: never.
func (v *Vault) CutAt() time.Time {
	s := readServing(v.Dir)
	if !v.Serving && s.StoppedAt.IsZero() && !s.StartedAt.IsZero() {
		return s.StartedAt
	}
	return s.CutAt
}

func readServing(dir string) (s serving) {
	text, err := os.ReadFile(filepath.Join(dir, ServingFile))
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return serving{}
	}
	return s
}

// noteStart is told when a server begins on the vault.
func (v *Vault) NoteStart() {
	before, now := readServing(v.Dir), v.Now()
	s := serving{StartedAt: now, CutAt: before.CutAt, LeaptAt: before.LeaptAt}
	if !before.StartedAt.IsZero() && before.StoppedAt.IsZero() {
		s.CutAt = now
	}
	v.writeServing(s)
	v.Serving = true
}

// noteStop is told when the vault is closed in order.
func (v *Vault) NoteStop() {
	if !v.Serving {
		return
	}
	s := readServing(v.Dir)
	s.StoppedAt = v.Now()
	v.writeServing(s)
}

func (v *Vault) writeServing(s serving) {
	text, err := json.Marshal(s)
	if err == nil {
		err = v.Store.CheckFile()
	}
	if err == nil {
		err = txn.WriteFileAtomic(v.Dir, ServingFile, text)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a full disk, and a folder that a test has removed, stop no server
		v.Log.Warn("note of start and stop", "error", err)
	}
}

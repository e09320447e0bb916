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
const ServerStateFile = "serving.json"

type serverState struct {
	StartedAt     time.Time `json:"started_at"`
	StoppedAt     time.Time `json:"stopped_at,omitzero"`
	UncleanStopAt time.Time `json:"cut_at,omitzero"`
	ClockJumpedAt time.Time `json:"leapt_at,omitzero"`
}

// cutAt is since when it is known that a server did not stop by itself: the next one
// has started, or, when none runs, its own start. Zero: never.
func (v *Vault) UncleanStopAt() time.Time {
	s := readServerState(v.Dir)
	if !v.ServerStarted && s.StoppedAt.IsZero() && !s.StartedAt.IsZero() {
		return s.StartedAt
	}
	return s.UncleanStopAt
}

func readServerState(dir string) (s serverState) {
	text, err := os.ReadFile(filepath.Join(dir, ServerStateFile))
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return serverState{}
	}
	return s
}

// noteStart is told when a server begins on the vault.
func (v *Vault) RecordServerStart() {
	before, now := readServerState(v.Dir), v.Now()
	s := serverState{StartedAt: now, UncleanStopAt: before.UncleanStopAt, ClockJumpedAt: before.ClockJumpedAt}
	if !before.StartedAt.IsZero() && before.StoppedAt.IsZero() {
		s.UncleanStopAt = now
	}
	v.writeServerState(s)
	v.ServerStarted = true
}

// noteStop is told when the vault is closed in order.
func (v *Vault) RecordServerStop() {
	if !v.ServerStarted {
		return
	}
	s := readServerState(v.Dir)
	s.StoppedAt = v.Now()
	v.writeServerState(s)
}

func (v *Vault) writeServerState(s serverState) {
	text, err := json.Marshal(s)
	if err == nil {
		err = v.Store.CheckFile()
	}
	if err == nil {
		err = txn.WriteFileAtomic(v.Dir, ServerStateFile, text)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a full disk, and a folder that a test has removed, stop no server
		v.Log.Warn("note of start and stop", "error", err)
	}
}

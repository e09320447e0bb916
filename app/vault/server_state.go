package vault

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"deedkeep/app/durable"
)

// ServerStateFile records whether the last server stopped cleanly and when the clock last
// jumped ahead. An unreadable file is treated as missing.
const ServerStateFile = "serving.json"

type serverState struct {
	StartedAt     time.Time `json:"started_at"`
	StoppedAt     time.Time `json:"stopped_at,omitzero"`
	UncleanStopAt time.Time `json:"unclean_stop_at,omitzero"`
	ClockJumpedAt time.Time `json:"clock_jumped_at,omitzero"`
}

// UncleanStopAt returns the time of the last server start that followed an unclean stop,
// or zero if every stop was clean. If no server is running and the last one didn't stop
// cleanly, it returns the time when that server started.
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

// RecordServerStart records that the server has started.
func (v *Vault) RecordServerStart() {
	before, now := readServerState(v.Dir), v.Now()
	s := serverState{StartedAt: now, UncleanStopAt: before.UncleanStopAt, ClockJumpedAt: before.ClockJumpedAt}
	if !before.StartedAt.IsZero() && before.StoppedAt.IsZero() {
		s.UncleanStopAt = now
	}
	v.writeServerState(s)
	v.ServerStarted = true
}

// RecordServerStop records that the server has stopped cleanly.
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
		err = durable.WriteLine(filepath.Join(v.Dir, ServerStateFile), text)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // in tests, the data directory may be gone
		v.Log.Warn("server start or stop not recorded", "error", err)
	}
}

package storage

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

// ServerState is the content of ServerStateFile.
type ServerState struct {
	StartedAt     time.Time `json:"started_at"`
	StoppedAt     time.Time `json:"stopped_at,omitzero"`
	UncleanStopAt time.Time `json:"unclean_stop_at,omitzero"`
	ClockJumpedAt time.Time `json:"clock_jumped_at,omitzero"`
}

// UncleanStopAt returns the time of the last server start that followed an unclean stop,
// or zero if every stop was clean. If no server is running and the last one didn't stop
// cleanly, it returns the time when that server started.
func (s *Storage) UncleanStopAt() time.Time {
	state := s.ReadServerState()
	if !s.ServerStarted && state.StoppedAt.IsZero() && !state.StartedAt.IsZero() {
		return state.StartedAt
	}
	return state.UncleanStopAt
}

// ReadServerState reads ServerStateFile.
func (s *Storage) ReadServerState() (state ServerState) {
	text, err := os.ReadFile(filepath.Join(s.Dir, ServerStateFile))
	if err == nil {
		err = json.Unmarshal(text, &state)
	}
	if err != nil {
		return ServerState{}
	}
	return state
}

// RecordServerStart records that the server has started.
func (s *Storage) RecordServerStart() {
	before, now := s.ReadServerState(), s.Now()
	state := ServerState{StartedAt: now, UncleanStopAt: before.UncleanStopAt, ClockJumpedAt: before.ClockJumpedAt}
	if !before.StartedAt.IsZero() && before.StoppedAt.IsZero() {
		state.UncleanStopAt = now
	}
	s.WriteServerState(state)
	s.ServerStarted = true
}

// RecordServerStop records that the server has stopped cleanly.
func (s *Storage) RecordServerStop() {
	if !s.ServerStarted {
		return
	}
	state := s.ReadServerState()
	state.StoppedAt = s.Now()
	s.WriteServerState(state)
}

// WriteServerState writes ServerStateFile.
func (s *Storage) WriteServerState(state ServerState) {
	text, err := json.Marshal(state)
	if err == nil {
		err = s.Store.CheckFile()
	}
	if err == nil {
		err = durable.WriteLine(filepath.Join(s.Dir, ServerStateFile), text)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // in tests, the data directory may be gone
		s.Log.Warn("server start or stop not recorded", "error", err)
	}
}

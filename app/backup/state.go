package backup

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"deedkeep/app/durable"
	"deedkeep/app/integrity"
)

// State contains the outcome of the last backups. Outcome covers backups to any
// directory. Scheduled covers backups to the configured directory, whether they were
// scheduled or manual. Only these affect the schedule.
type State struct {
	Outcome
	Scheduled Outcome `json:"scheduled,omitzero"`
	// Archives maps directories to the IDs of the archives in them. The ID is "" after
	// ForgetArchive.
	Archives map[string]string `json:"archives,omitempty"`
	// Announced maps directories to the other directories that their archives know.
	Announced map[string][]string `json:"announced,omitempty"`
	Next      *time.Time          `json:"-"` // when the next backup is scheduled; nil: no schedule
	// Problem says why the state file can't be read, or is "". The state then contains only
	// what happened since the vault was opened.
	Problem string `json:"-"`
}

// Outcome contains the last successful backup and the failure since then, if any.
type Outcome struct {
	LastGood *Backup  `json:"last_good,omitempty"`
	Failed   *Failure `json:"failed,omitempty"`
}

// Failure is a failed backup and the reason.
type Failure struct {
	At     time.Time `json:"at"`
	To     string    `json:"to"`
	Reason string    `json:"reason"`
}

// State returns the outcome of the last backups, as stored in the state file.
func (b *Backups) State() State {
	b.stateMu.Lock()
	defer b.stateMu.Unlock()
	s, _ := b.readState()
	return s
}

// readState returns the state. If the state file can't be read, it also returns the error.
// A damaged file is not an error, because it can be replaced.
func (b *Backups) readState() (s State, err error) {
	raw, err := os.ReadFile(filepath.Join(b.Dir, integrity.BackupStateFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	case err != nil:
		s.Problem = readProblem(err)
	case json.Unmarshal(raw, &s) != nil:
		s = State{Problem: integrity.BackupStateFile + " is damaged, so the last backups are unknown. The next backup replaces the file."}
	}
	if b.unsaved != nil {
		s = s.with(*b.unsaved)
	}
	if at, planned := b.settings.nextTime(s, b.Now()); planned {
		s.Next = &at
	}
	return s, err
}

// with returns the state with what happened since it was stored. The stored archives stay known,
// even if the file couldn't be read in the meantime.
func (s State) with(later State) State {
	later.Problem = s.Problem
	later.LastGood = cmp.Or(later.LastGood, s.LastGood)
	later.Scheduled.LastGood = cmp.Or(later.Scheduled.LastGood, s.Scheduled.LastGood)
	later.Archives = union(s.Archives, later.Archives)
	later.Announced = union(s.Announced, later.Announced)
	return later
}

// union returns a map with the entries of both maps. Those of b replace those of a.
func union[V any](a, b map[string]V) map[string]V {
	all := make(map[string]V, len(a)+len(b))
	maps.Copy(all, a)
	maps.Copy(all, b)
	return all
}

// readProblem returns the value of State.Problem for an error of reading the state file.
func readProblem(err error) string {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = at.Err
	}
	return integrity.BackupStateFile + " in the data directory can't be read (" + err.Error() +
		"), so the last backups are unknown. Make the server's account the owner of the file."
}

// recordOutcome stores the outcome of a backup to a directory.
func (b *Backups) recordOutcome(to string, change func(*Outcome)) {
	b.updateState(func(s *State) { s.record(b.settings, to, change) })
}

func (s *State) record(settings Settings, to string, change func(*Outcome)) {
	change(&s.Outcome)
	if samePath(to, settings.To) {
		change(&s.Scheduled)
	}
}

// updateState updates the state file. If that fails, it logs the error and keeps the state
// in memory, so that the schedule continues. It doesn't replace a file that it can't read,
// nor a damaged one before the archive of a directory is known again: the file distinguishes
// an unmounted directory from a new one.
func (b *Backups) updateState(change func(*State)) {
	b.stateMu.Lock()
	defer b.stateMu.Unlock()
	s, err := b.readState()
	change(&s)
	keep := err != nil || s.Problem != "" && len(s.Archives) == 0
	if !keep {
		err = b.Store.CheckFile()
	}
	if !keep && err == nil {
		var raw []byte
		if raw, err = json.Marshal(s); err == nil {
			err = durable.WriteLine(filepath.Join(b.Dir, integrity.BackupStateFile), raw)
		}
	}
	b.unsaved = nil
	if keep || err != nil {
		b.unsaved = &s
	}
	if err != nil {
		b.Log.Error("backup result not saved", "error", err)
	}
}

package backup

import (
	"maps"

	"deedkeep/app/errs"
)

// setArchive notes which archive a directory holds.
func (s *State) setArchive(to, id string) {
	s.Archives = maps.Clone(s.Archives)
	if s.Archives == nil {
		s.Archives = map[string]string{}
	}
	s.Archives[to] = id
}

// expectedArchive is the archive that was in a directory, "" where none was: a disk that is
// not mounted leaves an empty directory, into which everything would go once more,
// onto the very disk that the backup is to outlive.
func (b *Backups) expectedArchive(to string) (string, error) {
	s, err := b.State()
	return s.Archives[to], err
}

// ForgetArchive forgets which archive the directory to ("": that of the settings) held, so that
// the next Create goes on with whatever is there, or begins one. It returns Invalid
// without a directory.
func (b *Backups) ForgetArchive(to string) error {
	to, err := b.target(to)
	if err != nil {
		return err
	}
	b.updateState(func(s *State) { delete(s.Archives, to) })
	if id, err := b.expectedArchive(to); err != nil || id != "" {
		return &errs.Error{Kind: errs.Conflict, Message: "Which backups were there could not be forgotten: see the log.", Err: err}
	}
	return nil
}

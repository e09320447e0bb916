package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// cleanMarkSuffix follows the name of a database whose last session ended cleanly: every
// commit was synced, and none failed. Close leaves it, synced, and the first commit of
// a session removes it before it writes, so that no crash and no failed sync has one.
// It names the state it stands for, so it means nothing beside another vault.db.
//
//	vault.db.clean    transaction and checksum of the meta page in force, in hex
const cleanMarkSuffix = ".clean"

// endedCleanly reports whether the mark is that of the file's present state. It reads
// the meta pages alone. What can't be read is not clean.
func endedCleanly(file *os.File) bool {
	text, err := os.ReadFile(file.Name() + cleanMarkSuffix)
	if err != nil {
		return false
	}
	want, err := cleanMarkText(file)
	return err == nil && string(text) == want
}

func cleanMarkText(file *os.File) (string, error) {
	sound, err := readValidMetas(file)
	if err == nil && len(sound) == 0 {
		err = errBrokenPages
	}
	newest := newestMeta(sound)
	return fmt.Sprintf("%016x %016x\n", newest.transaction, newest.checksum), err
}

// removeCleanMark comes before the first write of a session.
func (s *Store) removeCleanMark() error {
	if s.cleanMarkRemoved {
		return nil
	}
	err := removeDurably(s.db.Path() + cleanMarkSuffix)
	s.cleanMarkRemoved = err == nil
	if errors.Is(err, errSyncFailed) {
		s.Fail(err)
	}
	return err
}

// updateCleanMark is for Close, after the last commit. A mark that can't be written costs
// the next start a check of the file, nothing more, so that is no error.
func (s *Store) updateCleanMark() {
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	if s.cleanMarkWritten || s.file == nil {
		return
	}
	s.cleanMarkWritten = true
	path := s.file.Name() + cleanMarkSuffix
	var err error
	switch {
	case s.Failure() != nil:
		err = s.Failure()
	case s.cleanMarkRemoved || s.isNew || !s.cacheCheck.Clean:
		err = s.writeCleanMark(path)
	}
	if err != nil {
		_ = os.Remove(path) // one that stays, cut short or of a state before, means nothing
	}
}

func (s *Store) writeCleanMark(path string) error {
	// It gives errors of writing in the background, too.
	if err := s.db.Sync(); err != nil {
		return err
	}
	state, err := cleanMarkText(s.file)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(state)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

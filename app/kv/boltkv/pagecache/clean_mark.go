package pagecache

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"deedkeep/app/durable"
)

// CleanMarkSuffix is appended to the database's file name to form the name of the clean
// mark. This file says that every commit of the last session was synced and none failed.
// Close writes and syncs it. The first commit of a session removes it before writing, so it
// never exists after a crash or a failed sync. The mark identifies the database state it
// belongs to, so it isn't valid for a different vault.db.
//
//	vault.db.clean    transaction ID and checksum of the current meta page, in hex
const CleanMarkSuffix = ".clean"

// EndedCleanly reports whether the clean mark matches the current state of the file. It
// reads only the meta pages of the database. It returns false if it can't read them.
func EndedCleanly(file *os.File) bool {
	text, err := os.ReadFile(file.Name() + CleanMarkSuffix)
	if err != nil {
		return false
	}
	want, err := CleanMarkText(file)
	return err == nil && string(text) == want
}

// CleanMarkText returns the content that a clean mark must have for the current state of
// the file.
func CleanMarkText(file *os.File) (string, error) {
	valid, err := ReadMetas(file)
	if err == nil && len(valid) == 0 {
		err = errNoMeta
	}
	newest := NewestMeta(valid)
	return fmt.Sprintf("%016x %016x\n", newest.Transaction, newest.Checksum), err
}

// errNoMeta means that both meta pages are damaged.
var errNoMeta = errors.New("both meta pages are damaged")

// WriteCleanMark writes the clean mark for the current state of the file, which must be synced.
func WriteCleanMark(database *os.File) error {
	state, err := CleanMarkText(database)
	if err != nil {
		return err
	}
	path := database.Name() + CleanMarkSuffix
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(state)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(path))
}

package store

import (
	"fmt"
	"os"

	"deedkeep/app/errs"
)

// fileIdentity is which file the database is, whatever its name.
type fileIdentity struct {
	path string
	info os.FileInfo
}

func statFile(path string) (*fileIdentity, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	os.SameFile(info, info) // Windows looks the identity up at the first comparison.
	return &fileIdentity{path, info}, nil
}

// CheckFile is nil while the database is where it was opened, and else Closing: its
// directory was moved away, or its disk unmounted. The open file can still be written
// to then, but what lies beside it can't be found. It ends when the same file is back.
func (s *Store) CheckFile() error {
	if s.identity == nil {
		return nil
	}
	switch info, err := os.Stat(s.identity.path); {
	case err != nil:
		return &errs.Error{Kind: errs.Unavailable, Err: err, Message: "The data directory is gone: it was moved, or its disk is not mounted. The server accepts no changes until it is back."}
	case !os.SameFile(info, s.identity.info):
		return &errs.Error{Kind: errs.Unavailable, Err: fmt.Errorf("%s is another file", s.identity.path), Message: "Another vault.db is in place of the one that was opened. Restart the server."}
	}
	return nil
}

package txn

import (
	"errors"
	"os"
	"path/filepath"

	"deedkeep/app/durable"
)

// WriteFileAtomic writes a small file in the data directory and syncs it. After a crash,
// the file has either its old or its new content.
func WriteFileAtomic(dir, name string, content []byte) error {
	path := filepath.Join(dir, name)
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(content, '\n'))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	return durable.SyncDir(dir)
}

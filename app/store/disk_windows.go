package store

import (
	"errors"
	"io/fs"
	"os"
)

// initialMmap stays small here: bbolt grows the file itself to it.
const initialMmap = 16 << 20

// removeDurably removes a file, if it is there.
func removeDurably(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

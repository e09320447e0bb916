package boltkv

import (
	"errors"
	"io/fs"
	"os"
)

// initialMmap is the initial size of the memory map. It is small on Windows because bbolt
// extends the file to this size.
const initialMmap = 16 << 20

// removeDurably removes a file if it exists.
func removeDurably(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

package vault

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"deedkeep/app/errs"
)

// storage counts the errors of the disk under the documents that end an upload and
// leave the vault writable, such as a rename that fails.
type storage struct {
	mu   sync.Mutex
	row  int       // errors since the last document was stored
	last time.Time // of the last of them
	err  error
}

// After storageErrors in a row the vault is not ready, until a document is stored or
// none has failed for storageQuiet.
const (
	storageErrors = 3
	storageQuiet  = time.Minute
)

// failed counts an error of the file system; of others it takes no notice.
func (s *storage) failed(now time.Time, err error) {
	var path *fs.PathError
	var link *os.LinkError
	if !errors.As(err, &path) && !errors.As(err, &link) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.row, s.last, s.err = s.row+1, now, err
}

func (s *storage) succeeded() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.row = 0
}

// problem is Closing while the disk keeps failing.
func (s *storage) Problem(now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.row < storageErrors || now.Sub(s.last) >= storageQuiet {
		return nil
	}
	return &errs.Error{Kind: errs.Unavailable, Message: "The disk keeps failing to store documents. Check the disk and the server's log.", Err: s.err}
}

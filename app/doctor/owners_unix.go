//go:build unix

package doctor

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"deedkeep/app/apitypes"
	"deedkeep/app/config"
	"deedkeep/app/integrity"
)

const (
	maxOwnerDepth   = 3  // levels of directories to check: data, blobs, blobs/ab
	maxOwnerEntries = 16 // entries to check in each subdirectory of the data directory
)

// checkOwners checks the owners of all files in the data directory itself and of a sample of files in each
// subdirectory. A file may belong to root if a command was run as root. The server can't open such a file.
func checkOwners(c config.Config) apitypes.Diagnosis {
	const check = "owners"
	_, err := os.Stat(filepath.Join(c.Data, "vault.db"))
	if errors.Is(err, fs.ErrNotExist) {
		return ok(check, "no data yet")
	}
	owner, _, known := integrity.DataOwner(c.Data)
	if err == nil && known {
		err = integrity.CheckOwner(c.Data)
	}
	if mismatch, differ := errors.AsType[*integrity.OwnerError](err); differ {
		return bad(check, fmt.Sprintf("vault.db belongs to %s, but the data directory belongs to %s; the server doesn't start",
			mismatch.Database, mismatch.Directory),
			"stop the server, then: "+mismatch.Fix())
	}
	if err != nil || !known {
		return warn(check, fmt.Sprintf("can't read the owner of %s: %v", c.Data, err), "run the command as the service account")
	}
	s := ownerSample{owner: owner}
	s.walk(c.Data, maxOwnerDepth)
	switch {
	case s.foreign > 0:
		return bad(check, fmt.Sprintf(
			"%d of %d checked files don't belong to the owner of the data directory (%s), such as %s; the server may not be able to open them",
			s.foreign, s.seen, integrity.UserName(owner), s.first),
			fmt.Sprintf("stop the server, then: chown -R %s: %s", integrity.UserName(owner), c.Data))
	case s.err != nil:
		return warn(check, "can't check all files: "+s.err.Error(), "run the command as root or as "+integrity.UserName(owner))
	}
	return ok(check, fmt.Sprintf("all %d checked files belong to %s", s.seen, integrity.UserName(owner)))
}

// ownerSample counts the files that were checked and those that don't belong to owner.
type ownerSample struct {
	owner         int
	seen, foreign int
	first         string
	err           error // the first error
}

// walk checks path and, if it is a directory, its entries, down to depth levels. It ignores entries that disappear
// during the walk.
func (s *ownerSample) walk(path string, depth int) {
	info, err := os.Lstat(path)
	if err == nil {
		s.add(path, info)
		if !info.IsDir() || depth == 0 || info.Name() == "lost+found" { // root owns lost+found on every new file system
			return
		}
		var names []string
		names, err = readEntries(path, depth == maxOwnerDepth)
		for _, name := range names {
			s.walk(filepath.Join(path, name), depth-1)
		}
	}
	if err != nil && s.err == nil && !errors.Is(err, fs.ErrNotExist) {
		s.err = err
	}
}

func (s *ownerSample) add(path string, info os.FileInfo) {
	s.seen++
	at, known := info.Sys().(*syscall.Stat_t)
	if !known || int(at.Uid) == s.owner || info.Name() == "lost+found" {
		return
	}
	if s.foreign++; s.foreign == 1 {
		s.first = path
	}
}

// readEntries returns the names of the first maxOwnerEntries entries of a directory, or of all entries if all is set.
// It always returns all entries of blobs, which has 256 subdirectories.
func readEntries(path string, all bool) ([]string, error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	n := maxOwnerEntries
	if all || filepath.Base(path) == "blobs" {
		n = -1
	}
	names, err := dir.Readdirnames(n)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, errors.Join(err, dir.Close())
}

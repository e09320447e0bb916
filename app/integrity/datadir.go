// Package integrity checks stored data. It verifies records and documents, repairs what
// can be derived from records, scrubs documents in the background, and checks that a
// directory is a valid data directory.
package integrity

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deedkeep/app/search"
	"deedkeep/app/txn"
	"deedkeep/app/vault"
)

// The names of files and directories in a data directory (package instance lists what they
// are for). A file has the suffix ".new" while it is being written.
var (
	knownDirs  = []string{"blobs", "tmp", "uploads", "previews", search.DirName, "cache", "tls", "drill"}
	knownFiles = []string{"config.yaml", "vault.db", "vault.db.clean", "secret.key", vault.GenerationFile, txn.ReserveFile,
		BackupStateFile, RestoreMarkerFile, scrubStateFile, vault.ServerStateFile, "control.sock", "control.json"}
	// ignoredFiles may also be present; the server does not use them.
	ignoredFiles = []string{"README.md", "lost+found"}
)

// CheckDataDir checks a directory before anything in it is created, emptied, or removed.
// The directories of a vault must not be links or files. A new vault is created neither
// among other files nor next to documents whose database is missing.
func CheckDataDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	database := false
	foreign := ""
	for _, e := range entries {
		name := e.Name()
		switch {
		case slices.Contains(knownDirs, name):
			// The indexer checks the search directory and reports anything that is not its
			// own.
			if !e.IsDir() && name != search.DirName {
				return fmt.Errorf("%s must be a directory of its own, no link and no file", filepath.Join(dir, name))
			}
		case name == "vault.db":
			database = true
		case !isKnownFile(name) && foreign == "":
			foreign = name
		}
	}
	switch {
	case database:
		return nil
	case foreign != "":
		return fmt.Errorf("%s is no vault and not empty (it holds %q): choose an empty directory", dir, foreign)
	}
	return checkNoDocuments(dir)
}

func isKnownFile(name string) bool {
	return slices.Contains(knownFiles, strings.TrimSuffix(name, ".new")) || slices.Contains(ignoredFiles, name) ||
		strings.HasPrefix(name, ".") || strings.HasPrefix(name, "vault.db.") ||
		strings.HasPrefix(name, "secret.key")
}

// checkNoDocuments returns an error if a directory without a database has documents.
func checkNoDocuments(dir string) error {
	err := filepath.WalkDir(filepath.Join(dir, "blobs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			return errHasDocuments
		}
		return err
	})
	switch {
	case errors.Is(err, errHasDocuments):
		return fmt.Errorf("%s has documents but no vault.db: put it back from a backup, or choose an empty directory", dir)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}

var errHasDocuments = errors.New("there are documents")

// BackupStateFile stores the outcome of the last backups, for display and for the
// schedule. It belongs to this machine and is not part of any backup. A failure is removed
// by the next backup that succeeds.
//
//	backup.json    {"good":{…},"failed":{…},"plan":{"good":{…},"failed":{…}},"archives":{"/mnt/nas/deedkeep":"<its id>"}}
const BackupStateFile = "backup.json"

// RestoreMarkerFile marks a data directory whose restore is not finished. No server or
// command opens such a directory; running the same restore again resumes it.
//
//	restore.json    {"archive":"…","snapshot":"…","from":"…"}
const RestoreMarkerFile = "restore.json"

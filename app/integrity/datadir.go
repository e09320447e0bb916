// Package integrity checks stored data. It verifies records and documents, repairs data
// that can be derived from records, scrubs documents in the background, and checks whether
// a directory is a valid data directory.
package integrity

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deedkeep/app/blobstore"
	"deedkeep/app/extract"
	"deedkeep/app/search"
	"deedkeep/app/store"
	"deedkeep/app/txn"
	"deedkeep/app/vault/storage"
)

// The names of the files and directories in a data directory. Package instance describes
// their purpose. While a file is being written, its name has the suffix ".new".
var (
	knownDirs = []string{"blobs", "tmp", "uploads", "previews", search.DirName, "cache", "tls", "drill",
		blobstore.OCRDirName, "languages"}
	knownFiles = []string{"config.yaml", extract.PatternsFileName, "vault.db", "vault.db.clean", "secret.key", storage.GenerationFile, txn.ReserveFile,
		BackupStateFile, RestoreMarkerFile, scrubStateFile, storage.ServerStateFile, "control.sock", "control.json"}
	// ignoredFiles may also be present. The server doesn't use them.
	ignoredFiles = []string{"README.md", "lost+found"}
)

// CheckDataDir checks a directory before anything in it is created, emptied, or removed. It
// returns an error if a directory of the vault is a link or a file. If the directory
// doesn't have a vault yet, it must not contain other files or documents whose database is
// missing.
func CheckDataDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	database, copied := false, false
	unknownName := ""
	for _, e := range entries {
		name := e.Name()
		switch {
		case slices.Contains(knownDirs, name):
			// The indexer checks the search directory and reports anything in it that is
			// not its own.
			if !e.IsDir() && name != search.DirName {
				return fmt.Errorf("%s must be a directory, not a link or a file", filepath.Join(dir, name))
			}
		case name == "vault.db":
			database = true
		case strings.HasPrefix(name, "vault.db"+store.CopySuffix):
			copied = true
		case !isKnownFile(name) && unknownName == "":
			unknownName = name
		}
	}
	switch {
	case database:
		return nil
	case copied:
		return fmt.Errorf("%s has no vault.db, only a copy from before an upgrade; "+
			`to complete an interrupted rollback, run "deedkeep rollback" again`, dir)
	case unknownName != "":
		return fmt.Errorf("%s is not empty and not a data directory of deedkeep (it contains %q); choose an empty directory", dir, unknownName)
	}
	return checkNoDocuments(dir)
}

func isKnownFile(name string) bool {
	return slices.Contains(knownFiles, strings.TrimSuffix(name, ".new")) || slices.Contains(ignoredFiles, name) ||
		strings.HasPrefix(name, ".") || strings.HasPrefix(name, "vault.db.") ||
		strings.HasPrefix(name, "secret.key")
}

// checkNoDocuments returns an error if there are documents in a directory that doesn't have
// a database.
func checkNoDocuments(dir string) error {
	err := filepath.WalkDir(filepath.Join(dir, "blobs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			return errHasDocuments
		}
		return err
	})
	switch {
	case errors.Is(err, errHasDocuments):
		return fmt.Errorf("%s has documents but no vault.db; restore a backup, or choose an empty directory", dir)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}

// OwnerError is the error of CheckOwner. The fields other than Dir are usernames.
type OwnerError struct {
	Dir                 string
	Database, Directory string // the owners of vault.db and of the data directory
	Owner               string // who should own everything: the owner of the directory, but never root if the other isn't
}

func (o *OwnerError) Error() string {
	return fmt.Sprintf("vault.db belongs to %s, but the data directory %s belongs to %s; stop the server, then run: %s",
		o.Database, o.Dir, o.Directory, o.Fix())
}

// Fix returns the command that gives the data directory one owner.
func (o *OwnerError) Fix() string { return fmt.Sprintf("chown -R %s: %s", o.Owner, o.Dir) }

var errHasDocuments = errors.New("documents found")

// BackupStateFile contains the results of the last backups. The server shows them and uses
// them for the schedule. The file belongs to this machine and is not included in backups.
// The next successful backup removes a failure from it.
//
//	backup.json    {"good":{…},"failed":{…},"plan":{"good":{…},"failed":{…}},"archives":{"/mnt/nas/deedkeep":"<its id>"}}
const BackupStateFile = "backup.json"

// RestoreMarkerFile marks a data directory whose restore has not finished. The server and
// the CLI commands don't open such a directory. Running the same restore command again
// resumes the restore.
//
//	restore.json    {"archive":"…","snapshot":"…","from":"…"}
const RestoreMarkerFile = "restore.json"

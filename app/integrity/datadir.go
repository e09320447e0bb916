package integrity

import (
	"deedkeep/app/search"
	"deedkeep/app/txn"
	"deedkeep/app/vault"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The names in a data directory that are ours; vault.go and data/README.md say what
// each is for. A file may have the end ".new" while it is written.
var (
	knownDirs  = []string{"blobs", "tmp", "uploads", "previews", search.SearchFolder, "cache", "tls", "drill"}
	knownFiles = []string{"config.yaml", "vault.db", "vault.db.clean", "secret.key", vault.GenerationFile, txn.ReserveFile, BackupStateFile, RestoreMarkerFile, scrubStateFile, vault.ServerStateFile, "control.sock", "control.json"}
	// ignoredFiles is what may lie beside them.
	ignoredFiles = []string{"README.md", "lost+found"}
)

// survey looks at a directory before anything in it is made, emptied or removed:
// what is ours must be ours alone, no link to elsewhere; and a new vault is made
// neither among somebody's files nor on top of documents whose database is gone.
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
			// The index of words is derived: the indexer touches nothing but a folder
			// of its own, and says so where there is something else.
			if !e.IsDir() && name != search.SearchFolder {
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
	return slices.Contains(knownFiles, strings.TrimSuffix(name, ".new")) || slices.Contains(ignoredFiles, name) || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "vault.db.") ||
		strings.HasPrefix(name, "secret.key")
}

// checkNoDocuments refuses a directory that has documents and no database.
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

// backupFile keeps what became of the last snapshots, for people and for the plan. It
// belongs to this machine and is part of no backup.
//
//	backup.json    {"good":{…},"failed":{…},"plan":{"good":{…},"failed":{…}},"archives":{"/mnt/nas/deedkeep":"<its id>"}}; failed only since the last good one
const BackupStateFile = "backup.json"

// restoreNote marks a data directory that a restore has begun and not finished.
// Nothing else opens it; the same restore goes on.
//
//	restore.json    {"archive":"…","snapshot":"…","from":"…"}
const RestoreMarkerFile = "restore.json"

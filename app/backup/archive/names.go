package archive

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"deedkeep/app/blobstore"
)

const (
	snapshotLayout = "20060102T150405Z"
	databaseExt    = ".db"
	manifestExt    = ".manifest"
	// Latest is an alias for the newest snapshot.
	Latest = "latest"
)

// ParseSnapshot returns the time in the name of a snapshot. ok is false if name isn't the
// name of a snapshot.
func ParseSnapshot(name string) (time.Time, bool) {
	at, err := time.Parse(snapshotLayout, name)
	return at, err == nil && at.Format(snapshotLayout) == name
}

func isDigest(text string) bool {
	_, err := blobstore.ParseDigest(text)
	return err == nil
}

// parseDatabaseFile parses "<snapshot>.<sum>.db".
func parseDatabaseFile(name string) (snapshot, sum string, db bool) {
	rest, db := strings.CutSuffix(name, databaseExt)
	if !db {
		return "", "", false
	}
	snapshot, sum, ok := splitSnapshotFile(rest)
	return snapshot, sum, ok
}

func parseManifestFile(name string) (snapshot, sum string, ok bool) {
	rest, ok := strings.CutSuffix(name, manifestExt)
	if !ok {
		return "", "", false
	}
	return splitSnapshotFile(rest)
}

func splitSnapshotFile(rest string) (snapshot, sum string, ok bool) {
	snapshot, sum, _ = strings.Cut(rest, ".")
	_, named := ParseSnapshot(snapshot)
	return snapshot, sum, named && isDigest(sum)
}

// blobFile is the parsed name of a file in blobs/xx.
type blobFile struct {
	name string // 32 hex digits; the digest in the plain format
	sum  string // 64 hex digits
}

// parseBlobFile parses the name of a blob file in the format of the archive.
func (a *Archive) parseBlobFile(name string) (b blobFile, ok bool) {
	if !a.Encrypted() {
		return blobFile{name, name}, isDigest(name)
	}
	before, sum, _ := strings.Cut(name, ".")
	raw, err := hex.DecodeString(before)
	return blobFile{before, sum}, err == nil && len(raw) == 16 && strings.ToLower(before) == before && isDigest(sum)
}

func (b blobFile) fileName() string {
	if b.name == b.sum {
		return b.name
	}
	return b.name + "." + b.sum
}

// blobPath returns the path elements of a blob file, relative to the archive.
func blobPath(file string) []string { return []string{blobsDir, file[:2], file} }

// snapshotFiles returns the names of the manifest files, by snapshot, and of the database
// files.
func (a *Archive) snapshotFiles() (manifests map[string]string, databases []string, err error) {
	entries, err := os.ReadDir(a.path(snapsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%w: folder %s is missing", ErrDamaged, snapsDir)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("list snapshots: %w", err)
	}
	manifests = map[string]string{}
	for _, e := range entries {
		if name, _, ok := parseManifestFile(e.Name()); ok {
			if other, twice := manifests[name]; twice {
				return nil, nil, fmt.Errorf("%w: snapshot %s has two manifests, %s and %s; "+
					"delete the one whose name doesn't contain its SHA-256", ErrDamaged, name, other, e.Name())
			}
			manifests[name] = e.Name()
		} else if _, _, ok := parseDatabaseFile(e.Name()); ok {
			databases = append(databases, e.Name())
		}
	}
	return manifests, databases, nil
}

// Snapshots returns the names of all complete snapshots, oldest first.
func (a *Archive) Snapshots() ([]string, error) {
	manifests, _, err := a.snapshotFiles()
	return slices.Sorted(maps.Keys(manifests)), err
}

// findSnapshot returns the name of a snapshot and its manifest file. name may be Latest or a
// label.
func (a *Archive) findSnapshot(name string) (snapshot, file string, err error) {
	names, err := a.Snapshots()
	if err != nil {
		return "", "", err
	}
	if len(names) == 0 {
		return "", "", fmt.Errorf("%s: %w: the directory has no backups yet", a.dir, ErrNotFound)
	}
	if name == Latest {
		name = names[len(names)-1]
	}
	if labels, err := a.Labels(); err == nil { // the name may be a label
		for _, snapshot := range names {
			if labels[snapshot] == name {
				name = snapshot
			}
		}
	}
	if !slices.Contains(names, name) {
		return "", "", fmt.Errorf("%s: %w: no backup %.40q; the newest is %s", a.dir, ErrNotFound, name, names[len(names)-1])
	}
	manifests, _, err := a.snapshotFiles()
	return name, manifests[name], err
}

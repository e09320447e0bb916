package archive

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

const (
	snapshotForm = "20060102T150405Z"
	databaseExt  = ".db"
	manifestExt  = ".manifest"
	// Latest stands for the newest snapshot.
	Latest = "latest"
)

// ParseSnapshot gives the moment of a snapshot's name; one moment has one name.
func ParseSnapshot(name string) (time.Time, bool) {
	at, err := time.Parse(snapshotForm, name)
	return at, err == nil && at.Format(snapshotForm) == name
}

func parseDigest(text string) (d Digest, ok bool) {
	if len(text) != 64 || strings.ToLower(text) != text {
		return d, false
	}
	_, err := hex.Decode(d[:], []byte(text))
	return d, err == nil
}

// parseSnapFile reads "<snapshot>.<sum>.db"; manifest tells it from ".manifest".
func parseSnapFile(name string) (snapshot, sum string, db bool) {
	rest, db := strings.CutSuffix(name, databaseExt)
	if !db {
		return "", "", false
	}
	snapshot, sum, ok := splitSnap(rest)
	return snapshot, sum, ok
}

func parseManifestFile(name string) (snapshot, sum string, ok bool) {
	rest, ok := strings.CutSuffix(name, manifestExt)
	if !ok {
		return "", "", false
	}
	return splitSnap(rest)
}

func splitSnap(rest string) (snapshot, sum string, ok bool) {
	snapshot, sum, _ = strings.Cut(rest, ".")
	_, named := ParseSnapshot(snapshot)
	_, summed := parseDigest(sum)
	return snapshot, sum, named && summed
}

// blobFile is a file of blobs/xx: its name before the sum, and the sum of its bytes.
type blobFile struct {
	name string // 32 hex digits, or, in the plain form, the digest itself
	sum  string // 64 hex digits
}

// parseBlobFile reads a file's name as the form writes it.
func (a *Archive) parseBlobFile(name string) (b blobFile, ok bool) {
	if !a.Encrypted() {
		_, ok = parseDigest(name)
		return blobFile{name, name}, ok
	}
	before, sum, _ := strings.Cut(name, ".")
	raw, err := hex.DecodeString(before)
	_, summed := parseDigest(sum)
	return blobFile{before, sum}, err == nil && len(raw) == 16 && strings.ToLower(before) == before && summed
}

func (b blobFile) file() string {
	if b.name == b.sum {
		return b.name
	}
	return b.name + "." + b.sum
}

// blobPath is where a file of blobs lies, as a path in the archive.
func blobPath(file string) []string { return []string{blobsDir, file[:2], file} }

// snapshotFiles lists the manifests by the name of their snapshot, and the databases.
func (a *Archive) snapshotFiles() (manifests map[string]string, databases []string, err error) {
	entries, err := os.ReadDir(a.path(snapsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%w: the folder %s is missing", ErrDamaged, snapsDir)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("list snapshots: %w", err)
	}
	manifests = map[string]string{}
	for _, e := range entries {
		if name, _, ok := parseManifestFile(e.Name()); ok {
			if other, twice := manifests[name]; twice {
				return nil, nil, fmt.Errorf("%w: snapshot %s has two manifests, %s and %s: remove the one whose SHA-256 is not in its name", ErrDamaged, name, other, e.Name())
			}
			manifests[name] = e.Name()
		} else if _, _, ok := parseSnapFile(e.Name()); ok {
			databases = append(databases, e.Name())
		}
	}
	return manifests, databases, nil
}

// Snapshots gives the names of all complete snapshots, oldest first.
func (a *Archive) Snapshots() ([]string, error) {
	manifests, _, err := a.snapshotFiles()
	names := make([]string, 0, len(manifests))
	for name := range manifests {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, err
}

// find gives the name of a snapshot, which may be Latest, and its manifest's file.
func (a *Archive) find(name string) (snapshot, file string, err error) {
	names, err := a.Snapshots()
	if err != nil {
		return "", "", err
	}
	if len(names) == 0 {
		return "", "", fmt.Errorf("%s: %w: it holds no snapshot yet", a.dir, ErrNotFound)
	}
	if name == Latest {
		name = names[len(names)-1]
	}
	if !slices.Contains(names, name) {
		return "", "", fmt.Errorf("%s: %w: there is no snapshot %.40q; the newest is %s", a.dir, ErrNotFound, name, names[len(names)-1])
	}
	manifests, _, err := a.snapshotFiles()
	return name, manifests[name], err
}

package store

import (
	"bytes"
	"fmt"
	"sync"

	"deedkeep/app/model"
)

// NewFolderID returns the ID for a new folder.
func (t *Tx) NewFolderID() (uint64, error) { return folders.nextID(t) }

// Folder returns a folder. The error has kind errs.NotFound if it doesn't exist.
func (t *Tx) Folder(id uint64) (model.Folder, error) { return folders.get(t, id) }

// HasFolder reports whether a folder exists.
func (t *Tx) HasFolder(id uint64) bool { return folders.has(t, id) }

// Folders returns all folders, sorted by ID.
func (t *Tx) Folders() ([]model.Folder, error) { return folders.all(t) }

// FolderNameTaken reports whether the parent folder contains a folder with this name,
// ignoring case.
func (t *Tx) FolderNameTaken(parent uint64, name string) bool {
	return t.bucket(bucketFolderNames).Get(folderNameKey(parent, name)) != nil
}

// PutFolder creates or updates a folder. It returns an error if another folder with the
// same parent has the same name (see FolderNameTaken).
func (t *Tx) PutFolder(f model.Folder) error {
	old, existed, err := folders.find(t, f.ID)
	if err != nil {
		return err
	}
	names := t.bucket(bucketFolderNames)
	if owner, taken := decodeUint64(names.Get(folderNameKey(f.ParentID, f.Name))); taken && owner != f.ID {
		return fmt.Errorf("put folder %d: folder %d has the same name", f.ID, owner)
	}
	if !existed {
		t.addCount(CountFolders, 1)
	} else if err := names.Delete(folderNameKey(old.ParentID, old.Name)); err != nil {
		return fmt.Errorf("move folder %d: %w", f.ID, err)
	}
	if err := names.Put(folderNameKey(f.ParentID, f.Name), encodeUint64(f.ID)); err != nil {
		return fmt.Errorf("index folder %d: %w", f.ID, err)
	}
	return folders.put(t, f.ID, f)
}

// RemoveFolder permanently deletes a folder. The folder must not be in use (see
// FolderInUse). The error has kind errs.NotFound if it doesn't exist.
func (t *Tx) RemoveFolder(id uint64) error {
	old, err := folders.get(t, id)
	if err != nil {
		return err
	}
	if err := t.bucket(bucketFolderNames).Delete(folderNameKey(old.ParentID, old.Name)); err != nil {
		return fmt.Errorf("index folder %d: %w", id, err)
	}
	t.addCount(CountFolders, -1)
	return folders.remove(t, id)
}

// FolderInUse reports whether a folder contains a live file or another folder.
func (t *Tx) FolderInUse(id uint64) bool {
	prefix := encodeUint64(id)
	k, _ := t.bucket(bucketFolderNames).Cursor().Seek(prefix)
	return bytes.HasPrefix(k, prefix) || t.CountBy(files.typeName, model.ColumnFolder, fmt.Sprint(id)) > 0
}

// folderNameKey returns the key of a folder in the index of folder names.
func folderNameKey(parent uint64, name string) []byte {
	return append(encodeUint64(parent), model.Fold(name)...)
}

// FolderByName returns the ID of the folder with this name in a parent folder, ignoring
// case. The parent of top-level folders is 0.
func (t *Tx) FolderByName(parent uint64, name string) (id uint64, found bool) {
	return decodeUint64(t.bucket(bucketFolderNames).Get(folderNameKey(parent, name)))
}

// folderVersions counts the changes made by this process that affect the file list of a
// folder: additions, removals, and renames. A cached sort order of a large folder remains
// valid as long as the folder's version doesn't change. Folder 0 contains the files that
// are not in any folder or abstract.
type folderVersions struct {
	mu       sync.Mutex
	versions map[uint64]uint64
}

// FolderVersion returns how many committed changes have affected the file list of a folder
// since the process started. If you read the version before a View, it is never newer than
// the data in the View.
func (s *Store) FolderVersion(folder uint64) uint64 {
	s.caches.folderVersions.mu.Lock()
	defer s.caches.folderVersions.mu.Unlock()
	return s.caches.folderVersions.versions[folder]
}

// bumpFolderVersions increments the versions of all folders affected by a change to a file.
// It does so after the commit. existed says whether the file existed before the change, and
// exists says whether it exists after it.
func (t *Tx) bumpFolderVersions(old, f *model.File, existed, exists bool) {
	existed, exists = existed && old.Trashed == nil && old.AbstractID == 0, exists && f.Trashed == nil && f.AbstractID == 0
	same := existed == exists && old.FolderID == f.FolderID && old.Filename == f.Filename
	if same || !existed && !exists {
		return
	}
	affected := map[uint64]bool{}
	if existed {
		affected[old.FolderID] = true
	}
	if exists {
		affected[f.FolderID] = true
	}
	fv := &t.caches.folderVersions
	t.committed = append(t.committed, func() {
		fv.mu.Lock()
		defer fv.mu.Unlock()
		if fv.versions == nil {
			fv.versions = map[uint64]uint64{}
		}
		for folder := range affected {
			fv.versions[folder]++
		}
	})
}

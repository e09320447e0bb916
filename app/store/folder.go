package store

import (
	"bytes"
	"fmt"
	"sync"

	"deedkeep/app/model"
)

// NewFolderID gives the next number of a folder.
func (t *Tx) NewFolderID() (uint64, error) { return folders.nextID(t) }

// Folder reads one; NotFound when absent.
func (t *Tx) Folder(id uint64) (model.Folder, error) { return folders.get(t, id) }

// HasFolder reports whether there is such a folder.
func (t *Tx) HasFolder(id uint64) bool { return folders.has(t, id) }

// Folders reads all, in order of their numbers.
func (t *Tx) Folders() ([]model.Folder, error) { return folders.all(t) }

// FolderNameTaken reports whether a sibling has the name, compared without case.
func (t *Tx) FolderNameTaken(parent uint64, name string) bool {
	return t.bucket(bucketFolderNames).Get(folderNameKey(parent, name)) != nil
}

// PutFolder writes one, new or changed, and its place among its siblings; a name
// that a sibling has is an error (see FolderNameTaken).
func (t *Tx) PutFolder(f model.Folder) error {
	old, known, err := folders.find(t, f.ID)
	if err != nil {
		return err
	}
	names := t.bucket(bucketFolderNames)
	if owner, taken := decodeUint64(names.Get(folderNameKey(f.ParentID, f.Name))); taken && owner != f.ID {
		return fmt.Errorf("put folder %d: folder %d has its name", f.ID, owner)
	}
	if !known {
		t.addCount(CountFolders, 1)
	} else if err := names.Delete(folderNameKey(old.ParentID, old.Name)); err != nil {
		return fmt.Errorf("move folder %d: %w", f.ID, err)
	}
	if err := names.Put(folderNameKey(f.ParentID, f.Name), encodeUint64(f.ID)); err != nil {
		return fmt.Errorf("index folder %d: %w", f.ID, err)
	}
	return folders.put(t, f.ID, f)
}

// RemoveFolder takes one away for good; NotFound when absent. It may not be in use
// (see FolderInUse).
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

// FolderInUse reports whether a file that is not in the trash, or a folder, is in it.
func (t *Tx) FolderInUse(id uint64) bool {
	inside := encodeUint64(id)
	k, _ := t.bucket(bucketFolderNames).Cursor().Seek(inside)
	return bytes.HasPrefix(k, inside) || t.CountBy(files.typeName, ColumnFolder, fmt.Sprint(id)) > 0
}

func folderNameKey(parent uint64, name string) []byte {
	return append(encodeUint64(parent), model.Fold(name)...)
}

// FolderByName is the number of the folder of this name below a parent (0: the root),
// compared without case; found is false where there is none.
func (t *Tx) FolderByName(parent uint64, name string) (id uint64, found bool) {
	return decodeUint64(t.bucket(bucketFolderNames).Get(folderNameKey(parent, name)))
}

// folderVersions count, in this process, how often the documents of each folder were put in
// another order, so that whoever has sorted a large folder knows whether it still
// holds. Folder 0 are the documents of no folder and no abstract.
type folderVersions struct {
	mu       sync.Mutex
	versions map[uint64]uint64
}

// FolderVersion gives the number of such changes that were committed to a folder. Read
// before a View, it is not newer than what the View sees.
func (s *Store) FolderVersion(folder uint64) uint64 {
	s.caches.folderVersions.mu.Lock()
	defer s.caches.folderVersions.mu.Unlock()
	return s.caches.folderVersions.versions[folder]
}

// bumpFolderVersions counts a change of a file, once it is committed.
func (t *Tx) bumpFolderVersions(old, now *model.File, was, is bool) {
	was, is = was && old.Trashed == nil && old.AbstractID == 0, is && now.Trashed == nil && now.AbstractID == 0
	same := was == is && old.FolderID == now.FolderID && old.Filename == now.Filename
	if same || !was && !is {
		return
	}
	places := map[uint64]bool{}
	if was {
		places[old.FolderID] = true
	}
	if is {
		places[now.FolderID] = true
	}
	shelves := &t.caches.folderVersions
	t.tx.OnCommit(func() {
		shelves.mu.Lock()
		defer shelves.mu.Unlock()
		if shelves.versions == nil {
			shelves.versions = map[uint64]uint64{}
		}
		for folder := range places {
			shelves.versions[folder]++
		}
	})
}

package store

import (
	"sync"

	"deedkeep/app/model"
)

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

package vault

import (
	"cmp"
	"context"
	"slices"

	"deedkeep/app/store"
	"deedkeep/app/title"
)

// Folders are the verbs on folders.
type Folders struct{ v *Vault }

// List gives all folders flat, parents before children, then by name.
func (f *Folders) List(ctx context.Context) (list []title.Folder, err error) {
	err = f.v.store.View(ctx, func(t *store.Tx) (err error) {
		list, err = t.Folders()
		return err
	})
	return inTreeOrder(list), err
}

// inTreeOrder sorts by depth, then by name, then by number.
func inTreeOrder(list []title.Folder) []title.Folder {
	parent := map[uint64]uint64{}
	for _, folder := range list {
		parent[folder.ID] = folder.ParentID
	}
	depth := func(folder title.Folder) (n int) {
		// The bound ends a circle, which only a damaged vault can hold.
		for id := folder.ParentID; id != 0 && n <= len(list); id = parent[id] {
			n++
		}
		return n
	}
	type placed struct {
		folder title.Folder
		depth  int
		name   string
	}
	all := make([]placed, 0, len(list))
	for _, folder := range list {
		all = append(all, placed{folder, depth(folder), title.Fold(folder.Name)})
	}
	slices.SortFunc(all, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.name, b.name), cmp.Compare(a.folder.ID, b.folder.ID))
	})
	for i, p := range all {
		list[i] = p.folder
	}
	return list
}

// Create makes a folder; Invalid with every wrong field at once.
func (f *Folders) Create(ctx context.Context, actor title.Actor, draft title.FolderDraft) (title.Folder, error) {
	var made title.Folder
	err := f.v.write(ctx, actor, func(t *store.Tx) (err error) {
		made, err = f.check(t, draft)
		return err
	}, func(t *store.Tx) (err error) {
		if made.ID, err = t.NewFolderID(); err != nil {
			return err
		}
		if err := t.PutFolder(made); err != nil {
			return err
		}
		return f.v.event(t, f.v.now(), actor, "folder.created", record("folder", made.ID), nil)
	})
	return made, err
}

func (f *Folders) check(t *store.Tx, draft title.FolderDraft) (title.Folder, error) {
	made, refused := draft.Check(knownFolder(t, draft.ParentID))
	if len(refused) == 0 && t.FolderNameTaken(made.ParentID, made.Name) {
		refused.Add("name", title.Taken("name"))
	}
	return made, refused.Err()
}

func knownFolder(t *store.Tx, id title.Number) bool {
	return id.Valid && id.Value > 0 && t.HasFolder(uint64(id.Value))
}

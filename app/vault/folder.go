package vault

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Folders creates, lists, changes, and removes folders.
type Folders struct{ v *Vault }

var folderOps = recordOps[model.Folder]{
	Name:    "folder",
	get:     (*store.Tx).Folder,
	version: func(f model.Folder) uint64 { return f.Version },
	changes: model.Folder.Changes,
	save: func(_ *Vault, t *store.Tx, now model.Folder, _ time.Time) (model.Folder, error) {
		now.Version++
		return now, t.PutFolder(now)
	},
}

// Get returns a folder, or NotFound.
func (f *Folders) Get(ctx context.Context, id uint64) (model.Folder, error) {
	return store.Read(ctx, f.v.Store, func(t *store.Tx) (model.Folder, error) { return t.Folder(id) })
}

// List returns all folders, parents before children, sorted by name.
func (f *Folders) List(ctx context.Context) (list []model.Folder, err error) {
	err = f.v.Store.View(ctx, func(t *store.Tx) (err error) {
		list, err = t.Folders()
		return err
	})
	return inTreeOrder(list), err
}

// inTreeOrder sorts folders by depth, then by name and ID.
func inTreeOrder(list []model.Folder) []model.Folder {
	parent := map[uint64]uint64{}
	for _, folder := range list {
		parent[folder.ID] = folder.ParentID
	}
	depths := map[uint64]int{}
	depth := func(folder model.Folder) int {
		var path []uint64
		// The length check ends the loop if a damaged vault contains a cycle of folders.
		for id := folder.ID; id != 0 && depths[id] == 0 && len(path) <= len(list); id = parent[id] {
			path = append(path, id)
		}
		if len(path) == 0 {
			return depths[folder.ID]
		}
		n := depths[parent[path[len(path)-1]]]
		for _, id := range slices.Backward(path) {
			n++
			depths[id] = n
		}
		return n
	}
	type entry struct {
		folder model.Folder
		depth  int
		name   string
	}
	all := make([]entry, 0, len(list))
	for _, folder := range list {
		all = append(all, entry{folder, depth(folder), model.Fold(folder.Name)})
	}
	slices.SortFunc(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.name, b.name), cmp.Compare(a.folder.ID, b.folder.ID))
	})
	for i, e := range all {
		list[i] = e.folder
	}
	return list
}

// Create creates a folder. It returns Invalid, listing every invalid field.
func (f *Folders) Create(ctx context.Context, actor model.Actor, draft model.FolderDraft,
	idempotency Idempotency[model.Folder]) (model.Folder, error) {
	var created model.Folder
	err := f.v.Write(ctx, actor, func(t *store.Tx) (err error) {
		if err := idempotency.CheckUnused(t, f.v); err != nil {
			return err
		}
		created, err = f.check(t, draft)
		return err
	}, func(t *store.Tx) (err error) {
		at := f.v.Now()
		if created, err = f.add(t, actor, at, created); err != nil {
			return err
		}
		return idempotency.SaveResponse(t, at, created)
	})
	return created, err
}

// add stores a validated folder and adds an audit entry.
func (f *Folders) add(t *store.Tx, actor model.Actor, at time.Time, folder model.Folder) (_ model.Folder, err error) {
	if folder.ID, err = t.NewFolderID(); err != nil {
		return folder, err
	}
	if err := t.PutFolder(folder); err != nil {
		return folder, err
	}
	return folder, f.v.AddEvent(t, at, actor, "folder.created", model.RecordRef("folder", folder.ID), map[string]string{"name": folder.Name})
}

// ResolvePath follows names down from a folder (0: the root), ignoring case. It returns
// the last folder that exists and the folders below it that are missing. It returns
// Invalid if a name is invalid or the path would be too deep.
func ResolvePath(t *store.Tx, from uint64, names []string) (last uint64, missing []model.Folder, err error) {
	last = from
	for i, name := range names {
		wanted, rejected := model.FolderDraft{Name: model.StringInput(name)}.Check(true)
		if err := rejected.Err(); err != nil {
			return last, nil, err
		}
		if len(missing) == 0 {
			if id, found := t.FolderByName(last, wanted.Name); found {
				last = id
				continue
			}
			if !fitsDepth(t, last, len(names)-i) {
				return last, nil, errs.InvalidField("path", model.MsgFolderTooDeep)
			}
		}
		missing = append(missing, wanted)
	}
	return last, missing, nil
}

// ensurePath returns the ID of the folder at a path. It creates the folders that are
// missing.
func (f *Folders) ensurePath(t *store.Tx, actor model.Actor, at time.Time, from uint64, names []string) (uint64, error) {
	last, missing, err := ResolvePath(t, from, names)
	for _, folder := range missing {
		folder.ParentID = last
		if folder, err = f.add(t, actor, at, folder); err != nil {
			return 0, err
		}
		last = folder.ID
	}
	return last, err
}

func (f *Folders) check(t *store.Tx, draft model.FolderDraft) (model.Folder, error) {
	folder, rejected := draft.Check(folderExists(t, draft.ParentID))
	if len(rejected) == 0 && t.FolderNameTaken(folder.ParentID, folder.Name) {
		rejected.Add("name", errs.Taken)
	}
	if len(rejected) == 0 && !fitsDepth(t, folder.ParentID, 1) {
		rejected.Add("parent_id", model.MsgFolderTooDeep)
	}
	return folder, rejected.Err()
}

// fitsDepth reports whether a folder tree with the given number of levels fits into
// parent (0: the root) without exceeding the maximum depth.
func fitsDepth(t *store.Tx, parent uint64, levels int) bool {
	for id := parent; id != 0; levels++ {
		folder, err := t.Folder(id)
		if err != nil || levels >= model.MaxFolderDepth {
			return false
		}
		id = folder.ParentID
	}
	return levels <= model.MaxFolderDepth
}

// folderHeight returns the number of levels of a folder tree, including the folder
// itself.
func folderHeight(t *store.Tx, id uint64) (int, error) {
	all, err := t.Folders()
	if err != nil {
		return 0, err
	}
	children := map[uint64][]uint64{}
	for _, folder := range all {
		children[folder.ParentID] = append(children[folder.ParentID], folder.ID)
	}
	n := 0
	// The limit on n ends the loop if a damaged vault contains a cycle of folders.
	for level := []uint64{id}; len(level) > 0 && n <= len(all); n++ {
		var next []uint64
		for _, folder := range level {
			next = append(next, children[folder]...)
		}
		level = next
	}
	return n, nil
}

func folderExists(t *store.Tx, id model.IDInput) bool {
	return id.Valid && id.Value > 0 && t.HasFolder(uint64(id.Value))
}

// Patch changes the name or parent of a folder. It returns Invalid, listing every invalid
// field, or PreconditionFailed if match doesn't accept the current version.
func (f *Folders) Patch(ctx context.Context, actor model.Actor, id uint64, p model.FolderPatch, match Match) (model.Folder, error) {
	return patch(ctx, f.v, folderOps, actor, id, match, func(t *store.Tx, old model.Folder) (model.Folder, error) {
		valid, err := canMoveTo(t, id, p.ParentID.Value)
		if err != nil {
			return old, err
		}
		now, rejected := p.Check(old, valid)
		moved := now.ParentID != old.ParentID || model.Fold(now.Name) != model.Fold(old.Name)
		if len(rejected) == 0 && moved && t.FolderNameTaken(now.ParentID, now.Name) {
			rejected.Add("name", errs.Taken)
		}
		if len(rejected) == 0 && now.ParentID != old.ParentID {
			height, err := folderHeight(t, id)
			if err != nil {
				return old, err
			}
			if !fitsDepth(t, now.ParentID, height) {
				rejected.Add("parent_id", model.MsgFolderTooDeep)
			}
		}
		return now, rejected.Err()
	})
}

// canMoveTo reports whether a folder may be moved into parent. The parent must exist, and
// it must not be the folder itself or one of its descendants.
func canMoveTo(t *store.Tx, id uint64, parent model.IDInput) (bool, error) {
	if !folderExists(t, parent) {
		return false, nil
	}
	// The limit on n ends the loop if a damaged vault contains a cycle of folders.
	ancestor := uint64(parent.Value)
	for n := t.Count(store.CountFolders); ancestor != 0 && ancestor != id && n > 0; n-- {
		folder, err := t.Folder(ancestor)
		if err != nil {
			return false, err
		}
		ancestor = folder.ParentID
	}
	return ancestor == 0, nil
}

// Remove permanently deletes an empty folder. It returns Conflict if the folder contains
// documents or folders. Documents from this folder that are in the trash are restored
// without a folder.
func (f *Folders) Remove(ctx context.Context, actor model.Actor, id uint64, match Match) error {
	var folder model.Folder
	return f.v.UpdateFromReserve(ctx, actor, func(t *store.Tx) (err error) {
		if folder, err = t.Folder(id); err != nil {
			return err
		}
		if err := match.check(folder.Version); err != nil {
			return err
		}
		if t.FolderInUse(id) {
			return &errs.Error{Kind: errs.Conflict, Message: "The folder is not empty."}
		}
		return nil
	}, func(t *store.Tx) error {
		return errors.Join(f.v.AddEvent(t, f.v.Now(), actor, "folder.removed", model.RecordRef("folder", id),
			map[string]string{"name": folder.Name}),
			t.RemoveFolder(id))
	})
}

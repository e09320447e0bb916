package vault

import (
	"cmp"
	"context"
	"slices"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// Folders are the verbs on folders.
type Folders struct{ v *Vault }

var folderOps = recordOps[model.Folder]{
	Name:    "folder",
	get:     (*store.Tx).Folder,
	version: func(f model.Folder) uint64 { return f.Version },
	changes: model.Folder.Changes,
	save: func(t *store.Tx, now model.Folder, _ time.Time) (model.Folder, error) {
		now.Version++
		return now, t.PutFolder(now)
	},
}

// Get reads a folder; NotFound when there is none.
func (f *Folders) Get(ctx context.Context, id uint64) (folder model.Folder, err error) {
	err = f.v.Store.View(ctx, func(t *store.Tx) (err error) {
		folder, err = t.Folder(id)
		return err
	})
	return folder, err
}

// List gives all folders flat, parents before children, then by name.
func (f *Folders) List(ctx context.Context) (list []model.Folder, err error) {
	err = f.v.Store.View(ctx, func(t *store.Tx) (err error) {
		list, err = t.Folders()
		return err
	})
	return inTreeOrder(list), err
}

// inTreeOrder sorts by depth, then by name, then by number.
func inTreeOrder(list []model.Folder) []model.Folder {
	parent := map[uint64]uint64{}
	for _, folder := range list {
		parent[folder.ID] = folder.ParentID
	}
	depths := map[uint64]int{}
	depth := func(folder model.Folder) int {
		var way []uint64
		// The bound ends a circle, which only a damaged vault can hold.
		for id := folder.ID; id != 0 && depths[id] == 0 && len(way) <= len(list); id = parent[id] {
			way = append(way, id)
		}
		if len(way) == 0 {
			return depths[folder.ID]
		}
		n := depths[parent[way[len(way)-1]]]
		for _, id := range slices.Backward(way) {
			n++
			depths[id] = n
		}
		return n
	}
	type placed struct {
		folder model.Folder
		depth  int
		name   string
	}
	all := make([]placed, 0, len(list))
	for _, folder := range list {
		all = append(all, placed{folder, depth(folder), model.Fold(folder.Name)})
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
func (f *Folders) Create(ctx context.Context, actor model.Actor, draft model.FolderDraft, keep Idempotency[model.Folder]) (model.Folder, error) {
	var made model.Folder
	err := f.v.Write(ctx, actor, func(t *store.Tx) (err error) {
		if err := keep.CheckUnused(t, f.v); err != nil {
			return err
		}
		made, err = f.check(t, draft)
		return err
	}, func(t *store.Tx) (err error) {
		at := f.v.Now()
		if made, err = f.add(t, actor, at, made); err != nil {
			return err
		}
		return keep.SaveResponse(t, at, made)
	})
	return made, err
}

// add stores a new folder that was checked, with its entry in the audit log.
func (f *Folders) add(t *store.Tx, actor model.Actor, at time.Time, folder model.Folder) (_ model.Folder, err error) {
	if folder.ID, err = t.NewFolderID(); err != nil {
		return folder, err
	}
	if err := t.PutFolder(folder); err != nil {
		return folder, err
	}
	return folder, f.v.AddEvent(t, at, actor, "folder.created", txn.RecordRef("folder", folder.ID), map[string]string{"name": folder.Name})
}

// follow goes down from a folder (0: the top) by the names of folders within one another,
// compared without case: to the last one that is there, and gives those that are missing
// below it. Invalid for a name that no folder can have, or one that would be too deep.
func ResolvePath(t *store.Tx, from uint64, names []string) (last uint64, missing []model.Folder, err error) {
	last = from
	for i, name := range names {
		wanted, refused := model.FolderDraft{Name: model.StringInput(name)}.Check(true)
		if err := refused.Err(); err != nil {
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

// ensurePath gives the folder that names lead to from another (0: the top), and creates what is
// missing of it.
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
	made, refused := draft.Check(folderExists(t, draft.ParentID))
	if len(refused) == 0 && t.FolderNameTaken(made.ParentID, made.Name) {
		refused.Add("name", model.MsgTaken("name"))
	}
	if len(refused) == 0 && !fitsDepth(t, made.ParentID, 1) {
		refused.Add("parent_id", model.MsgFolderTooDeep)
	}
	return made, refused.Err()
}

// fitsDepth reports whether folders of so many levels may lie in a folder (0: the top).
func fitsDepth(t *store.Tx, parent uint64, levels int) bool {
	for at := parent; at != 0; levels++ {
		folder, err := t.Folder(at)
		if err != nil || levels >= model.MaxFolderDepth {
			return false
		}
		at = folder.ParentID
	}
	return levels <= model.MaxFolderDepth
}

// folderHeight is how many levels a folder has, itself the first.
func folderHeight(t *store.Tx, id uint64) (int, error) {
	all, err := t.Folders()
	if err != nil {
		return 0, err
	}
	in := map[uint64][]uint64{}
	for _, folder := range all {
		in[folder.ParentID] = append(in[folder.ParentID], folder.ID)
	}
	n := 0
	// The bound ends a circle, which only a damaged vault can hold.
	for level := []uint64{id}; len(level) > 0 && n <= len(all); n++ {
		var next []uint64
		for _, one := range level {
			next = append(next, in[one]...)
		}
		level = next
	}
	return n, nil
}

func folderExists(t *store.Tx, id model.IDInput) bool {
	return id.Valid && id.Value > 0 && t.HasFolder(uint64(id.Value))
}

// Patch changes what was sent of a folder: its name, where it is. Invalid with every
// wrong field at once, Stale when it is not what was expected.
func (f *Folders) Patch(ctx context.Context, actor model.Actor, id uint64, p model.FolderPatch, match Match) (model.Folder, error) {
	return patch(ctx, f.v, folderOps, actor, id, match, func(t *store.Tx, old model.Folder) (model.Folder, error) {
		fits, err := canMoveTo(t, id, p.ParentID.Value)
		if err != nil {
			return old, err
		}
		now, refused := p.Check(old, fits)
		moved := now.ParentID != old.ParentID || model.Fold(now.Name) != model.Fold(old.Name)
		if len(refused) == 0 && moved && t.FolderNameTaken(now.ParentID, now.Name) {
			refused.Add("name", model.MsgTaken("name"))
		}
		if len(refused) == 0 && now.ParentID != old.ParentID {
			high, err := folderHeight(t, id)
			if err != nil {
				return old, err
			}
			if !fitsDepth(t, now.ParentID, high) {
				refused.Add("parent_id", model.MsgFolderTooDeep)
			}
		}
		return now, refused.Err()
	})
}

// canMoveTo reports whether a folder may be put into another: one that is there,
// and neither the folder itself nor beneath it.
func canMoveTo(t *store.Tx, id uint64, parent model.IDInput) (bool, error) {
	if !folderExists(t, parent) {
		return false, nil
	}
	// The bound ends a circle, which only a damaged vault can hold.
	at := uint64(parent.Value)
	for n := t.Count(store.CountFolders); at != 0 && at != id && n > 0; n-- {
		folder, err := t.Folder(at)
		if err != nil {
			return false, err
		}
		at = folder.ParentID
	}
	return at == 0, nil
}

// Remove removes an empty folder for good; Conflict when a document or a folder is
// in it. Documents in the trash that were in it come back into none.
func (f *Folders) Remove(ctx context.Context, actor model.Actor, id uint64, match Match) error {
	var folder model.Folder
	return f.v.Update(ctx, actor, func(t *store.Tx) (err error) {
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
		if err := t.RemoveFolder(id); err != nil {
			return err
		}
		return f.v.AddEvent(t, f.v.Now(), actor, "folder.removed", txn.RecordRef("folder", id), map[string]string{"name": folder.Name})
	})
}

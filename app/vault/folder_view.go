package vault

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// FolderView is a folder with its path, the folder tree, and document counts.
type FolderView struct {
	Folder      model.Folder   // zero for the root, which contains the documents without a folder
	Breadcrumbs []model.Folder // folders from the root to Folder, inclusive
	Tree        []TreeNode     // folders in the root; the folders on the path to Folder are expanded
	Subfolders  []TreeNode     // sorted by name
}

// TreeNode is a folder in the folder tree.
type TreeNode struct {
	model.Folder
	Count    uint64 // number of documents, excluding subfolders
	Current  bool   // whether this is FolderView.Folder
	Children []TreeNode
}

// View returns a folder (0: the root) with the folder tree, in which the folders on its
// path are expanded. It returns NotFound if the folder does not exist.
func (f *Folders) View(ctx context.Context, id uint64) (view FolderView, err error) {
	err = f.v.Store.View(ctx, func(t *store.Tx) error {
		all, err := t.Folders()
		if err != nil {
			return err
		}
		if id != 0 {
			if view.Folder, err = t.Folder(id); err != nil {
				return err
			}
		}
		children := map[uint64][]model.Folder{}
		for _, folder := range inTreeOrder(all) {
			children[folder.ParentID] = append(children[folder.ParentID], folder)
		}
		view.Breadcrumbs = breadcrumbs(all, view.Folder)
		view.Tree = treeNodes(t, children, 0, view.Breadcrumbs, id)
		view.Subfolders = treeNodes(t, children, id, nil, 0)
		return nil
	})
	return view, err
}

// breadcrumbs returns the folders from the root down to folder.
func breadcrumbs(all []model.Folder, folder model.Folder) (path []model.Folder) {
	byID := map[uint64]model.Folder{}
	for _, f := range all {
		byID[f.ID] = f
	}
	// The length check ends the loop if a damaged vault contains a cycle of folders.
	for folder.ID != 0 && len(path) <= len(all) {
		path = append(path, folder)
		folder = byID[folder.ParentID]
	}
	slices.Reverse(path)
	return path
}

func treeNodes(t *store.Tx, children map[uint64][]model.Folder, parent uint64, path []model.Folder, current uint64) []TreeNode {
	list := make([]TreeNode, 0, len(children[parent]))
	for _, folder := range children[parent] {
		node := TreeNode{Folder: folder, Count: t.CountBy(FileOps.Name,
			model.ColumnFolder, fmt.Sprint(folder.ID)), Current: folder.ID == current}
		if len(path) > 0 && path[0].ID == folder.ID {
			node.Children = treeNodes(t, children, folder.ID, path[1:], current)
		}
		list = append(list, node)
	}
	return list
}

// FolderSort is the sort order of the documents in a folder.
type FolderSort string

// Sort orders of the documents in a folder.
const (
	ByName FolderSort = "name" // numbers are compared by value, so 2 comes before 10
	ByDate FolderSort = "date" // upload time
	BySize FolderSort = "size"
)

// maxFilesInFolder is the maximum number of documents that Documents reads from a folder.
const maxFilesInFolder = 100_000

// Documents returns the documents in a folder, sorted, at most maxFilesInFolder. Folder 0
// contains the documents that belong to no folder and no abstract.
func (f *Folders) Documents(ctx context.Context, id uint64, by FolderSort, descending bool) (list []model.File, err error) {
	list, err = store.Read(ctx, f.v.Store, func(t *store.Tx) ([]model.File, error) { return filesInFolder(t, id) })
	if err != nil {
		return nil, err
	}
	sortFiles(list, by)
	if descending {
		slices.Reverse(list)
	}
	return list, nil
}

func filesInFolder(t *store.Tx, id uint64) ([]model.File, error) {
	filter := store.Filter{Column: model.ColumnFolder, Value: fmt.Sprint(id)}
	if id == 0 {
		filter = store.Filter{Column: model.ColumnUnassigned}
	}
	page, err := t.ListFiles(store.Query{Filters: []store.Filter{filter}, Limit: maxFilesInFolder, MaxBytes: 1 << 30, MaxScanned: 1 << 30})
	return page.Items, err
}

// FilePage is a page of the documents in a folder.
type FilePage struct {
	Files  []model.File
	Offset int // position of the first document, starting at 0
	Total  int
}

// FilePage returns up to limit documents of a folder, sorted, starting at offset. If
// offset is past the end, it returns the last page. The sort order of a large folder is
// cached until the folder changes.
func (f *Folders) FilePage(ctx context.Context, id uint64, by FolderSort, descending bool, offset, limit int) (page FilePage, err error) {
	order, err := f.sortedIDs(ctx, id, by)
	if err != nil {
		return page, err
	}
	page.Total = len(order)
	page.Offset = max(0, min(offset, (page.Total-1)/limit*limit))
	end := min(page.Offset+limit, page.Total)
	err = f.v.Store.View(ctx, func(t *store.Tx) error {
		for i := page.Offset; i < end; i++ {
			at := i
			if descending {
				at = page.Total - 1 - i
			}
			file, err := t.File(order[at])
			if errs.KindOf(err) == errs.NotFound {
				continue // deleted or moved since the IDs were sorted
			}
			if err != nil {
				return err
			}
			page.Files = append(page.Files, file)
		}
		return nil
	})
	return page, err
}

// Neighbors is the position of a document in its folder when sorted by name, with the
// previous and next documents. Positions start at 1. Position 0 means that the document
// is not in the folder.
type Neighbors struct {
	Position, Count int
	Previous, Next  *model.File
}

// Neighbors returns the position and neighbors of a document in its folder. The document
// must not belong to an abstract.
func (f *Folders) Neighbors(ctx context.Context, file model.File) (neighbors Neighbors, err error) {
	order, err := f.sortedIDs(ctx, file.FolderID, ByName)
	if err != nil {
		return neighbors, err
	}
	position := slices.Index(order, file.ID)
	if position < 0 {
		return neighbors, nil
	}
	neighbors.Position, neighbors.Count = position+1, len(order)
	err = f.v.Store.View(ctx, func(t *store.Tx) error {
		for i, target := range map[int]**model.File{position - 1: &neighbors.Previous, position + 1: &neighbors.Next} {
			if i < 0 || i >= len(order) {
				continue
			}
			neighbor, err := t.File(order[i])
			if errs.KindOf(err) == errs.NotFound {
				continue // deleted or moved since the IDs were sorted
			}
			if err != nil {
				return err
			}
			*target = &neighbor
		}
		return nil
	})
	return neighbors, err
}

// sortedIDs returns the IDs of the documents in a folder, sorted by name, date, or size.
// The result may be cached, so the caller must not modify it.
func (f *Folders) sortedIDs(ctx context.Context, id uint64, by FolderSort) ([]uint64, error) {
	key := folderOrderKey{id, by}
	version := f.v.Store.FolderVersion(id)
	if order, ok := f.v.folderOrders.get(key, version); ok {
		return order, nil
	}
	list, err := f.Documents(ctx, id, by, false)
	if err != nil {
		return nil, err
	}
	order := FileIDs(list)
	if len(order) >= minCachedFiles {
		f.v.folderOrders.put(key, version, order)
	}
	return order, nil
}

// minCachedFiles is the minimum number of documents in a folder for its sort order to be
// cached.
const minCachedFiles = 200

// maxCachedOrders is the maximum number of cached sort orders.
const maxCachedOrders = 32

type folderOrderKey struct {
	folder uint64
	by     FolderSort
}

// folderOrderCache caches the sorted document IDs of folders. An entry is valid for one
// version of the folder.
type folderOrderCache struct {
	mu      sync.Mutex
	entries map[folderOrderKey]folderOrder
}

type folderOrder struct {
	version uint64
	files   []uint64
}

func (o *folderOrderCache) get(key folderOrderKey, version uint64) ([]uint64, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s, ok := o.entries[key]
	return s.files, ok && s.version == version
}

func (o *folderOrderCache) put(key folderOrderKey, version uint64, files []uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.entries) >= maxCachedOrders || o.entries == nil {
		o.entries = map[folderOrderKey]folderOrder{}
	}
	o.entries[key] = folderOrder{version, files}
}

func sortFiles(list []model.File, by FolderSort) {
	switch by {
	case ByDate:
		return // the store returns files in this order
	case BySize:
		slices.SortStableFunc(list, func(a, b model.File) int { return cmp.Compare(a.Size, b.Size) })
		return
	}
	type named struct {
		key  string
		file model.File
	}
	all := make([]named, len(list))
	for i, file := range list {
		all[i] = named{naturalKey(file.Filename), file}
	}
	slices.SortStableFunc(all, func(a, b named) int { return cmp.Compare(a.key, b.key) })
	for i := range all {
		list[i] = all[i].file
	}
}

// naturalKey returns a sort key that ignores case and compares numbers by value. It
// prefixes each run of digits with the number of digits.
func naturalKey(name string) string {
	folded := model.Fold(name)
	key := make([]byte, 0, len(folded)+8)
	for i := 0; i < len(folded); {
		if folded[i] < '0' || folded[i] > '9' {
			key = append(key, folded[i])
			i++
			continue
		}
		from := i
		for i < len(folded) && folded[i] >= '0' && folded[i] <= '9' {
			i++
		}
		digits := folded[from:i]
		for len(digits) > 1 && digits[0] == '0' {
			digits = digits[1:]
		}
		// The "0" makes the run sort like a digit. The length fits into a byte, because a
		// name has at most 255 bytes.
		key = append(key, '0', byte(min(len(digits), 255)))
		key = append(key, digits...)
	}
	return string(key)
}

// Descendant is a document in a folder or one of its subfolders. Path lists the names of
// the folders from the first subfolder down to the document.
type Descendant struct {
	Path []string
	File model.File
}

// Descendants returns the documents in a folder and all its subfolders, sorted by name.
// It returns Conflict if there are more than limit.
func (f *Folders) Descendants(ctx context.Context, id uint64, limit int) (list []Descendant, err error) {
	all, err := f.List(ctx)
	if err != nil {
		return nil, err
	}
	if id != 0 {
		if _, err := f.Get(ctx, id); err != nil {
			return nil, err
		}
	}
	paths := map[uint64][]string{id: nil}
	for _, folder := range all { // parents before children
		if path, ok := paths[folder.ParentID]; ok && folder.ID != id {
			paths[folder.ID] = append(slices.Clone(path), folder.Name)
		}
	}
	for _, folder := range append([]model.Folder{{ID: id}}, all...) {
		names, ok := paths[folder.ID]
		if !ok {
			continue
		}
		delete(paths, folder.ID) // all contains folder id, too; visit it only once
		files, err := f.Documents(ctx, folder.ID, ByName, false)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			list = append(list, Descendant{names, file})
		}
		if len(list) > limit {
			return nil, &errs.Error{Kind: errs.Conflict,
				Message: fmt.Sprintf("The folder contains more than %d documents. Download its subfolders one at a time.", limit)}
		}
	}
	return list, nil
}

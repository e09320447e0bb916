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

// FolderView is a folder with its path, the folder tree, and the counts of documents.
type FolderView struct {
	Folder      model.Folder   // the zero one is the top, where documents of no folder lie
	Breadcrumbs []model.Folder // from the top down to it, itself last
	Tree        []TreeNode     // the folders at the top, with what is open of them
	Subfolders  []TreeNode     // the folders in it, by name
}

// TreeNode is a folder in a tree.
type TreeNode struct {
	model.Folder
	Count    uint64 // of documents in it, without those in its folders
	Current  bool   // it is the one that is looked at
	Children []TreeNode
}

// View returns a folder (0: the root) with the tree in which the folders on its path are
// expanded. It returns NotFound if the folder does not exist.
func (f *Folders) View(ctx context.Context, id uint64) (s FolderView, err error) {
	err = f.v.Store.View(ctx, func(t *store.Tx) error {
		all, err := t.Folders()
		if err != nil {
			return err
		}
		if id != 0 {
			if s.Folder, err = t.Folder(id); err != nil {
				return err
			}
		}
		in := map[uint64][]model.Folder{}
		for _, folder := range inTreeOrder(all) {
			in[folder.ParentID] = append(in[folder.ParentID], folder)
		}
		s.Breadcrumbs = breadcrumbs(all, s.Folder)
		s.Tree = treeNodes(t, in, 0, s.Breadcrumbs, id)
		s.Subfolders = treeNodes(t, in, id, nil, 0)
		return nil
	})
	return s, err
}

// breadcrumbs returns the folders from the root down to folder.
func breadcrumbs(all []model.Folder, folder model.Folder) (way []model.Folder) {
	byID := map[uint64]model.Folder{}
	for _, one := range all {
		byID[one.ID] = one
	}
	// The bound ends a circle, which only a damaged vault can hold.
	for folder.ID != 0 && len(way) <= len(all) {
		way = append(way, folder)
		folder = byID[folder.ParentID]
	}
	slices.Reverse(way)
	return way
}

func treeNodes(t *store.Tx, in map[uint64][]model.Folder, parent uint64, way []model.Folder, here uint64) []TreeNode {
	list := make([]TreeNode, 0, len(in[parent]))
	for _, folder := range in[parent] {
		b := TreeNode{Folder: folder, Count: t.CountBy(FileOps.Name, store.ColumnFolder, fmt.Sprint(folder.ID)), Current: folder.ID == here}
		if len(way) > 0 && way[0].ID == folder.ID {
			b.Children = treeNodes(t, in, folder.ID, way[1:], here)
		}
		list = append(list, b)
	}
	return list
}

// FolderSort is the sort order of the documents in a folder.
type FolderSort string

// The sorts of a folder.
const (
	ByName FolderSort = "name" // as people count: 2 before 10
	ByDate FolderSort = "date" // when they were filed
	BySize FolderSort = "size"
)

// maxFilesInFolder is the maximum number of documents read from a folder.
const maxFilesInFolder = 100_000

// Documents returns the sorted documents in a folder, at most 100,000. Folder 0 contains
// the documents in no folder and no abstract.
func (f *Folders) Documents(ctx context.Context, id uint64, by FolderSort, down bool) (list []model.File, err error) {
	err = f.v.Store.View(ctx, func(t *store.Tx) (err error) {
		list, err = filesInFolder(t, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	sortFiles(list, by)
	if down {
		slices.Reverse(list)
	}
	return list, nil
}

func filesInFolder(t *store.Tx, id uint64) ([]model.File, error) {
	where := store.Filter{Column: store.ColumnFolder, Value: fmt.Sprint(id)}
	if id == 0 {
		where = store.Filter{Column: store.ColumnUnassigned}
	}
	page, err := t.ListFiles(store.Query{Filters: []store.Filter{where}, Limit: maxFilesInFolder, MaxBytes: 1 << 30, MaxScanned: 1 << 30})
	return page.Items, err
}

// FilePage is a page of the documents in a folder.
type FilePage struct {
	Files  []model.File
	Offset int // the first of them, from 0
	Total  int
}

// FilePage returns up to limit documents of a sorted folder, starting at from. If from
// is past the end, it returns the last page. The sort order of a large folder is cached
// until the folder changes.
func (f *Folders) FilePage(ctx context.Context, id uint64, by FolderSort, down bool, from, limit int) (row FilePage, err error) {
	order, err := f.sortedIDs(ctx, id, by)
	if err != nil {
		return row, err
	}
	row.Total = len(order)
	row.Offset = max(0, min(from, (row.Total-1)/limit*limit))
	end := min(row.Offset+limit, row.Total)
	err = f.v.Store.View(ctx, func(t *store.Tx) error {
		for i := row.Offset; i < end; i++ {
			at := i
			if down {
				at = row.Total - 1 - i
			}
			file, err := t.File(order[at])
			if errs.KindOf(err) == errs.NotFound {
				continue // it went between the two looks
			}
			if err != nil {
				return err
			}
			row.Files = append(row.Files, file)
		}
		return nil
	})
	return row, err
}

// Neighbors is the position of a document in its folder by name, from 1, with the
// previous and next documents. Position is 0 if the document is not in the folder.
type Neighbors struct {
	Position, Count int
	Previous, Next  *model.File
}

// Neighbors returns the neighbors of a document that belongs to no abstract.
func (f *Folders) Neighbors(ctx context.Context, file model.File) (a Neighbors, err error) {
	order, err := f.sortedIDs(ctx, file.FolderID, ByName)
	if err != nil {
		return a, err
	}
	at := slices.Index(order, file.ID)
	if at < 0 {
		return a, nil
	}
	a.Position, a.Count = at+1, len(order)
	err = f.v.Store.View(ctx, func(t *store.Tx) error {
		for i, to := range map[int]**model.File{at - 1: &a.Previous, at + 1: &a.Next} {
			if i < 0 || i >= len(order) {
				continue
			}
			one, err := t.File(order[i])
			if errs.KindOf(err) == errs.NotFound {
				continue // it went between the two looks
			}
			if err != nil {
				return err
			}
			*to = &one
		}
		return nil
	})
	return a, err
}

// sortedIDs returns the IDs of the documents in a folder, sorted by name, date, or size.
// The caller must not modify them.
func (f *Folders) sortedIDs(ctx context.Context, id uint64, by FolderSort) ([]uint64, error) {
	key := folderOrderKey{id, by}
	turn := f.v.Store.FolderVersion(id)
	if order, ok := f.v.folderOrders.get(key, turn); ok {
		return order, nil
	}
	list, err := f.Documents(ctx, id, by, false)
	if err != nil {
		return nil, err
	}
	order := FileIDs(list)
	if len(order) >= minCachedFiles {
		f.v.folderOrders.put(key, turn, order)
	}
	return order, nil
}

// minCachedFiles is the number of documents from which a sort order is cached.
const minCachedFiles = 200

// maxCachedOrders is the maximum number of cached sort orders.
const maxCachedOrders = 32

type folderOrderKey struct {
	folder uint64
	by     FolderSort
}

// folderOrderCache caches sort orders of folders by version of the folder.
type folderOrderCache struct {
	mu      sync.Mutex
	entries map[folderOrderKey]folderOrder
}

type folderOrder struct {
	version uint64
	files   []uint64
}

func (o *folderOrderCache) get(key folderOrderKey, turn uint64) ([]uint64, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s, ok := o.entries[key]
	return s.files, ok && s.version == turn
}

func (o *folderOrderCache) put(key folderOrderKey, turn uint64, files []uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.entries) >= maxCachedOrders || o.entries == nil {
		o.entries = map[folderOrderKey]folderOrder{}
	}
	o.entries[key] = folderOrder{turn, files}
}

func sortFiles(list []model.File, by FolderSort) {
	switch by {
	case ByDate:
		return // as they are read
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
// writes the number of digits before each run of digits.
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
		// The leading "0" sorts the run like a digit; a name has at most 255 bytes.
		key = append(key, '0', byte(min(len(digits), 255)))
		key = append(key, digits...)
	}
	return string(key)
}

// Descendant is a document below a folder, and the names of the folders that lead to it.
type Descendant struct {
	Path []string
	File model.File
}

// Descendants returns the documents in a folder and all its subfolders, sorted by name.
// It returns Conflict if there are more than the maximum.
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
	way := map[uint64][]string{id: nil}
	for _, folder := range all { // parents come first
		if above, ok := way[folder.ParentID]; ok && folder.ID != id {
			way[folder.ID] = append(slices.Clone(above), folder.Name)
		}
	}
	for _, folder := range append([]model.Folder{{ID: id}}, all...) {
		names, ok := way[folder.ID]
		if !ok {
			continue
		}
		delete(way, folder.ID) // the first is among all once more
		files, err := f.Documents(ctx, folder.ID, ByName, false)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			list = append(list, Descendant{names, file})
		}
		if len(list) > limit {
			return nil, &errs.Error{Kind: errs.Conflict, Message: fmt.Sprintf("There are more than %d documents in it; take one of its folders at a time.", limit)}
		}
	}
	return list, nil
}

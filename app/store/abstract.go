package store

import (
	"fmt"

	"deedkeep/app/model"
)

var abstracts = indexedTable[model.Abstract]{
	table:       table[model.Abstract]{bucketAbstracts, "abstract"},
	indexLayout: indexLayout{indexBucket: bucketAbstractIndex, columnTags: "ykst"},
	sortLayout:  indexLayout{indexBucket: bucketAbstractSorts, columnTags: "ykst", sortTags: "fpau"},
	textSorts: []textSort[model.Abstract]{
		{sort: model.SortFileNumber, normalize: model.NormalizeNumber, text: (*model.Abstract).FileNumber},
		{sort: model.SortParcel, normalize: model.NormalizeNumber, text: (*model.Abstract).ParcelID},
		{sort: model.SortAddress, normalize: model.NormalizeText, text: func(a *model.Abstract) string { return a.LookupAddress() },
			exactForms: func(a *model.Abstract) []string { return a.LookupAddresses() }},
	},
	columns: []indexColumn[model.Abstract]{
		{name: model.ColumnCounty, value: func(a *model.Abstract) columnValue { return parseValue(a.County) }},
		{name: model.ColumnTemplate, value: func(a *model.Abstract) columnValue { return columnValue{number: a.TemplateID} }},
		{name: model.ColumnStatus, value: func(a *model.Abstract) columnValue { return parseValue(a.Status) }, counted: true},
		{name: model.ColumnState, value: func(a *model.Abstract) columnValue { return parseValue(a.State) }},
	},
	fields: func(a *model.Abstract) indexFields {
		return indexFields{created: sortableMicros(a.CreatedAt), id: a.ID, updated: sortableMicros(a.UpdatedAt)}
	},
	trashed: func(a *model.Abstract) *model.Trashed { return a.Trashed },
	size:    abstractSize,
	cache:   func(c *caches) *cache[model.Abstract] { return &c.abstracts },
}

// abstractSize returns the stored size of an abstract plus its files, which are listed on
// the same page.
func abstractSize(t *Tx, a *model.Abstract, sum int) int {
	for _, id := range a.Files {
		sum += files.storedSize(t, id)
	}
	return sum
}

// NewAbstractID returns the ID for a new abstract.
func (t *Tx) NewAbstractID() (uint64, error) { return abstracts.nextID(t) }

// Abstract returns a live abstract. The error has kind errs.NotFound if it doesn't exist or
// is in the trash.
func (t *Tx) Abstract(id uint64) (model.Abstract, error) { return abstracts.getLive(t, id) }

// AbstractIncludingTrash returns an abstract that may be in the trash. The error has kind
// errs.NotFound if it doesn't exist.
func (t *Tx) AbstractIncludingTrash(id uint64) (model.Abstract, error) { return abstracts.get(t, id) }

// ListAbstracts returns a page of live abstracts. It supports filters by model.ColumnStatus,
// model.ColumnTemplate, model.ColumnCounty, and model.ColumnState, a time range for the last change, and the
// sort orders model.SortCreated, model.SortUpdated, model.SortFileNumber, model.SortParcel, and model.SortAddress.
func (t *Tx) ListAbstracts(q Query) (Page[model.Abstract], error) { return abstracts.list(t, q) }

// PutAbstract creates or updates an abstract and its index entries. It returns an error if the end
// of its retention period becomes earlier.
func (t *Tx) PutAbstract(a model.Abstract) error {
	old, existed, err := abstracts.find(t, a.ID)
	if err == nil && existed && a.RetainedUntil.Before(old.RetainedUntil) {
		err = fmt.Errorf("put abstract %d: the retention period can't become shorter", a.ID)
	}
	if err != nil {
		return err
	}
	t.countTransition(CountAbstracts, existed && old.Trashed == nil, a.Trashed == nil)
	if err := abstracts.save(t, a.ID, &old, existed, &a); err != nil {
		return err
	}
	if open := isOpenAbstract(&a); open != (existed && isOpenAbstract(&old)) {
		work, err := t.TitleWork(a.ID)
		if err != nil {
			return err
		}
		if err := t.updateUserAbstracts(&work, &work, open); err != nil {
			return err
		}
	}
	if existed && (old.County != a.County || old.State != a.State || old.TemplateID != a.TemplateID) {
		if len(a.Files) > 0 {
			t.noteChange(typedID(FilesOfAbstract, a.ID)) // search finds files by these fields, so the files have to be reindexed
		}
	}
	return nil
}

// RemoveAbstract permanently deletes an abstract, whether it is live or in the trash. It
// doesn't delete the abstract's files. The error has kind errs.NotFound if the abstract
// doesn't exist.
func (t *Tx) RemoveAbstract(id uint64) error {
	old, err := abstracts.get(t, id)
	if err != nil {
		return err
	}
	t.countTransition(CountAbstracts, old.Trashed == nil, false)
	return abstracts.purge(t, id, &old)
}

// ListAbstractsByID returns the live abstracts with the given IDs that match the filters of q and for which matches returns
// true, in the order of ids. Times of creation aren't checked. It also returns how many IDs it processed, which is fewer than
// len(ids) if the page has q.MaxBytes. Next and Prev of the page are not set.
func (t *Tx) ListAbstractsByID(ids []uint64, q Query, matches func(*model.Abstract) bool) (Page[model.Abstract], int, error) {
	return abstracts.listByIDs(t, ids, q, matches)
}

// ScanAbstracts returns up to limit abstracts in ID order, starting with ID from and
// including those in the trash. It stops with an error at the first damaged record.
func (t *Tx) ScanAbstracts(from uint64, limit int) ([]model.Abstract, error) {
	return scanTable(t, abstracts.table, from, limit)
}

package store

import (
	"deedkeep/app/model"
)

var abstracts = indexedTable[model.Abstract]{
	table:       table[model.Abstract]{bucketAbstracts, "abstract"},
	indexLayout: indexLayout{indexBucket: bucketAbstractIndex, columnTags: "ykst"},
	sortLayout:  indexLayout{indexBucket: bucketAbstractSorts, columnTags: "ykst", sortTags: "fpau"},
	textSorts: []textSort[model.Abstract]{
		{sort: SortFileNumber, normalize: model.NormalizeNumber, text: (*model.Abstract).FileNumber},
		{sort: SortParcel, normalize: model.NormalizeNumber, text: (*model.Abstract).ParcelID},
		{sort: SortAddress, normalize: model.NormalizeText, text: func(a *model.Abstract) string { return a.LookupAddress() }, exactForms: func(a *model.Abstract) []string { return a.LookupAddresses() }},
	},
	columns: []indexColumn[model.Abstract]{
		{name: ColumnCounty, value: func(a *model.Abstract) columnValue { return parseValue(a.County) }},
		{name: ColumnTemplate, value: func(a *model.Abstract) columnValue { return columnValue{number: a.TemplateID} }},
		{name: ColumnStatus, value: func(a *model.Abstract) columnValue { return parseValue(a.Status) }, counted: true},
		{name: ColumnState, value: func(a *model.Abstract) columnValue { return parseValue(a.State) }},
	},
	fields: func(a *model.Abstract) indexFields {
		return indexFields{created: sortableMicros(a.CreatedAt), id: a.ID, updated: sortableMicros(a.UpdatedAt)}
	},
	trashed: func(a *model.Abstract) *model.Trashed { return a.Trashed },
	size:    abstractSize,
}

// abstractSize counts its files' records too: it is shown with them.
func abstractSize(t *Tx, a *model.Abstract) int {
	sum := table[model.Abstract]{bucketName: bucketAbstracts}.storedSize(t, a.ID)
	for _, id := range a.Files {
		sum += files.storedSize(t, id)
	}
	return sum
}

// NewAbstractID gives the next number of an abstract.
func (t *Tx) NewAbstractID() (uint64, error) { return abstracts.nextID(t) }

// Abstract reads one; NotFound when absent or in the trash.
func (t *Tx) Abstract(id uint64) (model.Abstract, error) { return abstracts.getLive(t, id) }

// AbstractIncludingTrash reads one, in the trash or not; NotFound when absent.
func (t *Tx) AbstractIncludingTrash(id uint64) (model.Abstract, error) { return abstracts.get(t, id) }

// ListAbstracts gives a page of the abstracts, without those in the trash. It takes
// ColumnStatus, ColumnTemplate, ColumnCounty and ColumnState, bounds of the last change,
// and SortCreated, SortUpdated, SortFileNumber, SortParcel and SortAddress.
func (t *Tx) ListAbstracts(q Query) (Page[model.Abstract], error) { return abstracts.list(t, q) }

// PutAbstract writes one, new or changed, and its places in the indexes.
func (t *Tx) PutAbstract(a model.Abstract) error {
	old, known, err := abstracts.find(t, a.ID)
	if err != nil {
		return err
	}
	t.countTransition(CountAbstracts, known && old.Trashed == nil, a.Trashed == nil)
	if err := abstracts.save(t, a.ID, &old, known, &a); err != nil {
		return err
	}
	if known && (old.County != a.County || old.State != a.State || old.TemplateID != a.TemplateID) {
		if len(a.Files) > 0 {
			t.noteChange(typedID(FilesOfAbstract, a.ID)) // they are found by where their abstract lies
		}
	}
	return nil
}

// RemoveAbstract takes one away for good, in the trash or not; NotFound when
// absent. Its files are not touched.
func (t *Tx) RemoveAbstract(id uint64) error {
	old, err := abstracts.get(t, id)
	if err != nil {
		return err
	}
	t.countTransition(CountAbstracts, old.Trashed == nil, false)
	return abstracts.purge(t, id, &old)
}

// ListAbstractsByID gives those of some records that a query leaves, in the order of their
// numbers here, and how many numbers it has gone through: fewer than all where the page
// is full. Of the query only the filters, bounds of creation, Limit and Bytes count; the
// page has no positions.
func (t *Tx) ListAbstractsByID(ids []uint64, q Query) (Page[model.Abstract], int, error) {
	return abstracts.listByIDs(t, ids, q)
}

// ScanAbstracts reads at most limit abstracts from number from on, those in the trash
// too; the first damaged record among them is its error.
func (t *Tx) ScanAbstracts(from uint64, limit int) ([]model.Abstract, error) {
	return scanTable(t, abstracts.table, from, limit)
}

package store

import "deedkeep/app/model"

var abstracts = listing[model.Abstract]{
	table:  table[model.Abstract]{bucketAbstracts, "abstract"},
	layout: layout{bucket: bucketAbstractIndex, tags: "ykst"},
	sorts:  layout{bucket: bucketAbstractSorts, tags: "ykst", sorts: "fpau"},
	texts: []text[model.Abstract]{
		{sort: SortFileNumber, form: model.Squeezed, of: (*model.Abstract).FileNumber},
		{sort: SortParcel, form: model.Squeezed, of: (*model.Abstract).Parcel},
		{sort: SortAddress, form: model.Plain, of: func(a *model.Abstract) string { return a.Street() }, whole: func(a *model.Abstract) []string { return a.Streets() }},
	},
	columns: []column[model.Abstract]{
		{name: ColumnCounty, of: func(a *model.Abstract) value { return valueOf(a.County) }},
		{name: ColumnTemplate, of: func(a *model.Abstract) value { return value{number: a.TemplateID} }},
		{name: ColumnStatus, of: func(a *model.Abstract) value { return valueOf(a.Status) }, tally: true},
		{name: ColumnState, of: func(a *model.Abstract) value { return valueOf(a.State) }},
	},
	card: func(a *model.Abstract) card {
		return card{created: micros(a.CreatedAt), id: a.ID, updated: micros(a.UpdatedAt)}
	},
	trashed: func(a *model.Abstract) *model.Trashed { return a.Trashed },
	weigh:   weighAbstract,
}

// weighAbstract counts its files' records too: it is shown with them.
func weighAbstract(t *Tx, a *model.Abstract) int {
	sum := table[model.Abstract]{name: bucketAbstracts}.stored(t, a.ID)
	for _, id := range a.Files {
		sum += files.stored(t, id)
	}
	return sum
}

// NewAbstractID gives the next number of an abstract.
func (t *Tx) NewAbstractID() (uint64, error) { return abstracts.next(t) }

// Abstract reads one; NotFound when absent or in the trash.
func (t *Tx) Abstract(id uint64) (model.Abstract, error) { return abstracts.live(t, id) }

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
	t.step(CountAbstracts, known && old.Trashed == nil, a.Trashed == nil)
	if err := abstracts.write(t, a.ID, &old, known, &a); err != nil {
		return err
	}
	if known && (old.County != a.County || old.State != a.State || old.TemplateID != a.TemplateID) {
		if len(a.Files) > 0 {
			t.tell(nounID(FilesOfAbstract, a.ID)) // they are found by where their abstract lies
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
	t.step(CountAbstracts, old.Trashed == nil, false)
	return abstracts.erase(t, id, &old)
}

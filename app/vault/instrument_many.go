package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// NewInstrument is the input for one of several new instruments. Row is how errors and the relations
// of the others refer to it, such as the row of a file. It must be unique. If Into is not 0, the input is
// for that instrument of the abstract instead: it fills blank fields, and its documents are added.
type NewInstrument struct {
	InstrumentPatch
	Row       int
	Relations []RowRelation
	Into      uint64
	Reviewed  *Repeat // what the page that a person reviewed shows; nil if there was none
}

// Added is what CreateMany stored.
type Added struct {
	Created []InstrumentView // in the sequence of the runsheet
	Undo    Undo
}

// RowRelation is a relation to another new instrument.
type RowRelation struct {
	Kind string
	Row  int
}

// The codes of the relations of new instruments.
const (
	NoSuchRow   errs.Code = "The {field} field must refer to another of these rows, not to row %d."
	TooManyRows errs.Code = "The {field} field must not have more than %d rows."
)

// CreateMany records several instruments of an abstract in one transaction, or fills those that the
// abstract has already. If the abstract has no instruments yet, they are placed by their
// positions; otherwise, by their recording dates. If one of them is invalid, it records none and
// returns Invalid, listing every invalid field as "rows.ROW.FIELD".
func (ins *Instruments) CreateMany(ctx context.Context, actor model.Actor, abstract uint64, list []NewInstrument,
	idempotency Idempotency[Added]) (added Added, err error) {
	var checked []model.Instrument
	err = ins.v.Write(ctx, actor, func(t *store.Tx) error {
		if err := idempotency.CheckUnused(t, ins.v); err != nil {
			return err
		}
		checked, err = ins.checkMany(t, actor, abstract, list)
		return err
	}, func(t *store.Tx) error {
		at := ins.v.Now()
		if added, err = ins.addMany(ctx, t, actor, at, abstract, list, checked); err != nil {
			return err
		}
		return idempotency.SaveResponse(t, at, added)
	})
	return added, err
}

// checkMany validates new instruments and their relations to each other.
func (ins *Instruments) checkMany(t *store.Tx, actor model.Actor, abstract uint64, list []NewInstrument) ([]model.Instrument, error) {
	a, err := t.Abstract(abstract)
	if err != nil {
		return nil, err
	}
	if limit := ins.v.Settings.Runsheet.Rows; len(list) > limit {
		return nil, errs.InvalidField("rows", TooManyRows, limit)
	}
	if err := ins.checkRoom(t, abstract, len(list)); err != nil {
		return nil, err
	}
	rules, err := readInstrumentRules(t, abstract)
	if err != nil {
		return nil, err
	}
	var rejected errs.Fields
	reject := func(row int, fields errs.Fields) {
		for _, f := range fields {
			for _, problem := range f.Problems {
				rejected.AddProblem(fmt.Sprintf("rows.%d.%s", row, f.Field), problem)
			}
		}
	}
	checked := make([]model.Instrument, 0, len(list))
	for _, item := range list {
		i, err := rules.check(t, actor, newInstrument(a, item.InstrumentPatch.Input), item.InstrumentPatch)
		if domainErr, ok := errors.AsType[*errs.Error](err); ok && domainErr.Kind == errs.Invalid {
			reject(item.Row, domainErr.Fields)
		} else if err != nil {
			return nil, err
		}
		checked = append(checked, i)
		if item.Into == 0 {
			continue
		}
		if into, err := t.Instrument(item.Into); errs.KindOf(err) == errs.NotFound || err == nil && into.AbstractID != abstract {
			return nil, ErrRunsheetChanged
		} else if err != nil {
			return nil, err
		}
	}
	for row, fields := range checkRowRelations(list, checked) {
		reject(row, fields)
	}
	slices.SortStableFunc(rejected, func(a, b errs.FieldError) int { return compareRows(a.Field, b.Field) })
	if err := rejected.Err(); err != nil {
		return nil, err
	}
	return checked, ins.checkReviewed(t, abstract, rules.types, list, checked)
}

// defaultMaxInstruments is the limit if MaxInstrumentsPerAbstract is 0 in the settings.
const defaultMaxInstruments = 100_000

// checkRoom returns Conflict if an abstract can't have n more instruments.
func (ins *Instruments) checkRoom(t *store.Tx, abstract uint64, n int) error {
	limit := cmp.Or(ins.v.Settings.MaxInstrumentsPerAbstract, defaultMaxInstruments)
	if len(t.InstrumentIDs(abstract))+n <= limit {
		return nil
	}
	return &errs.Error{Kind: errs.Conflict, Message: fmt.Sprintf(
		"An abstract can have at most %d instruments, including those in the trash. The setting is limits.instruments_per_abstract.", limit)}
}

// compareRows compares the rows of two fields such as "rows.12.book".
func compareRows(a, b string) int {
	row := func(field string) (n int) {
		_, _ = fmt.Sscanf(strings.TrimPrefix(field, "rows."), "%d", &n) // 0 if there is none
		return n
	}
	return row(a) - row(b)
}

// checkRowRelations validates the relations among new instruments and returns the problems by row.
func checkRowRelations(list []NewInstrument, checked []model.Instrument) map[int]errs.Fields {
	const field = "relations"
	problems := map[int]errs.Fields{}
	add := func(row int, code errs.Code, args ...any) {
		fields := problems[row]
		fields.Add(field, code, args...)
		problems[row] = fields
	}
	ends := map[int][]int{} // rows that a row releases or terminates
	rows := map[int]bool{}
	for _, item := range list {
		rows[item.Row] = true
	}
	for n, item := range list {
		if len(checked[n].Relations)+len(item.Relations) > model.MaxListItems {
			add(item.Row, errs.TooMany, model.MaxListItems)
		}
		for _, r := range item.Relations {
			switch {
			case !slices.Contains(model.RelationKinds(), r.Kind):
				add(item.Row, errs.InvalidChoice)
			case r.Row == item.Row:
				add(item.Row, model.SelfRelation)
			case !rows[r.Row]:
				add(item.Row, NoSuchRow, r.Row)
			case r.Kind == model.Releases || r.Kind == model.Terminates:
				ends[item.Row] = append(ends[item.Row], r.Row)
			}
		}
	}
	for row := range ends {
		if reaches(ends, row) {
			add(row, model.CyclicRelease)
		}
	}
	return problems
}

// reaches reports whether a path leads from a row back to it.
func reaches(edges map[int][]int, start int) bool {
	seen := map[int]bool{}
	for queue := slices.Clone(edges[start]); len(queue) > 0; queue = queue[1:] {
		if queue[0] == start {
			return true
		}
		if !seen[queue[0]] {
			seen[queue[0]] = true
			queue = append(queue, edges[queue[0]]...)
		}
	}
	return false
}

// addMany stores validated instruments and returns them in the sequence of the runsheet. It reads the
// runsheet only once.
func (ins *Instruments) addMany(ctx context.Context, t *store.Tx, actor model.Actor, at time.Time, abstract uint64,
	list []NewInstrument, checked []model.Instrument) (added Added, err error) {
	ids := map[int]uint64{}
	for _, item := range list {
		if ids[item.Row] = item.Into; item.Into != 0 {
			continue
		}
		if ids[item.Row], err = t.NewInstrumentID(); err != nil {
			return added, err
		}
	}
	added.Undo.Abstract = abstract
	if err := ins.fillMany(t, actor, at, list, checked, &added.Undo); err != nil {
		return added, err
	}
	work, err := t.TitleWork(abstract)
	if err != nil {
		return added, err
	}
	keys, err := ins.runsheetKeys(t, abstract)
	if err != nil {
		return added, err
	}
	wasEmpty := len(keys) == 0
	created := make(map[uint64]model.Instrument, len(list))
	positions := map[uint64]int{}
	for n, item := range list {
		if item.Into != 0 {
			continue
		}
		i := checked[n]
		i.ID, i.Relations = ids[item.Row], slices.Clone(i.Relations)
		for _, r := range item.Relations {
			i.Relations = append(i.Relations, model.Relation{Kind: r.Kind, InstrumentID: ids[r.Row]})
		}
		if i, err = ins.add(t, actor, at, i); err != nil {
			return added, err
		}
		added.Undo.Created = append(added.Undo.Created, storedInstrument{ID: i.ID, Version: i.Version})
		created[i.ID], keys = i, append(keys, i.RunsheetKey())
		if item.Position > 0 {
			positions[i.ID] = item.Position
		}
	}
	if wasEmpty {
		placeMany(&work, keys, positions)
	}
	work.RunsheetVersion++
	if err := t.PutTitleWork(work); err != nil {
		return added, err
	}
	added.Created, err = ins.viewMany(ctx, t, model.SortKeys(keys, work.Sequence), created)
	return added, err
}

// fillMany fills the existing instruments of those rows that have one.
func (ins *Instruments) fillMany(t *store.Tx, actor model.Actor, at time.Time, list []NewInstrument, checked []model.Instrument,
	undo *Undo) error {
	for n, item := range list {
		if item.Into == 0 {
			continue
		}
		if err := ins.fill(t, actor, at, item, checked[n], undo); err != nil {
			return err
		}
	}
	return nil
}

// fill fills the blank fields of the existing instrument of a row, and adds the documents.
func (ins *Instruments) fill(t *store.Tx, actor model.Actor, at time.Time, item NewInstrument, from model.Instrument, undo *Undo) error {
	old, err := t.Instrument(item.Into)
	if err != nil {
		return err
	}
	now := old.FillBlank(typedOnly(item.Input, from))
	if len(now.Documents) > model.MaxListItems {
		return errs.InvalidField(fmt.Sprintf("rows.%d.documents", item.Row), errs.TooMany, model.MaxListItems)
	}
	stored := storedInstrument{ID: old.ID, Version: old.Version + 1, Documents: now.Documents[len(old.Documents):]}
	changes := old.Changes(now)
	for _, change := range changes {
		if change.Field != "documents" && !slices.Contains(stored.Fields, change.Field) {
			stored.Fields = append(stored.Fields, change.Field)
		}
	}
	if len(changes) == 0 {
		return nil
	}
	undo.addFilled(stored)
	return ins.put(t, actor, at, old, now)
}

// typedOnly returns what the input for a new instrument results in without the county and state of its
// abstract.
func typedOnly(in model.Inputs, i model.Instrument) model.Instrument {
	if in["county"].IsBlank() {
		i.County = ""
	}
	if in["state"].IsBlank() {
		i.State = ""
	}
	return i
}

// put stores a changed instrument and adds an audit entry.
func (ins *Instruments) put(t *store.Tx, actor model.Actor, at time.Time, old, now model.Instrument) error {
	now.Version, now.UpdatedAt = old.Version, old.UpdatedAt
	NextVersion(&now.Version, &now.UpdatedAt, at)
	return errors.Join(ins.v.AddEntry(t, model.Event{At: at, Actor: actor, Kind: InstrumentType + ".changed",
		Record: model.RecordRef(InstrumentType, now.ID), Changes: old.Changes(now)}), PutInstrument(t, now))
}

// putTrashed moves an instrument to the trash.
func (ins *Instruments) putTrashed(t *store.Tx, actor model.Actor, at time.Time, i model.Instrument) error {
	i.Trashed = &model.Trashed{At: at, By: actor}
	return errors.Join(PutInstrument(t, i), ins.v.AddEvent(t, at, actor, InstrumentType+".trashed", model.RecordRef(InstrumentType, i.ID),
		map[string]string{"abstract": model.RecordRef(AbstractOps.Name, i.AbstractID)}))
}

// viewMany returns new instruments in the sequence of the runsheet. Only they can refer to each other.
func (ins *Instruments) viewMany(ctx context.Context, t *store.Tx, sequence []uint64, created map[uint64]model.Instrument,
) (views []InstrumentView, err error) {
	types, err := t.DocumentTypes()
	if err != nil {
		return nil, err
	}
	ended := map[uint64]bool{}
	for _, i := range created {
		for _, r := range i.Relations {
			ended[r.InstrumentID] = ended[r.InstrumentID] || r.Ends()
		}
	}
	isNew := func(id uint64) bool { _, ok := created[id]; return ok }
	for n, id := range sequence {
		i, ok := created[id]
		if !ok {
			continue
		}
		view := ins.withStatus(ctx, t, types, i, ended[id], isNew)
		view.Position = n + 1
		views = append(views, view)
	}
	return views, nil
}

// placeMany sets the sequence of a runsheet to the positions of its instruments if their recording
// dates result in another one.
func placeMany(work *model.TitleWork, keys []model.RunsheetKey, positions map[uint64]int) {
	var natural []uint64
	for _, id := range model.SortKeys(keys, work.Sequence) {
		if positions[id] > 0 {
			natural = append(natural, id)
		}
	}
	wanted := slices.Clone(natural)
	slices.SortStableFunc(wanted, func(a, b uint64) int { return positions[a] - positions[b] })
	if !slices.Equal(wanted, natural) {
		work.Sequence = wanted
	}
}

package vault

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// TitleWork manages the work on abstracts besides their fields, documents, and instruments: the
// order that an abstract is for, the people who work on it, the names run, requirements and
// exceptions, and certificates.
type TitleWork struct{ v *Vault }

// Get returns the title work of an abstract, or NotFound.
func (s *TitleWork) Get(ctx context.Context, abstract uint64) (work model.TitleWork, err error) {
	err = s.v.Store.View(ctx, func(t *store.Tx) error {
		if _, err := t.Abstract(abstract); err != nil {
			return err
		}
		work, err = t.TitleWork(abstract)
		return err
	})
	return work, err
}

// titlePart is one part of the title work with a version of its own.
type titlePart struct {
	event   string
	version func(*model.TitleWork) *uint64
}

var (
	orderPart        = titlePart{"order_link.changed", func(w *model.TitleWork) *uint64 { return &w.Versions.Order }}
	assignmentPart   = titlePart{"assignment.changed", func(w *model.TitleWork) *uint64 { return &w.Versions.Assignment }}
	namesRunPart     = titlePart{"names_run.changed", func(w *model.TitleWork) *uint64 { return &w.Versions.NamesRun }}
	requirementsPart = titlePart{"requirements.changed", func(w *model.TitleWork) *uint64 { return &w.Versions.Requirements }}
)

// change changes one part of the title work of an abstract. If the change leaves it as it is,
// nothing is written.
func (s *TitleWork) change(ctx context.Context, actor model.Actor, abstract uint64, part titlePart, match Match,
	change func(t *store.Tx, a model.Abstract, work *model.TitleWork) error) (now model.TitleWork, err error) {
	err = s.v.Write(ctx, actor, func(t *store.Tx) error {
		a, err := t.Abstract(abstract)
		if err != nil {
			return err
		}
		old, err := t.TitleWork(abstract)
		if err != nil {
			return err
		}
		if err := match.check(*part.version(&old)); err != nil {
			return err
		}
		if now, err = t.TitleWork(abstract); err != nil {
			return err
		}
		if err := change(t, a, &now); err != nil {
			return err
		}
		if reflect.DeepEqual(now, old) {
			return txn.ErrNoChange
		}
		*part.version(&now)++
		return nil
	}, func(t *store.Tx) error {
		return errors.Join(t.PutTitleWork(now), s.v.AddEvent(t, s.v.Now(), actor, part.event, txn.RecordRef(AbstractOps.Name, abstract), nil))
	})
	if errors.Is(err, txn.ErrNoChange) {
		err = nil
	}
	return now, err
}

// SetOrder links an abstract to an order, or unlinks it if order is 0. It returns Invalid if there
// is no such order.
func (s *TitleWork) SetOrder(ctx context.Context, actor model.Actor, abstract, order uint64, match Match) (model.TitleWork, error) {
	return s.change(ctx, actor, abstract, orderPart, match, func(t *store.Tx, _ model.Abstract, work *model.TitleWork) error {
		if order != 0 {
			if _, err := t.Order(order); errs.KindOf(err) == errs.NotFound {
				return errs.InvalidField("order_id", errs.InvalidChoice)
			} else if err != nil {
				return err
			}
		}
		work.OrderID = order
		return nil
	})
}

// AbstractsOfOrder returns the live abstracts that are linked to an order, newest first. It returns
// NotFound if there is no such order.
func (s *TitleWork) AbstractsOfOrder(ctx context.Context, order uint64) (list []AbstractWithFiles, err error) {
	err = s.v.Store.View(ctx, func(t *store.Tx) error {
		if _, err := t.Order(order); err != nil {
			return err
		}
		for _, id := range slices.Backward(t.AbstractsOfOrder(order)) {
			a, err := AbstractOps.get(t, id)
			if errs.KindOf(err) == errs.NotFound {
				continue
			}
			if err != nil {
				return err
			}
			list = append(list, a)
		}
		return nil
	})
	return list, err
}

// unlinkOrder removes the links of abstracts to an order that is purged.
func unlinkOrder(t *store.Tx, order uint64) error {
	for _, abstract := range t.AbstractsOfOrder(order) {
		work, err := t.TitleWork(abstract)
		if err != nil {
			return err
		}
		work.OrderID = 0
		work.Versions.Order++
		if err := t.PutTitleWork(work); err != nil {
			return err
		}
	}
	return nil
}

// SetAssignment sets who works on an abstract. It returns Invalid, listing every invalid field.
func (s *TitleWork) SetAssignment(ctx context.Context, actor model.Actor, abstract uint64, members map[string]json.RawMessage, match Match,
) (model.TitleWork, error) {
	return s.change(ctx, actor, abstract, assignmentPart, match, func(t *store.Tx, _ model.Abstract, work *model.TitleWork) error {
		assignment, rejected := model.CheckAssignment(members, func(id uint64) bool {
			u, err := t.User(id)
			known := id == work.Assignment.SearcherID || id == work.Assignment.ExaminerID
			return err == nil && (known || u.DisabledAt == nil && u.Role != model.RoleViewer)
		})
		work.Assignment = assignment
		return rejected.Err()
	})
}

// SetNamesRun replaces the names run of an abstract. It returns Invalid, listing every invalid row.
func (s *TitleWork) SetNamesRun(ctx context.Context, actor model.Actor, abstract uint64, rows json.RawMessage, match Match,
) (model.TitleWork, error) {
	return s.change(ctx, actor, abstract, namesRunPart, match, func(_ *store.Tx, _ model.Abstract, work *model.TitleWork) error {
		list, rejected := model.CheckNamesRun(rows, work.NamesRun, actor, s.v.Now())
		work.NamesRun = list
		return rejected.Err()
	})
}

// SetRequirements replaces the requirements and exceptions of an abstract that aren't those of its
// instruments. It returns Invalid, listing every invalid row.
func (s *TitleWork) SetRequirements(ctx context.Context, actor model.Actor, abstract uint64, rows json.RawMessage, match Match,
) (model.TitleWork, error) {
	return s.change(ctx, actor, abstract, requirementsPart, match, func(t *store.Tx, _ model.Abstract, work *model.TitleWork) error {
		list, rejected := model.CheckRequirements(rows, func(id uint64) bool {
			i, err := t.Instrument(id)
			return err == nil && (i.AbstractID == abstract || i.AbstractID == work.PriorID)
		})
		work.Requirements = list
		return rejected.Err()
	})
}

// Requirement is a requirement or an exception of an abstract or of one of its instruments.
type Requirement struct {
	model.RequirementRow
	FromInstrument bool
}

// Requirements returns the requirements and exceptions of an abstract, followed by those of its
// instruments in the sequence of the runsheet, and the version for If-Match.
func (s *TitleWork) Requirements(ctx context.Context, abstract uint64) (list []Requirement, version uint64, err error) {
	err = s.v.Store.View(ctx, func(t *store.Tx) error {
		if _, err := t.Abstract(abstract); err != nil {
			return err
		}
		work, err := t.TitleWork(abstract)
		if err != nil {
			return err
		}
		list, version = nil, work.Versions.Requirements
		for _, row := range work.Requirements {
			list = append(list, Requirement{RequirementRow: row})
		}
		instruments, err := t.LiveInstruments(abstract)
		for _, i := range model.SortRunsheet(instruments, work.Sequence) {
			for _, row := range []model.RequirementRow{{Kind: model.RequirementKind, Text: i.Requirement}, {Kind: model.ExceptionKind, Text: i.Exception}} {
				if row.Text != "" {
					row.InstrumentID, row.Cleared = i.ID, i.Cleared
					list = append(list, Requirement{row, true})
				}
			}
		}
		return err
	})
	return list, version, err
}

package vault

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

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
func (tw *TitleWork) Get(ctx context.Context, abstract uint64) (work model.TitleWork, err error) {
	err = tw.v.Store.View(ctx, func(t *store.Tx) error {
		if _, err := t.Abstract(abstract); err != nil {
			return err
		}
		work, err = existingTitleWork(t, abstract)
		return err
	})
	return work, err
}

// existingTitleWork is like store.Tx.TitleWork, but requirements and exceptions aren't linked to
// instruments that were purged. The purge clears those links only in the abstract of the instrument,
// because there is no index of the others: its bring-down and the abstract that it was moved from.
func existingTitleWork(t *store.Tx, abstract uint64) (model.TitleWork, error) {
	work, err := t.TitleWork(abstract)
	work.Requirements = slices.Clone(work.Requirements)
	for n, row := range work.Requirements {
		if row.InstrumentID != 0 && !t.HasInstrument(row.InstrumentID) {
			work.Requirements[n].InstrumentID = 0
		}
	}
	return work, err
}

// titlePart is one part of the title work with a version of its own.
type titlePart struct {
	event   string
	version func(*model.TitleWork) *uint64
	copy    func(to, from *model.TitleWork) // copies the part; nil if UndoEdit doesn't undo its changes
}

// name returns the name of the part in an Edit.
func (p titlePart) name() string { return strings.TrimSuffix(p.event, ".changed") }

var (
	orderPart      = titlePart{"order_link.changed", func(w *model.TitleWork) *uint64 { return &w.Versions.Order }, nil}
	assignmentPart = titlePart{"assignment.changed", func(w *model.TitleWork) *uint64 { return &w.Versions.Assignment },
		func(to, from *model.TitleWork) { to.Assignment = from.Assignment }}
	namesRunPart = titlePart{"names_run.changed", func(w *model.TitleWork) *uint64 { return &w.Versions.NamesRun },
		func(to, from *model.TitleWork) { to.NamesRun = from.NamesRun }}
	requirementsPart = titlePart{"requirements.changed", func(w *model.TitleWork) *uint64 { return &w.Versions.Requirements },
		func(to, from *model.TitleWork) { to.Requirements = from.Requirements }}
)

// change changes one part of the title work of an abstract. If the change leaves it as it is,
// nothing is written.
func (tw *TitleWork) change(ctx context.Context, actor model.Actor, abstract uint64, part titlePart, match Match,
	change func(t *store.Tx, a model.Abstract, work *model.TitleWork) error) (now model.TitleWork, err error) {
	_, err = tw.v.run(ctx, actor, tw.changing(actor, abstract, part, match, change, &now))
	return now, err
}

// changing returns the step that change runs. It sets now.
func (tw *TitleWork) changing(actor model.Actor, abstract uint64, part titlePart, match Match,
	change func(t *store.Tx, a model.Abstract, work *model.TitleWork) error, now *model.TitleWork) step {
	var old model.TitleWork
	var edit func() Edit
	if part.copy != nil {
		edit = func() Edit { return Edit{AbstractOps.Name, abstract, part.name(), *part.version(now)} }
	}
	return step{edit, func(t *store.Tx) error {
		a, err := t.Abstract(abstract)
		if err != nil {
			return err
		}
		if old, err = t.TitleWork(abstract); err != nil {
			return err
		}
		if err := match.check(*part.version(&old)); err != nil {
			return err
		}
		if *now, err = t.TitleWork(abstract); err != nil {
			return err
		}
		if err := change(t, a, now); err != nil {
			return err
		}
		if reflect.DeepEqual(*now, old) {
			return txn.ErrNoChange
		}
		*part.version(now)++
		return nil
	}, func(t *store.Tx) error {
		event := part.event
		if event == orderPart.event && now.OrderID == 0 {
			event = "order_link.removed"
		}
		at, linked := tw.v.Now(), *now
		if part.event == orderPart.event {
			linked.Assignment = old.Assignment
		}
		err := errors.Join(t.PutTitleWork(*now), tw.v.logTitleWork(t, at, actor, event, old, linked))
		if linked.Assignment != now.Assignment {
			err = errors.Join(err, tw.v.logTitleWork(t, at, actor, assignmentPart.event, linked, *now))
		}
		if err != nil || edit == nil {
			return err
		}
		var before, after model.TitleWork
		part.copy(&before, &old)
		part.copy(&after, now)
		return keep(t, tw.v, edit(), actor, at, before, after)
	}}
}

// logTitleWork adds the audit entry for a change of title work.
func (v *Vault) logTitleWork(t *store.Tx, at time.Time, actor model.Actor, event string, old, now model.TitleWork) error {
	return v.AddEntry(t, model.Event{At: at, Actor: actor, Kind: event, Record: model.RecordRef(AbstractOps.Name, now.AbstractID),
		Changes: old.Changes(now)})
}

// SetOrder links an abstract to an order, or unlinks it if order is 0. If no one was ever assigned to the abstract, the
// assignee of the order becomes its searcher. SetOrder returns Invalid if there is no such order.
func (tw *TitleWork) SetOrder(ctx context.Context, actor model.Actor, abstract, order uint64, match Match) (model.TitleWork, error) {
	return tw.change(ctx, actor, abstract, orderPart, match, func(t *store.Tx, _ model.Abstract, work *model.TitleWork) error {
		if order != 0 {
			linked, err := checkOrder(t, order)
			if err != nil {
				return err
			}
			if searcher := searcherOf(t, linked); searcher != 0 && work.Versions.Assignment == 0 {
				work.Assignment.SearcherID = searcher
				work.Versions.Assignment++
			}
		}
		work.OrderID = order
		return nil
	})
}

// searcherOf returns the user who searches the abstracts made for an order: its assignee. It returns 0 if there is none
// who can work on abstracts.
func searcherOf(t *store.Tx, o model.Order) uint64 {
	if o.AssigneeID != 0 && canWork(t)(o.AssigneeID) {
		return o.AssigneeID
	}
	return 0
}

// AbstractsOfOrder returns the live abstracts that are linked to an order, newest first. It returns
// NotFound if there is no such order.
func (tw *TitleWork) AbstractsOfOrder(ctx context.Context, order uint64) (list []AbstractWithFiles, err error) {
	err = tw.v.Store.View(ctx, func(t *store.Tx) error {
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

// SetAssignment sets who works on an abstract. It returns Invalid, listing every invalid field.
func (tw *TitleWork) SetAssignment(ctx context.Context, actor model.Actor, abstract uint64, members model.Inputs, match Match,
) (model.TitleWork, error) {
	return tw.change(ctx, actor, abstract, assignmentPart, match, func(t *store.Tx, _ model.Abstract, work *model.TitleWork) error {
		return checkAssignment(t, members, &work.Assignment)
	})
}

// assigning returns the step that changes the members of an assignment that are given.
func (tw *TitleWork) assigning(actor model.Actor, abstract uint64, members model.Inputs, now *model.TitleWork) step {
	return tw.changing(actor, abstract, assignmentPart, Match{}, func(t *store.Tx, _ model.Abstract, work *model.TitleWork) error {
		all := assignmentInputs(work.Assignment)
		maps.Copy(all, members)
		return checkAssignment(t, all, &work.Assignment)
	}, now)
}

// PatchAssigned is like Patch. In the same transaction, it changes the members of the assignment that are given. It
// returns the changes, for UndoEdit.
func (a *Abstracts) PatchAssigned(ctx context.Context, actor model.Actor, id uint64, p model.AbstractPatch, members model.Inputs,
) ([]Edit, error) {
	var now AbstractWithFiles
	var work model.TitleWork
	steps := []step{patching(a.v, AbstractOps, actor, id, Match{}, a.patched(p), &now)}
	if len(members) > 0 {
		steps = append(steps, a.v.TitleWork.assigning(actor, id, members, &work))
	}
	return a.v.run(ctx, actor, steps...)
}

// assignmentInputs returns the members of an assignment as input.
func assignmentInputs(a model.Assignment) model.Inputs {
	return model.Inputs{"searcher": model.NumberInput(a.SearcherID), "examiner": model.NumberInput(a.ExaminerID),
		"due_date": model.StringInput(a.DueDate)}
}

// checkAssignment replaces an assignment with the validated members.
func checkAssignment(t *store.Tx, members model.Inputs, a *model.Assignment) error {
	assignment, rejected := model.CheckAssignment(members, canWork(t, a.SearcherID, a.ExaminerID))
	*a = assignment
	return rejected.Err()
}

// canWork returns the function that reports whether a user exists and can work on a record: enabled users who may make
// changes, and the known ones, who already do.
func canWork(t *store.Tx, known ...uint64) func(uint64) bool {
	return func(id uint64) bool {
		u, err := t.User(id)
		return err == nil && (slices.Contains(known, id) || u.Enabled() && u.Role.Can(model.PermWrite))
	}
}

// CreateForOrder is like Abstracts.Create. In the same transaction, it links the abstract to an order
// and sets who works on it. Without a searcher in the assignment, the assignee of the order is the searcher.
// CreateForOrder returns Invalid for the field order_id if there is no such order.
func (tw *TitleWork) CreateForOrder(ctx context.Context, actor model.Actor, order uint64, draft model.AbstractDraft,
	assignment model.Inputs, upload *StagedUpload, idempotency Idempotency[AbstractWithFiles]) (AbstractWithFiles, error) {
	var work model.TitleWork
	check := func(t *store.Tx) error {
		work = model.TitleWork{OrderID: order, Versions: model.TitleWorkVersions{Order: 1, Assignment: 1}}
		linked, err := checkOrder(t, order)
		if err != nil {
			return err
		}
		if err := checkAssignment(t, assignment, &work.Assignment); err != nil {
			return err
		}
		if _, sent := assignment["searcher"]; !sent {
			work.Assignment.SearcherID = searcherOf(t, linked)
		}
		return nil
	}
	if err := tw.v.Store.View(ctx, check); err != nil { // before the documents are stored
		return AbstractWithFiles{}, err
	}
	link := func(t *store.Tx, created model.Abstract) error {
		work.AbstractID = created.ID
		linked := model.TitleWork{AbstractID: created.ID, OrderID: order}
		err := errors.Join(t.PutTitleWork(work),
			tw.v.logTitleWork(t, created.CreatedAt, actor, orderPart.event, model.TitleWork{}, linked))
		if work.Assignment == (model.Assignment{}) {
			return err
		}
		return errors.Join(err, tw.v.logTitleWork(t, created.CreatedAt, actor, assignmentPart.event, linked, work))
	}
	return tw.v.Abstracts.createWith(ctx, actor, draft, upload, idempotency, createHooks{check, link})
}

// checkOrder returns an order, or Invalid if there is no such order.
func checkOrder(t *store.Tx, order uint64) (model.Order, error) {
	o, err := t.Order(order)
	if errs.KindOf(err) == errs.NotFound {
		err = errs.InvalidField("order_id", errs.InvalidChoice)
	}
	return o, err
}

// AssignedAbstract is an abstract that a user searches or examines.
type AssignedAbstract struct {
	Abstract   model.Abstract
	Heading    string
	Assignment model.Assignment
	Order      model.Order // zero if the abstract isn't linked to a live order
}

// AssignedTo returns up to limit open abstracts that a user searches or examines, by due date. Those
// without a due date come last. more reports whether there are others. The cost doesn't depend on the
// number of abstracts.
func (tw *TitleWork) AssignedTo(ctx context.Context, user uint64, limit int) (list []AssignedAbstract, more bool, err error) {
	err = tw.v.Store.View(ctx, func(t *store.Tx) error {
		ids := t.AbstractsOfUser(user, limit+1)
		more = len(ids) > limit
		for _, id := range ids[:min(len(ids), limit)] {
			a, err := t.Abstract(id)
			if errs.KindOf(err) == errs.NotFound || errors.Is(err, store.ErrDamaged) {
				continue
			}
			if err != nil {
				return err
			}
			work, err := t.TitleWork(id)
			if err != nil {
				return err
			}
			assigned := AssignedAbstract{Abstract: a, Heading: tw.v.HeadingIn(t, a), Assignment: work.Assignment}
			if work.OrderID != 0 {
				if assigned.Order, err = t.Order(work.OrderID); err != nil && errs.KindOf(err) != errs.NotFound {
					return err
				}
			}
			list = append(list, assigned)
		}
		return nil
	})
	return list, more, err
}

// SetNamesRun replaces the names run of an abstract. It returns Invalid, listing every invalid row.
func (tw *TitleWork) SetNamesRun(ctx context.Context, actor model.Actor, abstract uint64, rows model.Input, match Match,
) (model.TitleWork, error) {
	return tw.change(ctx, actor, abstract, namesRunPart, match, func(_ *store.Tx, _ model.Abstract, work *model.TitleWork) error {
		list, rejected := model.CheckNamesRun(rows, work.NamesRun, actor, tw.v.Now())
		work.NamesRun = list
		return rejected.Err()
	})
}

// SetRequirements replaces the requirements and exceptions of an abstract that aren't those of its
// instruments. It returns Invalid, listing every invalid row.
func (tw *TitleWork) SetRequirements(ctx context.Context, actor model.Actor, abstract uint64, rows model.Input, match Match,
) (model.TitleWork, error) {
	return tw.change(ctx, actor, abstract, requirementsPart, match, func(t *store.Tx, _ model.Abstract, work *model.TitleWork) error {
		list, rejected := model.CheckRequirements(rows, func(id uint64) bool {
			known := func(row model.RequirementRow) bool { return row.InstrumentID == id } // it may have moved to another abstract
			i, err := t.Instrument(id)
			return err == nil && (i.AbstractID == abstract || i.AbstractID == work.PriorID) || slices.ContainsFunc(work.Requirements, known)
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
func (tw *TitleWork) Requirements(ctx context.Context, abstract uint64) (list []Requirement, version uint64, err error) {
	err = tw.v.Store.View(ctx, func(t *store.Tx) error {
		if _, err := t.Abstract(abstract); err != nil {
			return err
		}
		work, err := existingTitleWork(t, abstract)
		if err != nil {
			return err
		}
		list, version = nil, work.Versions.Requirements
		for _, row := range work.Requirements {
			list = append(list, Requirement{RequirementRow: row})
		}
		instruments, err := t.LiveInstruments(abstract)
		for _, i := range model.SortRunsheet(instruments, work.Sequence) {
			for _, row := range []model.RequirementRow{{Kind: model.RequirementKind, Text: i.Requirement},
				{Kind: model.ExceptionKind, Text: i.Exception}} {
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

// undo undoes a change of one part; see Vault.UndoEdit.
func (tw *TitleWork) undo(ctx context.Context, actor model.Actor, e Edit) (version uint64, err error) {
	for _, part := range []titlePart{assignmentPart, namesRunPart, requirementsPart} {
		if part.name() != e.Part {
			continue
		}
		work, err := tw.change(ctx, actor, e.ID, part, Match{},
			func(t *store.Tx, _ model.Abstract, work *model.TitleWork) error {
				before, err := revert(t, tw.v, e, actor, *work)
				if err != nil {
					return err
				}
				if part.name() == assignmentPart.name() {
					return checkAssignment(t, assignmentInputs(before.Assignment), &work.Assignment)
				}
				part.copy(work, &before)
				return nil
			})
		return *part.version(&work), err
	}
	return 0, errs.RecordNotFound(e.Part, e.ID)
}

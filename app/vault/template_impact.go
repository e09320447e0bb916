package vault

import (
	"context"
	"slices"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

const (
	impactScanSize  = 500 // maximum number of records read in one transaction
	recheckScanSize = 500 // maximum number of audit entries read in one batch
)

// fieldUsage contains the values of one record that depend on the definitions.
type fieldUsage struct {
	id, templateID uint64
	custom         model.CustomValues
	status         string
}

// impactScan counts the records of one type that would lose values if the definitions
// change. It reads all records in short transactions that don't block writers. It then
// uses the audit log to find the records that changed in the meantime and reads them
// again inside the write transaction.
type impactScan struct {
	recordType string // "abstract" or "order"
	impacts    []model.Impact
	affected   []uint64
	lastEvent  uint64 // sequence number of the last audit entry read
	read       func(t *store.Tx, from uint64, limit int) ([]fieldUsage, error)
}

func scanAbstractImpact(list []model.Impact) *impactScan {
	return newImpactScan("abstract", list, (*store.Tx).ScanAbstracts, func(a model.Abstract) fieldUsage {
		return fieldUsage{a.ID, a.TemplateID, a.Custom, a.Status}
	})
}

func scanOrderImpact(list []model.Impact) *impactScan {
	return newImpactScan("order", list, (*store.Tx).ScanOrders, func(o model.Order) fieldUsage {
		return fieldUsage{o.ID, 0, o.Custom, o.Status}
	})
}

func newImpactScan[T any](recordType string, list []model.Impact, scan func(*store.Tx, uint64, int) ([]T, error),
	usage func(T) fieldUsage) *impactScan {
	read := func(t *store.Tx, from uint64, limit int) (usages []fieldUsage, err error) {
		records, err := scan(t, from, limit)
		for _, r := range records {
			usages = append(usages, usage(r))
		}
		return usages, err
	}
	return &impactScan{recordType: recordType, impacts: list, affected: make([]uint64, len(list)), read: read}
}

// scan counts the affected records. Then it catches up with the audit log until only a
// few entries are left for recheck.
func (is *impactScan) scan(ctx context.Context, s *store.Store) error {
	if len(is.impacts) == 0 {
		return nil
	}
	last, err := store.Read(ctx, s, (*store.Tx).LastEvent)
	if err != nil {
		return err
	}
	is.lastEvent = last.Seq
	for next, more := uint64(0), true; more; {
		err := s.View(ctx, func(t *store.Tx) error {
			usages, err := is.read(t, next, impactScanSize)
			is.tally(usages...)
			if more = len(usages) == impactScanSize; more {
				next = usages[len(usages)-1].id + 1
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	for more := true; more && !is.found(); {
		if more, err = store.Read(ctx, s, is.catchUp); err != nil {
			return err
		}
	}
	return nil
}

// recheck reads the records that changed since scan, inside the write transaction. It
// returns Conflict if any records would lose values. It may be called twice and doesn't
// modify l.
func (is *impactScan) recheck(t *store.Tx) error {
	if len(is.impacts) == 0 || is.found() {
		return errWouldLoseData(is.conflicts())
	}
	rechecked := *is
	rechecked.affected = slices.Clone(is.affected)
	for more := true; more && !rechecked.found(); {
		var err error
		if more, err = rechecked.catchUp(t); err != nil {
			return err
		}
	}
	return errWouldLoseData(rechecked.conflicts())
}

// catchUp reads the next batch of audit entries after lastEvent and counts the records
// they refer to if affected. It reports whether there may be more entries.
func (is *impactScan) catchUp(t *store.Tx) (more bool, err error) {
	events, err := t.ScanEvents(is.lastEvent+1, recheckScanSize)
	if err != nil {
		return false, err
	}
	seen := map[uint64]bool{}
	for _, e := range events {
		is.lastEvent = e.Seq
		recordType, id, ok := model.ParseRef(e.Record)
		if recordType != is.recordType || !ok || seen[id] {
			continue
		}
		seen[id] = true
		usages, err := is.read(t, id, 1)
		if err != nil {
			return false, err
		}
		if len(usages) > 0 && usages[0].id == id { // otherwise the record was purged
			is.tally(usages...)
		}
	}
	return len(events) == recheckScanSize, nil
}

func (is *impactScan) tally(usages ...fieldUsage) {
	for _, usage := range usages {
		for i, impact := range is.impacts {
			if impact.TemplateID == usage.templateID && impact.Affects(usage.custom, usage.status) {
				is.affected[i]++
			}
		}
	}
}

func (is *impactScan) found() bool {
	return slices.ContainsFunc(is.affected, func(n uint64) bool { return n > 0 })
}

// conflicts returns one message for each removed field or status that records still use.
func (is *impactScan) conflicts() errs.Fields {
	var f errs.Fields
	for i, impact := range is.impacts {
		if is.affected[i] > 0 {
			f.Add(impact.Path(), "%s", impact.Message(is.affected[i], is.recordType))
		}
	}
	return f
}

// errWouldLoseData returns a Conflict error that contains all messages, or nil if there
// are none.
func errWouldLoseData(rejected errs.Fields) error {
	if len(rejected) == 0 {
		return nil
	}
	return &errs.Error{Kind: errs.Conflict, Message: "This change would delete values from existing records.", Fields: rejected}
}

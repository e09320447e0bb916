package vault

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// A change of definitions may take away what records have values for. Whether it
// does is found by reading every record, in chunks of short views: nothing else waits
// for it. What came meanwhile is in the log of events, which is read again inside the
// write, and the records that it names are judged there.

const (
	lossChunk = 500 // records a view
	lossRest  = 500 // events that the write itself looks through
)

// holding is what one record has of what definitions define.
type holding struct {
	id, template uint64
	custom       model.Values
	status       string
}

// losses judges one change of definitions against the records of one noun.
type losses struct {
	noun  string // "abstract" or "order"
	list  []model.Impact
	count []uint64
	event uint64 // the newest that was looked at
	walk  func(t *store.Tx, from uint64, limit int) ([]holding, error)
}

func abstractLosses(list []model.Impact) *losses {
	return &losses{noun: "abstract", list: list, count: make([]uint64, len(list)), walk: func(t *store.Tx, from uint64, limit int) (held []holding, err error) {
		records, err := t.ScanAbstracts(from, limit)
		for _, r := range records {
			held = append(held, holding{r.ID, r.TemplateID, r.Custom, r.Status})
		}
		return held, err
	}}
}

func orderLosses(list []model.Impact) *losses {
	return &losses{noun: "order", list: list, count: make([]uint64, len(list)), walk: func(t *store.Tx, from uint64, limit int) (held []holding, err error) {
		records, err := t.ScanOrders(from, limit)
		for _, r := range records {
			held = append(held, holding{r.ID, 0, r.Custom, r.Status})
		}
		return held, err
	}}
}

// survey counts what is hit, in views, up to a last few events.
func (l *losses) survey(ctx context.Context, s *store.Store) error {
	if len(l.list) == 0 {
		return nil
	}
	err := s.View(ctx, func(t *store.Tx) error {
		last, err := t.LastEvent()
		l.event = last.Seq
		return err
	})
	if err != nil {
		return err
	}
	for next, more := uint64(0), true; more; {
		err := s.View(ctx, func(t *store.Tx) error {
			held, err := l.walk(t, next, lossChunk)
			l.judge(held...)
			if more = len(held) == lossChunk; more {
				next = held[len(held)-1].id + 1
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	for more := true; more && !l.hit(); {
		err := s.View(ctx, func(t *store.Tx) (err error) { more, err = l.catchUp(t); return err })
		if err != nil {
			return err
		}
	}
	return nil
}

// settle judges, inside the write, what came since the survey. It is the check's
// half and may run twice.
func (l *losses) settle(t *store.Tx) error {
	if len(l.list) == 0 || l.hit() {
		return orphans(l.refused())
	}
	late := *l
	late.count = slices.Clone(l.count)
	for more := true; more && !late.hit(); {
		var err error
		if more, err = late.catchUp(t); err != nil {
			return err
		}
	}
	return orphans(late.refused())
}

// catchUp judges the records that the next events name.
func (l *losses) catchUp(t *store.Tx) (more bool, err error) {
	events, err := t.ScanEvents(l.event+1, lossRest)
	if err != nil {
		return false, err
	}
	seen := map[uint64]bool{}
	for _, e := range events {
		l.event = e.Seq
		noun, number, _ := strings.Cut(e.Record, ":")
		id, err := strconv.ParseUint(number, 10, 64)
		if noun != l.noun || err != nil || seen[id] {
			continue
		}
		seen[id] = true
		held, err := l.walk(t, id, 1)
		if err != nil {
			return false, err
		}
		if len(held) > 0 && held[0].id == id { // else it is gone for good
			l.judge(held...)
		}
	}
	return len(events) == lossRest, nil
}

func (l *losses) judge(held ...holding) {
	for _, h := range held {
		for i, loss := range l.list {
			if loss.TemplateID == h.template && loss.Affects(h.custom, h.status) {
				l.count[i]++
			}
		}
	}
}

func (l *losses) hit() bool {
	return slices.ContainsFunc(l.count, func(n uint64) bool { return n > 0 })
}

// refused are the losses that hit records, a sentence each, under the field that goes
// (after templates.NUMBER. where it is a template's).
func (l *losses) refused() errs.Fields {
	var f errs.Fields
	for i, loss := range l.list {
		if l.count[i] > 0 {
			f.Add(loss.Path(), loss.Message(l.count[i], l.noun))
		}
	}
	return f
}

// orphans is Conflict with every refusal, nil when there is none.
func orphans(refused errs.Fields) error {
	if len(refused) == 0 {
		return nil
	}
	return &errs.Error{Kind: errs.Conflict, Message: "Records would lose values.", Fields: refused}
}

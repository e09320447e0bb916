package vault

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"deedkeep/app/audit"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// ListWithoutFiles returns a page of abstracts without reading their documents.
func (a *Abstracts) ListWithoutFiles(ctx context.Context, q Query) (Page[model.Abstract], error) {
	return list(ctx, a.v, q, (*store.Tx).ListAbstracts)
}

// History is a page of the audit entries of an abstract, its documents, and its instruments, newest
// first.
type History struct {
	Events []model.Event
	Before uint64 // before for the next page; 0 on the last page
}

// HistoryQuery selects the audit entries of a page of an abstract's history.
type HistoryQuery struct {
	Before uint64 // only entries with a lower sequence number; 0 starts at the newest entry
	// Documents limits the history to these documents and the most recently removed ones, because
	// the cost grows with the number of documents. nil covers all.
	Documents []uint64
	Views     bool // include views and downloads, which only administrators get
	Limit     int  // max number of entries
}

// maxRemovedFiles is the maximum number of removed documents that History covers if
// Documents is not nil.
const maxRemovedFiles = 50

// maxRecentInstruments and maxHistoryInstruments are the maximum numbers of instruments that History
// covers, the newest ones. The first applies if Documents is not nil.
const (
	maxRecentInstruments  = 50
	maxHistoryInstruments = 2000
)

// History returns the audit entries of an abstract, of its current and removed documents,
// and of its instruments, newest first. It returns NotFound if the abstract does not exist.
// Views are recorded for incident investigations, not so that coworkers can monitor each other.
func (a *Abstracts) History(ctx context.Context, actor model.Actor, id uint64, q HistoryQuery) (h History, err error) {
	if err := a.v.events.FlushViews(ctx); err != nil {
		return h, err
	}
	err = a.v.Store.View(ctx, func(t *store.Tx) error {
		abstract, err := t.Abstract(id)
		if err != nil {
			return err
		}
		documents, removed, instruments, maxInstruments := q.Documents, abstract.RemovedFiles, t.InstrumentIDs(id), maxHistoryInstruments
		if documents == nil {
			documents = abstract.Files
		} else {
			removed, maxInstruments = removed[max(0, len(removed)-maxRemovedFiles):], maxRecentInstruments
		}
		instruments = instruments[max(0, len(instruments)-maxInstruments):]
		q.Views = q.Views && actor.Role.Can(model.PermAdmin)
		g := historyReader{Tx: t, query: q}
		h, err = g.history(ctx, model.RecordRef("abstract", id), slices.Concat(documents, removed), instruments)
		return err
	})
	return h, err
}

// historyReader collects the audit entries of several records.
type historyReader struct {
	*store.Tx
	query  HistoryQuery
	events []model.Event
}

func (hr *historyReader) history(ctx context.Context, abstract string, documents, instruments []uint64) (h History, err error) {
	records := map[string]bool{abstract: true}
	for _, i := range instruments {
		records[model.RecordRef(InstrumentType, i)] = true
	}
	for _, file := range documents {
		records[model.RecordRef("file", file)] = true
	}
	for r := range records {
		if err := ctx.Err(); err != nil {
			return h, err
		}
		if err := hr.collect(r); err != nil {
			return h, err
		}
	}
	slices.SortFunc(hr.events, func(a, b model.Event) int { return cmp.Compare(b.Seq, a.Seq) })
	h.Events = hr.events[:min(len(hr.events), hr.query.Limit)]
	if len(hr.events) > hr.query.Limit {
		h.Before = h.Events[hr.query.Limit-1].Seq
	}
	return h, nil
}

// collect adds the newest matching audit entries of a record to hr.events.
func (hr *historyReader) collect(record string) error {
	q := store.Query{Filters: []store.Filter{{Column: model.ColumnRecord, Value: record}}, Descending: true, Limit: hr.query.Limit + 1}
	for found := 0; found <= hr.query.Limit; {
		page, err := hr.ListEvents(q)
		if err != nil {
			return fmt.Errorf("read events of %s: %w", record, err)
		}
		for _, e := range page.Items {
			if read := e.Kind == audit.Opened || e.Kind == audit.Downloaded; read && !hr.query.Views {
				continue
			}
			if hr.query.Before == 0 || e.Seq < hr.query.Before {
				hr.events = append(hr.events, e)
				found++
			}
		}
		if q.Position = page.Next; q.Position == nil {
			return nil
		}
	}
	return nil
}

// Uploaders returns the uploader of each document. Documents whose upload is not in the
// audit log are omitted.
func (f *Files) Uploaders(ctx context.Context, documents []uint64) (uploaders map[uint64]model.Actor, err error) {
	uploaders = make(map[uint64]model.Actor, len(documents))
	err = f.v.Store.View(ctx, func(t *store.Tx) error {
		for _, id := range documents {
			ofFile := store.Filter{Column: model.ColumnRecord, Value: model.RecordRef("file", id)}
			page, err := t.ListEvents(store.Query{Filters: []store.Filter{ofFile}, Limit: 1})
			if err != nil {
				return err
			}
			for _, e := range page.Items {
				if strings.HasPrefix(e.Kind, "file.filed") {
					uploaders[id] = e.Actor
				}
			}
		}
		return nil
	})
	return uploaders, err
}

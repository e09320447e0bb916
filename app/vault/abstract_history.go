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
	"deedkeep/app/txn"
)

// ListWithoutFiles returns a page of abstracts without reading their documents.
func (a *Abstracts) ListWithoutFiles(ctx context.Context, q Query) (Page[model.Abstract], error) {
	return list(ctx, a.v, q, (*store.Tx).ListAbstracts)
}

// History is a page of the audit entries of an abstract, its documents, and its instruments, newest
// first.
type History struct {
	Events []model.Event
	Names  map[string]string // filenames and headings of instruments by record, for example "file:7"
	Before uint64            // before for the next page; 0 on the last page
}

// maxRemovedFiles is the maximum number of removed documents that History covers if
// documents is not nil.
const maxRemovedFiles = 50

// maxRecentInstruments and maxHistoryInstruments are the maximum numbers of instruments that History
// covers, the newest ones. The first applies if documents is not nil.
const (
	maxRecentInstruments  = 50
	maxHistoryInstruments = 2000
)

// History returns the audit entries of an abstract, of its current and removed documents,
// and of its instruments, newest first. It returns at most limit entries, all with sequence numbers
// below before. If before is 0, it starts at the newest entry. If documents is not nil,
// it covers only those documents and the most recently removed ones, because the cost
// grows with the number of documents. It returns NotFound if the abstract does not exist.
// Only administrators get views and downloads. They are recorded for incident
// investigations, not so that coworkers can monitor each other.
func (a *Abstracts) History(ctx context.Context, actor model.Actor, id, before uint64, documents []uint64, limit int) (h History,
	err error) {
	if err := a.v.events.FlushViews(ctx); err != nil {
		return h, err
	}
	err = a.v.Store.View(ctx, func(t *store.Tx) error {
		abstract, err := t.Abstract(id)
		if err != nil {
			return err
		}
		removed, instruments, maxInstruments := abstract.RemovedFiles, t.InstrumentIDs(id), maxHistoryInstruments
		if documents == nil {
			documents = abstract.Files
		} else {
			removed, maxInstruments = removed[max(0, len(removed)-maxRemovedFiles):], maxRecentInstruments
		}
		instruments = instruments[max(0, len(instruments)-maxInstruments):]
		g := historyReader{Tx: t, before: before, limit: limit, includeViews: actor.Role.Can(model.PermAdmin)}
		h, err = g.history(ctx, txn.RecordRef("abstract", id), slices.Concat(documents, removed), instruments)
		return err
	})
	return h, err
}

// historyReader collects the audit entries of several records.
type historyReader struct {
	*store.Tx
	before       uint64
	limit        int
	includeViews bool // whether to include views and downloads
	events       []model.Event
}

func (g *historyReader) history(ctx context.Context, abstract string, documents, instruments []uint64) (h History, err error) {
	records := map[string]bool{abstract: true}
	for _, i := range instruments {
		records[txn.RecordRef(instrumentType, i)] = true
	}
	for _, file := range documents {
		records[txn.RecordRef("file", file)] = true
	}
	for r := range records {
		if err := ctx.Err(); err != nil {
			return h, err
		}
		if err := g.collect(r); err != nil {
			return h, err
		}
	}
	slices.SortFunc(g.events, func(a, b model.Event) int { return cmp.Compare(b.Seq, a.Seq) })
	h.Events = g.events[:min(len(g.events), g.limit)]
	if len(g.events) > g.limit {
		h.Before = h.Events[g.limit-1].Seq
	}
	h.Names = g.names(h.Events)
	return h, nil
}

// collect adds the newest matching audit entries of a record to g.events.
func (g *historyReader) collect(record string) error {
	q := store.Query{Filters: []store.Filter{{Column: store.ColumnRecord, Value: record}}, Descending: true, Limit: g.limit + 1}
	for found := 0; found <= g.limit; {
		page, err := g.ListEvents(q)
		if err != nil {
			return fmt.Errorf("read events of %s: %w", record, err)
		}
		for _, e := range page.Items {
			if read := e.Kind == audit.Opened || e.Kind == audit.Downloaded; read && !g.includeViews {
				continue
			}
			if g.before == 0 || e.Seq < g.before {
				g.events = append(g.events, e)
				found++
			}
		}
		if q.Position = page.Next; q.Position == nil {
			return nil
		}
	}
	return nil
}

// names returns the filenames of the documents and the headings of the instruments in events,
// including those in the trash.
func (g *historyReader) names(events []model.Event) map[string]string {
	names := map[string]string{}
	for _, e := range events {
		var id uint64
		if _, err := fmt.Sscanf(e.Record, "file:%d", &id); err == nil {
			if file, err := g.FileIncludingTrash(id); err == nil { // a purged document has no name
				names[e.Record] = file.Filename
			}
		} else if _, err := fmt.Sscanf(e.Record, "instrument:%d", &id); err == nil {
			if name, _, err := instrumentName(g.Tx, id); err == nil {
				names[e.Record] = name
			}
		}
	}
	return names
}

// Uploaders returns the uploader of each document. Documents whose upload is not in the
// audit log are omitted.
func (f *Files) Uploaders(ctx context.Context, documents []uint64) (uploaders map[uint64]model.Actor, err error) {
	uploaders = make(map[uint64]model.Actor, len(documents))
	err = f.v.Store.View(ctx, func(t *store.Tx) error {
		for _, id := range documents {
			page, err := t.ListEvents(store.Query{Filters: []store.Filter{{Column: store.ColumnRecord, Value: txn.RecordRef("file", id)}}, Limit: 1})
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

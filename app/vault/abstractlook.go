package vault

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"deedkeep/app/store"
	"deedkeep/app/title"
)

// Rows reads a page of abstracts without their documents, of which only the numbers
// are told.
func (a *Abstracts) Rows(ctx context.Context, q Query) (Page[title.Abstract], error) {
	return list(ctx, a.v, q, (*store.Tx).ListAbstracts)
}

// Alike gives at most limit other abstracts of the same parcel or the same address,
// the newest first: a prior search of a parcel saves days.
func (a *Abstracts) Alike(ctx context.Context, of title.Abstract, limit int) (list []title.Abstract, err error) {
	seen := map[uint64]bool{of.ID: true}
	err = a.v.store.View(ctx, func(t *store.Tx) error {
		list = nil
		for _, called := range []struct {
			by   store.Sort
			text string
		}{{store.SortParcel, of.Parcel()}, {store.SortAddress, of.Street()}} {
			if called.text == "" {
				continue
			}
			found, _, err := t.FindAbstracts(called.text, limit+1)
			if err != nil {
				return err
			}
			for _, f := range found {
				if f.Exact && f.By == called.by && !seen[f.Record.ID] {
					seen[f.Record.ID] = true
					list = append(list, f.Record)
				}
			}
		}
		return nil
	})
	slices.SortFunc(list, func(a, b title.Abstract) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	return list[:min(len(list), limit)], err
}

// History is what was done to an abstract and its documents, newest first.
type History struct {
	Events []title.Event
	Names  map[string]string // of the documents in it, by their record: "file:7"
	Before uint64            // the History.Before that goes on; 0: there is no more
}

// leftSteps is how many of the newest removals of documents, of all abstracts, are
// looked through for those of one.
const leftSteps = 500

// History reads what was done to an abstract, and to the documents that are among its
// own or left it lately: at most limit events before number before (0: the newest).
// Its cost grows with the number of documents given, of which nil is all. NotFound when
// there is no such abstract. Who read and downloaded what is for administrators alone: it
// is there to find out what happened, and not for colleagues to watch each other.
func (a *Abstracts) History(ctx context.Context, actor title.Actor, id, before uint64, documents []uint64, limit int) (h History, err error) {
	if err := a.v.Events.flush(ctx); err != nil {
		return h, err
	}
	err = a.v.store.View(ctx, func(t *store.Tx) error {
		abstract, err := t.Abstract(id)
		if err != nil {
			return err
		}
		if documents == nil {
			documents = abstract.Files
		}
		g := remembering{Tx: t, before: before, limit: limit, reads: actor.Role.May(title.MayAdminister)}
		if h, err = g.history(ctx, abstract, documents); err != nil {
			return err
		}
		return nil
	})
	return h, err
}

// remembering gathers events of several records.
type remembering struct {
	*store.Tx
	before uint64
	limit  int
	reads  bool // views and downloads are told of
	events []title.Event
}

func (g *remembering) history(ctx context.Context, abstract title.Abstract, documents []uint64) (h History, err error) {
	own := record("abstract", abstract.ID)
	records, err := g.left(own)
	if err != nil {
		return h, err
	}
	records[own] = true
	for _, file := range documents {
		records[record("file", file)] = true
	}
	for r := range records {
		if err := ctx.Err(); err != nil {
			return h, err
		}
		if err := g.gather(r); err != nil {
			return h, err
		}
	}
	slices.SortFunc(g.events, func(a, b title.Event) int { return cmp.Compare(b.Seq, a.Seq) })
	h.Events = g.events[:min(len(g.events), g.limit)]
	if len(g.events) > g.limit {
		h.Before = h.Events[g.limit-1].Seq
	}
	h.Names = g.names(h.Events)
	return h, nil
}

// left are the documents that were taken off an abstract lately.
func (g *remembering) left(own string) (map[string]bool, error) {
	records := map[string]bool{}
	for _, kind := range []string{"file.detached", "file.trashed"} {
		page, err := g.ListEvents(store.Query{Where: []store.Where{{Column: store.ColumnKind, Value: kind}}, Down: true, Limit: leftSteps})
		if err != nil {
			return nil, fmt.Errorf("events %s: %w", kind, err)
		}
		for _, e := range page.Items {
			if e.Detail["abstract"] == own {
				records[e.Record] = true
			}
		}
	}
	return records, nil
}

// gather takes the newest events of a record that are older than what was asked for.
func (g *remembering) gather(of string) error {
	q := store.Query{Where: []store.Where{{Column: store.ColumnRecord, Value: of}}, Down: true, Limit: g.limit + 1}
	for found := 0; found <= g.limit; {
		page, err := g.ListEvents(q)
		if err != nil {
			return fmt.Errorf("events of %s: %w", of, err)
		}
		for _, e := range page.Items {
			if read := e.Kind == opened || e.Kind == downloaded; read && !g.reads {
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

// names are what the documents of events are called, in the trash too.
func (g *remembering) names(events []title.Event) map[string]string {
	names := map[string]string{}
	for _, e := range events {
		var id uint64
		if _, err := fmt.Sscanf(e.Record, "file:%d", &id); err != nil {
			continue
		}
		if file, err := g.AnyFile(id); err == nil { // one that is gone has no name any more
			names[e.Record] = file.Filename
		}
	}
	return names
}

// Filers says who filed each of the documents; one that the log does not tell of is
// left out.
func (f *Files) Filers(ctx context.Context, documents []uint64) (who map[uint64]title.Actor, err error) {
	who = make(map[uint64]title.Actor, len(documents))
	err = f.v.store.View(ctx, func(t *store.Tx) error {
		for _, id := range documents {
			page, err := t.ListEvents(store.Query{Where: []store.Where{{Column: store.ColumnRecord, Value: record("file", id)}}, Limit: 1})
			if err != nil {
				return err
			}
			for _, e := range page.Items {
				if strings.HasPrefix(e.Kind, "file.filed") {
					who[id] = e.Actor
				}
			}
		}
		return nil
	})
	return who, err
}

// Called gives at most limit abstracts whose file number, parcel or address is a text
// or begins with it, those that are it first, and whether there may be more.
func (a *Abstracts) Called(ctx context.Context, text string, limit int) (list []title.Abstract, more bool, err error) {
	err = a.v.store.View(ctx, func(t *store.Tx) error {
		found, beyond, err := t.FindAbstracts(text, limit)
		list, more = make([]title.Abstract, 0, len(found)), beyond
		for _, f := range found {
			list = append(list, f.Record)
		}
		return err
	})
	return list, more, err
}

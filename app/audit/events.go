package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// Events are the verbs on the log of who did what.
type Events struct {
	db           *txn.DB
	buffer       *auditBuffer
	writer       *auditWriter
	verification txn.Task[LogReport]
}

// NewEvents returns the audit log of a database.
func NewEvents(db *txn.DB) *Events {
	n := newAuditBuffer(db)
	return &Events{db: db, buffer: n, writer: &auditWriter{db: db, buffer: n}, verification: txn.Task[LogReport]{DB: db}}
}

// A Pending is written in the same commits as the buffered audit entries.
type Pending interface {
	// Drain returns the function that writes what is pending now, nil for nothing, and
	// the function that puts it back after an error.
	Drain() (write func(*store.Tx) error, undo func())
}

// WriteWith has pending entries of another kind written with those of the audit log.
// It is called before Run.
func (e *Events) WriteWith(p Pending) { e.writer.pending = p }

// RecordSearch records that someone searched, without the text: it would name people.
func (e *Events) RecordSearch(actor model.Actor) {
	e.buffer.record(model.Event{Actor: actor, Kind: searched}, false)
}

// Flush writes the buffered entries; an error that means the vault accepts no writes is
// returned as well.
func (e *Events) Flush(ctx context.Context) error { return e.writer.flush(ctx, false) }

// FlushViews is Flush if views are waiting; a vault that accepts no writes still shows
// its audit log.
func (e *Events) FlushViews(ctx context.Context) error {
	if err := e.writer.flushViews(ctx); err != nil && !txn.NotWritable(err) {
		return err
	}
	return nil
}

func (e *Events) Run(ctx context.Context) { e.writer.run(ctx) }

func (e *Events) End() error { return e.writer.end() }

// scanPageSize is how many entries are read in one View, which others wait behind
// when the file must grow.
const scanPageSize = 500

// RecordAccess takes down what changes nothing: a view or a download. It never waits and
// never fails: the event is written at most a second later, together with others,
// and a crash may lose it. One that looks at the same document again within a minute
// is counted, and the count written when the minute is over; so is a download by a user.
// Reading goes on where the log cannot be written, as on a full disk: an office must get
// at its documents. What was lost so is counted, and told in the log of the program.
func (e *Events) RecordAccess(actor model.Actor, kind, record string, detail map[string]string) {
	e.buffer.record(model.Event{Actor: actor, Kind: kind, Record: record, Detail: detail}, false)
}

// ContinueView takes down the later part of a view, such as another range of a document.
// It counts only where no view of the same began within ten minutes.
func (e *Events) ContinueView(actor model.Actor, kind, record string) {
	e.buffer.record(model.Event{Actor: actor, Kind: kind, Record: record}, true)
}

// RateLimited reports whether a user has written so much to the log by reading in the last
// minute that whoever asks should wait for the next. Zips do not count.
func (e *Events) RateLimited(actor model.Actor) bool {
	return actor.Kind == model.ActorUser && e.buffer.rateLimited(actor.Record())
}

// List gives a page of the log (Query: sorted by creation or in sequence; by actor, kind and record).
func (e *Events) List(ctx context.Context, q store.Query) (page store.Page[model.Event], err error) {
	if err := e.FlushViews(ctx); err != nil {
		return page, err
	}
	err = e.db.Store.View(ctx, func(t *store.Tx) (err error) {
		page, err = t.ListEvents(q)
		return err
	})
	return page, err
}

// Each calls fn for every entry from number from on that is there when it is called,
// in order, until fn returns an error. A damaged entry is handed over with its number
// and the error of reading it. Nobody waits for fn.
func (e *Events) Each(ctx context.Context, from uint64, fn func(model.Event, error) error) error {
	if err := e.FlushViews(ctx); err != nil {
		return err
	}
	var until uint64
	return e.scan(ctx, store.LogPosition(from), func(log store.LogPage) error {
		if until == 0 {
			until = log.Total
		}
		for _, entry := range log.Entries {
			if entry.Seq > until {
				return txn.ErrStop
			}
			if entry.Err != nil {
				entry.Event = model.Event{Seq: entry.Seq}
			}
			if err := fn(entry.Event, entry.Err); err != nil {
				return err
			}
		}
		return nil
	})
}

// scan reads the log in short Views and hands each to fn outside of them.
func (e *Events) scan(ctx context.Context, place []byte, fn func(store.LogPage) error) error {
	for {
		var log store.LogPage
		err := e.db.Store.View(ctx, func(t *store.Tx) error {
			log = t.ScanLog(place, scanPageSize)
			return nil
		})
		if err != nil {
			return err
		}
		if err := fn(log); err != nil || log.Next == nil {
			return txn.IgnoreStop(err)
		}
		if bytes.Compare(log.Next, place) <= 0 {
			return errPageCycle // a damaged page leads back
		}
		place = log.Next
	}
}

// LogReport is what a verification of the log found. Head is the hash of its last
// entry: who keeps it elsewhere can tell a log that was written anew.
type LogReport struct {
	Entries, Last uint64 // how many there are; the number of the last
	Head          string
	Findings      []store.Finding // their kinds are those of title.Flaw, or "database"
	More          int             // findings that are not listed
}

// OK reports whether nothing was changed, is missing or was added.
func (r LogReport) OK() bool { return len(r.Findings) == 0 }

const maxFindings = 1000

// Verify walks the log and holds every entry against its hash and the one before it.
// The error is about the verification, never about what it found.
func (e *Events) Verify(ctx context.Context, progress func(done, total uint64)) (LogReport, error) {
	var r LogReport
	find := func(f store.Finding) {
		if len(r.Findings) >= maxFindings {
			r.More++
			return
		}
		r.Findings = append(r.Findings, f)
	}
	chain := model.ChainVerifier{Report: func(f model.ChainDefect) { find(store.Finding{Kind: f.Kind, Subject: f.Subject(), Problem: f.Problem}) }}
	var written uint64
	err := e.scan(ctx, nil, func(log store.LogPage) error {
		for _, entry := range log.Entries {
			chain.Add(entry.Seq, entry.Event, entry.Err)
		}
		written = log.Total
		progress(chain.Entries, written)
		return ctx.Err()
	})
	if _, damaged := store.DescribeDamage(err); damaged || errors.Is(err, store.ErrDamaged) {
		find(store.Finding{Kind: "database", Subject: "events", Problem: txn.ProblemText(err)})
		err = nil
	} else if err == nil {
		chain.Finish(written)
	}
	r.Entries, r.Last, r.Head = chain.Entries, chain.LastSeq, chain.LastHash
	return r, err
}

// StartVerify is Verify behind whoever asks for it; Locked while one goes on.
func (e *Events) StartVerify(ctx context.Context, actor model.Actor) error {
	if err := e.db.ViewAsAdmin(ctx, actor, nil); err != nil {
		return err
	}
	return e.verification.Start(actor, func(ctx context.Context, report func(done, total int64)) (LogReport, error) {
		return e.Verify(ctx, func(done, total uint64) { report(int64(done), int64(total)) })
	})
}

// VerifyProgress is how far a verification that StartVerify started has come, in entries,
// and what the last one found since the vault was opened.
func (e *Events) VerifyProgress() txn.Progress[LogReport] { return e.verification.Progress() }

var (
	errPageCycle = fmt.Errorf("the pages of the log lead in a circle: %w", store.ErrDamaged)
)

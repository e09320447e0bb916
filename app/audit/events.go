// Package audit writes and verifies the audit log, which says who changed, viewed, or
// downloaded a record. Changes are logged in the same transaction. Views and downloads are
// buffered and written together.
package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// Events is the audit log of a vault.
type Events struct {
	db           *txn.DB
	buffer       *auditBuffer
	writer       *auditWriter
	verification txn.Task[LogReport]
	followers    followers
}

// NewEvents returns the audit log in a database.
func NewEvents(db *txn.DB) *Events {
	buffer := newAuditBuffer(db)
	return &Events{db: db, buffer: buffer, writer: &auditWriter{db: db, buffer: buffer}, verification: txn.Task[LogReport]{DB: db}}
}

// Pending is data that is written in the same commits as the buffered audit entries.
type Pending interface {
	// Drain removes the pending data. It returns write, which writes this data and is nil
	// if there is none, and undo, which makes the data pending again after an error.
	Drain() (write func(*store.Tx) error, undo func())
}

// WriteWith makes Flush also write p, in the same commit as the buffered entries. It must
// be called before Run.
func (e *Events) WriteWith(p Pending) { e.writer.pending = p }

// RecordSearch records that a user searched. It omits the search text because it may
// contain names of people.
func (e *Events) RecordSearch(actor model.Actor) {
	e.buffer.record(model.Event{Actor: actor, Kind: searched}, false)
}

// Flush writes the buffered entries. It returns an error if the database is not writable.
func (e *Events) Flush(ctx context.Context) error { return e.writer.flush(ctx, false) }

// FlushViews writes the buffered entries if any are due. If the database is not writable,
// it returns nil, so that the audit log can still be read.
func (e *Events) FlushViews(ctx context.Context) error {
	if err := e.writer.flushViews(ctx); err != nil && !errs.NotWritable(err) {
		return err
	}
	return nil
}

// Run writes the buffered entries every second until ctx ends.
func (e *Events) Run(ctx context.Context) { e.writer.run(ctx) }

// End writes the remaining entries. Call it once, after Run has returned.
func (e *Events) End() error { return e.writer.end() }

// scanPageSize is the number of entries read per read transaction. A long read transaction
// delays writers if the database file has to grow.
const scanPageSize = 500

// RecordAccess records a view or a download. It never blocks or fails. The entry is
// buffered, is written with others within a second, and may be lost in a crash. Repeated
// views of a document within a minute are combined into one entry with a count. The same
// applies to repeated downloads by a user.
//
// If the disk is full, documents can be read even though the audit log can't be written.
// The server log reports the number of lost entries.
func (e *Events) RecordAccess(actor model.Actor, kind, record string, detail map[string]string) {
	e.buffer.record(model.Event{Actor: actor, Kind: kind, Record: record, Detail: detail}, false)
}

// ListDownloaded is the same as RecordAccess for a list that is sent as a file with an extension such as .csv.
func (e *Events) ListDownloaded(actor model.Actor, list, extension string) {
	e.RecordAccess(actor, "list.downloaded", "", map[string]string{"list": list, "format": strings.TrimPrefix(extension, ".")})
}

// RunsheetDownloaded is the same as ListDownloaded for the runsheet of an abstract.
func (e *Events) RunsheetDownloaded(actor model.Actor, abstract, extension string) {
	e.RecordAccess(actor, "runsheet.downloaded", abstract, map[string]string{"format": strings.TrimPrefix(extension, ".")})
}

// ContinueView records a later part of a view, such as another range of a document. It adds
// an entry only if no view of the document was recorded in the last ten minutes.
func (e *Events) ContinueView(actor model.Actor, kind, record string) {
	e.buffer.record(model.Event{Actor: actor, Kind: kind, Record: record}, true)
}

// RateLimited reports whether a user reached the limit of audit entries for reading
// documents in the last minute. If so, the request should be delayed. Zip downloads don't
// count toward the limit.
func (e *Events) RateLimited(actor model.Actor) bool {
	return actor.Kind == model.ActorUser && e.buffer.reads.Reached(actor.Record())
}

// List returns a page of the audit log, sorted by creation time or sequence number and
// filtered by actor, kind, and record.
func (e *Events) List(ctx context.Context, q store.Query) (page store.Page[model.Event], err error) {
	if err := e.FlushViews(ctx); err != nil {
		return page, err
	}
	return store.Read(ctx, e.db.Store, func(t *store.Tx) (store.Page[model.Event], error) { return t.ListEvents(q) })
}

// Each calls fn for each entry that exists when Each is called, in order, starting with
// sequence number from, until fn returns an error. If an entry is damaged, fn gets its
// sequence number and the read error. No transaction is open while fn runs.
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
				return fs.SkipAll
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

// scan reads the audit log in short read transactions. It passes each page to fn outside of
// the transaction.
func (e *Events) scan(ctx context.Context, position []byte, fn func(store.LogPage) error) error {
	for {
		var log store.LogPage
		err := e.db.Store.View(ctx, func(t *store.Tx) error {
			log = t.ScanLog(position, scanPageSize)
			return nil
		})
		if err != nil {
			return err
		}
		switch err := fn(log); {
		case errors.Is(err, fs.SkipAll):
			return nil
		case err != nil || log.Next == nil:
			return err
		}
		if bytes.Compare(log.Next, position) <= 0 {
			return errPageCycle // a damaged database page points backward
		}
		position = log.Next
	}
}

// LogReport is the result of a verification. Head is the hash of the last entry.
// Administrators who keep a copy of it can tell if the audit log is rewritten.
type LogReport struct {
	Entries, Last uint64 // number of entries; sequence number of the last one
	Head          string
	Findings      []store.Finding // Kind is a kind of model.ChainDefect or "database"
	More          int             // number of findings beyond maxFindings
}

// OK reports whether the verification found no changed, removed, or inserted entries.
func (r LogReport) OK() bool { return len(r.Findings) == 0 }

// maxFindings is the maximum number of findings listed in a LogReport.
const maxFindings = 1000

// Verify checks the hash of each entry and its link to the previous entry. It reports
// damage as findings. It returns an error only if it could not finish.
func (e *Events) Verify(ctx context.Context, progress func(done, total uint64)) (LogReport, error) {
	var r LogReport
	find := func(f store.Finding) {
		if len(r.Findings) >= maxFindings {
			r.More++
			return
		}
		r.Findings = append(r.Findings, f)
	}
	chain := model.ChainVerifier{Report: func(f model.ChainDefect) {
		find(store.Finding{Kind: f.Kind, Subject: f.Subject(),
			Problem: f.Problem})
	}}
	var total uint64
	err := e.scan(ctx, nil, func(log store.LogPage) error {
		for _, entry := range log.Entries {
			chain.Add(entry.Seq, entry.Event, entry.Err)
		}
		total = log.Total
		progress(chain.Entries, total)
		return ctx.Err()
	})
	if _, damaged := store.DescribeDamage(err); damaged || errors.Is(err, store.ErrDamaged) {
		find(store.Finding{Kind: "database", Subject: "events", Problem: store.ProblemText(err)})
		err = nil
	} else if err == nil {
		chain.Finish(total)
	}
	r.Entries, r.Last, r.Head = chain.Entries, chain.LastSeq, chain.LastHash
	return r, err
}

// StartVerify starts Verify in the background. It returns a Locked error if a verification
// is already running.
func (e *Events) StartVerify(ctx context.Context, actor model.Actor) error {
	if err := e.db.ViewAsAdmin(ctx, actor, nil); err != nil {
		return err
	}
	return e.verification.Start(actor, func(ctx context.Context, report func(done, total int64)) (LogReport, error) {
		return e.Verify(ctx, func(done, total uint64) { report(int64(done), int64(total)) })
	})
}

// VerifyProgress returns the progress of the verification, in entries, and the result of
// the last one since the vault was opened.
func (e *Events) VerifyProgress() txn.Progress[LogReport] { return e.verification.Progress() }

var (
	errPageCycle = fmt.Errorf("audit log page refers to an earlier page: %w", store.ErrDamaged)
)

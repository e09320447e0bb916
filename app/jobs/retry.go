package jobs

import (
	"context"
	"errors"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

const retryBatchSize = 256 // files per transaction

// Failed returns up to limit files whose processing failed, starting with ID from.
func (p *Processor) Failed(ctx context.Context, from uint64, limit int) ([]model.File, error) {
	return store.Read(ctx, p.Store, func(t *store.Tx) ([]model.File, error) { return t.FailedFiles(from, limit) })
}

// Retry queues files again whose processing failed. It queues the file with the given ID,
// or all of them if id is 0, and returns how many. It returns NotFound if the file doesn't
// exist, and Conflict if its processing didn't fail.
func (p *Processor) Retry(ctx context.Context, actor model.Actor, id uint64) (count int, err error) {
	defer p.Queued.Notify()
	for from := max(id, 1); ; {
		var done int
		var next uint64
		err := p.Update(ctx, actor, func(t *store.Tx) error { return checkRetryable(t, id) }, func(t *store.Tx) (err error) {
			done, next, err = p.retry(t, actor, id, from) // a transaction may run twice, so it must not change from
			return err
		})
		if err != nil {
			return count, err
		}
		if count += done; id != 0 || done == 0 {
			return count, nil
		}
		from = next
	}
}

func checkRetryable(t *store.Tx, id uint64) error {
	if id == 0 {
		return nil
	}
	file, err := t.File(id)
	if err == nil && file.Failure == "" {
		return &errs.Error{Kind: errs.Conflict, Message: "This document has no failed processing."}
	}
	return err
}

func (p *Processor) retry(t *store.Tx, actor model.Actor, id, from uint64) (done int, next uint64, err error) {
	limit := retryBatchSize
	if id != 0 {
		limit = 1
	}
	list, err := t.FailedFiles(from, limit)
	if err != nil {
		return 0, from, err
	}
	now := p.Now()
	for _, file := range list {
		file.Processing, file.Failure = true, ""
		err := errors.Join(t.PutFile(file), t.AddTask(model.ProcessingTask{FileID: file.ID, Owner: actor.Record(), DueAt: now}),
			p.AddEvent(t, now, actor, "file.retried", model.RecordRef("file", file.ID), nil))
		if err != nil {
			return 0, from, err
		}
		from = file.ID + 1
	}
	return len(list), from, nil
}

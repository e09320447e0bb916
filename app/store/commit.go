package store

import (
	"context"
	"errors"
	"time"

	"deedkeep/app/durable"
	"deedkeep/app/errs"
	"deedkeep/app/kv"
	"deedkeep/app/stats"
)

// maxBatch is the maximum number of updates in one commit. It limits how long each update
// waits.
const maxBatch = 256

var (
	errClosing     = errs.ServerStopping()
	errReadOnly    = errs.DiskFailed(nil)
	errFull        = errs.DiskFull(nil)
	errWriteFailed = errors.New("a write in the same commit failed")
)

// batchMember is a call of Update that is waiting for its commit.
type batchMember struct {
	ctx            context.Context
	check, write   func(*Tx) error
	checkErr       error // error of check; final unless sawUncommitted is set and the commit fails
	writeErr       error // error of write, which aborted the batch
	sawUncommitted bool  // another member of this batch had already written when check ran
	done           chan error
}

// Update commits one change durably. It has two phases, because a database of app/kv has no savepoints.
// check reads and may reject the change. write may fail only if something is broken. Either
// function may be nil. Concurrent calls share a commit and its fsync, but no call waits for
// others to arrive.
//
// A failed check doesn't affect the other members of the batch. A failed write aborts the
// batch, and then its members run again one at a time. So both phases may run more than
// once, and any effects outside the transaction must be safe to repeat.
//
// If Update returns nil, the change survives a power failure. Canceling ctx has no effect
// after the batch starts.
func (s *Store) Update(ctx context.Context, check, write func(*Tx) error) error {
	m := &batchMember{ctx: ctx, check: check, write: write, done: make(chan error, 1)}
	s.mu.Lock()
	if err := s.checkWritable(); err != nil {
		s.mu.Unlock()
		return err
	}
	s.queue = append(s.queue, m)
	s.mu.Unlock()
	s.wakeWriter()
	return <-m.done
}

// checkWritable returns the reason why the store rejects updates, or nil if it accepts
// them. The caller must hold s.mu.
func (s *Store) checkWritable() error {
	if errors.Is(s.failure, errReadOnlyDisk) {
		return errReadOnlyDisk
	}
	if s.failure != nil {
		return errReadOnly
	}
	if s.closing {
		return errClosing
	}
	return nil
}

// wakeWriter wakes runWriter if it is waiting.
func (s *Store) wakeWriter() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// runWriter commits batches until Close is called. It is the only goroutine that runs
// updates.
func (s *Store) runWriter() {
	defer close(s.writerDone)
	for {
		batch, closing := s.nextBatch()
		switch {
		case len(batch) > 0:
			s.commitBatch(batch)
		case closing:
			return
		default:
			<-s.wake
		}
	}
}

// nextBatch removes up to maxBatch members from the queue and reports whether Close was
// called.
func (s *Store) nextBatch() (batch []*batchMember, closing bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(len(s.queue), maxBatch)
	batch = s.queue[:n:n]
	s.queue = s.queue[n:]
	if len(s.queue) == 0 {
		s.queue = nil
	}
	return batch, s.closing
}

// commitBatch runs a batch and sends each member its result. Each member gets exactly one
// result.
func (s *Store) commitBatch(batch []*batchMember) {
	err := s.runBatch(batch)
	if errors.Is(err, errWriteFailed) && len(batch) > 1 {
		for _, m := range batch {
			s.commitBatch([]*batchMember{m})
		}
		return
	}
	for _, m := range batch {
		switch {
		case m.checkErr != nil && (err == nil || !m.sawUncommitted):
			m.done <- m.checkErr
		case m.writeErr != nil:
			m.done <- m.writeErr
		default:
			m.done <- err
		}
	}
}

// runBatch runs all members in one transaction and commits it. If a write fails, it commits
// nothing and returns errWriteFailed.
func (s *Store) runBatch(batch []*batchMember) error {
	for _, m := range batch {
		m.checkErr, m.writeErr, m.sawUncommitted = nil, nil, false
	}
	if s.Failure() != nil {
		return errReadOnly
	}
	if err := s.CheckFile(); err != nil {
		return err
	}
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	t, err := s.beginWrite()
	if err != nil {
		return err
	}
	// The members share one Tx so that the newest audit entry is read once per batch.
	wrote := 0
	for _, m := range batch {
		m.sawUncommitted = wrote > 0
		if m.checkErr = runPhase(m.ctx, m.check, t); m.checkErr != nil || m.write == nil {
			continue
		}
		wrote++
		if m.writeErr = runPhase(context.Background(), m.write, t); m.writeErr != nil {
			return errors.Join(errWriteFailed, t.tx.Rollback())
		}
	}
	if wrote == 0 {
		return t.tx.Rollback()
	}
	if err := RecoverPanic(t.flush); err != nil {
		return errors.Join(err, t.tx.Rollback())
	}
	start := time.Now()
	if err := s.commit(t); err != nil {
		return err
	}
	s.commitSeconds.Note(time.Since(start).Seconds())
	s.batchSizes.Note(float64(wrote))
	return nil
}

// beginWrite starts a write transaction. The caller must hold s.writeMu.
func (s *Store) beginWrite() (*Tx, error) {
	ctx := context.Background()
	tx, err := s.db.Begin(ctx, true)
	if err != nil {
		return nil, beginError(err)
	}
	t := s.newTx(ctx, tx)
	t.writable = true
	return t, nil
}

// commit commits t and handles errors. Unless the previous state is known to be intact, it is
// unknown which data reached the disk, and a later successful fsync doesn't prove that it did. So
// the store becomes read-only.
func (s *Store) commit(t *Tx) error {
	err := RecoverPanic(func() error { return s.commitTx(t.tx) })
	if err == nil {
		for _, call := range t.committed {
			call()
		}
		return nil
	}
	err = errors.Join(err, t.tx.Rollback())
	switch {
	case errors.Is(err, kv.ErrNotCommitted):
		return err
	case durable.IsFullWrite(err):
		return errs.DiskFull(err)
	}
	s.Fail(err)
	return errs.DiskFailed(err)
}

// runPhase runs the check or write phase of a member, unless ctx was canceled.
func runPhase(ctx context.Context, fn func(*Tx) error, t *Tx) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if fn == nil {
		return nil
	}
	return RecoverPanic(func() error { return fn(t) })
}

// The bucket bounds of the histograms in CommitStats.
var (
	batchSizeBounds     = []float64{1, 2, 4, 8, 16, 32, 64, 128, maxBatch}
	commitSecondsBounds = []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10}
)

// CommitStats describes the transactions since the store was opened. Only successful commits count.
type CommitStats struct {
	Views   uint64         // read transactions
	Changes stats.Snapshot // updates per commit
	Seconds stats.Snapshot // duration of each commit, from the first write to the end of the fsync
}

// CommitStats returns the current statistics. It doesn't wait for a transaction.
func (s *Store) CommitStats() CommitStats {
	return CommitStats{Views: s.views.Load(), Changes: s.batchSizes.Read(), Seconds: s.commitSeconds.Read()}
}

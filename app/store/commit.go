package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"

	"deedkeep/app/durable"
	"deedkeep/app/errs"
	"deedkeep/app/stats"
)

// maxBatch bounds one commit, and with it how long its members wait.
const maxBatch = 256

var (
	errClosing     = &errs.Error{Kind: errs.Unavailable, Message: "The vault is stopping."}
	errReadOnly    = &errs.Error{Kind: errs.Unavailable, Message: "The vault is read-only after a failure of its disk; it must be restarted."}
	errFull        = &errs.Error{Kind: errs.InsufficientStorage, Message: "The disk is full."}
	errWriteFailed = errors.New("a write failed inside a shared commit")
	errSyncFailed  = errors.New("a sync failed")
)

// batchMember is one Update that waits for its commit.
type batchMember struct {
	ctx            context.Context
	check, write   func(*Tx) error
	checkErr       error // what check said; final
	writeErr       error // what write said; the batch was aborted for it
	sawUncommitted bool  // check saw what neighbors of the same commit had written
	done           chan error
}

// Update commits one change durably. It has two halves, because bbolt has no
// savepoint: check reads and may refuse, write may only fail when something is
// broken. Waiting callers share a commit, and so a sync; nobody waits for company.
//
// A refused check leaves its neighbors untouched. An error of write aborts the
// batch, whose members then run again one by one: both halves may run more than
// once and must touch nothing outside the transaction that a second run would not
// make right. Either may be nil.
//
// When Update returns nil the change survives a power cut. A canceled ctx counts
// only until the change is taken up.
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

func (s *Store) wakeWriter() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// runWriter is the one goroutine that commits, until Close.
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

// commitBatch answers every member of the batch, once.
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

// runBatch runs the batch in one transaction. It returns errWriteFailed when a
// write failed (nothing is committed), and what the disk said otherwise.
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
	tx, err := s.db.Begin(true)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	// One Tx for all: the head of the event log is read once a batch.
	t, wrote := s.newTx(tx), 0
	for _, m := range batch {
		m.sawUncommitted = wrote > 0
		if m.checkErr = runPhase(m.ctx, m.check, t); m.checkErr != nil || m.write == nil {
			continue
		}
		wrote++
		if m.writeErr = runPhase(context.Background(), m.write, t); m.writeErr != nil {
			return errors.Join(errWriteFailed, rollback(tx))
		}
	}
	if wrote == 0 {
		return rollback(tx)
	}
	if err := recoverPanic(t.flush); err != nil {
		return errors.Join(err, rollback(tx))
	}
	begun := time.Now()
	if err := s.commit(tx); err != nil {
		return err
	}
	s.commitSeconds.Note(time.Since(begun).Seconds())
	s.batchSizes.Note(float64(wrote))
	return nil
}

// commit commits and judges the disk's answer. bbolt writes its data pages before
// the page that makes them current, into room that was free: a full disk leaves
// the old state whole. Of any other error nobody knows what reached the disk, and
// a later sync that succeeds proves nothing (PROMISES.md, row 7).
func (s *Store) commit(tx *bolt.Tx) error {
	if err := s.removeCleanMark(); err != nil {
		return errors.Join(fmt.Errorf("start of the session's writes: %w", err), rollback(tx))
	}
	err := recoverPanic(func() error { return s.commitTx(tx) })
	if err == nil {
		return nil
	}
	if isDiskFull(err) {
		return &errs.Error{Kind: errs.InsufficientStorage, Message: errFull.Message, Err: err}
	}
	s.Fail(err)
	// A commit that fell over a damaged page holds bbolt's locks still, and Close
	// would wait for ever. One that ended says ErrTxClosed, which is no news.
	_ = recoverPanic(tx.Rollback)
	return &errs.Error{Kind: errs.Unavailable, Message: errReadOnly.Message, Err: err}
}

// isDiskFull reports a write that found the disk full. A sync that says so is another
// thing: what it was to make durable may be lost, the current page included.
func isDiskFull(err error) bool {
	var at *fs.PathError
	return errors.As(err, &at) && at.Op == "write" && durable.IsDiskFull(err)
}

func rollback(tx *bolt.Tx) error {
	if err := tx.Rollback(); err != nil {
		return fmt.Errorf("roll back: %w", err)
	}
	return nil
}

// runPhase runs one of a member's functions.
func runPhase(ctx context.Context, fn func(*Tx) error, t *Tx) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if fn == nil {
		return nil
	}
	return recoverPanic(func() error { return fn(t) })
}

// recoverPanic turns a panic into an error, and with it the fault of a damaged page
// that points outside the file: neither may take the process down.
func recoverPanic(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{p, debug.Stack()}
		}
	}()
	return fn()
}

// panicError is a panic that was caught, with the way to it for the log.
type panicError struct {
	reason any
	stack  []byte
}

func (p *panicError) Error() string {
	return fmt.Sprintf("panic in a transaction: %v\n%s", p.reason, p.stack)
}

var (
	batchSizeBounds     = []float64{1, 2, 4, 8, 16, 32, 64, 128, maxBatch}
	commitSecondsBounds = []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10}
)

// CommitStats are the commits that succeeded since the store was opened.
type CommitStats struct {
	Changes stats.Read // how many changes shared each
	Seconds stats.Read // how long each took to be written and synced
}

// CommitStats gives the counts of the moment; it waits for no transaction.
func (s *Store) CommitStats() CommitStats {
	return CommitStats{Changes: s.batchSizes.Read(), Seconds: s.commitSeconds.Read()}
}

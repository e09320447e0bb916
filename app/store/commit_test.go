package store

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/kv"
	"deedkeep/app/model"
)

// interceptCommits counts the commits of a store. It calls fail with the number of each commit. If
// fail returns an error, the commit is rolled back and returns that error.
func interceptCommits(s *Store, fail func(n int64) error) *atomic.Int64 {
	var n atomic.Int64
	s.commitTx = func(tx kv.Tx) error {
		if err := fail(n.Add(1)); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		return tx.Commit(context.Background())
	}
	return &n
}

// neverFail is passed to interceptCommits to count commits without failing any.
func neverFail(int64) error { return nil }

// pausedWriter blocks the writer inside a first Update until release is called, so that all updates
// added before then form one batch, in order.
type pausedWriter struct {
	t       *testing.T
	s       *Store
	resume  chan struct{}
	first   chan error
	results []chan error
}

// pauseWriter blocks the writer of s and returns after it is blocked.
func pauseWriter(t *testing.T, s *Store) *pausedWriter {
	t.Helper()
	q := &pausedWriter{t: t, s: s, resume: make(chan struct{}), first: make(chan error, 1)}
	inside := make(chan struct{})
	go func() {
		q.first <- s.Update(context.Background(), func(*Tx) error {
			close(inside)
			<-q.resume
			return nil
		}, nil)
	}()
	<-inside
	return q
}

// add starts an Update and waits until it is in the queue.
func (p *pausedWriter) add(ctx context.Context, check, write func(*Tx) error) {
	result := make(chan error, 1)
	p.results = append(p.results, result)
	go func() { result <- p.s.Update(ctx, check, write) }()
	for waiting := -1; waiting < len(p.results); runtime.Gosched() {
		p.s.mu.Lock()
		waiting = len(p.s.queue)
		p.s.mu.Unlock()
	}
}

// release lets the batch run. It returns the results in the order in which the updates were added.
func (p *pausedWriter) release() (results []error) {
	close(p.resume)
	if err := <-p.first; err != nil {
		p.t.Errorf("first update: %v", err)
	}
	for _, result := range p.results {
		results = append(results, <-result)
	}
	return results
}

func putAbstract(tx *Tx) error {
	id, err := tx.NewAbstractID()
	if err != nil {
		return err
	}
	return tx.PutAbstract(model.Abstract{ID: id})
}

func countAbstracts(t *testing.T, s *Store) (n uint64) {
	t.Helper()
	view(t, s, func(tx *Tx) error { n = tx.Count(CountAbstracts); return nil })
	return n
}

func TestSingleWriterCommitsOncePerUpdate(t *testing.T) {
	s := openNew(t)
	commits := interceptCommits(s, neverFail)
	before := boltOf(s).Stats().TxStats
	for i := range int64(5) {
		update(t, s, putAbstract)
		if n := commits.Load(); n != i+1 {
			t.Fatalf("got %d commits after %d updates, want one per update", n, i+1)
		}
	}
	after := boltOf(s).Stats().TxStats
	if stats := after.Sub(&before); stats.GetWrite() == 0 {
		t.Error("got no page writes, want some")
	}
}

func TestUpdateWithoutWriteDoesNotCommit(t *testing.T) {
	s := openNew(t)
	commits := interceptCommits(s, neverFail)
	if err := s.Update(t.Context(), func(*Tx) error { return nil }, nil); err != nil {
		t.Errorf("update: %v", err)
	}
	if err := s.Update(t.Context(), nil, nil); err != nil {
		t.Errorf("update: %v", err)
	}
	rejected := errors.New("rejected")
	if err := s.Update(t.Context(), func(*Tx) error { return rejected }, putAbstract); err != rejected {
		t.Errorf("update: %v", err)
	}
	if n := commits.Load(); n != 0 {
		t.Errorf("got %d commits, want 0", n)
	}
}

func TestWaitingWritersShareOneCommit(t *testing.T) {
	s := openNew(t)
	commits := interceptCommits(s, neverFail)
	q := pauseWriter(t, s)
	const writers = 64
	numbers := make([]uint64, writers)
	for i := range writers {
		q.add(t.Context(), nil, func(tx *Tx) (err error) {
			if numbers[i], err = tx.NewOrderID(); err != nil {
				return err
			}
			return tx.PutOrder(model.Order{ID: numbers[i], Number: "A"})
		})
	}
	for i, err := range q.release() {
		if err != nil {
			t.Errorf("writer %d: %v", i, err)
		}
		if numbers[i] != uint64(i)+1 {
			t.Errorf("writer %d got ID %d, want %d", i, numbers[i], i+1)
		}
	}
	if n := commits.Load(); n != 1 {
		t.Errorf("got %d commits for %d writers, want 1", n, writers)
	}
}

func TestBatchSizeIsLimited(t *testing.T) {
	s := openNew(t)
	commits := interceptCommits(s, neverFail)
	q := pauseWriter(t, s)
	for range maxBatch + 1 {
		q.add(t.Context(), nil, putAbstract)
	}
	if err := errors.Join(q.release()...); err != nil {
		t.Errorf("run batch: %v", err)
	}
	if n := commits.Load(); n != 2 || countAbstracts(t, s) != maxBatch+1 {
		t.Errorf("got %d commits and %d abstracts, want 2 and %d", n, countAbstracts(t, s), maxBatch+1)
	}
}

// In each row, one member of a batch fails. The results of the others are not affected.
func TestFailedMemberDoesNotAffectOthers(t *testing.T) {
	rejected, broken := errors.New("rejected"), errors.New("broken")
	reject := func(*Tx) error { return rejected }
	failingWrite := func(tx *Tx) error { return errors.Join(putAbstract(tx), broken) }
	for _, row := range []struct {
		name         string
		check, write func(*Tx) error
		want         string // substring of the error
		commits      int64
	}{
		{"check rejects", reject, putAbstract, "rejected", 1},
		{"check panics", func(*Tx) error { panic("bad check") }, putAbstract, "panic in a transaction: bad check", 1},
		{"check dereferences nil", func(*Tx) error { var s *Store; return s.failure }, putAbstract, "nil pointer", 1},
		{"write fails", nil, failingWrite, "broken", 4},
		{"write panics", nil, func(tx *Tx) error { panic(errors.Join(putAbstract(tx), broken)) }, "panic in a transaction: broken", 4},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := openNew(t)
			commits := interceptCommits(s, neverFail)
			q := pauseWriter(t, s)
			runs := make([]int, 5)
			for i := range runs {
				write := func(tx *Tx) error { runs[i]++; return putAbstract(tx) }
				if i == 2 {
					q.add(t.Context(), row.check, row.write)
				} else {
					q.add(t.Context(), nil, write)
				}
			}
			for i, err := range q.release() {
				if i == 2 && (err == nil || !strings.Contains(err.Error(), row.want)) || i != 2 && err != nil {
					t.Errorf("member %d: got %v, want %q for member 2 only", i, err, row.want)
				}
			}
			if n := countAbstracts(t, s); n != 4 {
				t.Errorf("got %d abstracts of the other members, want 4", n)
			}
			if n := commits.Load(); n != row.commits {
				t.Errorf("got %d commits, want %d (runs %v)", n, row.commits, runs)
			}
			view(t, s, func(tx *Tx) error {
				for id := range uint64(4) {
					if _, err := tx.Abstract(id + 1); err != nil {
						t.Errorf("Abstract(%d): %v, want IDs 1 to 4", id+1, err)
					}
				}
				return nil
			})
		})
	}
}

func TestCheckSeesEarlierMembersOfBatch(t *testing.T) {
	s := openNew(t)
	q := pauseWriter(t, s)
	taken := errors.New("taken")
	for range 3 {
		q.add(t.Context(), func(tx *Tx) error {
			if tx.FolderNameTaken(0, "plats") {
				return taken
			}
			return nil
		}, func(tx *Tx) error {
			id, err := tx.NewFolderID()
			return errors.Join(err, tx.PutFolder(model.Folder{ID: id, Name: "Plats"}))
		})
	}
	if got := q.release(); !slices.Equal(got, []error{nil, taken, taken}) {
		t.Errorf("got %v, want nil, taken, taken", got)
	}
}

func TestCanceledContextIsIgnoredOnceUpdateRuns(t *testing.T) {
	s := openNew(t)
	commits := interceptCommits(s, neverFail)
	q := pauseWriter(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	q.add(ctx, nil, putAbstract)
	q.add(t.Context(), nil, putAbstract)
	cancel()
	results := q.release()
	if !errors.Is(results[0], context.Canceled) || results[1] != nil || countAbstracts(t, s) != 1 || commits.Load() != 1 {
		t.Errorf("got %v, %d abstracts in %d commits; want canceled and nil, 1 in 1", results, countAbstracts(t, s), commits.Load())
	}
	ctx, cancel = context.WithCancel(t.Context())
	err := s.Update(ctx, func(*Tx) error { cancel(); return nil }, putAbstract)
	if err != nil || countAbstracts(t, s) != 2 {
		t.Errorf("canceled during check: got %v, want nil", err)
	}
	if err := s.View(ctx, func(*Tx) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("View with a canceled context: got %v, want %v", err, context.Canceled)
	}
}

func TestCloseCommitsQueuedUpdates(t *testing.T) {
	s := open(t, t.TempDir()+"/vault.db")
	path := s.db.Path()
	q := pauseWriter(t, s)
	for range 5 {
		q.add(t.Context(), nil, putAbstract)
	}
	closed := make(chan error, 2)
	for range 2 {
		go func() { closed <- s.Close() }()
	}
	for closing := false; !closing; runtime.Gosched() {
		s.mu.Lock()
		closing = s.closing
		s.mu.Unlock()
	}
	if err := s.Update(t.Context(), nil, putAbstract); errs.KindOf(err) != errs.Unavailable {
		t.Errorf("Update during Close: got %v, want errs.Unavailable", err)
	}
	if err := errors.Join(q.release()...); err != nil {
		t.Errorf("queued updates: %v", err)
	}
	if err := errors.Join(<-closed, <-closed); err != nil { // both calls of Close
		t.Errorf("close store: %v", err)
	}
	if err := s.Update(t.Context(), nil, putAbstract); errs.KindOf(err) != errs.Unavailable {
		t.Errorf("after: %v", err)
	}
	if err := s.View(t.Context(), func(*Tx) error { return nil }); errs.KindOf(err) != errs.Unavailable {
		t.Errorf("View after Close: got %v, want errs.Unavailable", err)
	}
	if _, err := s.Snapshot(t.Context(), t.TempDir()+"/copy.db"); errs.KindOf(err) != errs.Unavailable {
		t.Errorf("Snapshot after Close: got %v, want errs.Unavailable", err)
	}
	if size := s.Size(); size != 0 {
		t.Errorf("Size after Close = %d, want 0", size)
	}
	if n := countAbstracts(t, open(t, path)); n != 5 {
		t.Errorf("got %d abstracts, want 5", n)
	}
}

func TestViewRecoversPanic(t *testing.T) {
	s := openNew(t)
	if err := s.View(t.Context(), func(*Tx) error { panic("bad view") }); err == nil ||
		!strings.Contains(err.Error(), "bad view") { // the panic is returned as an error
		t.Errorf("got %v, want the panic as an error", err)
	}
	update(t, s, putAbstract)
}

func TestFailMakesStoreReadOnly(t *testing.T) {
	s := openNew(t)
	update(t, s, putAbstract)
	commits := interceptCommits(s, neverFail)
	q := pauseWriter(t, s)
	q.add(t.Context(), nil, putAbstract)
	first := errors.New("first")
	s.Fail(first)
	s.Fail(errors.New("second"))
	if results := q.release(); errs.KindOf(results[0]) != errs.Unavailable {
		t.Errorf("queued update: got %v, want errs.Unavailable", results[0])
	}
	if err := s.Update(t.Context(), nil, putAbstract); errs.KindOf(err) != errs.Unavailable || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("after: %v", err)
	}
	if s.Failure() != first || countAbstracts(t, s) != 1 || commits.Load() != 0 {
		t.Errorf("got failure %v, %d abstracts, %d commits; want %v, 1, 0", s.Failure(), countAbstracts(t, s), commits.Load(), first)
	}
}

func TestCommitErrors(t *testing.T) {
	full := &fs.PathError{Op: "write", Path: "vault.db", Err: syscall.ENOSPC}
	for _, row := range []struct {
		name string
		err  error
		kind errs.Kind
	}{
		{"write: disk full", full, errs.InsufficientStorage},
		{"sync: disk full", syscall.ENOSPC, errs.Unavailable},
		{"sync with path: disk full", &fs.PathError{Op: "sync", Path: "vault.db", Err: syscall.ENOSPC}, errs.Unavailable},
		{"write: I/O error", &fs.PathError{Op: "write", Path: "vault.db", Err: syscall.EIO}, errs.Unavailable},
		{"sync: I/O error", syscall.EIO, errs.Unavailable},
		{"other error", errors.New("other"), errs.Unavailable},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := openNew(t)
			interceptCommits(s, func(n int64) error {
				if n == 1 {
					return row.err
				}
				return nil
			})
			q := pauseWriter(t, s)
			q.add(t.Context(), nil, putAbstract)
			q.add(t.Context(), nil, putAbstract)
			for _, err := range q.release() {
				if errs.KindOf(err) != row.kind || !errors.Is(err, row.err) {
					t.Errorf("got %v, want kind %v and %v", err, row.kind, row.err)
				}
			}
			if countAbstracts(t, s) != 0 {
				t.Error("got an abstract after a failed commit, want none")
			}
			writable := row.kind == errs.InsufficientStorage
			if err := s.Update(t.Context(), nil, putAbstract); (err == nil) != writable || (s.Failure() == nil) != writable {
				t.Errorf("next update: got %v, failure %v; want writable %v", err, s.Failure(), writable)
			}
		})
	}
}

// If a check fails because of what another batch member wrote, and that write isn't committed, the
// check's error isn't returned.
func TestCheckErrorIsNotFinalIfCommitFails(t *testing.T) {
	s := openNew(t)
	interceptCommits(s, func(int64) error { return &fs.PathError{Op: "write", Err: syscall.ENOSPC} })
	rejected := errors.New("rejected")
	reject := func(*Tx) error { return rejected }
	q := pauseWriter(t, s)
	q.add(t.Context(), reject, putAbstract)
	q.add(t.Context(), nil, putAbstract)
	q.add(t.Context(), reject, putAbstract)
	results := q.release()
	if results[0] != rejected || errs.KindOf(results[1]) != errs.InsufficientStorage || errs.KindOf(results[2]) != errs.InsufficientStorage {
		t.Errorf("got %v, want rejected and two errors of kind InsufficientStorage", results)
	}
}

// If a batch has to run a second time but can't start, the results of its first run don't count.
func TestFailureBeforeBatchRunsAgain(t *testing.T) {
	s := openNew(t)
	q := pauseWriter(t, s)
	q.add(t.Context(), nil, putAbstract)
	q.add(t.Context(), nil, func(*Tx) error { s.Fail(syscall.EIO); return errors.New("broken") })
	for i, err := range q.release() {
		if errs.KindOf(err) != errs.Unavailable {
			t.Errorf("member %d: got %v, want errs.Unavailable", i, err)
		}
	}
}

func TestCommitThatPanicsReleasesLocks(t *testing.T) {
	s := openNew(t)
	s.commitTx = func(kv.Tx) error { panic("page 7: bad") }
	if err := s.Update(t.Context(), nil, putAbstract); errs.KindOf(err) != errs.Unavailable || s.Failure() == nil {
		t.Errorf("got %v, failure %v; want errs.Unavailable and a failure", err, s.Failure())
	}
	if countAbstracts(t, s) != 0 {
		t.Error("got an abstract after a failed commit, want none")
	}
}

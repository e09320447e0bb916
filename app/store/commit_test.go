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

	bolt "go.etcd.io/bbolt"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// counted counts the commits of a store, and fails those that fail says an error of.
func counted(s *Store, fail func(n int64) error) *atomic.Int64 {
	var n atomic.Int64
	s.commitTx = func(tx *bolt.Tx) error {
		if err := fail(n.Add(1)); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		return tx.Commit()
	}
	return &n
}

func never(int64) error { return nil }

// queue holds the writer inside a first Update until it is released, so that what
// a test adds meanwhile is one batch, in the order added.
type queue struct {
	t       *testing.T
	s       *Store
	hold    chan struct{}
	held    chan error
	results []chan error
}

func holdWriter(t *testing.T, s *Store) *queue {
	t.Helper()
	q := &queue{t: t, s: s, hold: make(chan struct{}), held: make(chan error, 1)}
	inside := make(chan struct{})
	go func() {
		q.held <- s.Update(context.Background(), func(*Tx) error {
			close(inside)
			<-q.hold
			return nil
		}, nil)
	}()
	<-inside
	return q
}

func (q *queue) add(ctx context.Context, check, write func(*Tx) error) {
	result := make(chan error, 1)
	q.results = append(q.results, result)
	go func() { result <- q.s.Update(ctx, check, write) }()
	for waiting := -1; waiting < len(q.results); runtime.Gosched() {
		q.s.mu.Lock()
		waiting = len(q.s.queue)
		q.s.mu.Unlock()
	}
}

// release lets the batch run and gives its results in the order added.
func (q *queue) release() (results []error) {
	close(q.hold)
	if err := <-q.held; err != nil {
		q.t.Errorf("the first: %v", err)
	}
	for _, result := range q.results {
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

func abstractsIn(t *testing.T, s *Store) (n uint64) {
	t.Helper()
	view(t, s, func(tx *Tx) error { n = tx.Count(CountAbstracts); return nil })
	return n
}

func TestALoneWriterPaysOneCommit(t *testing.T) {
	s := openNew(t)
	commits := counted(s, never)
	before := s.db.Stats().TxStats
	for i := range int64(5) {
		update(t, s, putAbstract)
		if n := commits.Load(); n != i+1 {
			t.Fatalf("%d commits after %d updates", n, i+1)
		}
	}
	after := s.db.Stats().TxStats
	if spent := after.Sub(&before); spent.GetWrite() == 0 {
		t.Error("nothing was written")
	}
}

func TestOnlyReadingCommitsNothing(t *testing.T) {
	s := openNew(t)
	commits := counted(s, never)
	if err := s.Update(t.Context(), func(*Tx) error { return nil }, nil); err != nil {
		t.Error(err)
	}
	if err := s.Update(t.Context(), nil, nil); err != nil {
		t.Error(err)
	}
	refusal := errors.New("refused")
	if err := s.Update(t.Context(), func(*Tx) error { return refusal }, putAbstract); err != refusal {
		t.Error(err)
	}
	if n := commits.Load(); n != 0 {
		t.Errorf("%d commits", n)
	}
}

func TestWaitingWritersShareACommit(t *testing.T) {
	s := openNew(t)
	commits := counted(s, never)
	q := holdWriter(t, s)
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
			t.Errorf("writer %d came as number %d", i, numbers[i])
		}
	}
	if n := commits.Load(); n != 1 {
		t.Errorf("%d commits for %d writers", n, writers)
	}
}

func TestABatchHasALimit(t *testing.T) {
	s := openNew(t)
	commits := counted(s, never)
	q := holdWriter(t, s)
	for range maxBatch + 1 {
		q.add(t.Context(), nil, putAbstract)
	}
	if err := errors.Join(q.release()...); err != nil {
		t.Error(err)
	}
	if n := commits.Load(); n != 2 || abstractsIn(t, s) != maxBatch+1 {
		t.Errorf("%d commits, %d written", n, abstractsIn(t, s))
	}
}

// Every row is a batch of one commit, member by member.
func TestAMemberHarmsNobody(t *testing.T) {
	refusal, broken := errors.New("refused"), errors.New("broken")
	refuse := func(*Tx) error { return refusal }
	breaks := func(tx *Tx) error { return errors.Join(putAbstract(tx), broken) }
	for _, row := range []struct {
		name         string
		check, write func(*Tx) error
		says         string
		commits      int64
	}{
		{"a refused check", refuse, putAbstract, "refused", 1},
		{"a check that panics", func(*Tx) error { panic("bad check") }, putAbstract, "panic in a transaction: bad check", 1},
		{"a check that follows nil", func(*Tx) error { var s *Store; return s.failure }, putAbstract, "nil pointer", 1},
		{"a write that fails", nil, breaks, "broken", 4},
		{"a write that panics", nil, func(tx *Tx) error { panic(errors.Join(putAbstract(tx), broken)) }, "panic in a transaction: broken", 4},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := openNew(t)
			commits := counted(s, never)
			q := holdWriter(t, s)
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
				if i == 2 && (err == nil || !strings.Contains(err.Error(), row.says)) || i != 2 && err != nil {
					t.Errorf("member %d: %v", i, err)
				}
			}
			if n := abstractsIn(t, s); n != 4 {
				t.Errorf("%d neighbors are written, want 4", n)
			}
			if n := commits.Load(); n != row.commits {
				t.Errorf("%d commits, want %d (runs %v)", n, row.commits, runs)
			}
			view(t, s, func(tx *Tx) error {
				for id := range uint64(4) {
					if _, err := tx.Abstract(id + 1); err != nil {
						t.Errorf("numbers are not 1 to 4: %v", err)
					}
				}
				return nil
			})
		})
	}
}

func TestACheckSeesItsNeighbors(t *testing.T) {
	s := openNew(t)
	q := holdWriter(t, s)
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
		t.Errorf("results %v", got)
	}
}

func TestACanceledContextCountsUntilTakenUp(t *testing.T) {
	s := openNew(t)
	commits := counted(s, never)
	q := holdWriter(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	q.add(ctx, nil, putAbstract)
	q.add(t.Context(), nil, putAbstract)
	cancel()
	results := q.release()
	if !errors.Is(results[0], context.Canceled) || results[1] != nil || abstractsIn(t, s) != 1 || commits.Load() != 1 {
		t.Errorf("results %v, %d written in %d commits", results, abstractsIn(t, s), commits.Load())
	}
	ctx, cancel = context.WithCancel(t.Context())
	err := s.Update(ctx, func(*Tx) error { cancel(); return nil }, putAbstract)
	if err != nil || abstractsIn(t, s) != 2 {
		t.Errorf("cancelled after it was taken up: %v", err)
	}
	if err := s.View(ctx, func(*Tx) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("view: %v", err)
	}
}

func TestCloseCommitsWhatWaits(t *testing.T) {
	s := open(t, t.TempDir()+"/vault.db")
	path := s.db.Path()
	q := holdWriter(t, s)
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
		t.Errorf("while closing: %v", err)
	}
	if err := errors.Join(q.release()...); err != nil {
		t.Errorf("those who waited: %v", err)
	}
	if err := errors.Join(<-closed, <-closed); err != nil {
		t.Error(err)
	}
	if err := s.Update(t.Context(), nil, putAbstract); errs.KindOf(err) != errs.Unavailable {
		t.Errorf("after: %v", err)
	}
	if err := s.View(t.Context(), func(*Tx) error { return nil }); errs.KindOf(err) != errs.Unavailable {
		t.Errorf("a view after: %v", err)
	}
	if _, err := s.Snapshot(t.Context(), t.TempDir()+"/copy.db"); errs.KindOf(err) != errs.Unavailable {
		t.Errorf("a snapshot after: %v", err)
	}
	if s.Size() != 0 {
		t.Error("a closed store has a size")
	}
	if n := abstractsIn(t, open(t, path)); n != 5 {
		t.Errorf("%d were written", n)
	}
}

func TestAViewThatPanics(t *testing.T) {
	s := openNew(t)
	if err := s.View(t.Context(), func(*Tx) error { panic("bad view") }); err == nil || !strings.Contains(err.Error(), "bad view") {
		t.Errorf("said %v", err)
	}
	update(t, s, putAbstract)
}

func TestFailMakesReadOnly(t *testing.T) {
	s := openNew(t)
	update(t, s, putAbstract)
	commits := counted(s, never)
	q := holdWriter(t, s)
	q.add(t.Context(), nil, putAbstract)
	first := errors.New("first")
	s.Fail(first)
	s.Fail(errors.New("second"))
	if results := q.release(); errs.KindOf(results[0]) != errs.Unavailable {
		t.Errorf("one that waited: %v", results[0])
	}
	if err := s.Update(t.Context(), nil, putAbstract); errs.KindOf(err) != errs.Unavailable || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("after: %v", err)
	}
	if s.Failure() != first || abstractsIn(t, s) != 1 || commits.Load() != 0 {
		t.Errorf("failed %v, %d written, %d commits", s.Failure(), abstractsIn(t, s), commits.Load())
	}
}

func TestAFailedCommit(t *testing.T) {
	full := &fs.PathError{Op: "write", Path: "vault.db", Err: syscall.ENOSPC}
	for _, row := range []struct {
		name string
		err  error
		kind errs.Kind
	}{
		{"the disk is full", full, errs.InsufficientStorage},
		{"a sync says the disk is full", syscall.ENOSPC, errs.Unavailable},
		{"a sync of the file says so", &fs.PathError{Op: "sync", Path: "vault.db", Err: syscall.ENOSPC}, errs.Unavailable},
		{"the disk cannot write", &fs.PathError{Op: "write", Path: "vault.db", Err: syscall.EIO}, errs.Unavailable},
		{"the disk cannot sync", syscall.EIO, errs.Unavailable},
		{"anything else", errors.New("odd"), errs.Unavailable},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := openNew(t)
			counted(s, func(n int64) error {
				if n == 1 {
					return row.err
				}
				return nil
			})
			q := holdWriter(t, s)
			q.add(t.Context(), nil, putAbstract)
			q.add(t.Context(), nil, putAbstract)
			for _, err := range q.release() {
				if errs.KindOf(err) != row.kind || !errors.Is(err, row.err) {
					t.Errorf("said %v", err)
				}
			}
			if abstractsIn(t, s) != 0 {
				t.Error("it is there all the same")
			}
			goesOn := row.kind == errs.InsufficientStorage
			if err := s.Update(t.Context(), nil, putAbstract); (err == nil) != goesOn || (s.Failure() == nil) != goesOn {
				t.Errorf("the next: %v, failed %v", err, s.Failure())
			}
		})
	}
}

// A refusal may rest on what a neighbor wrote; when that is lost, so is the refusal.
func TestARefusalIsNotFinalWhenItsCommitIsLost(t *testing.T) {
	s := openNew(t)
	counted(s, func(int64) error { return &fs.PathError{Op: "write", Err: syscall.ENOSPC} })
	refusal := errors.New("refused")
	refuse := func(*Tx) error { return refusal }
	q := holdWriter(t, s)
	q.add(t.Context(), refuse, putAbstract)
	q.add(t.Context(), nil, putAbstract)
	q.add(t.Context(), refuse, putAbstract)
	results := q.release()
	if results[0] != refusal || errs.KindOf(results[1]) != errs.InsufficientStorage || errs.KindOf(results[2]) != errs.InsufficientStorage {
		t.Errorf("results %v", results)
	}
}

// The first run of a batch says nothing about a second one that never came to be.
func TestAFailureBetweenTwoRuns(t *testing.T) {
	s := openNew(t)
	q := holdWriter(t, s)
	q.add(t.Context(), nil, putAbstract)
	q.add(t.Context(), nil, func(*Tx) error { s.Fail(syscall.EIO); return errors.New("broken") })
	for i, err := range q.release() {
		if errs.KindOf(err) != errs.Unavailable {
			t.Errorf("member %d: %v", i, err)
		}
	}
}

func TestACommitThatPanicsHoldsNoLock(t *testing.T) {
	s := openNew(t)
	s.commitTx = func(*bolt.Tx) error { panic("page 7: bad") }
	if err := s.Update(t.Context(), nil, putAbstract); errs.KindOf(err) != errs.Unavailable || s.Failure() == nil {
		t.Errorf("said %v", err)
	}
	if abstractsIn(t, s) != 0 {
		t.Error("it is there all the same")
	}
}

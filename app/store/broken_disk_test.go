package store

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	bolt "go.etcd.io/bbolt"

	"deedkeep/app/errs"
)

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

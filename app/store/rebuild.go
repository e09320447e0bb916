package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	berrors "go.etcd.io/bbolt/errors"

	"deedkeep/app/errs"
)

// defaultRebuildBatch bounds a transaction that makes indexes, and with it its memory.
const defaultRebuildBatch = 4_096

var errRebuilding = &errs.Error{Kind: errs.Unavailable, Message: "The indexes of the vault are being made anew; try again soon."}

// isRebuilding reports that the indexes are not whole.
func (t *Tx) isRebuilding() bool { return t.bucket(bucketMeta).Get(keyRebuilding) != nil }

// Rebuild makes every index and counter anew from the records. Damaged records stay
// as they are and are reported, with what stands in the way of an index. No change
// is taken up meanwhile, and lists are refused as Closing.
//
// It works in many transactions. A ctx counts only until it begins; what a stop or a
// crash cuts off, the next Open ends. After any other error the store takes no more
// writes.
func (s *Store) Rebuild(ctx context.Context, report func(Finding)) error {
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	defer s.beginRebuild()()
	r := &rebuilder{ctx: context.WithoutCancel(ctx), store: s, report: report}
	err := r.rebuildAll()
	if err != nil && errs.KindOf(err) != errs.Unavailable {
		s.Fail(err)
	}
	return err
}

// beginRebuild records that a Rebuild is in progress, until end is called.
func (s *Store) beginRebuild() (end func()) {
	ended := make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rebuildCount, s.rebuildDone = s.rebuildCount+1, ended
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.rebuildDone = nil
		close(ended)
	}
}

// rebuildState gives the number of Rebuilds so far where none is in progress, and none was
// ended by a disk error.
func (s *Store) rebuildState() (rebuilds int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rebuildCount, s.rebuildDone == nil && s.failure == nil
}

// withCompleteIndexes runs read, and runs it again after the Rebuild in progress where what it
// reads may be one of a Rebuild: whole is false then, and read returns errRebuilding.
// That error is returned where a disk error ended the Rebuild.
func (s *Store) withCompleteIndexes(ctx context.Context, read func(whole func(*Tx) bool) error) error {
	for {
		before, calm := s.rebuildState()
		err := read(func(t *Tx) bool {
			if !t.isRebuilding() {
				return true
			}
			// An entry that no Rebuild of this process wrote is Check's to report.
			now, still := s.rebuildState()
			return calm && still && before == now
		})
		if !errors.Is(err, errRebuilding) {
			return err
		}
		s.mu.Lock()
		ended, failed := s.rebuildDone, s.failure
		s.mu.Unlock()
		if failed != nil {
			return err
		}
		if ended == nil {
			continue // it ended after the read began
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ended:
		}
	}
}

// rebuilder makes indexes, a bounded number of records a transaction.
type rebuilder struct {
	ctx    context.Context
	store  *Store
	report func(Finding)
}

// update commits one transaction. Nobody else writes.
func (r *rebuilder) update(fn func(*Tx) error) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	return r.store.updateLocked(fn)
}

// updateLocked runs and commits one function; whoever calls it has the turn.
func (s *Store) updateLocked(fn func(*Tx) error) error {
	s.mu.Lock()
	err := s.checkWritable()
	s.mu.Unlock()
	if err != nil {
		return err
	}
	tx, err := s.db.Begin(true)
	if errors.Is(err, berrors.ErrDatabaseNotOpen) {
		return errClosing
	}
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	t := s.newTx(tx)
	err = recoverPanic(func() error {
		if err := fn(t); err != nil {
			return err
		}
		return t.flush()
	})
	if err != nil {
		return errors.Join(err, rollback(tx))
	}
	return s.commit(tx)
}

// rebuildAll does the work of Rebuild. What is only mended in place is of use all the while:
// keys let their owners in, and no digest is ever missing.
func (r *rebuilder) rebuildAll() error {
	err := r.update(func(t *Tx) error {
		return errors.Join(t.bucket(bucketMeta).Put(keyRebuilding, []byte{1}), t.recreateBuckets(append(listIndexBuckets(), bucketCounters, bucketCounts)), resetChanges(t.tx))
	})
	if err != nil {
		return err
	}
	for _, remake := range []func() error{r.rebuildKeys, r.rebuildFolders, r.rebuildAbstracts, r.rebuildOrders, r.rebuildFiles, r.rebuildTasks, r.rebuildUsers, r.rebuildSessions, r.rebuildStoredResponses, r.rebuildEvents} {
		if err := remake(); err != nil {
			return err
		}
	}
	return r.update(func(t *Tx) error { return t.bucket(bucketMeta).Delete(keyRebuilding) })
}

func listIndexBuckets() [][]byte {
	return append(sortIndexBuckets(), bucketAbstractIndex, bucketOrderIndex, bucketFileIndex, bucketEventIndex, bucketTrash)
}

func sortIndexBuckets() [][]byte { return [][]byte{bucketAbstractSorts, bucketOrderSorts} }

// recreateBuckets makes buckets that are empty, whatever was there.
func (t *Tx) recreateBuckets(names [][]byte) error {
	for _, name := range names {
		if err := t.tx.DeleteBucket(name); err != nil && !errors.Is(err, berrors.ErrBucketNotFound) {
			return fmt.Errorf("empty bucket %s: %w", name, err)
		}
		if _, err := t.tx.CreateBucket(name); err != nil {
			return fmt.Errorf("make bucket %s: %w", name, err)
		}
	}
	return nil
}

func (r *rebuilder) addFinding(noun string, id any, format string, args ...any) {
	r.report(Finding{noun, fmt.Sprint(id), fmt.Sprintf(format, args...)})
}

// eachRecord hands every sound record of a table to fn.
func eachRecord[T any](r *rebuilder, b table[T], fn func(t *Tx, id uint64, v *T) error) error {
	return r.eachEntry(b.bucketName, func(t *Tx, key, raw []byte) error {
		var v T
		id, ok := decodeUint64(key)
		if !ok {
			r.addFinding(b.typeName, id, "a key of %d bytes: %v", len(key), ErrDamaged)
			return nil
		}
		if err := decodeRecord(b.bucketName, key, raw, &v); err != nil {
			r.addFinding(b.typeName, id, "%v", err)
			return nil
		}
		return fn(t, id, &v)
	})
}

// eachEntry hands every entry of a bucket to fn, which may write elsewhere.
func (r *rebuilder) eachEntry(bucket []byte, fn func(t *Tx, key, value []byte) error) error {
	for from, done := []byte(nil), false; !done; {
		err := r.update(func(t *Tx) error {
			c := t.bucket(bucket).Cursor()
			n := 0
			for k, v := c.Seek(from); k != nil; k, v = c.Next() {
				if n++; n > r.store.rebuildBatch {
					from = bytes.Clone(k)
					return nil
				}
				if err := fn(t, k, v); err != nil {
					return err
				}
			}
			done = true
			return nil
		})
		if err != nil {
			return fmt.Errorf("walk %s: %w", bucket, err)
		}
	}
	return nil
}

// removeStale removes the entries of an index that are stale. Those of a damaged record
// are not: they may be all that is left of it.
func (r *rebuilder) removeStale(index []byte, stale func(t *Tx, key, value []byte) bool) error {
	var list [][]byte
	remove := func(t *Tx) error {
		for _, key := range list {
			if err := t.bucket(index).Delete(key); err != nil {
				return fmt.Errorf("mend %s: %w", index, err)
			}
		}
		return nil
	}
	err := r.eachEntry(index, func(t *Tx, key, value []byte) error {
		if len(list) < r.store.rebuildBatch && stale(t, key, value) {
			list = append(list, bytes.Clone(key))
		}
		return nil
	})
	if err != nil || len(list) == 0 {
		return err
	}
	if err := r.update(remove); err != nil || len(list) < r.store.rebuildBatch {
		return err
	}
	return r.removeStale(index, stale)
}

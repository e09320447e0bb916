package store

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"deedkeep/app/errs"
)

// defaultRebuildBatch is the maximum number of records per transaction during a rebuild. It
// limits memory use.
const defaultRebuildBatch = 4_096

var errRebuilding = errs.NotNow(errs.Rebuilding, "The server is rebuilding its database indexes. Try again soon.", nil)

// isRebuilding reports whether a rebuild is in progress. The indexes are incomplete during
// a rebuild.
func (t *Tx) isRebuilding() bool { return t.bucket(bucketMeta).Get(keyRebuilding) != nil }

// Rebuild regenerates all indexes and counters from the records. It reports damaged
// records, which it leaves unchanged, and conflicts such as duplicate names. Until it
// returns, updates wait, and lists fail with kind errs.Unavailable.
//
// Rebuild uses many transactions. Canceling ctx has no effect after it has started. If the
// process exits during a Rebuild, the next Open completes it. After any other error, the
// store is read-only.
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

// beginRebuild records that a Rebuild is in progress. The caller must call end when the
// Rebuild has ended.
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

// rebuildState returns how many Rebuilds have been started. idle is false if one is in
// progress or was ended by a disk error.
func (s *Store) rebuildState() (rebuilds int, idle bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rebuildCount, s.rebuildDone == nil && s.failure == nil
}

// withCompleteIndexes calls read. If read returns errRebuilding, withCompleteIndexes waits
// for the Rebuild to end and calls read again. read must return errRebuilding if complete
// returns false, which means that the transaction sees incomplete indexes.
// withCompleteIndexes itself returns errRebuilding only if a disk error ended the Rebuild.
func (s *Store) withCompleteIndexes(ctx context.Context, read func(complete func(*Tx) bool) error) error {
	for {
		before, idle := s.rebuildState()
		err := read(func(t *Tx) bool {
			if !t.isRebuilding() {
				return true
			}
			// If no Rebuild in this process wrote the entry, the entry is damage that Check
			// reports.
			after, stillIdle := s.rebuildState()
			return idle && stillIdle && before == after
		})
		if !errors.Is(err, errRebuilding) {
			return err
		}
		s.mu.Lock()
		done, failure := s.rebuildDone, s.failure
		s.mu.Unlock()
		if failure != nil {
			return err
		}
		if done == nil {
			continue // the Rebuild ended after read was called
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-done:
		}
	}
}

// rebuilder regenerates indexes with a limited number of records per transaction. The
// caller of its methods must hold writeMu.
type rebuilder struct {
	ctx    context.Context
	store  *Store
	report func(Finding)
}

// update runs fn in one transaction and commits it.
func (r *rebuilder) update(fn func(*Tx) error) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	return r.store.updateLocked(fn)
}

// updateLocked runs fn in one transaction and commits it. The caller must hold writeMu.
func (s *Store) updateLocked(fn func(*Tx) error) error {
	s.mu.Lock()
	err := s.checkWritable()
	s.mu.Unlock()
	if err != nil {
		return err
	}
	t, err := s.beginWrite()
	if err != nil {
		return err
	}
	err = RecoverPanic(func() error {
		if err := fn(t); err != nil {
			return err
		}
		return t.flush()
	})
	if err != nil {
		return errors.Join(err, t.tx.Rollback())
	}
	return s.commit(t)
}

// rebuildAll does the work of Rebuild. It only corrects the unique indexes, so they remain
// usable: users can sign in, API keys are accepted, and no digest is ever missing.
func (r *rebuilder) rebuildAll() error {
	err := r.update(func(t *Tx) error {
		return errors.Join(t.bucket(bucketMeta).Put(keyRebuilding, []byte{1}),
			t.recreateBuckets(append(listIndexBuckets(), bucketCounters, bucketCounts, bucketOCRQueue)),
			t.recreateBuckets(titleIndexBuckets()), resetChanges(t))
	})
	if err != nil {
		return err
	}
	for _, rebuild := range []func() error{r.rebuildKeys, r.rebuildFolders, r.rebuildAbstracts, r.rebuildOrders, r.rebuildFiles,
		r.rebuildTasks, r.rebuildUsers, r.rebuildSessions, r.rebuildStoredResponses, r.rebuildInstruments,
		r.rebuildTitleWork, r.rebuildNotes, r.rebuildEvents} {
		if err := rebuild(); err != nil {
			return err
		}
	}
	return r.update(func(t *Tx) error { return t.bucket(bucketMeta).Delete(keyRebuilding) })
}

// listIndexBuckets returns the list, sort, and trash indexes, which a rebuild empties
// before it fills them.
func listIndexBuckets() [][]byte {
	return append(sortIndexBuckets(), bucketAbstractIndex, bucketOrderIndex, bucketFileIndex, bucketEventIndex, bucketTrash)
}

// titleIndexBuckets returns the indexes of instruments, title work, and notes.
func titleIndexBuckets() [][]byte {
	return [][]byte{bucketInstrumentIndex, bucketInstrumentRefs, bucketRunsheetRows, bucketOrderAbstracts, bucketUserAbstracts,
		bucketRecordNotes}
}

// sortIndexBuckets returns the buckets of the sort indexes.
func sortIndexBuckets() [][]byte { return [][]byte{bucketAbstractSorts, bucketOrderSorts} }

// recreateBuckets creates the buckets as empty ones. If they exist, it deletes them first.
func (t *Tx) recreateBuckets(names [][]byte) error {
	for _, name := range names {
		if err := errors.Join(t.deleteBucket(name), t.createBucket(name)); err != nil {
			return err
		}
	}
	return nil
}

// addFinding reports a damaged record or a conflict.
func (r *rebuilder) addFinding(typeName string, id any, format string, args ...any) {
	r.report(Finding{typeName, fmt.Sprint(id), fmt.Sprintf(format, args...)})
}

// eachRecord calls fn with each intact record of a table and reports the damaged ones.
func eachRecord[T any](r *rebuilder, b table[T], fn func(t *Tx, id uint64, v *T) error) error {
	return r.eachEntry(b.bucketName, func(t *Tx, key, raw []byte) error {
		var v T
		id, ok := decodeUint64(key)
		if !ok {
			r.addFinding(b.typeName, id, "invalid key of %d bytes: %v", len(key), ErrDamaged)
			return nil
		}
		if err := decodeRecord(b.bucketName, key, raw, &v); err != nil {
			r.addFinding(b.typeName, id, "%v", err)
			return nil
		}
		return fn(t, id, &v)
	})
}

// eachHashed is like eachRecord for records whose keys are hashes.
func eachHashed[T any](r *rebuilder, bucket []byte, typeName string, fn func(t *Tx, key []byte, v *T) error) error {
	return r.eachEntry(bucket, func(t *Tx, key, raw []byte) error {
		var v T
		if err := decodeRecord(bucket, key, raw, &v); err != nil {
			r.addFinding(typeName, hex.EncodeToString(key), "%v", err)
			return nil
		}
		return fn(t, key, &v)
	})
}

// eachEntry calls fn with each entry of a bucket. fn may write only to other buckets.
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
			return fmt.Errorf("read bucket %s: %w", bucket, err)
		}
	}
	return nil
}

// removeStale removes the entries of an index for which stale returns true. An entry of a
// damaged record must not count as stale, because it may be all that is left of the record.
func (r *rebuilder) removeStale(index []byte, stale func(t *Tx, key, value []byte) bool) error {
	var list [][]byte
	remove := func(t *Tx) error {
		for _, key := range list {
			if err := t.bucket(index).Delete(key); err != nil {
				return fmt.Errorf("repair index %s: %w", index, err)
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

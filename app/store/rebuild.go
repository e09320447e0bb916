package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	berrors "go.etcd.io/bbolt/errors"

	"deedkeep/app/title"
)

// recordsAtOnce bounds a transaction that makes indexes, and with it its memory.
const recordsAtOnce = 4_096

var errRebuilding = &title.Error{Kind: title.Closing, Message: "The indexes of the vault are being made anew; try again soon."}

// rebuilding reports that the indexes are not whole.
func (t *Tx) rebuilding() bool { return t.bucket(bucketMeta).Get(keyRebuilding) != nil }

// Rebuild makes every index and counter anew from the records. Damaged records stay
// as they are and are reported, with what stands in the way of an index. No change
// is taken up meanwhile, and lists are refused as Closing.
//
// It works in many transactions: after an error, and after a crash, lists are refused
// until another Rebuild, or the next Open, has ended.
func (s *Store) Rebuild(ctx context.Context, report func(Finding)) error {
	s.turn.Lock()
	defer s.turn.Unlock()
	r := &rebuilder{ctx: ctx, s: s, report: report}
	return r.all()
}

// rebuilder makes indexes, a bounded number of records a transaction.
type rebuilder struct {
	ctx    context.Context
	s      *Store
	report func(Finding)
}

// update commits one transaction. Nobody else writes.
func (r *rebuilder) update(fn func(*Tx) error) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	return r.s.alone(fn)
}

// alone runs and commits one function; whoever calls it has the turn.
func (s *Store) alone(fn func(*Tx) error) error {
	s.mu.Lock()
	err := s.refuses()
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
	err = guarded(func() error {
		if err := fn(t); err != nil {
			return err
		}
		return t.flush()
	})
	if err != nil {
		return errors.Join(err, rollback(tx))
	}
	return s.seal(tx)
}

// all does the work of Rebuild.
func (r *rebuilder) all() error {
	err := r.update(func(t *Tx) error {
		return errors.Join(t.bucket(bucketMeta).Put(keyRebuilding, []byte{1}), t.emptyBuckets(allIndexes()), t.emptyBuckets([][]byte{bucketCounters, bucketCounts}))
	})
	if err != nil {
		return err
	}
	for _, make := range []func() error{r.folders, r.abstracts, r.orders, r.files, r.staleDigests, r.tasks, r.keys, r.users, r.sessions, r.replays, r.events} {
		if err := make(); err != nil {
			return err
		}
	}
	return r.update(func(t *Tx) error { return t.bucket(bucketMeta).Delete(keyRebuilding) })
}

// allIndexes are the buckets that Rebuild makes. The digests of files are mended in
// place: an entry may be all that still names the bytes of a damaged record.
func allIndexes() [][]byte {
	return append(listIndexes(), bucketFolderNames, bucketFailed, bucketKeyHashes, bucketUserNames, bucketSessionUsers, bucketReplayTimes)
}

func listIndexes() [][]byte {
	return [][]byte{bucketAbstractIndex, bucketOrderIndex, bucketFileIndex, bucketEventIndex, bucketTrash}
}

// emptyBuckets makes buckets that are empty, whatever was there.
func (t *Tx) emptyBuckets(names [][]byte) error {
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

func (r *rebuilder) find(noun string, id uint64, format string, args ...any) {
	r.report(Finding{noun, fmt.Sprint(id), fmt.Sprintf(format, args...)})
}

// remake hands every sound record of a table to fn.
func remake[T any](r *rebuilder, b table[T], fn func(t *Tx, id uint64, v *T) error) error {
	for from, done := uint64(0), false; !done; {
		err := r.update(func(t *Tx) (failed error) {
			n := 0
			done = true
			b.each(t, from, func(id uint64, v T, err error) bool {
				if err != nil {
					r.find(b.noun, id, "%v", err)
				} else if failed = fn(t, id, &v); failed != nil {
					return false
				}
				from = max(from, id+1) // a key that is cut short has no number
				n++
				done = n < recordsAtOnce
				return done
			})
			return failed
		})
		if err != nil {
			return fmt.Errorf("index %ss: %w", b.noun, err)
		}
	}
	return nil
}

// relist makes the lists of a noun.
func relist[T any](r *rebuilder, l *listing[T], count func(t *Tx, id uint64, v *T) error) error {
	return remake(r, l.table, func(t *Tx, id uint64, v *T) error {
		if count != nil {
			if err := count(t, id, v); err != nil {
				return err
			}
		}
		return l.reindex(t, nil, v)
	})
}

func (r *rebuilder) abstracts() error {
	return relist(r, &abstracts, func(t *Tx, _ uint64, a *title.Abstract) error {
		t.step(CountAbstracts, false, a.Trashed == nil)
		return nil
	})
}

func (r *rebuilder) orders() error {
	return relist(r, &orders, func(t *Tx, _ uint64, o *title.Order) error {
		t.step(CountOrders, false, o.Trashed == nil)
		return nil
	})
}

func (r *rebuilder) events() error { return relist(r, &events, nil) }

func (r *rebuilder) files() error {
	return relist(r, &files, func(t *Tx, id uint64, f *title.File) error {
		digest, ok := digestOf(f)
		if !ok {
			r.find(files.noun, id, "its digest is no SHA-256")
		} else if err := mark(t.bucket(bucketFileDigests), append(digest, number(id)...)); err != nil {
			return err
		}
		return t.countFile(nil, f, false, true)
	})
}

// staleDigests removes the digests of files that are gone, or sound and other.
func (r *rebuilder) staleDigests() error {
	for from, done := []byte(nil), false; !done; {
		err := r.update(func(t *Tx) error {
			var stale [][]byte
			n := 0
			done = true
			c := t.bucket(bucketFileDigests).Cursor()
			for k, _ := c.Seek(from); k != nil; k, _ = c.Next() {
				if n++; n > recordsAtOnce {
					from, done = bytes.Clone(k), false
					break
				}
				id, _ := tail(k)
				f, known, err := files.find(t, id)
				digest, _ := digestOf(&f)
				if err == nil && (!known || !bytes.Equal(k, append(digest, number(id)...))) {
					stale = append(stale, bytes.Clone(k))
				}
			}
			for _, k := range stale {
				if err := t.bucket(bucketFileDigests).Delete(k); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("index digests: %w", err)
		}
	}
	return nil
}

func (r *rebuilder) folders() error {
	return remake(r, folders, func(t *Tx, id uint64, f *title.Folder) error {
		t.add(CountFolders, 1)
		names, key := t.bucket(bucketFolderNames), folderNameKey(f.ParentID, f.Name)
		if other, taken := numberOf(names.Get(key)); taken {
			r.find(folders.noun, id, "folder %d has its name", other)
			return nil
		}
		return names.Put(key, number(id))
	})
}

func (r *rebuilder) tasks() error {
	return remake(r, tasks, func(t *Tx, _ uint64, _ *title.Task) error {
		t.add(CountTasks, 1)
		return nil
	})
}

func (r *rebuilder) keys() error {
	return remake(r, keys, func(t *Tx, id uint64, k *title.Key) error {
		hash, ok := hashOfKey(k)
		if !ok {
			r.find(keys.noun, id, "its hash is no SHA-256")
			return nil
		}
		return t.bucket(bucketKeyHashes).Put(hash, number(id))
	})
}

func (r *rebuilder) replays() error {
	for from, done := []byte(nil), false; !done; {
		err := r.update(func(t *Tx) error {
			n := 0
			done = true
			c := t.bucket(bucketReplays).Cursor()
			for k, raw := c.Seek(from); k != nil; k, raw = c.Next() {
				if n++; n > recordsAtOnce {
					from, done = bytes.Clone(k), false
					break
				}
				var kept title.Replay
				if err := decode(bucketReplays, k, raw, &kept); err != nil {
					r.report(Finding{"replay", fmt.Sprintf("%x", k), err.Error()})
				} else if err := mark(t.bucket(bucketReplayTimes), replayKey(kept.At, k)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("index replays: %w", err)
		}
	}
	return nil
}

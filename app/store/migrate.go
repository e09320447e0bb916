package store

import (
	"context"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// Schema is the version of the bucket tree in doc.go.
const Schema = 6

// migration brings a file of the schema before it to its own.
type migration struct {
	schema uint64
	// build does what may be long, in transactions of its own, before the one that
	// ends the migration: all in buckets that the schema before does not know, so
	// that a file in which it was cut off is still a sound file of that schema. It
	// begins anew then. Nil where there is nothing long to do.
	build func(*rebuilder) error
	run   func(*bolt.Tx) error
}

// migrations are in order, each one schema above the one before, the last equal to
// Schema; every one has a test on a fixture of the schema before it.
var migrations = []migration{
	{schema: 2, run: func(tx *bolt.Tx) error {
		_, err := tx.CreateBucket(bucketFailed)
		return err
	}},
	{schema: 3, build: buildListIndexes, run: func(tx *bolt.Tx) error {
		counters := tx.Bucket(bucketCounters)
		files, _ := decodeUint64(counters.Get([]byte(CountFiles))) // absent is zero
		return errors.Join(tx.DeleteBucket([]byte("order_numbers")), counters.Put([]byte(CountFileRecords), encodeUint64(files)))
	}},
	{schema: 4, run: func(*bolt.Tx) error { return nil }}, // its indexes of sorts are those of 6
	{schema: 5, run: func(tx *bolt.Tx) error {
		_, err := tx.CreateBucket(bucketChanges)
		return err
	}},
	{schema: 6, build: buildSortIndexes, run: func(tx *bolt.Tx) error {
		for _, name := range obsoleteSortBuckets() {
			if err := tx.DeleteBucket(name); err != nil && !errors.Is(err, berrors.ErrBucketNotFound) {
				return err
			}
		}
		return nil
	}},
}

// obsoleteSortBuckets are the indexes of sorts of schemas 4 and 5, which have no times of changes.
func obsoleteSortBuckets() [][]byte { return [][]byte{[]byte("abstract_sorts"), []byte("order_sorts")} }

// buildSortIndexes fills the indexes of sorts, which schemas before 6 have not, or by other names.
func buildSortIndexes(r *rebuilder) error {
	err := r.update(func(t *Tx) error { return t.recreateBuckets(sortIndexBuckets()) })
	if err != nil {
		return err
	}
	if err := rebuildSorts(r, &abstracts); err != nil {
		return err
	}
	return rebuildSorts(r, &orders)
}

func rebuildSorts[T any](r *rebuilder, l *indexedTable[T]) error {
	return eachRecord(r, l.table, func(t *Tx, _ uint64, v *T) error {
		c := l.listFields(t, v)
		return l.updateSorts(t, &indexFields{}, &c)
	})
}

// buildListIndexes makes what schema 3 has more than 2, and fills the indexes of lists.
func buildListIndexes(r *rebuilder) error {
	err := r.update(func(t *Tx) error {
		return errors.Join(t.recreateBuckets(listIndexBuckets()), t.recreateBuckets([][]byte{bucketCounts, bucketStoredResponses, bucketStoredResponseTimes,
			bucketUsers, bucketUserNames, bucketSessions, bucketSessionUsers}))
	})
	if err != nil {
		return err
	}
	for _, remake := range []func() error{
		func() error { return rebuildLists(r, &abstracts, nil) },
		func() error { return rebuildLists(r, &orders, nil) },
		func() error { return rebuildLists(r, &files, nil) },
		r.rebuildEvents,
	} {
		if err := remake(); err != nil {
			return err
		}
	}
	return nil
}

// upgrade brings the file to Schema, and ends a Rebuild that was cut off. What it
// finds on the way is Check's to report.
func (s *Store) upgrade(ctx context.Context) error {
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	r := &rebuilder{ctx: ctx, store: s, report: func(Finding) {}}
	var have uint64
	unfinished := false
	err := s.View(ctx, func(t *Tx) (err error) {
		if have, err = checkSchema(t.tx, s.fingerprint, Schema); err == nil {
			unfinished = t.isRebuilding()
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, m := range migrations {
		if m.build == nil || m.schema <= have || have == 0 { // none: prepare refuses it
			continue
		}
		if err := m.build(r); err != nil {
			return fmt.Errorf("migrate to schema %d: %w", m.schema, err)
		}
	}
	if have == Schema && !unfinished {
		return nil // a disk that fails its writes can be read all the same
	}
	err = s.updateLocked(func(t *Tx) error { return applyMigrations(t.tx, s.fingerprint, Schema, migrations) })
	if err != nil && !errors.Is(err, errUpToDate) {
		return err
	}
	if unfinished {
		return r.rebuildAll()
	}
	return nil
}

// errUpToDate ends the opening transaction without a commit, and so without a sync.
var errUpToDate = errors.New("nothing to migrate")

// checkSchema holds a file against this program: its schema, which it gives, and the
// secret.key it was made with.
func checkSchema(tx *bolt.Tx, fingerprint string, want uint64) (have uint64, err error) {
	meta := tx.Bucket(bucketMeta)
	if meta == nil {
		return 0, fmt.Errorf("%w: it has no meta bucket", errNotVault)
	}
	have, ok := decodeUint64(meta.Get(keySchema))
	switch {
	case !ok:
		return 0, fmt.Errorf("%w: it has no schema", errNotVault)
	case have > want:
		return 0, fmt.Errorf("this vault was written by a newer deedkeep (schema %d; this one knows %d): install that version or a later one", have, want)
	case string(meta.Get(keySecret)) != fingerprint:
		return 0, errors.New("secret.key does not belong to this vault: put back the one that was beside it, every id and link depends on it")
	}
	return have, nil
}

// applyMigrations brings a file that examine has no word against to the schema wanted.
func applyMigrations(tx *bolt.Tx, fingerprint string, want uint64, list []migration) error {
	have, err := checkSchema(tx, fingerprint, want)
	switch {
	case err != nil:
		return err
	case have == want:
		return errUpToDate
	}
	for _, m := range list {
		if m.schema != have+1 {
			continue
		}
		if err := m.run(tx); err != nil {
			return fmt.Errorf("migrate to schema %d: %w", m.schema, err)
		}
		have = m.schema
	}
	if have != want {
		return fmt.Errorf("no way leads from schema %d of this vault to schema %d", have, want)
	}
	return tx.Bucket(bucketMeta).Put(keySchema, encodeUint64(want))
}

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
	{schema: 3, build: buildLists, run: func(tx *bolt.Tx) error {
		counters := tx.Bucket(bucketCounters)
		files, _ := numberOf(counters.Get([]byte(CountFiles))) // absent is zero
		return errors.Join(tx.DeleteBucket([]byte("order_numbers")), counters.Put([]byte(CountFileRecords), number(files)))
	}},
	{schema: 4, run: func(*bolt.Tx) error { return nil }}, // its indexes of sorts are those of 6
	{schema: 5, run: func(tx *bolt.Tx) error {
		_, err := tx.CreateBucket(bucketChanges)
		return err
	}},
	{schema: 6, build: buildSorts, run: func(tx *bolt.Tx) error {
		for _, name := range oldSorts() {
			if err := tx.DeleteBucket(name); err != nil && !errors.Is(err, berrors.ErrBucketNotFound) {
				return err
			}
		}
		return nil
	}},
}

// oldSorts are the indexes of sorts of schemas 4 and 5, which have no times of changes.
func oldSorts() [][]byte { return [][]byte{[]byte("abstract_sorts"), []byte("order_sorts")} }

// buildSorts fills the indexes of sorts, which schemas before 6 have not, or by other names.
func buildSorts(r *rebuilder) error {
	err := r.update(func(t *Tx) error { return t.emptyBuckets(sortIndexes()) })
	if err != nil {
		return err
	}
	if err := sortOut(r, &abstracts); err != nil {
		return err
	}
	return sortOut(r, &orders)
}

func sortOut[T any](r *rebuilder, l *listing[T]) error {
	return remake(r, l.table, func(t *Tx, _ uint64, v *T) error {
		c := l.cardOf(t, v)
		return l.resort(t, &card{}, &c)
	})
}

// buildLists makes what schema 3 has more than 2, and fills the indexes of lists.
func buildLists(r *rebuilder) error {
	err := r.update(func(t *Tx) error {
		return errors.Join(t.emptyBuckets(listIndexes()), t.emptyBuckets([][]byte{bucketCounts, bucketReplays, bucketReplayTimes,
			bucketUsers, bucketUserNames, bucketSessions, bucketSessionUsers}))
	})
	if err != nil {
		return err
	}
	for _, remake := range []func() error{
		func() error { return relist(r, &abstracts, nil) },
		func() error { return relist(r, &orders, nil) },
		func() error { return relist(r, &files, nil) },
		r.events,
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
	s.turn.Lock()
	defer s.turn.Unlock()
	r := &rebuilder{ctx: ctx, s: s, report: func(Finding) {}}
	var have uint64
	unfinished := false
	err := s.View(ctx, func(t *Tx) (err error) {
		if have, err = examine(t.tx, s.fingerprint, Schema); err == nil {
			unfinished = t.rebuilding()
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
	err = s.alone(func(t *Tx) error { return prepare(t.tx, s.fingerprint, Schema, migrations) })
	if err != nil && !errors.Is(err, errNothingToDo) {
		return err
	}
	if unfinished {
		return r.all()
	}
	return nil
}

// errNothingToDo ends the opening transaction without a commit, and so without a sync.
var errNothingToDo = errors.New("nothing to migrate")

// examine holds a file against this program: its schema, which it gives, and the
// secret.key it was made with.
func examine(tx *bolt.Tx, fingerprint string, want uint64) (have uint64, err error) {
	meta := tx.Bucket(bucketMeta)
	if meta == nil {
		return 0, fmt.Errorf("%w: it has no meta bucket", errNoVault)
	}
	have, ok := numberOf(meta.Get(keySchema))
	switch {
	case !ok:
		return 0, fmt.Errorf("%w: it has no schema", errNoVault)
	case have > want:
		return 0, fmt.Errorf("this vault was written by a newer deedkeep (schema %d; this one knows %d): install that version or a later one", have, want)
	case string(meta.Get(keySecret)) != fingerprint:
		return 0, errors.New("secret.key does not belong to this vault: put back the one that was beside it, every id and link depends on it")
	}
	return have, nil
}

// prepare brings a file that examine has no word against to the schema wanted.
func prepare(tx *bolt.Tx, fingerprint string, want uint64, list []migration) error {
	have, err := examine(tx, fingerprint, want)
	switch {
	case err != nil:
		return err
	case have == want:
		return errNothingToDo
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
	return tx.Bucket(bucketMeta).Put(keySchema, number(want))
}

package store

import (
	"context"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"deedkeep/app/model"
)

// Schema is the version of the bucket tree described in doc.go.
const Schema = 12

// migration migrates a file from the previous schema to its own.
type migration struct {
	schema uint64
	// build does the long-running work in separate transactions before the final one. It
	// may write only to buckets that don't exist in the previous schema. If it is
	// interrupted, the file remains valid for the previous schema, and build runs again
	// from the start. It is nil if there is no long-running work.
	build func(*rebuilder) error
	run   func(*bolt.Tx) error
}

// migrations are in schema order. Each one's schema is one higher than that of the previous
// one. The last one's schema is Schema. Each migration has a test with a fixture of the
// previous schema.
var migrations = []migration{
	{schema: 2, run: func(tx *bolt.Tx) error {
		_, err := tx.CreateBucket(bucketFailed)
		return err
	}},
	{schema: 3, build: buildListIndexes, run: func(tx *bolt.Tx) error {
		counters := tx.Bucket(bucketCounters)
		files, _ := decodeUint64(counters.Get([]byte(CountFiles))) // 0 if missing
		return errors.Join(tx.DeleteBucket([]byte("order_numbers")), counters.Put([]byte(CountFileRecords), encodeUint64(files)))
	}},
	{schema: 4, run: func(*bolt.Tx) error { return nil }}, // empty because the migration to schema 6 builds the sort indexes
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
	{schema: 7, run: func(tx *bolt.Tx) error {
		for _, name := range titleBuckets() {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		raw, err := encodeRecord(bucketWorkspace, keyDocumentTypes, model.NewDocumentTypes())
		if err != nil {
			return err
		}
		return tx.Bucket(bucketWorkspace).Put(keyDocumentTypes, raw)
	}},
	{schema: 8, build: buildOCRQueue, run: countOCRQueue},
	{schema: 9, build: buildRunsheetRows, run: func(tx *bolt.Tx) error {
		if err := tx.DeleteBucket(obsoleteInstrumentList); !errors.Is(err, berrors.ErrBucketNotFound) {
			return err
		}
		return nil
	}},
	// Older versions would drop the owner of a file and leave its entry in the OCR queue.
	{schema: 10, run: func(*bolt.Tx) error { return nil }},
	// Older versions would drop the ends of retention periods.
	{schema: 11, run: func(*bolt.Tx) error { return nil }},
	// Older versions would drop what title work added: the text of a consideration, the directions of
	// pages, and accepted findings of a certificate. They would report the time zone as damage.
	{schema: 12, run: renewDocumentTypes},
}

// renewDocumentTypes renames the document types that the firm didn't edit; see model.DocumentTypes.Renew.
func renewDocumentTypes(tx *bolt.Tx) error {
	raw := tx.Bucket(bucketWorkspace).Get(keyDocumentTypes)
	if raw == nil {
		return nil // an integrity check reports it
	}
	var types model.DocumentTypes
	err := decodeRecord(bucketWorkspace, keyDocumentTypes, raw, &types)
	if err != nil {
		return err
	}
	if raw, err = encodeRecord(bucketWorkspace, keyDocumentTypes, types.Renew()); err != nil {
		return err
	}
	return tx.Bucket(bucketWorkspace).Put(keyDocumentTypes, raw)
}

// obsoleteInstrumentList is the bucket of schemas 7 and 8 with the instruments of each abstract. Its
// keys are those of the bucket runsheet_rows.
var obsoleteInstrumentList = []byte("abstract_instruments")

// buildRunsheetRows creates the sort keys of the runsheets, which replace the list of the
// instruments of each abstract. An instrument whose record is damaged keeps its entry, without a
// sort key: otherwise, it would be missing from the runsheet without an error.
func buildRunsheetRows(r *rebuilder) error {
	hasInstruments := false
	err := r.update(func(t *Tx) error {
		hasInstruments = t.bucket(obsoleteInstrumentList) != nil // not before schema 7
		return t.recreateBuckets([][]byte{bucketRunsheetRows})
	})
	if err != nil || !hasInstruments {
		return err
	}
	err = r.eachEntry(obsoleteInstrumentList, func(t *Tx, key, _ []byte) error {
		id, _ := idSuffix(key)
		if _, _, err := instruments.find(t, id); !errors.Is(err, ErrDamaged) {
			return nil
		}
		return putKeyOnly(t.bucket(bucketRunsheetRows), key)
	})
	if err != nil {
		return err
	}
	return eachRecord(r, instruments.table, func(t *Tx, _ uint64, i *model.Instrument) error { return t.putRunsheetRow(i) })
}

// buildOCRQueue creates the OCR queue. All documents that are shown as images are in it, because
// it isn't known yet which of them need OCR.
func buildOCRQueue(r *rebuilder) error {
	err := r.update(func(t *Tx) error { return t.recreateBuckets([][]byte{bucketOCRQueue}) })
	if err != nil {
		return err
	}
	return eachRecord(r, files.table, func(t *Tx, _ uint64, f *model.File) error {
		if !f.WaitsForOCR() {
			return nil
		}
		pages := uint64(f.PagesWaitingForOCR()) // #nosec G115 -- not negative
		return t.bucket(bucketOCRQueue).Put(ocrQueueKey(f), encodeUint64(pages))
	})
}

// countOCRQueue sets the counters of the OCR queue.
func countOCRQueue(tx *bolt.Tx) error {
	var count, pages uint64
	c := tx.Bucket(bucketOCRQueue).Cursor()
	for key, value := c.First(); len(key) > 0 && key[0] == 0; key, value = c.Next() { // without the trash
		n, _ := decodeUint64(value)
		count, pages = count+1, pages+n
	}
	counters := tx.Bucket(bucketCounters)
	return errors.Join(counters.Put([]byte(CountOCRFiles), encodeUint64(count)),
		counters.Put([]byte(CountOCRPages), encodeUint64(pages)))
}

// obsoleteSortBuckets returns the sort indexes of schemas 4 and 5, which don't contain the
// time of the last change.
func obsoleteSortBuckets() [][]byte { return [][]byte{[]byte("abstract_sorts"), []byte("order_sorts")} }

// buildSortIndexes fills the sort indexes of schema 6.
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

// rebuildSorts regenerates the sort index of one table.
func rebuildSorts[T any](r *rebuilder, l *indexedTable[T]) error {
	return eachRecord(r, l.table, func(t *Tx, _ uint64, v *T) error {
		f := l.listFields(t, v)
		return l.updateSorts(t, &indexFields{}, &f)
	})
}

// buildListIndexes creates the buckets that were added in schema 3 and fills the list
// indexes.
func buildListIndexes(r *rebuilder) error {
	err := r.update(func(t *Tx) error {
		return errors.Join(t.recreateBuckets(listIndexBuckets()),
			t.recreateBuckets([][]byte{bucketCounts, bucketStoredResponses, bucketStoredResponseTimes,
				bucketUsers, bucketUserNames, bucketSessions, bucketSessionUsers}))
	})
	if err != nil {
		return err
	}
	for _, rebuild := range []func() error{
		func() error { return rebuildLists(r, &abstracts, nil) },
		func() error { return rebuildLists(r, &orders, nil) },
		func() error { return rebuildLists(r, &files, nil) },
		r.rebuildEvents,
	} {
		if err := rebuild(); err != nil {
			return err
		}
	}
	return nil
}

// upgrade migrates the file to the current schema and completes an interrupted Rebuild. It
// leaves damaged records unchanged, and Check reports them.
func (s *Store) upgrade(ctx context.Context) error {
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	r := &rebuilder{ctx: ctx, store: s, report: func(Finding) {}}
	var current uint64
	unfinished := false
	err := s.View(ctx, func(t *Tx) (err error) {
		if current, err = checkSchema(t.tx, s.fingerprint, Schema); err == nil {
			unfinished = t.isRebuilding()
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, m := range migrations {
		if m.build == nil || m.schema <= current || current == 0 { // applyMigrations rejects schema 0
			continue
		}
		if err := m.build(r); err != nil {
			return fmt.Errorf("migrate to schema %d: %w", m.schema, err)
		}
	}
	if current == Schema && !unfinished {
		return nil // return without a write, so the database can be opened even if writes fail
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

// errUpToDate ends the final transaction of upgrade without a commit, which avoids an
// fsync.
var errUpToDate = errors.New("nothing to migrate")

// checkSchema returns the schema of the file. It returns an error if this version of
// deedkeep doesn't support the schema or if the file belongs to a different secret.key.
func checkSchema(tx *bolt.Tx, fingerprint string, want uint64) (schema uint64, err error) {
	meta := tx.Bucket(bucketMeta)
	if meta == nil {
		return 0, fmt.Errorf("%w: no meta bucket", errNotVault)
	}
	schema, ok := decodeUint64(meta.Get(keySchema))
	switch {
	case !ok:
		return 0, fmt.Errorf("%w: no schema", errNotVault)
	case schema > want:
		return 0, fmt.Errorf("this vault was written by a newer version of deedkeep (schema %d; this version supports up to %d); install that version or a later one",
			schema, want)
	case string(meta.Get(keySecret)) != fingerprint:
		return 0, errors.New("secret.key doesn't belong to this vault; restore the original file (all IDs and links depend on it)")
	}
	return schema, nil
}

// applyMigrations runs the final transaction, which migrates the file to the wanted schema.
func applyMigrations(tx *bolt.Tx, fingerprint string, want uint64, list []migration) error {
	schema, err := checkSchema(tx, fingerprint, want)
	switch {
	case err != nil:
		return err
	case schema == want:
		return errUpToDate
	}
	for _, m := range list {
		if m.schema != schema+1 {
			continue
		}
		if err := m.run(tx); err != nil {
			return fmt.Errorf("migrate to schema %d: %w", m.schema, err)
		}
		schema = m.schema
	}
	if schema != want {
		return fmt.Errorf("this version of deedkeep can't migrate schema %d to schema %d", schema, want)
	}
	return tx.Bucket(bucketMeta).Put(keySchema, encodeUint64(want))
}

package store

import (
	"context"
	"errors"
	"fmt"

	"deedkeep/app/model"
)

// Schema is the version of the bucket tree described in doc.go.
const Schema = 13

// FirstSchema is the oldest schema that can be migrated. No installation has an older one.
const FirstSchema = 9

// lastOldCommit is the last commit of deedkeep that migrates schemas older than FirstSchema.
const lastOldCommit = "61b3838b"

// migration migrates a file from the previous schema to its own.
type migration struct {
	schema uint64
	run    func(*Tx) error
}

// migrations are in schema order. Each one's schema is one higher than that of the previous
// one. The last one's schema is Schema. Each migration has a test with a fixture of the
// previous schema.
var migrations = []migration{
	// Older versions would drop the owner of a file and leave its entry in the OCR queue.
	{schema: 10, run: func(*Tx) error { return nil }},
	// Older versions would drop the ends of retention periods.
	{schema: 11, run: func(*Tx) error { return nil }},
	// Older versions would drop what title work added: the text of a consideration, the directions of
	// pages, and accepted findings of a certificate. They would report the time zone as damage.
	{schema: 12, run: renewDocumentTypes},
	// Older versions would report the notes in the trash as damage, and not purge them with their record.
	{schema: 13, run: moveTrashedNotes},
}

// moveTrashedNotes moves the notes in the trash to their own part of the index of notes by record.
func moveTrashedNotes(t *Tx) (err error) {
	index := t.bucket(bucketRecordNotes)
	notes.each(t, 0, func(_ uint64, n model.Note, damage error) bool {
		if damage != nil || n.Trashed == nil {
			return true // an integrity check reports damage
		}
		live := n
		live.Trashed = nil
		err = errors.Join(index.Delete(noteKey(&live)), putKeyOnly(index, noteKey(&n)))
		return err == nil
	})
	return err
}

// renewDocumentTypes renames the document types that the firm didn't edit; see model.DocumentTypes.Renew.
func renewDocumentTypes(t *Tx) error {
	raw := t.bucket(bucketWorkspace).Get(keyDocumentTypes)
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
	return t.bucket(bucketWorkspace).Put(keyDocumentTypes, raw)
}

// upgrade migrates the file to the current schema and completes an interrupted Rebuild. It
// leaves damaged records unchanged, and Check reports them.
func (s *Store) upgrade(ctx context.Context) error {
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	var current uint64
	unfinished := false
	err := s.View(ctx, func(t *Tx) (err error) {
		if current, err = checkSchema(t, s.fingerprint, Schema); err == nil {
			unfinished = t.isRebuilding()
		}
		return err
	})
	if err != nil {
		return err
	}
	if current == Schema && !unfinished {
		return nil // return without a write, so the database can be opened even if writes fail
	}
	err = s.updateLocked(func(t *Tx) error { return applyMigrations(t, s.fingerprint, Schema, migrations) })
	if err != nil && !errors.Is(err, errUpToDate) {
		return err
	}
	if unfinished {
		return (&rebuilder{ctx: ctx, store: s, report: func(Finding) {}}).rebuildAll()
	}
	return nil
}

// errUpToDate ends the transaction of upgrade without a commit, which avoids an
// fsync.
var errUpToDate = errors.New("nothing to migrate")

// checkSchema returns the schema of the file. It returns an error if this version of
// deedkeep doesn't support the schema or if the file belongs to a different secret.key.
func checkSchema(t *Tx, fingerprint string, want uint64) (schema uint64, err error) {
	if !t.hasBucket(bucketMeta) {
		return 0, fmt.Errorf("%w: no meta bucket", errNotVault)
	}
	meta := t.bucket(bucketMeta)
	schema, ok := decodeUint64(meta.Get(keySchema))
	switch {
	case !ok:
		return 0, fmt.Errorf("%w: no schema", errNotVault)
	case schema > 0 && schema < FirstSchema:
		return 0, fmt.Errorf("this vault has schema %d, which is from before the first version of deedkeep; "+
			"start deedkeep of commit %s with it once, and then this version", schema, lastOldCommit)
	case schema > want:
		return 0, fmt.Errorf("this vault was written by a newer version of deedkeep (schema %d; this version supports up to %d); install that version or a later one",
			schema, want)
	case string(meta.Get(keySecret)) != fingerprint:
		return 0, errors.New("secret.key doesn't belong to this database; restore the original file (all IDs and links depend on it)")
	}
	return schema, nil
}

// applyMigrations migrates the file to the wanted schema.
func applyMigrations(t *Tx, fingerprint string, want uint64, list []migration) error {
	schema, err := checkSchema(t, fingerprint, want)
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
		if err := m.run(t); err != nil {
			return fmt.Errorf("migrate to schema %d: %w", m.schema, err)
		}
		schema = m.schema
	}
	if schema != want {
		return fmt.Errorf("this version of deedkeep can't migrate schema %d to schema %d", schema, want)
	}
	return t.bucket(bucketMeta).Put(keySchema, encodeUint64(want))
}

package store

import (
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// Schema is the version of the bucket tree in doc.go.
const Schema = 2

// migration brings a file of the schema before it to Schema.
type migration struct {
	schema uint64
	run    func(*bolt.Tx) error
}

// migrations are in order, each one schema above the one before, the last equal to
// Schema; every one has a test on a fixture of the schema before it.
var migrations = []migration{
	{2, func(tx *bolt.Tx) error {
		_, err := tx.CreateBucket(bucketFailed)
		return err
	}},
}

// errNothingToDo ends the opening transaction without a commit, and so without a sync.
var errNothingToDo = errors.New("nothing to migrate")

// prepare holds a file against this program: its schema, which the list brings to
// want, and the secret.key it was made with.
func prepare(tx *bolt.Tx, fingerprint string, want uint64, list []migration) error {
	meta := tx.Bucket(bucketMeta)
	if meta == nil {
		return fmt.Errorf("%w: it has no meta bucket", errNoVault)
	}
	have, ok := numberOf(meta.Get(keySchema))
	switch {
	case !ok:
		return fmt.Errorf("%w: it has no schema", errNoVault)
	case have > want:
		return fmt.Errorf("this vault was written by a newer deedkeep (schema %d; this one knows %d): install that version or a later one", have, want)
	case string(meta.Get(keySecret)) != fingerprint:
		return errors.New("secret.key does not belong to this vault: put back the one that was beside it, every id and link depends on it")
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
	return meta.Put(keySchema, number(want))
}

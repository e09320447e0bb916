package store

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"deedkeep/app/kv"
	"deedkeep/app/model"
)

// readError is a panic that ends a transaction in which the database can't be read. RecoverPanic returns err. A missing
// value would be mistaken for a record that doesn't exist.
type readError struct{ err error }

// read returns v. If err isn't nil, it panics with a readError.
func read[T any](v T, err error) T {
	if err != nil {
		panic(readError{err})
	}
	return v
}

// RecoverPanic runs fn and converts a panic, a memory fault, or a readError into an error.
func RecoverPanic(fn func() error) error {
	err := kv.RecoverPanic(fn)
	if p, ok := errors.AsType[*kv.PanicError](err); ok {
		if e, ok := p.Reason.(readError); ok {
			return e.err
		}
	}
	return err
}

// bucket is a bucket in a transaction. Its methods that return no error end the transaction with a readError.
type bucket struct {
	t    *Tx
	name []byte
	kv   kv.Bucket
}

// bucket returns a bucket.
func (t *Tx) bucket(name []byte) *bucket {
	for _, b := range t.buckets {
		if &b.name[0] == &name[0] || bytes.Equal(b.name, name) {
			return b
		}
	}
	b, err := t.tx.Bucket(t.ctx, name)
	if errors.Is(err, kv.ErrNoBucket) {
		err = &kv.DamageError{Message: fmt.Sprintf("the bucket %s is missing", name), Err: err}
	}
	t.buckets = append(t.buckets, &bucket{t, name, read(b, err)})
	return t.buckets[len(t.buckets)-1]
}

// hasBucket reports whether a bucket exists.
func (t *Tx) hasBucket(name []byte) bool {
	_, err := t.tx.Bucket(t.ctx, name)
	if errors.Is(err, kv.ErrNoBucket) {
		return false
	}
	return read(true, err)
}

// value returns the value of a key, or nil if there is none.
func (t *Tx) value(name, key []byte) []byte { return t.bucket(name).Get(key) }

// createBucket creates a bucket.
func (t *Tx) createBucket(name []byte) error {
	if err := t.tx.CreateBucket(t.ctx, name); err != nil {
		return fmt.Errorf("create bucket %s: %w", name, err)
	}
	return nil
}

// deleteBucket deletes a bucket if it exists.
func (t *Tx) deleteBucket(name []byte) error {
	t.buckets = nil
	if err := t.tx.DeleteBucket(t.ctx, name); err != nil && !errors.Is(err, kv.ErrNoBucket) {
		return fmt.Errorf("clear bucket %s: %w", name, err)
	}
	return nil
}

// Get returns the value of a key, or nil if there is none.
func (b *bucket) Get(key []byte) []byte { return read(b.kv.Get(b.t.ctx, key)) }

// Put sets the value of a key.
func (b *bucket) Put(key, value []byte) error { return b.kv.Put(b.t.ctx, key, value) }

// Append is like Put for keys that are usually the last ones of the bucket.
func (b *bucket) Append(key, value []byte) error { return b.kv.Append(b.t.ctx, key, value) }

// Delete removes a key if it exists.
func (b *bucket) Delete(key []byte) error { return b.kv.Delete(b.t.ctx, key) }

// Sequence returns the bucket's number.
func (b *bucket) Sequence() uint64 { return read(b.kv.Sequence(b.t.ctx)) }

// SetSequence sets the bucket's number.
func (b *bucket) SetSequence(n uint64) error { return b.kv.SetSequence(b.t.ctx, n) }

// Cursor returns a cursor before the first key.
func (b *bucket) Cursor() cursor { return cursor{b.t, read(b.kv.Cursor(b.t.ctx, 0))} }

// cursor moves over the keys of a bucket. A key of nil means that there are no more keys.
type cursor struct {
	t  *Tx
	kv kv.Cursor
}

// moved returns the entry that a cursor moved to.
func moved(key, value []byte, err error) (k, v []byte) { return read(key, err), value }

func (c cursor) First() (key, value []byte) { return moved(c.kv.First(c.t.ctx)) }

func (c cursor) Last() (key, value []byte) { return moved(c.kv.Last(c.t.ctx)) }

func (c cursor) Seek(key []byte) (k, value []byte) { return moved(c.kv.Seek(c.t.ctx, key)) }

func (c cursor) Next() (key, value []byte) { return moved(c.kv.Next(c.t.ctx)) }

func (c cursor) Prev() (key, value []byte) { return moved(c.kv.Prev(c.t.ctx)) }

// The buckets of the database. doc.go describes their contents.
var (
	bucketMeta                = []byte("meta")
	bucketCounters            = []byte("counters")
	bucketCounts              = []byte("counts")
	bucketTemplates           = []byte("templates")
	bucketWorkspace           = []byte("workspace")
	bucketFolders             = []byte("folders")
	bucketFolderNames         = []byte("folder_names")
	bucketAbstracts           = []byte("abstracts")
	bucketAbstractIndex       = []byte("abstract_index")
	bucketAbstractSorts       = []byte("abstract_sorted")
	bucketOrders              = []byte("orders")
	bucketOrderIndex          = []byte("order_index")
	bucketOrderSorts          = []byte("order_sorted")
	bucketFiles               = []byte("files")
	bucketFileIndex           = []byte("file_index")
	bucketFileDigests         = []byte("file_digests")
	bucketFailed              = []byte("failed")
	bucketTasks               = []byte("tasks")
	bucketTrash               = []byte("trash")
	bucketStoredResponses     = []byte("replays")
	bucketStoredResponseTimes = []byte("replay_times")
	bucketKeys                = []byte("keys")
	bucketKeyHashes           = []byte("key_hashes")
	bucketUsers               = []byte("users")
	bucketUserNames           = []byte("user_names")
	bucketSessions            = []byte("sessions")
	bucketSessionUsers        = []byte("session_users")
	bucketEvents              = []byte("events")
	bucketEventIndex          = []byte("event_index")
	bucketChanges             = []byte("changes")
	bucketInstruments         = []byte("instruments")
	bucketInstrumentIndex     = []byte("instrument_index")
	bucketInstrumentRefs      = []byte("instrument_refs")
	bucketRunsheetRows        = []byte("runsheet_rows")
	bucketTitleWork           = []byte("title_work")
	bucketOrderAbstracts      = []byte("order_abstracts")
	bucketUserAbstracts       = []byte("user_abstracts")
	bucketNotes               = []byte("notes")
	bucketRecordNotes         = []byte("record_notes")
	bucketOCRQueue            = []byte("ocr_queue")
	bucketViews               = []byte("views")
)

// The keys in the buckets meta and workspace.
var (
	keySchema          = []byte("schema")
	keySecret          = []byte("secret")
	keyCreated         = []byte("created")
	keyVersion         = []byte("version")
	keyRebuilding      = []byte("rebuilding")
	keyGeneration      = []byte("generation")
	keyDefaultTemplate = []byte("default_template")
	keyOrderFields     = []byte("order_fields")
	keyOrderStatuses   = []byte("order_statuses")
	keyDocumentTypes   = []byte("document_types")
	keyTimeZone        = []byte("time_zone") // of older versions; now in keySettings
	keySettings        = []byte("settings")
	keyExample         = []byte("example")
	keyLogo            = []byte("logo")
	keyPatterns        = []byte("patterns")
	keyPhrases         = []byte("phrases")
)

// formatCreated formats the vault's creation time for the meta bucket.
func formatCreated(at time.Time) []byte { return []byte(at.UTC().Format(time.RFC3339)) }

// allBuckets returns the names of all buckets of the current schema.
func allBuckets() [][]byte {
	return append(titleBuckets(),
		bucketMeta, bucketCounters, bucketCounts, bucketTemplates, bucketWorkspace, bucketFolders, bucketFolderNames,
		bucketAbstracts, bucketAbstractIndex, bucketAbstractSorts, bucketOrders, bucketOrderIndex, bucketOrderSorts,
		bucketFiles, bucketFileIndex, bucketFileDigests, bucketFailed, bucketTasks, bucketTrash,
		bucketStoredResponses, bucketStoredResponseTimes, bucketKeys, bucketKeyHashes, bucketUsers, bucketUserNames,
		bucketSessions, bucketSessionUsers, bucketEvents, bucketEventIndex, bucketChanges, bucketOCRQueue, bucketViews)
}

// titleBuckets returns the buckets of title work, which was added in schema 7.
func titleBuckets() [][]byte {
	return [][]byte{bucketInstruments, bucketInstrumentIndex, bucketInstrumentRefs, bucketRunsheetRows, bucketTitleWork,
		bucketOrderAbstracts, bucketUserAbstracts, bucketNotes, bucketRecordNotes}
}

// initialize creates the buckets, workspace, and first audit entry of a new vault.
func initialize(t *Tx, opts Options) error {
	for _, name := range allBuckets() {
		if err := t.createBucket(name); err != nil {
			return err
		}
	}
	now := opts.Now()
	meta := t.bucket(bucketMeta)
	err := errors.Join(
		meta.Put(keySchema, encodeUint64(Schema)),
		meta.Put(keySecret, []byte(opts.Fingerprint)),
		meta.Put(keyCreated, formatCreated(now)),
		t.SetVersion(opts.Version),
		t.PutOrderFields(opts.Workspace.OrderFields),
		t.PutOrderStatuses(opts.Workspace.OrderStatuses),
		t.PutDocumentTypes(opts.Workspace.DocumentTypes),
		t.PutPhrases(opts.Workspace.Phrases))
	if err != nil {
		return err
	}
	for i, template := range opts.Workspace.Templates {
		if template.ID, err = t.NewTemplateID(); err != nil {
			return err
		}
		if err := t.PutTemplate(template); err != nil {
			return err
		}
		if i == 0 {
			if err := t.SetDefaultTemplate(template.ID); err != nil {
				return err
			}
		}
	}
	for _, name := range opts.Workspace.Folders {
		id, err := t.NewFolderID()
		if err != nil {
			return err
		}
		if err := t.PutFolder(model.Folder{ID: id, Name: name}); err != nil {
			return err
		}
	}
	if err := t.AddEvent(model.Event{At: now, Actor: model.SystemActor(), Kind: "vault.created"}); err != nil {
		return err
	}
	return t.flush()
}

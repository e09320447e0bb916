package store

import (
	"errors"
	"fmt"
	"time"

	"deedkeep/app/title"
)

// The buckets of doc.go's picture.
var (
	bucketMeta         = []byte("meta")
	bucketCounters     = []byte("counters")
	bucketTemplates    = []byte("templates")
	bucketWorkspace    = []byte("workspace")
	bucketFolders      = []byte("folders")
	bucketFolderNames  = []byte("folder_names")
	bucketAbstracts    = []byte("abstracts")
	bucketOrders       = []byte("orders")
	bucketOrderNumbers = []byte("order_numbers")
	bucketFiles        = []byte("files")
	bucketFileDigests  = []byte("file_digests")
	bucketFailed       = []byte("failed")
	bucketTasks        = []byte("tasks")
	bucketKeys         = []byte("keys")
	bucketKeyHashes    = []byte("key_hashes")
	bucketEvents       = []byte("events")
)

// The keys of meta and workspace.
var (
	keySchema          = []byte("schema")
	keySecret          = []byte("secret")
	keyCreated         = []byte("created")
	keyGeneration      = []byte("generation")
	keyDefaultTemplate = []byte("default_template")
	keyOrderFields     = []byte("order_fields")
	keyOrderStatuses   = []byte("order_statuses")
)

// Counter names one of the numbers kept with the records.
type Counter string

// The counters.
const (
	CountAbstracts Counter = "abstracts"
	CountOrders    Counter = "orders"
	CountFiles     Counter = "files"
	CountFolders   Counter = "folders"
	CountTasks     Counter = "tasks"
	CountFailed    Counter = "failed"
	CountBytes     Counter = "bytes" // of all files, each counted as often as it is filed
)

func allCounters() []Counter {
	return []Counter{CountAbstracts, CountOrders, CountFiles, CountFolders, CountTasks, CountFailed, CountBytes}
}

func counterKeys() (keys [][]byte) {
	for _, c := range allCounters() {
		keys = append(keys, []byte(c))
	}
	return keys
}

// createdText is the time of the first event as meta keeps it.
func createdText(at time.Time) []byte { return []byte(at.UTC().Format(time.RFC3339)) }

func allBuckets() [][]byte {
	return [][]byte{bucketMeta, bucketCounters, bucketTemplates, bucketWorkspace, bucketFolders, bucketFolderNames,
		bucketAbstracts, bucketOrders, bucketOrderNumbers, bucketFiles, bucketFileDigests, bucketFailed, bucketTasks, bucketKeys,
		bucketKeyHashes, bucketEvents}
}

// found makes the buckets and the workspace of a new vault.
func found(t *Tx, opts Options) error {
	for _, name := range allBuckets() {
		if _, err := t.tx.CreateBucket(name); err != nil {
			return fmt.Errorf("make bucket %s: %w", name, err)
		}
	}
	now := opts.Now()
	meta := t.bucket(bucketMeta)
	err := errors.Join(
		meta.Put(keySchema, number(Schema)),
		meta.Put(keySecret, []byte(opts.Fingerprint)),
		meta.Put(keyCreated, createdText(now)),
		t.PutOrderFields(opts.Workspace.OrderFields),
		t.PutOrderStatuses(opts.Workspace.OrderStatuses))
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
		if err := t.PutFolder(title.Folder{ID: id, Name: name}); err != nil {
			return err
		}
	}
	return t.AddEvent(title.Event{At: now, Actor: title.System(), Kind: "vault.created"})
}

// Count gives a counter's value.
func (t *Tx) Count(c Counter) uint64 {
	n, _ := numberOf(t.bucket(bucketCounters).Get([]byte(c))) // absent is zero
	return n
}

func (t *Tx) add(c Counter, delta int64) error {
	return t.bucket(bucketCounters).Put([]byte(c), number(t.Count(c)+uint64(delta)))
}

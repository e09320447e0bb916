package store

import (
	"errors"
	"time"

	"deedkeep/app/model"
)

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
)

// The keys in the buckets meta and workspace.
var (
	keySchema          = []byte("schema")
	keySecret          = []byte("secret")
	keyCreated         = []byte("created")
	keyRebuilding      = []byte("rebuilding")
	keyGeneration      = []byte("generation")
	keyDefaultTemplate = []byte("default_template")
	keyOrderFields     = []byte("order_fields")
	keyOrderStatuses   = []byte("order_statuses")
	keyDocumentTypes   = []byte("document_types")
	keyTimeZone        = []byte("time_zone")
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
		bucketSessions, bucketSessionUsers, bucketEvents, bucketEventIndex, bucketChanges, bucketOCRQueue)
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
		t.PutOrderFields(opts.Workspace.OrderFields),
		t.PutOrderStatuses(opts.Workspace.OrderStatuses),
		t.PutDocumentTypes(opts.Workspace.DocumentTypes))
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

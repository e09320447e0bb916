package store

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"deedkeep/app/kv"
	"deedkeep/app/model"
)

// Finding is a problem that Check found. Kind is the type of the affected object, and
// Subject is its name or ID.
type Finding struct{ Kind, Subject, Problem string }

// CheckSummary counts what Check examined.
type CheckSummary struct {
	Records, Files, Events int
	Corrupt                bool // the file's structure is damaged, so it must not be written to
}

// maxFindings is the maximum number of findings that are reported. Further findings are
// only counted.
const maxFindings = 10_000

// checker holds the state of one Check.
type checker struct {
	ctx          context.Context
	t            *Tx
	report       func(Finding)
	summary      CheckSummary
	findingCount int
	counts       map[Counter]uint64

	valueCounts     map[valueCountKey]uint64
	expectedEntries map[string]int // expected number of entries per list index
	keyBuf          []byte         // scratch buffer

	fingerprint string
}

// Check verifies the checksums of all records, the consistency of records and indexes, the
// hash chain of the audit log, and the page structure of the file. It calls report for each
// problem. It returns an error only if the check itself fails, not if it finds problems.
func (c *Copy) Check(ctx context.Context, report func(Finding)) (CheckSummary, error) {
	k := &checker{ctx: ctx, report: report, counts: map[Counter]uint64{}, valueCounts: map[valueCountKey]uint64{},
		expectedEntries: map[string]int{}, fingerprint: c.fingerprint}
	err := c.beginCheck(ctx, func(t *Tx, check kv.Check) error {
		readable, err := check.Stored(ctx, func(subject, problem string) {
			k.addFinding("database", subject, "%s", problem)
		})
		k.summary.Corrupt, c.unreadable = !readable, !readable
		if err != nil || !readable {
			return err
		}
		k.t = t
		if walkErr := RecoverPanic(k.checkAll); walkErr != nil && ctx.Err() == nil {
			k.summary.Corrupt = true
			k.addFinding("database", "pages", "%s", describeProblem(walkErr))
			return errWalkFailed
		}
		return ctx.Err()
	})
	if errors.Is(err, errWalkFailed) {
		return k.summary, nil
	}
	if err != nil || c.unreadable {
		return k.summary, err
	}
	err = c.db.CheckOrder(ctx, func(err error) {
		k.summary.Corrupt = true
		k.addFinding("database", "pages", "%v", err)
	})
	return k.summary, beginError(err)
}

// errWalkFailed ends a Check after the failure has been reported as a finding.
var errWalkFailed = errors.New("the records can't be read")

// checkAll runs all checks of records and indexes.
func (k *checker) checkAll() error {
	if k.summary.Corrupt = k.missingBuckets(); k.summary.Corrupt {
		return nil
	}
	k.checkMeta()
	k.checkRecords()
	k.checkIndexes()
	k.checkAllLists()
	k.checkStoredResponses()
	k.checkCounters()
	k.checkValueCounts()
	k.checkChanges()
	return k.ctx.Err()
}

// missingBuckets reports a problem for each bucket that doesn't exist. It returns true if
// there are any.
func (k *checker) missingBuckets() (missing bool) {
	for _, name := range allBuckets() {
		if !k.t.hasBucket(name) {
			k.addFinding("database", string(name), "bucket is missing")
			missing = true
		}
	}
	return missing
}

// checkMeta verifies the entries of the buckets meta, workspace, and counters.
func (k *checker) checkMeta() {
	meta := k.t.bucket(bucketMeta)
	if schema, _ := decodeUint64(meta.Get(keySchema)); schema != Schema {
		k.addFinding("database", string(keySchema), "is %d, expected %d", schema, Schema)
	}
	if string(meta.Get(keySecret)) != k.fingerprint {
		k.addFinding("database", string(keySecret), "doesn't match secret.key in the same folder")
	}
	if first, err := events.get(k.t, 1); err == nil && !bytes.Equal(meta.Get(keyCreated), formatCreated(first.At)) {
		k.addFinding("database", string(keyCreated), "differs from the first event")
	}
	k.checkKeys(bucketMeta, keySchema, keySecret, keyCreated)
	k.checkKeys(bucketWorkspace, keyOrderFields, keyOrderStatuses, keyDocumentTypes, keyDefaultTemplate, keyGeneration, keyTimeZone)
	if _, err := k.t.Generation(); err != nil {
		k.addFinding("workspace", string(keyGeneration), "%v", err)
	}
	if _, err := k.t.TimeZone(); err != nil {
		k.addFinding("workspace", string(keyTimeZone), "%v", err)
	}
	k.checkKeys(bucketCounters, counterKeys()...)
}

// checkKeys reports a problem for each key in a bucket that is not in names.
func (k *checker) checkKeys(bucket []byte, names ...[]byte) {
	c := k.t.bucket(bucket).Cursor()
	for key, _ := c.First(); key != nil; key, _ = c.Next() {
		if !slices.ContainsFunc(names, func(name []byte) bool { return bytes.Equal(name, key) }) {
			k.addFinding("database", string(bucket), "has an unknown entry %q", key)
		}
	}
}

// addFinding reports a problem unless maxFindings have been reported.
func (k *checker) addFinding(kind, subject, format string, args ...any) {
	if k.findingCount++; k.findingCount <= maxFindings {
		k.report(Finding{kind, subject, fmt.Sprintf(format, args...)})
	}
}

// checkRecords verifies every record and its references to other records.
func (k *checker) checkRecords() {
	checkTable(k, templates, func(model.Template) {})
	checkTable(k, folders, k.checkFolder)
	checkTable(k, abstracts.table, k.checkAbstract)
	checkTable(k, orders.table, k.checkOrder)
	checkTable(k, files.table, k.checkFile)
	checkTable(k, tasks, func(task model.ProcessingTask) {
		k.counts[CountTasks]++
		k.checkReference("task", task.Seq, "file", files.has(k.t, task.FileID), task.FileID)
	})
	checkTable(k, keys, k.checkKey)
	checkTable(k, users, k.checkUser)
	k.checkSessions()
	k.checkTitleWork()
	k.checkEvents()
	if _, err := k.t.OrderFields(); err != nil {
		k.addFinding("workspace", "order_fields", "%v", err)
	}
	if _, err := k.t.OrderStatuses(); err != nil {
		k.addFinding("workspace", "order_statuses", "%v", err)
	}
	if id, err := k.t.defaultTemplate(); err != nil {
		k.addFinding("workspace", string(keyDefaultTemplate), "%v", err)
	} else if id != 0 && !templates.has(k.t, id) {
		k.addFinding("workspace", string(keyDefaultTemplate), "refers to template %d, which does not exist", id)
	}
}

// checkTable decodes all records of a table, reports the damaged ones, and calls fn with
// the others. It also verifies that the IDs come from the sequence of the bucket.
func checkTable[T any](k *checker, b table[T], fn func(T)) {
	decodeTable(k, b, fn)
	if last, _ := k.t.bucket(b.bucketName).Cursor().Last(); last != nil {
		if id, ok := decodeUint64(last); ok && id > k.t.bucket(b.bucketName).Sequence() {
			k.addFinding(b.typeName, fmt.Sprint(id), "ID is greater than the last assigned ID")
		}
	}
}

// decodeTable is checkTable for a table whose keys are the IDs of other records.
func decodeTable[T any](k *checker, b table[T], fn func(T)) {
	b.each(k.t, 0, func(id uint64, v T, err error) bool {
		k.summary.Records++
		if err != nil {
			k.addFinding(b.typeName, fmt.Sprint(id), "%v", err)
		} else {
			fn(v)
		}
		return k.ctx.Err() == nil
	})
}

// checkReference reports a problem if exists is false, that is, if a record refers to a
// missing one.
func (k *checker) checkReference(typeName string, id uint64, other string, exists bool, otherID uint64) {
	if !exists {
		k.addFinding(typeName, fmt.Sprint(id), "refers to %s %d, which does not exist", other, otherID)
	}
}

// checkIndexed reports a problem if an index has no entry with this key.
func (k *checker) checkIndexed(typeName string, id uint64, bucket, key []byte) {
	if k.t.bucket(bucket).Get(key) == nil {
		k.addFinding(typeName, fmt.Sprint(id), "is missing from the database index %s", bucket)
	}
}

func (k *checker) checkFolder(f model.Folder) {
	k.counts[CountFolders]++
	k.checkIndexed("folder", f.ID, bucketFolderNames, folderNameKey(f.ParentID, f.Name))
	if f.ParentID != 0 {
		k.checkReference("folder", f.ID, "folder", folders.has(k.t, f.ParentID), f.ParentID)
	}
}

func (k *checker) checkAbstract(a model.Abstract) {
	checkListIndexes(k, &abstracts, a.ID, &a)
	if a.Trashed == nil {
		k.counts[CountAbstracts]++
	}
	if a.TemplateID != 0 {
		k.checkReference("abstract", a.ID, "template", templates.has(k.t, a.TemplateID), a.TemplateID)
	}
	for _, id := range a.Files {
		f, ok, err := files.find(k.t, id)
		if err == nil && ok && f.AbstractID != a.ID {
			k.addFinding("abstract", fmt.Sprint(a.ID), "lists file %d, which belongs to abstract %d", id, f.AbstractID)
		}
		if err == nil && ok && f.Trashed != nil && !trashedWith(&f, a.ID) {
			k.addFinding("abstract", fmt.Sprint(a.ID), "lists file %d, which was deleted separately", id)
		}
		k.checkReference("abstract", a.ID, "file", ok || err != nil, id)
	}
}

func (k *checker) checkOrder(o model.Order) {
	checkListIndexes(k, &orders, o.ID, &o)
	if o.Trashed == nil {
		k.counts[CountOrders]++
	}
}

func (k *checker) checkFile(f model.File) {
	checkListIndexes(k, &files, f.ID, &f)
	k.counts[CountFileRecords]++
	k.summary.Files++
	if f.Trashed == nil {
		k.counts[CountFiles]++
		k.counts[CountBytes] += uint64(f.Size)
		if f.TextPages != nil {
			k.counts[CountTextChecked]++
		}
		if hasNoText(&f) {
			k.counts[CountWithoutText]++
		}
		if f.Failure != "" {
			k.counts[CountFailed]++
			k.checkIndexed("file", f.ID, bucketFailed, encodeUint64(f.ID))
		}
	}
	k.checkOCRQueue(&f)
	if digest, ok := decodeDigest(&f); ok {
		k.checkIndexed("file", f.ID, bucketFileDigests, append(digest, encodeUint64(f.ID)...))
	} else {
		k.addFinding("file", fmt.Sprint(f.ID), "digest is not a valid SHA-256 hash")
	}
	k.checkPlacement(f)
}

// checkPlacement verifies that the folder and the abstract of a file exist. They may be
// missing if the file is in the trash, unless it was deleted together with its abstract.
func (k *checker) checkPlacement(f model.File) {
	with := f.Trashed != nil && f.Trashed.With != ""
	if f.Trashed == nil && f.FolderID != 0 {
		k.checkReference("file", f.ID, "folder", folders.has(k.t, f.FolderID), f.FolderID)
	}
	if with && !trashedWith(&f, f.AbstractID) {
		k.addFinding("file", fmt.Sprint(f.ID), "was deleted with %s, but doesn't belong to it", f.Trashed.With)
	}
	if f.AbstractID == 0 || f.Trashed != nil && !with {
		return
	}
	a, ok, err := abstracts.find(k.t, f.AbstractID)
	k.checkReference("file", f.ID, "abstract", ok || err != nil, f.AbstractID)
	switch {
	case !ok:
	case !slices.Contains(a.Files, f.ID):
		k.addFinding("file", fmt.Sprint(f.ID), "is not listed by abstract %d", a.ID)
	case with != (a.Trashed != nil):
		k.addFinding("file", fmt.Sprint(f.ID), "is listed by abstract %d, but only one of them is in the trash", a.ID)
	}
}

func (k *checker) checkKey(key model.Key) {
	hash, err := hex.DecodeString(key.Hash)
	if err != nil || !bytes.Equal(k.t.bucket(bucketKeyHashes).Get(hash), encodeUint64(key.ID)) {
		k.addFinding("key", fmt.Sprint(key.ID), "is missing from the database index %s", bucketKeyHashes)
	}
}

// checkEvents verifies the hash chain of the audit log.
func (k *checker) checkEvents() {
	chain := model.ChainVerifier{Report: func(f model.ChainDefect) { k.addFinding("event", f.Subject(), "%s: %s", f.Kind, f.Problem) }}
	events.each(k.t, 0, func(seq uint64, e model.Event, err error) bool {
		k.summary.Records++
		chain.Add(seq, e, err)
		if err == nil {
			k.summary.Events++
			checkListIndexes(k, &events, e.Seq, &e)
		}
		return k.ctx.Err() == nil
	})
	chain.Finish(k.t.bucket(bucketEvents).Sequence())
}

// checkIndexes verifies that every entry of the unique indexes matches a record.
func (k *checker) checkIndexes() {
	k.checkEntries(bucketFolderNames, func(key, value []byte) bool {
		id, ok := decodeUint64(value)
		f, err := folders.get(k.t, id)
		return ok && err == nil && bytes.Equal(key, folderNameKey(f.ParentID, f.Name))
	})
	k.checkEntries(bucketFileDigests, func(key, _ []byte) bool {
		id, ok := idSuffix(key)
		f, err := files.get(k.t, id)
		return ok && err == nil && len(key) == 40 && f.Digest == hex.EncodeToString(key[:32])
	})
	k.checkEntries(bucketFailed, func(key, _ []byte) bool {
		id, ok := decodeUint64(key)
		f, err := files.get(k.t, id)
		return ok && err == nil && f.Failure != "" && f.Trashed == nil
	})
	k.checkEntries(bucketOCRQueue, func(key, value []byte) bool {
		_, id := cutOCRQueueKey(key)
		f, err := files.get(k.t, id)
		return err == nil && f.WaitsForOCR() && bytes.Equal(key, ocrQueueKey(&f))
	})
	k.checkEntries(bucketKeyHashes, func(key, value []byte) bool {
		id, ok := decodeUint64(value)
		v, err := keys.get(k.t, id)
		return ok && err == nil && v.Hash == hex.EncodeToString(key)
	})
	k.checkUserIndexes()
	k.checkTitleIndexes()
}

// checkEntries reports a problem for each entry of an index for which matches returns
// false.
func (k *checker) checkEntries(bucket []byte, matches func(key, value []byte) bool) {
	c := k.t.bucket(bucket).Cursor()
	for key, value := c.First(); key != nil && k.ctx.Err() == nil; key, value = c.Next() {
		if !matches(key, value) {
			k.addFinding("index", string(bucket), "entry %x doesn't match a record", key)
		}
	}
}

// idSuffix decodes the ID at the end of a key.
func idSuffix(key []byte) (uint64, bool) {
	if len(key) < 8 {
		return 0, false
	}
	return decodeUint64(key[len(key)-8:])
}

// checkCounters compares the counters with the number of records that were read. If there
// are other findings, it does nothing, because they may be the cause of a difference.
func (k *checker) checkCounters() {
	for _, c := range allCounters() {
		if have := k.t.Count(c); have != k.counts[c] && k.findingCount == 0 {
			k.addFinding("counter", string(c), "is %d, expected %d", have, k.counts[c])
		}
	}
}

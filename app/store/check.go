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

// checkSummary counts what Check examined.
type checkSummary struct {
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
	summary      checkSummary
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
func (c *Copy) Check(ctx context.Context, report func(Finding)) (checkSummary, error) {
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
			k.addFinding("database", "pages", "%s", ProblemText(walkErr))
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
func (ch *checker) checkAll() error {
	if ch.summary.Corrupt = ch.missingBuckets(); ch.summary.Corrupt {
		return nil
	}
	ch.checkMeta()
	ch.checkRecords()
	ch.checkIndexes()
	ch.checkAllLists()
	ch.checkStoredResponses()
	ch.checkCounters()
	ch.checkValueCounts()
	ch.checkChanges()
	return ch.ctx.Err()
}

// missingBuckets reports a problem for each bucket that doesn't exist. It returns true if
// there are any.
func (ch *checker) missingBuckets() (missing bool) {
	for _, name := range allBuckets() {
		if !ch.t.hasBucket(name) {
			ch.addFinding("database", string(name), "bucket is missing")
			missing = true
		}
	}
	return missing
}

// checkMeta verifies the entries of the buckets meta, workspace, and counters.
func (ch *checker) checkMeta() {
	meta := ch.t.bucket(bucketMeta)
	if schema, _ := decodeUint64(meta.Get(keySchema)); schema != Schema {
		ch.addFinding("database", string(keySchema), "is %d, expected %d", schema, Schema)
	}
	if string(meta.Get(keySecret)) != ch.fingerprint {
		ch.addFinding("database", string(keySecret), "doesn't match secret.key in the same folder")
	}
	if first, err := events.get(ch.t, 1); err == nil && !bytes.Equal(meta.Get(keyCreated), formatCreated(first.At)) {
		ch.addFinding("database", string(keyCreated), "differs from the first event")
	}
	ch.checkKeys(bucketMeta, keySchema, keySecret, keyCreated, keyVersion)
	ch.checkKeys(bucketWorkspace, keyOrderFields, keyOrderStatuses, keyDocumentTypes, keyDefaultTemplate, keyGeneration, keyTimeZone,
		keyExample, keySettings, keyLogo, keyPatterns, keyPhrases)
	if _, err := ch.t.Generation(); err != nil {
		ch.addFinding("workspace", string(keyGeneration), "%v", err)
	}
	if _, err := ch.t.Settings(); err != nil {
		ch.addFinding("workspace", string(keySettings), "%v", err)
	}
	if _, err := ch.t.Logo(); err != nil {
		ch.addFinding("workspace", string(keyLogo), "%v", err)
	}
	if _, err := ch.t.Patterns(); err != nil {
		ch.addFinding("workspace", string(keyPatterns), "%v", err)
	}
	if _, err := ch.t.Phrases(); err != nil {
		ch.addFinding("workspace", string(keyPhrases), "%v", err)
	}
	ch.checkKeys(bucketCounters, counterKeys()...)
}

// checkKeys reports a problem for each key in a bucket that is not in names.
func (ch *checker) checkKeys(bucket []byte, names ...[]byte) {
	c := ch.t.bucket(bucket).Cursor()
	for key, _ := c.First(); key != nil; key, _ = c.Next() {
		if !slices.ContainsFunc(names, func(name []byte) bool { return bytes.Equal(name, key) }) {
			ch.addFinding("database", string(bucket), "has an unknown entry %q", key)
		}
	}
}

// addFinding reports a problem unless maxFindings have been reported.
func (ch *checker) addFinding(kind, subject, format string, args ...any) {
	if ch.findingCount++; ch.findingCount <= maxFindings {
		ch.report(Finding{kind, subject, fmt.Sprintf(format, args...)})
	}
}

// checkRecords verifies every record and its references to other records.
func (ch *checker) checkRecords() {
	checkTable(ch, templates, func(model.Template) {})
	checkTable(ch, folders, ch.checkFolder)
	checkTable(ch, abstracts.table, ch.checkAbstract)
	checkTable(ch, orders.table, ch.checkOrder)
	checkTable(ch, files.table, ch.checkFile)
	checkTable(ch, tasks, func(task model.ProcessingTask) {
		ch.counts[CountTasks]++
		ch.checkReference("task", task.Seq, "file", files.has(ch.t, task.FileID), task.FileID)
	})
	checkTable(ch, keys, ch.checkKey)
	checkTable(ch, users, ch.checkUser)
	checkTable(ch, views, func(model.View) {})
	ch.checkSessions()
	ch.checkTitleWork()
	ch.checkEvents()
	if _, err := ch.t.OrderFields(); err != nil {
		ch.addFinding("workspace", "order_fields", "%v", err)
	}
	if _, err := ch.t.OrderStatuses(); err != nil {
		ch.addFinding("workspace", "order_statuses", "%v", err)
	}
	if id, err := ch.t.defaultTemplate(); err != nil {
		ch.addFinding("workspace", string(keyDefaultTemplate), "%v", err)
	} else if id != 0 && !templates.has(ch.t, id) {
		ch.addFinding("workspace", string(keyDefaultTemplate), "refers to template %d, which does not exist", id)
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
func (ch *checker) checkReference(typeName string, id uint64, other string, exists bool, otherID uint64) {
	if !exists {
		ch.addFinding(typeName, fmt.Sprint(id), "refers to %s %d, which does not exist", other, otherID)
	}
}

// checkIndexed reports a problem if an index has no entry with this key.
func (ch *checker) checkIndexed(typeName string, id uint64, bucket, key []byte) {
	if ch.t.bucket(bucket).Get(key) == nil {
		ch.addFinding(typeName, fmt.Sprint(id), "is missing from the database index %s", bucket)
	}
}

func (ch *checker) checkFolder(f model.Folder) {
	ch.counts[CountFolders]++
	ch.checkIndexed("folder", f.ID, bucketFolderNames, folderNameKey(f.ParentID, f.Name))
	if f.ParentID != 0 {
		ch.checkReference("folder", f.ID, "folder", folders.has(ch.t, f.ParentID), f.ParentID)
	}
}

func (ch *checker) checkAbstract(a model.Abstract) {
	checkListIndexes(ch, &abstracts, a.ID, &a)
	if a.Trashed == nil {
		ch.counts[CountAbstracts]++
	}
	if a.TemplateID != 0 {
		ch.checkReference("abstract", a.ID, "template", templates.has(ch.t, a.TemplateID), a.TemplateID)
	}
	for _, id := range a.Files {
		f, ok, err := files.find(ch.t, id)
		if err == nil && ok && f.AbstractID != a.ID {
			ch.addFinding("abstract", fmt.Sprint(a.ID), "lists file %d, which belongs to abstract %d", id, f.AbstractID)
		}
		if err == nil && ok && f.Trashed != nil && !trashedWith(&f, a.ID) {
			ch.addFinding("abstract", fmt.Sprint(a.ID), "lists file %d, which was deleted separately", id)
		}
		ch.checkReference("abstract", a.ID, "file", ok || err != nil, id)
	}
}

func (ch *checker) checkOrder(o model.Order) {
	checkListIndexes(ch, &orders, o.ID, &o)
	if o.Trashed == nil {
		ch.counts[CountOrders]++
	}
}

func (ch *checker) checkFile(f model.File) {
	checkListIndexes(ch, &files, f.ID, &f)
	ch.counts[CountFileRecords]++
	ch.summary.Files++
	if f.Trashed == nil {
		ch.counts[CountFiles]++
		ch.counts[CountBytes] += uint64(f.Size)
		if f.TextPages != nil {
			ch.counts[CountTextChecked]++
		}
		if hasNoText(&f) {
			ch.counts[CountWithoutText]++
		}
		if f.Failure != "" {
			ch.counts[CountFailed]++
			ch.checkIndexed("file", f.ID, bucketFailed, encodeUint64(f.ID))
		}
	}
	ch.checkOCRQueue(&f)
	if digest, ok := decodeDigest(&f); ok {
		ch.checkIndexed("file", f.ID, bucketFileDigests, append(digest, encodeUint64(f.ID)...))
	} else {
		ch.addFinding("file", fmt.Sprint(f.ID), "digest is not a valid SHA-256 hash")
	}
	ch.checkPlacement(f)
}

// checkPlacement verifies that the folder and the abstract of a file exist. They may be
// missing if the file is in the trash, unless it was deleted together with its abstract.
func (ch *checker) checkPlacement(f model.File) {
	with := f.Trashed != nil && f.Trashed.With != ""
	if f.Trashed == nil && f.FolderID != 0 {
		ch.checkReference("file", f.ID, "folder", folders.has(ch.t, f.FolderID), f.FolderID)
	}
	if with && !trashedWith(&f, f.AbstractID) {
		ch.addFinding("file", fmt.Sprint(f.ID), "was deleted with %s, but doesn't belong to it", f.Trashed.With)
	}
	if f.AbstractID == 0 || f.Trashed != nil && !with {
		return
	}
	a, ok, err := abstracts.find(ch.t, f.AbstractID)
	ch.checkReference("file", f.ID, "abstract", ok || err != nil, f.AbstractID)
	switch {
	case !ok:
	case !slices.Contains(a.Files, f.ID):
		ch.addFinding("file", fmt.Sprint(f.ID), "is not listed by abstract %d", a.ID)
	case with != (a.Trashed != nil):
		ch.addFinding("file", fmt.Sprint(f.ID), "is listed by abstract %d, but only one of them is in the trash", a.ID)
	}
}

func (ch *checker) checkKey(key model.Key) {
	hash, err := hex.DecodeString(key.Hash)
	if err != nil || !bytes.Equal(ch.t.bucket(bucketKeyHashes).Get(hash), encodeUint64(key.ID)) {
		ch.addFinding("key", fmt.Sprint(key.ID), "is missing from the database index %s", bucketKeyHashes)
	}
}

// checkEvents verifies the hash chain of the audit log.
func (ch *checker) checkEvents() {
	chain := model.ChainVerifier{Report: func(f model.ChainDefect) { ch.addFinding("event", f.Subject(), "%s: %s", f.Kind, f.Problem) }}
	events.each(ch.t, 0, func(seq uint64, e model.Event, err error) bool {
		ch.summary.Records++
		chain.Add(seq, e, err)
		if err == nil {
			ch.summary.Events++
			checkListIndexes(ch, &events, e.Seq, &e)
		}
		return ch.ctx.Err() == nil
	})
	chain.Finish(ch.t.bucket(bucketEvents).Sequence())
}

// checkIndexes verifies that every entry of the unique indexes matches a record.
func (ch *checker) checkIndexes() {
	ch.checkEntries(bucketFolderNames, func(key, value []byte) bool {
		id, ok := decodeUint64(value)
		f, err := folders.get(ch.t, id)
		return ok && err == nil && bytes.Equal(key, folderNameKey(f.ParentID, f.Name))
	})
	ch.checkEntries(bucketFileDigests, func(key, _ []byte) bool {
		id, ok := idSuffix(key)
		f, err := files.get(ch.t, id)
		return ok && err == nil && len(key) == 40 && f.Digest == hex.EncodeToString(key[:32])
	})
	ch.checkEntries(bucketFailed, func(key, _ []byte) bool {
		id, ok := decodeUint64(key)
		f, err := files.get(ch.t, id)
		return ok && err == nil && f.Failure != "" && f.Trashed == nil
	})
	ch.checkEntries(bucketOCRQueue, func(key, value []byte) bool {
		_, id := cutOCRQueueKey(key)
		f, err := files.get(ch.t, id)
		return err == nil && f.WaitsForOCR() && bytes.Equal(key, ocrQueueKey(&f))
	})
	ch.checkEntries(bucketKeyHashes, func(key, value []byte) bool {
		id, ok := decodeUint64(value)
		v, err := keys.get(ch.t, id)
		return ok && err == nil && v.Hash == hex.EncodeToString(key)
	})
	ch.checkUserIndexes()
	ch.checkTitleIndexes()
}

// checkEntries reports a problem for each entry of an index for which matches returns
// false.
func (ch *checker) checkEntries(bucket []byte, matches func(key, value []byte) bool) {
	c := ch.t.bucket(bucket).Cursor()
	for key, value := c.First(); key != nil && ch.ctx.Err() == nil; key, value = c.Next() {
		if !matches(key, value) {
			ch.addFinding("index", string(bucket), "entry %x doesn't match a record", key)
		}
	}
}

// checkCounters compares the counters with the number of records that were read. If there
// are other findings, it does nothing, because they may be the cause of a difference.
func (ch *checker) checkCounters() {
	for _, c := range allCounters() {
		if have := ch.t.Count(c); have != ch.counts[c] && ch.findingCount == 0 {
			ch.addFinding("counter", string(c), "is %d, expected %d", have, ch.counts[c])
		}
	}
}

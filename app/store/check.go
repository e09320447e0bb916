package store

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"deedkeep/app/model"
)

// Finding is one thing that does not hold: what kind of thing it is about, which
// one, and what is wrong with it.
type Finding struct{ Kind, Subject, Problem string }

// CheckSummary is what a Check went through.
type CheckSummary struct {
	Records, Files, Events int
	Corrupt                bool // the file itself is damaged: nothing must write to it
}

const mostFindings = 10_000

// checker gathers the findings of one Check.
type checker struct {
	ctx    context.Context
	t      *Tx
	report func(Finding)
	census CheckSummary
	told   int
	counts map[Counter]uint64

	tallies    map[tallied]uint64
	entriesDue map[string]int // of each index of lists
	key        []byte         // room for one

	fingerprint string
}

// Check holds every record and index of the copy against its checksum and each
// other, the event chain against its hashes, and the file's pages against bbolt's
// own rules. The error is about the check, never about what it found.
func (c *Copy) Check(ctx context.Context, report func(Finding)) (CheckSummary, error) {
	k := &checker{ctx: ctx, report: report, counts: map[Counter]uint64{}, tallies: map[tallied]uint64{}, entriesDue: map[string]int{}, fingerprint: c.fingerprint}
	err := c.moment(ctx, func(t *Tx, file io.ReaderAt, length int64) error {
		// First: nothing else may walk a file whose pages are broken.
		sound, err := checkPages(file, length, func(subject, problem string) {
			k.find("database", subject, "%s", problem)
		})
		k.census.Corrupt, c.broken = !sound, !sound
		if err != nil || !sound {
			return err
		}
		k.t = t
		if walked := guarded(k.all); walked != nil && ctx.Err() == nil {
			k.census.Corrupt = true
			k.find("database", "pages", "%s", problem(walked))
			return errWalked
		}
		return ctx.Err()
	})
	if errors.Is(err, errWalked) {
		return k.census, nil
	}
	if err != nil || c.broken {
		return k.census, err
	}
	err = c.structure(func(err error) {
		k.census.Corrupt = true
		k.find("database", "pages", "%v", err)
	})
	return k.census, err
}

// errWalked ends a Check whose finding says why.
var errWalked = errors.New("the records could not be walked")

// all walks everything that is in the file.
func (k *checker) all() error {
	if k.census.Corrupt = k.missing(); k.census.Corrupt {
		return nil
	}
	k.meta()
	k.records()
	k.indexes()
	k.lists()
	k.replays()
	k.counters()
	k.tallied()
	k.changes()
	return k.ctx.Err()
}

func (k *checker) missing() (missing bool) {
	for _, name := range allBuckets() {
		if k.t.bucket(name) == nil {
			k.find("database", string(name), "the bucket is missing")
			missing = true
		}
	}
	return missing
}

// meta holds what the store itself wrote against what is known from elsewhere.
func (k *checker) meta() {
	meta := k.t.bucket(bucketMeta)
	if schema, _ := numberOf(meta.Get(keySchema)); schema != Schema {
		k.find("database", string(keySchema), "says %d, this is %d", schema, Schema)
	}
	if string(meta.Get(keySecret)) != k.fingerprint {
		k.find("database", string(keySecret), "is not that of the secret.key beside it")
	}
	if first, err := events.get(k.t, 1); err == nil && !bytes.Equal(meta.Get(keyCreated), createdText(first.At)) {
		k.find("database", string(keyCreated), "differs from the first event")
	}
	k.known(bucketMeta, keySchema, keySecret, keyCreated)
	k.known(bucketWorkspace, keyOrderFields, keyOrderStatuses, keyDefaultTemplate, keyGeneration)
	if _, err := k.t.Generation(); err != nil {
		k.find("workspace", string(keyGeneration), "%v", err)
	}
	k.known(bucketCounters, counterKeys()...)
}

func (k *checker) known(bucket []byte, names ...[]byte) {
	c := k.t.bucket(bucket).Cursor()
	for key, _ := c.First(); key != nil; key, _ = c.Next() {
		if !slices.ContainsFunc(names, func(name []byte) bool { return bytes.Equal(name, key) }) {
			k.find("database", string(bucket), "has an entry %q that nothing here wrote", key)
		}
	}
}

func (k *checker) find(kind, subject, format string, args ...any) {
	if k.told++; k.told <= mostFindings {
		k.report(Finding{kind, subject, fmt.Sprintf(format, args...)})
	}
}

// records walks all there are, each with what it says of others.
func (k *checker) records() {
	walk(k, templates, func(model.Template) {})
	walk(k, folders, k.folder)
	walk(k, abstracts.table, k.abstract)
	walk(k, orders.table, k.order)
	walk(k, files.table, k.file)
	walk(k, tasks, func(task model.Task) {
		k.counts[CountTasks]++
		k.reference("task", task.Seq, "file", files.has(k.t, task.FileID), task.FileID)
	})
	walk(k, keys, k.apiKey)
	walk(k, users, k.user)
	k.sessions()
	k.chain()
	if _, err := k.t.OrderFields(); err != nil {
		k.find("workspace", "order_fields", "%v", err)
	}
	if _, err := k.t.OrderStatuses(); err != nil {
		k.find("workspace", "order_statuses", "%v", err)
	}
	if id, err := k.t.defaultTemplate(); err != nil {
		k.find("workspace", string(keyDefaultTemplate), "%v", err)
	} else if id != 0 && !templates.has(k.t, id) {
		k.find("workspace", string(keyDefaultTemplate), "names template %d, which is missing", id)
	}
}

func walk[T any](k *checker, b table[T], fn func(T)) {
	b.each(k.t, 0, func(id uint64, v T, err error) bool {
		k.census.Records++
		if err != nil {
			k.find(b.noun, fmt.Sprint(id), "%v", err)
		} else {
			fn(v)
		}
		return k.ctx.Err() == nil
	})
	if last, _ := k.t.bucket(b.name).Cursor().Last(); last != nil {
		if id, ok := numberOf(last); ok && id > k.t.bucket(b.name).Sequence() {
			k.find(b.noun, fmt.Sprint(id), "its number is above the sequence of its bucket")
		}
	}
}

func (k *checker) reference(noun string, id uint64, other string, there bool, otherID uint64) {
	if !there {
		k.find(noun, fmt.Sprint(id), "names %s %d, which is missing", other, otherID)
	}
}

func (k *checker) indexed(noun string, id uint64, bucket, key []byte) {
	if k.t.bucket(bucket).Get(key) == nil {
		k.find(noun, fmt.Sprint(id), "is missing in the index %s", bucket)
	}
}

func (k *checker) folder(f model.Folder) {
	k.counts[CountFolders]++
	k.indexed("folder", f.ID, bucketFolderNames, folderNameKey(f.ParentID, f.Name))
	if f.ParentID != 0 {
		k.reference("folder", f.ID, "folder", folders.has(k.t, f.ParentID), f.ParentID)
	}
}

func (k *checker) abstract(a model.Abstract) {
	checkListed(k, &abstracts, a.ID, &a)
	if a.Trashed == nil {
		k.counts[CountAbstracts]++
	}
	if a.TemplateID != 0 {
		k.reference("abstract", a.ID, "template", templates.has(k.t, a.TemplateID), a.TemplateID)
	}
	for _, id := range a.Files {
		f, ok, err := files.find(k.t, id)
		if err == nil && ok && f.AbstractID != a.ID {
			k.find("abstract", fmt.Sprint(a.ID), "lists file %d, which belongs to abstract %d", id, f.AbstractID)
		}
		if err == nil && ok && f.Trashed != nil && !goesWith(&f, a.ID) {
			k.find("abstract", fmt.Sprint(a.ID), "lists file %d, which is in the trash by itself", id)
		}
		k.reference("abstract", a.ID, "file", ok || err != nil, id)
	}
}

func (k *checker) order(o model.Order) {
	checkListed(k, &orders, o.ID, &o)
	if o.Trashed == nil {
		k.counts[CountOrders]++
	}
}

func (k *checker) file(f model.File) {
	checkListed(k, &files, f.ID, &f)
	k.counts[CountFileRecords]++
	k.census.Files++
	if f.Trashed == nil {
		k.counts[CountFiles]++
		k.counts[CountBytes] += uint64(f.Size)
		if f.TextPages != nil {
			k.counts[CountTextChecked]++
		}
		if textless(&f) {
			k.counts[CountWithoutText]++
		}
		if f.Failure != "" {
			k.counts[CountFailed]++
			k.indexed("file", f.ID, bucketFailed, number(f.ID))
		}
	}
	if digest, ok := digestOf(&f); ok {
		k.indexed("file", f.ID, bucketFileDigests, append(digest, number(f.ID)...))
	} else {
		k.find("file", fmt.Sprint(f.ID), "its digest is no SHA-256")
	}
	k.placed(f)
}

// placed holds a file against where it says that it is. One in the trash may name
// places that are gone, unless it is there along with its abstract.
func (k *checker) placed(f model.File) {
	with := f.Trashed != nil && f.Trashed.With != ""
	if f.Trashed == nil && f.FolderID != 0 {
		k.reference("file", f.ID, "folder", folders.has(k.t, f.FolderID), f.FolderID)
	}
	if with && !goesWith(&f, f.AbstractID) {
		k.find("file", fmt.Sprint(f.ID), "is in the trash with %s, and is no document of it", f.Trashed.With)
	}
	if f.AbstractID == 0 || f.Trashed != nil && !with {
		return
	}
	a, ok, err := abstracts.find(k.t, f.AbstractID)
	k.reference("file", f.ID, "abstract", ok || err != nil, f.AbstractID)
	switch {
	case !ok:
	case !slices.Contains(a.Files, f.ID):
		k.find("file", fmt.Sprint(f.ID), "is not listed by abstract %d", a.ID)
	case with != (a.Trashed != nil):
		k.find("file", fmt.Sprint(f.ID), "and abstract %d that lists it are not in the trash together", a.ID)
	}
}

func (k *checker) apiKey(key model.Key) {
	hash, err := hex.DecodeString(key.Hash)
	if err != nil || !bytes.Equal(k.t.bucket(bucketKeyHashes).Get(hash), number(key.ID)) {
		k.find("key", fmt.Sprint(key.ID), "is missing in the index %s", bucketKeyHashes)
	}
}

// chain holds each event against the one before it.
func (k *checker) chain() {
	chain := model.Chain{Find: func(f model.Flaw) { k.find("event", f.Subject(), "%s: %s", f.Kind, f.Problem) }}
	events.each(k.t, 0, func(seq uint64, e model.Event, err error) bool {
		k.census.Records++
		chain.Add(seq, e, err)
		if err == nil {
			k.census.Events++
			checkListed(k, &events, e.Seq, &e)
		}
		return k.ctx.Err() == nil
	})
	chain.End(k.t.bucket(bucketEvents).Sequence())
}

// indexes holds every entry against the record that it names.
func (k *checker) indexes() {
	k.entries(bucketFolderNames, func(key, value []byte) bool {
		id, ok := numberOf(value)
		f, err := folders.get(k.t, id)
		return ok && err == nil && bytes.Equal(key, folderNameKey(f.ParentID, f.Name))
	})
	k.entries(bucketFileDigests, func(key, _ []byte) bool {
		id, ok := tail(key)
		f, err := files.get(k.t, id)
		return ok && err == nil && len(key) == 40 && f.Digest == hex.EncodeToString(key[:32])
	})
	k.entries(bucketFailed, func(key, _ []byte) bool {
		id, ok := numberOf(key)
		f, err := files.get(k.t, id)
		return ok && err == nil && f.Failure != "" && f.Trashed == nil
	})
	k.entries(bucketKeyHashes, func(key, value []byte) bool {
		id, ok := numberOf(value)
		v, err := keys.get(k.t, id)
		return ok && err == nil && v.Hash == hex.EncodeToString(key)
	})
	k.userIndexes()
}

func (k *checker) entries(bucket []byte, holds func(key, value []byte) bool) {
	c := k.t.bucket(bucket).Cursor()
	for key, value := c.First(); key != nil && k.ctx.Err() == nil; key, value = c.Next() {
		if !holds(key, value) {
			k.find("index", string(bucket), "entry %x names no record that agrees with it", key)
		}
	}
}

func tail(key []byte) (uint64, bool) {
	if len(key) < 8 {
		return 0, false
	}
	return numberOf(key[len(key)-8:])
}

func (k *checker) counters() {
	for _, c := range allCounters() {
		if have := k.t.Count(c); have != k.counts[c] && k.told == 0 {
			k.find("counter", string(c), "says %d, there are %d", have, k.counts[c])
		}
	}
}

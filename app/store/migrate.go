package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"deedkeep/app/durable"
	"deedkeep/app/errs"
	"deedkeep/app/kv/boltkv/pagecache"
	"deedkeep/app/model"
)

// Schema is the version of the bucket tree described in doc.go.
const Schema = 16

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
	// Older versions would report the version of the program as damage.
	{schema: 14, run: func(*Tx) error { return nil }},
	// Older versions would drop the assignee of an order and report its entry in the list index as damage.
	{schema: 15, run: func(*Tx) error { return nil }},
	// The views of lists have a bucket of their own.
	{schema: 16, run: createViews},
}

// createViews creates the bucket of the views of lists.
func createViews(t *Tx) error {
	if t.hasBucket(bucketViews) {
		return nil
	}
	return t.createBucket(bucketViews)
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
func (s *Store) upgrade(ctx context.Context, opts Options) error {
	var current uint64
	unfinished := false
	err := s.View(ctx, func(t *Tx) (err error) {
		current, err = checkSchema(t, s.fingerprint, Schema)
		unfinished = err == nil && t.isRebuilding()
		return err
	})
	if err == nil && current != Schema {
		err = s.migrate(ctx, current, opts)
	}
	if err != nil || !unfinished {
		return err // return without a write if there is nothing to do, so the database can be opened even if writes fail
	}
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	return (&rebuilder{ctx: ctx, store: s, report: func(Finding) {}}).rebuildAll()
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
		return 0, fmt.Errorf("this vault was written by a newer version of deedkeep (schema %d; this version supports up to %d); "+
			`install that version or a later one, or go back to the data from before the upgrade with "deedkeep rollback"`, schema, want)
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

// Upgrade says how Open migrates a database that has an older schema. With Copy, Open first writes the state before
// the migration to a file beside the database and checks it. Only a migration with a newer Copy removes that file.
type Upgrade struct {
	Copy      bool
	Reserve   uint64                           // bytes that the copy must leave free
	FreeSpace func(dir string) (uint64, error) // free bytes of the disk of a directory
	Log       *slog.Logger
	// Backup is called before the migration and returns the name of the backup that it has created, or "". It can read
	// the store, which rejects updates until Open returns. It may be nil.
	Backup func(ctx context.Context, s *Store, from Description) string
}

// ErrOldSchema is wrapped by Open's error if the database has to be migrated first.
var ErrOldSchema = errors.New("the database has an older schema")

// Names of files beside the database. The version that follows is the one from before the upgrade for CopySuffix, and
// the new one for UpgradedSuffix.
const (
	CopySuffix     = ".before-" // complete, checked copy from before an upgrade
	UpgradedSuffix = ".after-"  // upgraded database that a copy has replaced
)

// Description says what state a database of any schema is in.
type Description struct {
	Schema     uint64
	Version    string // version of deedkeep that created or migrated it, or whose server last used it; "" if unknown
	LastEvent  uint64 // sequence number of the newest audit log entry
	Generation string // see Tx.Generation; "" also if it can't be read
}

// Label returns the version without its leading "v", or the schema if the version is unknown. It consists of
// characters that file names may contain.
func (d Description) Label() string {
	if d.Version == "" {
		return fmt.Sprint("schema-", d.Schema)
	}
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(".-_", r)) {
			return r
		}
		return '-'
	}, strings.TrimPrefix(d.Version, "v"))
}

// describe reads what schemas have in common.
func describe(t *Tx) (d Description, err error) {
	if !t.hasBucket(bucketMeta) {
		return d, fmt.Errorf("%w: no meta bucket", errNotVault)
	}
	meta := t.bucket(bucketMeta)
	d.Schema, _ = decodeUint64(meta.Get(keySchema))
	d.Version = string(meta.Get(keyVersion))
	if t.hasBucket(bucketEvents) {
		key, _ := t.bucket(bucketEvents).Cursor().Last()
		d.LastEvent, _ = decodeUint64(key)
	}
	if t.hasBucket(bucketWorkspace) {
		d.Generation, _ = t.Generation()
	}
	return d, nil
}

// SetVersion stores the version of deedkeep unless it is "".
func (t *Tx) SetVersion(version string) error {
	if version == "" {
		return nil
	}
	return t.bucket(bucketMeta).Put(keyVersion, []byte(version))
}

// migrate migrates the file from an older schema. It returns ErrOldSchema if opts has no Upgrade. If it is interrupted,
// the file is unchanged, and the next Open starts from the beginning.
func (s *Store) migrate(ctx context.Context, schema uint64, opts Options) error {
	up := opts.Upgrade
	if up == nil {
		return &errs.Error{Kind: errs.Conflict, Err: ErrOldSchema, Message: fmt.Sprintf("this vault is from an older version of deedkeep "+
			"(schema %d; this version has %d), and only the server upgrades it; start the server, or use the older version", schema, Schema)}
	}
	s.mu.Lock()
	err := s.checkWritable()
	s.mu.Unlock()
	if err != nil {
		return err
	}
	var from Description
	if err := s.View(ctx, func(t *Tx) (err error) { from, err = describe(t); return err }); err != nil {
		return err
	}
	detail := map[string]string{"from": from.Label(), "to": Description{Version: opts.Version, Schema: Schema}.Label()}
	if up.Copy {
		detail["copy"], err = s.keepCopy(ctx, from, up)
	} else {
		detail["copy"] = "none"
		up.Log.Warn("the database is upgraded without keeping a copy", "from", from.Label())
	}
	if err == nil && up.Backup != nil {
		s.Fail(errUpgrading) // there is no writer yet, so an update would wait forever
		if snapshot := up.Backup(ctx, s, from); snapshot != "" {
			detail["backup"] = snapshot
		}
		s.mu.Lock()
		s.failure = nil
		s.mu.Unlock()
	}
	if err := errors.Join(err, ctx.Err()); err != nil {
		return err
	}
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	err = s.updateLocked(func(t *Tx) error {
		if err := applyMigrations(t, s.fingerprint, Schema, migrations); err != nil {
			return err
		}
		if _, err := t.LastEvent(); err != nil {
			return t.SetVersion(opts.Version) // the log is damaged, and an integrity check reports it
		}
		return errors.Join(t.SetVersion(opts.Version),
			t.AddEvent(model.Event{At: opts.Now(), Actor: model.SystemActor(), Kind: "vault.upgraded", Detail: detail}))
	})
	if err == nil {
		up.Log.Info("database upgraded", "from", from.Label(), "schema_before", from.Schema, "schema", Schema)
	}
	return err
}

var errUpgrading = errors.New("the database is being upgraded")

// keepCopy writes the copy of the database that an upgrade keeps, and removes those of earlier upgrades. It returns
// the name of the copy. Until that is complete, checked, and durable, an earlier copy remains.
func (s *Store) keepCopy(ctx context.Context, from Description, up *Upgrade) (name string, err error) {
	s.db.RemoveUnfinished() // what an interrupted upgrade left behind
	path := s.db.Path()
	if err := s.checkSpaceForCopy(up); err != nil {
		return "", err
	}
	started, target := time.Now(), path+CopySuffix+from.Label()
	up.Log.Info("copying the database before the upgrade", "copy", target, "bytes", s.Size())
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+unfinishedCopy)
	if err != nil {
		return "", fmt.Errorf("copy the database: %w", err)
	}
	err = s.writeCopy(ctx, file)
	if err == nil {
		err = CheckFile(ctx, file.Name(), s.fingerprint)
	}
	if err == nil {
		err = durable.Rename(file.Name(), target)
	}
	if err != nil {
		if durable.IsFullWrite(err) {
			err = &errs.Error{Kind: errs.InsufficientStorage, Err: err,
				Message: copyHint("The disk became full while the server copied the database.")}
		}
		return "", errors.Join(fmt.Errorf("copy the database before the upgrade: %w", err), os.Remove(file.Name()))
	}
	if err := durable.SyncDir(filepath.Dir(path)); err != nil {
		return "", err
	}
	up.Log.Info("database copied and checked", "copy", target, "took", time.Since(started).Round(time.Millisecond).String())
	for _, old := range UpgradeFiles(path) {
		if old != target {
			_ = os.Remove(old) // the next upgrade removes what remains, for example because it is open on Windows
		}
	}
	return filepath.Base(target), nil
}

// unfinishedCopy is the suffix of a copy that isn't complete. Its prefix makes RemoveUnfinished remove such files.
const unfinishedCopy = ".new-copy-*"

// writeCopy writes and syncs a copy of the database, closes it, and compares it with what was written.
func (s *Store) writeCopy(ctx context.Context, file *os.File) (err error) {
	defer func() { err = errors.Join(err, file.Close()) }()
	written, read := sha256.New(), sha256.New()
	err = s.View(ctx, func(t *Tx) error { return t.tx.Copy(ctx, io.MultiWriter(file, written)) })
	if err == nil {
		err = file.Sync()
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err == nil {
		_, err = io.Copy(read, file)
	}
	if err == nil && !bytes.Equal(written.Sum(nil), read.Sum(nil)) {
		err = errors.New("the copy differs from the database; check the disk")
	}
	return err
}

// checkSpaceForCopy returns InsufficientStorage if a copy would use the reserve.
func (s *Store) checkSpaceForCopy(up *Upgrade) error {
	dir := filepath.Dir(s.db.Path())
	free, err := up.FreeSpace(dir)
	if err != nil {
		return err
	}
	size := uint64(max(s.Size(), 0))
	need := size + up.Reserve
	if need >= size && free > need {
		return nil
	}
	const mb = 1 << 20
	message := fmt.Sprintf("The server keeps a copy of the database when it upgrades it, and there is no free space for it: "+
		"it needs %d MB and %d MB of disk.reserve, and %s has %d MB free.", (size+mb-1)/mb, up.Reserve/mb, dir, free/mb)
	if old := UpgradeFiles(s.db.Path()); len(old) > 0 {
		message += fmt.Sprintf(" %s is from an earlier upgrade; delete it if you don't need it anymore.", strings.Join(old, ", "))
	}
	return &errs.Error{Kind: errs.InsufficientStorage, Message: copyHint(message)}
}

func copyHint(message string) string {
	return message + ` Nothing was changed. Free up disk space, or upgrade without a copy: "deedkeep serve --without-copy".`
}

// UpgradeFiles returns the paths of the files that upgrades of the database at path have left beside it: copies, and
// upgraded databases that a copy has replaced.
func UpgradeFiles(path string) (list []string) {
	entries, _ := os.ReadDir(filepath.Dir(path)) // if this fails, there are none that anyone can use
	for _, e := range entries {
		for _, suffix := range []string{CopySuffix, UpgradedSuffix} {
			if strings.HasPrefix(e.Name(), filepath.Base(path)+suffix) && !strings.HasSuffix(e.Name(), pagecache.CleanMarkSuffix) {
				list = append(list, filepath.Join(filepath.Dir(path), e.Name()))
			}
		}
	}
	return list
}

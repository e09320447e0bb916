// Package vault is the firm's vault: the verbs. Their transactions begin and end
// here, every rule between two nouns is decided here, inside the transaction of
// its write; and here the background work lives: processing, sweep, purge, last use;
// but for the index of words, which app/search keeps.
//
// Promise: when a verb that files a document returns without an error, the bytes
// and their record survive a power cut. Bytes descend first, the record last: a
// crash in between leaves an orphan that the sweep removes, never a record without
// its bytes.
//
// What is deleted goes into the trash first, as good as absent to every reader, and
// comes back as it was until its time is over: an abstract with the documents that
// went along with it, in their order. Then the records are purged, and their bytes
// go with the next sweep unless another record has them, be it in the trash.
//
// The vault is no god: it opens, closes, and holds one small struct per noun.
//
// # The data directory
//
//	data/                 0700, one file system
//	    config.yaml       the settings, where there are any (app/config)
//	    vault.db          records (app/store), 0600
//	    vault.db.clean    while nothing has it open, after a clean stop (app/store, clean.go)
//	    secret.key        what ids and links are made with (app/secret), 0600
//	    blobs/ab/ab12…    documents under their SHA-256 (app/blobstore), read-only
//	    previews/         pictures and text of them (app/blobstore): may be deleted, and comes back (remake.go)
//	    search/           the index of words (app/search): may be deleted
//	    cache/            compiled engines (app/sandbox): may be deleted
//	    tls/              the certificate that the server made itself (app/certificate)
//	    spare             gives its space to a purge on a full disk (spare.go): may be deleted, and comes back
//	    generation        tells an older vault.db that was put back (generation.go)
//	    backup.json       what became of the last backups (backupplan.go)
//	    scrub.json        how far the reading of all documents has come, and what is damaged (scrub.go)
//	    serving.json      whether the last server stopped by itself (serving.go)
//	    restore.json      while a restore is not finished (restore.go)
//	    drill/            while a drill is under way (drill.go)
//	    uploads/          documents that arrive in several requests (app/blobstore, partial.go)
//	    tmp/              what is still arriving; emptied at start
//	    control.sock      while serving (app/control)
//	    control.json      the same on Windows
package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"deedkeep/app/backup/archive"
	"deedkeep/app/blobstore"
	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/sandbox"
	"deedkeep/app/search"
	"deedkeep/app/secret"
	"deedkeep/app/store"
)

// Reader opens documents. In production it is a pool of child processes
// (app/sandbox): the process that holds the database parses no document.
type Reader interface {
	Inspect(ctx context.Context, doc io.ReaderAt, size int64, ext string, lim document.InspectLimits) (document.Report, error)
	Picture(ctx context.Context, r sandbox.Request, page, width int, lim document.ExtractLimits) (document.Image, error)
	Text(ctx context.Context, r sandbox.Request, lim document.ExtractLimits, emit func(page int, text string) error) error
	Sizes(ctx context.Context, r sandbox.Request, lim document.ExtractLimits) ([]document.PageSize, error)
	Marks(ctx context.Context, r sandbox.Request, page int, phrase string, lim document.ExtractLimits) ([][]document.Rect, error)
}

// Settings are the limits and rules of a vault; see config.example.yaml.
type Settings struct {
	FileSize          int64 // bytes
	FilesPerRequest   int
	FilesPerAbstract  int // 0: 2,000
	Inspect           document.InspectLimits
	Extract           document.ExtractLimits
	PreviewSize       int64 // bytes of pictures of pages that are kept
	Rules             model.Rules
	UniqueOrderNumber bool
	DiskReserve       uint64 // bytes; below it nothing is written
	Backup            BackupSettings
	TrashKeep         time.Duration
	Retention         Retention
	Spare             int64         // bytes of the file for a full disk (spare.go); 0: none
	ReplayKeep        time.Duration // how long answers under an Idempotency-Key are kept
	Users             UserRules
	Uploads           UploadSettings
	Search            SearchSettings
	Scrub             ScrubSettings
}

// Options of Open.
type Options struct {
	Dir       string
	Create    bool // make what is missing; else NotFound where there is no vault
	Existing  bool // with Create: make what is missing of a vault that is there, else NotFound
	Settings  Settings
	Reader    Reader
	Now       func() time.Time
	Chance    io.Reader
	Passwords secret.Argon2Params // of their hashes; zero: secret.PasswordCost
	Log       *slog.Logger
	Disk      blobstore.Files // what changes the disk under the documents; nil: the operating system

	restoring bool // by Restore, which alone may open what is half there
}

// Vault is an open data directory. It is safe for many goroutines.
type Vault struct {
	Abstracts *Abstracts
	Orders    *Orders
	Files     *Files
	Uploads   *Uploads
	Folders   *Folders
	Trash     *Trash
	Templates *Templates
	Keys      *Keys
	Backups   *Backups
	Users     *Users
	Sessions  *Sessions
	Events    *Events
	Secrets   *secret.Keys

	dir       string
	set       Settings
	now       func() time.Time
	chance    io.Reader
	log       *slog.Logger
	store     *store.Store
	blobs     *blobstore.Store
	reader    Reader
	derived   *blobstore.Previews
	making    making        // pictures that are being made for readers
	trays     atomic.Uint64 // made so far; each is an owner of its own
	arrivals  arrivals
	storage   storage
	orders    orders
	usage     *usage
	counts    *counts
	notes     *notes
	gatherer  *gatherer
	processor *processor
	remaker   *remaker
	sweeper   *sweeper
	damages   damages
	scrubber  *scrubber
	purger    *purger
	spare     *spare
	index     *search.Indexer
	jobs      *jobs

	stop    context.CancelFunc
	workers sync.WaitGroup
	serving bool // Start was called
}

// ErrNoVault is in the chain of Open's error where there is no vault and none was
// to be made.
var ErrNoVault = errors.New("there is no vault here")

// ErrDamaged is in the chain of Open's error where the database cannot be read.
var ErrDamaged = errors.New("the database is damaged")

// Open opens the vault in a data directory. It returns a *title.Error of kind
// Locked when another process has it.
func Open(ctx context.Context, opts Options) (*Vault, error) {
	dir, err := filepath.Abs(opts.Dir)
	if err != nil {
		return nil, err
	}
	if err := restored(dir, opts.restoring); err != nil {
		return nil, err
	}
	database := filepath.Join(dir, "vault.db")
	if (!opts.Create || opts.Existing) && !Exists(dir) {
		return nil, &errs.Error{Kind: errs.NotFound, Message: fmt.Sprintf("no vault in %s", dir), Err: ErrNoVault}
	}
	if err := survey(dir); err != nil {
		return nil, err
	}
	fixed := false // only to be read, for a command
	if err := private(dir); err != nil {
		if fixed = !opts.Create && !writable(dir); !fixed {
			return nil, fmt.Errorf("data directory: %w", err)
		}
	}
	ring, err := openRing(dir, database, opts.Chance)
	if err != nil {
		return nil, err
	}
	clock := func() time.Time { return opts.Now().UTC().Truncate(time.Microsecond) }
	openStore := store.Open
	if fixed {
		openStore = store.OpenReadOnly
	}
	db, err := openStore(ctx, database, store.Options{Now: clock, Fingerprint: ring.Fingerprint(), Workspace: model.NewWorkspace()})
	if sentence, damaged := store.DescribeDamage(err); damaged {
		return nil, &errs.Error{
			Message: fmt.Sprintf("%s is damaged (%s): restore a backup", database, sentence), Err: errors.Join(ErrDamaged, err),
		}
	}
	if err != nil {
		return nil, err
	}
	// After the lock: opening the blobs empties tmp, which is another's while it serves.
	blobs, err := blobstore.Open(filepath.Join(dir, "blobs"), filepath.Join(dir, "tmp"), blobstore.Options{Files: opts.Disk, Log: opts.Log, KeepTmp: !opts.Create,
		ReadOnly: fixed, Now: clock, VerifiedTTL: opts.Settings.Scrub.VerifiedFor, VerifyOnOpenMax: opts.Settings.Scrub.VerifyFirst})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	previews := blobstore.OpenPreviewsReadOnly(filepath.Join(dir, "previews"), opts.Now)
	if !fixed {
		if previews, err = blobstore.OpenPreviews(filepath.Join(dir, "previews"), opts.Settings.PreviewSize, opts.Now); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	v := &Vault{Secrets: ring, dir: dir, set: opts.Settings, now: clock, chance: opts.Chance, log: opts.Log,
		store: db, blobs: blobs, reader: opts.Reader, derived: previews, stop: func() {}}
	v.furnish(cmp.Or(opts.Passwords, secret.DefaultArgon2Params()))
	v.logReread()
	return v, nil
}

// logReread logs what the store found out about vault.db in memory and on the disk.
func (v *Vault) logReread() {
	r := v.store.CacheCheck()
	if r.LostWrites != nil {
		v.log.Error("the disk failed to write what the last session left in memory; it was dropped, and none of it was acknowledged", "error", r.LostWrites)
	}
	if r.WriteError != nil {
		v.log.Error("the disk failed a synced write to vault.db; the vault is read-only. Check the disk, or copy the data directory to another one", "error", r.WriteError)
	}
	switch {
	case r.SkipReason != "":
		v.log.Warn("vault.db can't be checked against the disk after a stop that was not clean; after a disk error, restart the machine first", "reason", r.SkipReason)
	case !r.Clean:
		v.log.Info("vault.db was read from the disk again after a stop that was not clean", "took", r.Elapsed)
	}
}

// Exists reports whether a vault's database is in a directory, or may be.
func Exists(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "vault.db"))
	return !errors.Is(err, fs.ErrNotExist)
}

// openRing reads the secret, or makes it where there is no database yet: with one,
// a lost secret must be put back, not replaced.
func openRing(dir, database string, chance io.Reader) (*secret.Keys, error) {
	path := filepath.Join(dir, "secret.key")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(database); err == nil {
			return nil, fmt.Errorf(`%s is missing, and every ID and link depends on it; "deedkeep restore latest --from DIR --data FOLDER" restores a backup into another folder: copy secret.key from there`, path)
		}
	}
	ring, _, err := secret.LoadKeys(path, chance)
	return ring, err
}

func (v *Vault) furnish(passwords secret.Argon2Params) {
	v.usage, v.notes, v.counts = &usage{seen: map[uint64]use{}}, newNotes(v), newCounts()
	v.gatherer = &gatherer{v: v}
	v.processor = &processor{v: v, wake: make(chan struct{}, 1), turns: turns{lines: map[string][]uint64{}, hands: map[string]int{}}}
	v.sweeper = &sweeper{v: v, wake: make(chan struct{}, 1)}
	v.purger = &purger{v: v}
	v.spare = &spare{path: filepath.Join(v.dir, spareFile), size: v.set.Spare, chance: v.chance}
	v.scrubber = newScrubber(v)
	v.remaker = &remaker{v: v, wake: make(chan struct{}, 1)}
	v.index = search.New(v.indexing())
	v.Abstracts, v.Orders = &Abstracts{v}, &Orders{v}
	v.Files, v.Folders, v.Trash = &Files{v}, &Folders{v}, &Trash{v}
	v.Uploads = newUploads(v)
	v.Templates, v.Keys = &Templates{v}, &Keys{v}
	v.jobs = newJobs()
	v.Backups = &Backups{v: v, verified: job[archive.VerifyReport]{v: v}}
	v.Users = &Users{v: v, passwords: secret.NewPasswords(v.chance, passwords, v.set.Users.Queue), tries: &tries{seen: map[string][]time.Time{}},
		refused: &refusals{v: v, seen: map[refusedFrom]int{}}, steps: steps{waiting: map[string]step{}}}
	v.Sessions = &Sessions{v: v, seen: map[string]time.Time{}}
	v.Events = &Events{v: v, verified: job[LogReport]{v: v}}
}

// Start begins the background work, which Close ends.
func (v *Vault) Start(sweepEvery time.Duration) {
	v.noteStart()
	ctx, cancel := context.WithCancel(context.Background())
	v.stop = cancel
	work := []func(context.Context){v.processor.run, v.remaker.run, v.gatherer.run, v.Users.run, v.Backups.run, v.Uploads.run, v.index.Run,
		v.scrubber.run, v.scrubber.answer}
	own := v.begin(ctx)
	v.index.Start(own)
	v.spare.fill(v.log)
	if own {
		work = append(work, v.purger.run, func(ctx context.Context) { v.sweeper.run(ctx, sweepEvery) })
	}
	for _, work := range work {
		v.workers.Add(1)
		go func() {
			defer v.workers.Done()
			work(ctx)
		}()
	}
}

// Close ends the background work, writes what was gathered, and closes the files.
func (v *Vault) Close() error {
	v.stop()
	v.Uploads.close()
	v.Backups.close()
	v.jobs.close()
	v.workers.Wait()
	v.index.Close()
	err := errors.Join(v.gatherer.end(), v.Users.end())
	err = errors.Join(err, v.store.Close())
	v.noteStop()
	return err
}

// Dir is the data directory, absolute.
func (v *Vault) Dir() string { return v.dir }

// Ready is nil when the vault takes writes; else why it does not.
func (v *Vault) Ready(ctx context.Context) error {
	if err := v.store.Failure(); err != nil {
		return readOnly(err)
	}
	if err := v.store.CheckFile(); err != nil {
		return err
	}
	if err := v.store.View(ctx, func(*store.Tx) error { return nil }); err != nil {
		return err
	}
	return v.room()
}

// readOnly is the refusal of a vault whose disk failed to sync.
func readOnly(err error) error {
	return &errs.Error{Kind: errs.Unavailable, Message: "The vault is read-only after a failure of its disk; it must be restarted.", Err: err}
}

// room is Full when the disk has less than the reserve.
func (v *Vault) room() error {
	if v.store.ReadOnly() {
		return v.store.Failure()
	}
	if err := v.store.CheckFile(); err != nil {
		return err
	}
	free, err := blobstore.FreeSpace(v.dir)
	if err != nil {
		return fmt.Errorf("free room: %w", err)
	}
	if free < v.set.DiskReserve {
		return &errs.Error{Kind: errs.InsufficientStorage, Message: "The disk is full."}
	}
	return nil
}

// write is change for what makes the vault grow.
func (v *Vault) write(ctx context.Context, actor model.Actor, check, write func(*store.Tx) error) error {
	if err := v.room(); err != nil {
		return err
	}
	return v.change(ctx, actor, check, write)
}

// change is Update in the name of an actor. One with a key or a session is looked at
// once more in the transaction: it may have ended while documents arrived. By itself
// it goes on below the disk's reserve, as what makes room must.
func (v *Vault) change(ctx context.Context, actor model.Actor, check, write func(*store.Tx) error) error {
	return v.store.Update(ctx, func(t *store.Tx) error {
		if err := v.stillMay(t, actor); err != nil || check == nil {
			return err
		}
		return check(t)
	}, write)
}

func (v *Vault) stillMay(t *store.Tx, actor model.Actor) error {
	switch actor.Kind {
	case model.ActorKey:
	case model.ActorUser:
		return v.may(t, actor, model.PermWrite)
	default:
		return nil
	}
	key, err := t.Key(actor.ID)
	if err == nil && !key.Active(v.now()) {
		return errUnauthenticated
	}
	return err
}

func (v *Vault) event(t *store.Tx, at time.Time, actor model.Actor, kind, record string, detail map[string]string) error {
	return t.AddEvent(model.Event{At: at, Actor: actor, Kind: kind, Record: record, Detail: detail})
}

func record(noun string, id uint64) string { return fmt.Sprintf("%s:%d", noun, id) }

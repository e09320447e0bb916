// Package instance opens a data directory and runs everything in it: it creates the
// services in dependency order, starts their background work, and closes them in reverse
// order. Servers and commands use it. It has no rules about records.
//
// # The data directory
//
//	data/                 0700, one file system
//	    config.yaml       the settings, if there are any (app/config)
//	    patterns.yaml     county patterns, if any (app/extract)
//	    vault.db          records (app/store), 0600
//	    vault.db.clean    exists while no process has the database open, after a clean stop (app/kv/boltkv/pagecache)
//	    vault.db.before-…  the database before the last upgrade, removed at the next one (app/store)
//	    vault.db.after-…  the upgraded database that a rollback replaced, removed at the next upgrade
//	    secret.key        the key of IDs and links (app/secret), 0600
//	    blobs/ab/ab12…    documents under their SHA-256 (app/blobstore), read-only
//	    text/ab/ab12…     OCR results of documents (app/blobstore); rebuilt if missing, which takes a long time; in backups
//	    languages/        language files for OCR that an administrator added (app/sandbox)
//	    previews/         page images and texts (app/blobstore): may be deleted, are rebuilt
//	    search/           the search index (app/search): may be deleted
//	    cache/            compiled engines (app/sandbox): may be deleted
//	    tls/              the certificate that the server created (app/certificate)
//	    spare             disk space for a purge on a full disk (app/txn): may be deleted, is created again
//	    generation        detects that an older vault.db was restored (app/vault)
//	    backup.json       the outcome of the last backups (app/backup)
//	    scrub.json        the progress of the scrub, and which documents are damaged (app/integrity)
//	    serving.json      whether the last server stopped cleanly (app/vault)
//	    restore.json      exists while a restore is not finished (app/backup)
//	    drill/            exists during a restore test (app/backup)
//	    uploads/          resumable uploads in progress (app/blobstore)
//	    tmp/              files being received; emptied at start
//	    control.sock      exists while the server runs (app/control)
//	    control.json      the same on Windows
package instance

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

	"deedkeep/app/audit"
	"deedkeep/app/auth"
	"deedkeep/app/backup"
	"deedkeep/app/blob/disk"
	"deedkeep/app/blobstore"
	"deedkeep/app/document"
	"deedkeep/app/encode"
	"deedkeep/app/errs"
	"deedkeep/app/integrity"
	"deedkeep/app/jobs"
	"deedkeep/app/lists"
	"deedkeep/app/model"
	"deedkeep/app/runsheet"
	"deedkeep/app/search"
	"deedkeep/app/secret"
	"deedkeep/app/settings"
	"deedkeep/app/store"
	"deedkeep/app/txn"
	"deedkeep/app/upload"
	"deedkeep/app/vault"
	"deedkeep/app/vault/phrases"
	"deedkeep/app/vault/purge"
)

// Settings contains the limits and rules of an instance (see config.example.yaml).
type Settings struct {
	FileSize               int64 // bytes
	FilesPerRequest        int
	FilesPerAbstract       int // 0: 2,000
	InstrumentsPerAbstract int // 0: 100,000
	Inspect                document.InspectLimits
	Runsheet               runsheet.Limits
	Extract                document.ExtractLimits
	SearchablePages        int   // maximum number of pages of a searchable PDF; 0: 500
	SearchablePerUser      int   // maximum number of searchable PDFs that a user or API key downloads at the same time; 0: 2
	PreviewSize            int64 // maximum total size of stored page images, in bytes
	Rules                  model.Rules
	UniqueOrderNumber      bool
	DiskReserve            uint64 // in bytes; if less disk space is free, nothing is written
	Backup                 backup.Settings
	Spare                  int64         // size of the reserve file for a full disk, in bytes; 0: no file
	IdempotencyPeriod      time.Duration // how long responses to requests with an Idempotency-Key are stored
	Users                  auth.UserRules
	Uploads                upload.Settings
	Search                 search.Settings
	Scrub                  integrity.ScrubSettings
	OCR                    jobs.OCRSettings
}

// Options contains the options of Open.
type Options struct {
	Dir      string
	Create   bool // create whatever is missing; if false and there is no vault, Open returns NotFound
	Existing bool // with Create: if there is no vault, Open still returns NotFound
	Upgrade  bool // migrate a database of an older version; if false, Open returns an error that wraps store.ErrOldSchema
	// WithoutCopy makes the migration skip the copy of the database (see store.Upgrade).
	WithoutCopy bool
	Settings    Settings
	Load        settings.Loader // the settings file and the environment, with what is stored; nil: only what is stored
	Reader      vault.Reader
	OCRReader   jobs.PageReader // nil: pages without text are not read
	Now         func() time.Time
	Rand        io.Reader
	Passwords   secret.Argon2Params // parameters of password hashes; zero: secret.DefaultArgon2Params
	Log         *slog.Logger
	Disk        disk.Files // file operations on documents; nil: the operating system's

	restoring bool // set by Restore, because only Restore may open an incomplete vault
}

// Instance is an open data directory with all its services. It is safe for concurrent
// use.
type Instance struct {
	*txn.DB
	*vault.Vault
	Users      *auth.Users
	Sessions   *auth.Sessions
	Keys       *auth.Keys
	Events     *audit.Events
	Stored     *settings.Service
	Purger     *purge.Purger
	Search     *search.Service
	Lists      *lists.Service
	Phrases    *phrases.Service
	Previews   *jobs.Previews
	Processing *jobs.Processor
	OCR        *jobs.OCR
	Uploads    *upload.Uploads
	Integrity  *integrity.Checker
	Backups    *backup.Backups
	Secrets    *secret.Keys

	settings      Settings
	auth          *auth.Auth
	textRebuilder *jobs.TextRebuilder
	scrubber      *integrity.Scrubber
	example       atomic.Bool // see IsExample

	stop    context.CancelFunc
	workers sync.WaitGroup
}

// ErrNoVault is wrapped in Open's error if there is no vault and Open was not asked to create one.
var ErrNoVault = errors.New("no vault found")

// ErrDamaged is wrapped in Open's error if the database can't be read.
var ErrDamaged = errors.New("the database is damaged")

// Open opens the vault in a data directory. It returns an *errs.Error of kind Locked if
// another process has it open.
func Open(ctx context.Context, opts Options) (*Instance, error) {
	dir, err := filepath.Abs(opts.Dir)
	if err != nil {
		return nil, err
	}
	if err := checkNotRestoring(dir, opts.restoring); err != nil {
		return nil, err
	}
	database := filepath.Join(dir, "vault.db")
	if (!opts.Create || opts.Existing) && !Exists(dir) {
		return nil, &errs.Error{Kind: errs.NotFound, Message: fmt.Sprintf("no deedkeep data in %s", dir), Err: ErrNoVault}
	}
	if err := integrity.CheckDataDir(dir); err != nil {
		return nil, err
	}
	readOnly := false // whether a command opens the vault only to read it
	if err := integrity.CreatePrivateDir(dir); err != nil {
		if readOnly = !opts.Create && integrity.IsReadOnly(dir, err); !readOnly {
			return nil, fmt.Errorf("open data directory: %w", err)
		}
	}
	keys, err := openKeys(dir, database, opts.Rand)
	if err != nil {
		return nil, err
	}
	clock := func() time.Time { return opts.Now().UTC().Truncate(time.Microsecond) }
	opened := opener{Options: opts, dir: dir, keys: keys, clock: clock, readOnly: readOnly}
	db, err := openDatabase(ctx, database, readOnly, store.Options{Now: clock, Fingerprint: keys.Fingerprint(),
		Workspace: model.NewWorkspace(), Version: opts.Settings.Backup.Version, Upgrade: opened.upgrade()})
	if err != nil {
		return nil, err
	}
	in, err := opened.services(db)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	in.logReread()
	if err := in.Stored.Open(ctx); err != nil { // "verify" must be able to open a damaged database
		in.Log.Warn("can't read the settings that were stored on the Settings page", "error", err)
	}
	in.readExample(ctx)
	return in, nil
}

// opener opens the services of a data directory whose database is open.
type opener struct {
	Options
	dir      string // absolute path
	keys     *secret.Keys
	clock    func() time.Time
	readOnly bool
}

// services opens the files beside the database and creates the services.
func (o *opener) services(db *store.Store) (*Instance, error) {
	opts, dir := o.Options, o.dir
	// Open the blob store only after locking the database. Opening it empties tmp, which may belong to a running
	// server.
	blobs, err := blobstore.Open(filepath.Join(dir, "blobs"), filepath.Join(dir, "tmp"),
		blobstore.Options{Files: opts.Disk, Log: opts.Log, KeepTmp: !opts.Create,
			ReadOnly: o.readOnly, Now: o.clock, VerifiedTTL: opts.Settings.Scrub.VerifiedFor, VerifyOnOpenMax: opts.Settings.Scrub.VerifyFirst})
	if err != nil {
		return nil, err
	}
	previews := blobstore.OpenPreviewsReadOnly(filepath.Join(dir, "previews"), opts.Now)
	if !o.readOnly {
		if previews, err = blobstore.OpenPreviews(filepath.Join(dir, "previews"), opts.Settings.PreviewSize, opts.Now); err != nil {
			return nil, err
		}
	}
	in := &Instance{Secrets: o.keys, settings: opts.Settings, stop: func() {}}
	in.DB = txn.NewDB(txn.DB{
		Store: db, Dir: dir, Now: o.clock, Rand: opts.Rand, Log: opts.Log, MinFree: opts.Settings.DiskReserve,
		Version: opts.Settings.Backup.Version,
	}, opts.Settings.Spare)
	in.assemble(opts, blobs, previews, blobstore.NewOCRFiles(filepath.Join(dir, blobstore.OCRDirName)))
	return in, nil
}

// openDatabase opens vault.db. It returns ErrDamaged if the file is damaged.
func openDatabase(ctx context.Context, path string, readOnly bool, opts store.Options) (*store.Store, error) {
	open := store.Open
	if readOnly {
		open = store.OpenReadOnly
	}
	db, err := open(ctx, path, opts)
	if sentence, damaged := store.DescribeDamage(err); damaged {
		return nil, &errs.Error{
			Message: fmt.Sprintf("%s is damaged (%s); restore a backup", path, sentence), Err: errors.Join(ErrDamaged, err),
		}
	}
	return db, err
}

// assemble creates the services in the order of their dependencies.
func (in *Instance) assemble(opts Options, blobs *blobstore.Store, previews *blobstore.Previews, ocrFiles *blobstore.OCRFiles) {
	set := opts.Settings
	in.Events = audit.NewEvents(in.DB)
	in.Stored = settings.New(in.DB, opts.Load, opts.Reader)
	in.SessionLimits, in.RequireTwoFactor, set.Users.KnownAddress = in.Stored.SessionLimits, in.Stored.RequireTwoFactor, in.Stored.KnownAddress
	in.auth = auth.NewAuth(in.DB, in.Secrets, set.Users, cmp.Or(opts.Passwords, secret.DefaultArgon2Params()), in.Events)
	in.Users, in.Sessions, in.Keys = in.auth.Users, in.auth.Sessions, in.auth.Keys
	in.Vault = vault.New(in.DB, vault.Options{
		Settings: vault.Settings{
			MaxFileSize: set.FileSize, MaxFilesPerRequest: set.FilesPerRequest, MaxFilesPerAbstract: set.FilesPerAbstract,
			MaxInstrumentsPerAbstract: set.InstrumentsPerAbstract, ReadsScans: opts.OCRReader != nil,
			InspectLimits: set.Inspect, Runsheet: set.Runsheet, ExtractRules: in.Stored.ExtractRules,
			Rules: set.Rules, UniqueOrderNumber: set.UniqueOrderNumber,
			TrashPeriod: in.Stored.TrashPeriod, Retention: in.retention, IdempotencyPeriod: set.IdempotencyPeriod,
		},
		Secrets: in.Secrets, Events: in.Events, Blobs: blobs, Previews: previews, OCRFiles: ocrFiles,
		Reader: opts.Reader, Zone: in.Stored.Location,
	})
	in.Purger = purge.New(in.Vault)
	in.Search = search.New(in.Vault, set.Search, in.Events)
	in.Phrases = phrases.New(in.Vault)
	in.Lists = lists.New(in.Vault, encode.NewIDCodec(in.Secrets), in.Stored.Location,
		func(ctx context.Context) ([]model.User, error) { return in.Users.List(ctx) })
	in.Previews = jobs.NewPreviews(in.Vault, set.Extract, set.SearchablePages, set.SearchablePerUser, set.Search.Timeout())
	in.Notes.PageSizes = in.Previews.PageSizes
	in.Processing = jobs.NewProcessor(in.Previews)
	set.OCR.Hours.Zone = in.Stored.Location
	in.OCR = jobs.NewOCR(in.Previews, opts.OCRReader, set.OCR)
	in.textRebuilder = &jobs.TextRebuilder{DB: in.DB, Index: in.Search.Index}
	in.Uploads = upload.NewUploads(in.Vault, set.Uploads)
	in.scrubber = integrity.NewScrubber(in.Vault, set.Scrub.Every)
	in.Integrity = &integrity.Checker{DB: in.DB, Vault: in.Vault, Search: in.Search, Scrubber: in.scrubber}
	in.Backups = backup.NewBackups(in.Vault, in.Integrity, in.Secrets, set.Backup)
}

// retention returns the retention settings that are in effect.
func (in *Instance) retention() vault.Retention {
	keep, templates := in.Stored.Retention()
	return vault.Retention{Default: keep, Templates: templates}
}

// logReread logs the result of comparing vault.db in the page cache with the disk when the store was opened.
func (in *Instance) logReread() {
	r := in.Store.AtOpen()
	if r.LostWrites != nil {
		in.Log.Error("the disk failed to write the last changes of the previous session; they were discarded, and none had been confirmed",
			"error", r.LostWrites)
	}
	if r.WriteError != nil {
		in.Log.Error("writing vault.db to the disk failed, so the server is read-only. Check the disk, or copy the data directory to another disk",
			"error", r.WriteError)
	}
	switch {
	case r.SkipReason != "":
		in.Log.Warn("vault.db can't be checked against the disk after an unclean shutdown; after a disk error, restart the machine first",
			"reason", r.SkipReason)
	case !r.Clean:
		in.Log.Info("vault.db was read from disk again after an unclean shutdown", "took", r.Elapsed)
	}
}

// StoredSettings returns the settings that are stored in a data directory. It doesn't open the vault, and returns none if
// there is no vault or it is damaged. The error has kind errs.Locked if another process has the vault open.
func StoredSettings(dir string) (map[string]string, error) {
	path := filepath.Join(dir, "vault.db")
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, nil //nolint:nilerr,nilnil // Open reports the error
	}
	stored, err := store.ReadSettings(path)
	if _, damaged := store.DescribeDamage(err); damaged {
		return nil, nil //nolint:nilnil // the same
	}
	return stored, err
}

// Exists reports whether a directory contains a vault's database. It also reports true if this can't be determined.
func Exists(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "vault.db"))
	return !errors.Is(err, fs.ErrNotExist)
}

// openKeys reads the secret key. If there is no database yet, it creates the key. If only the key is missing, it
// returns an error, because the key must be restored from a backup.
func openKeys(dir, database string, rand io.Reader) (*secret.Keys, error) {
	path := filepath.Join(dir, "secret.key")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(database); err == nil {
			return nil, fmt.Errorf(
				`%s is missing, and all IDs and links depend on it; restore a backup into another folder with "deedkeep restore latest --from DIR --data FOLDER" and copy secret.key from there`, path)
		}
	}
	keys, _, err := secret.LoadKeys(path, rand)
	return keys, err
}

// Start starts the background work, which Close stops. Blobs are swept when Start is called and then every sweepEvery.
func (in *Instance) Start(sweepEvery time.Duration) {
	in.RecordServerStart()
	ctx, cancel := context.WithCancel(context.Background())
	in.stop = cancel
	work := []func(context.Context){in.Processing.Run, in.textRebuilder.Run, in.Events.Run, in.Events.Publish, in.Users.Run, in.Backups.Run,
		in.Uploads.Run, in.Search.Index.Run, in.OCR.Run,
		in.scrubber.Run, in.scrubber.RunQueue}
	ownDatabase := in.StartGeneration(ctx)
	in.Search.Index.Start(ownDatabase)
	in.Reserve.Fill(in.Log)
	if ownDatabase {
		work = append(work, in.Purger.Run, func(ctx context.Context) { in.Sweeper.Run(ctx, sweepEvery) })
	}
	for _, work := range work {
		in.workers.Add(1)
		go func() {
			defer in.workers.Done()
			work(ctx)
		}()
	}
}

// Close stops the background work, writes buffered data, and closes the files.
func (in *Instance) Close() error {
	in.stop()
	in.Uploads.Close()
	in.Tasks.Close()
	in.workers.Wait()
	in.Search.Index.Close()
	err := errors.Join(in.Events.End(), in.Users.End())
	err = errors.Join(err, in.Store.Close())
	in.RecordServerStop()
	return err
}

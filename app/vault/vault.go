// Package vault implements the operations on the records of the vault: orders, abstracts,
// documents, folders, templates, instruments and the other title work, notes, and the trash. Each rule that involves two records is
// checked inside the write transaction.
//
// When an operation that uploads a document returns without an error, the document's
// bytes and its record survive a power failure. The bytes are committed before the record.
// If the server crashes in between, it leaves an orphaned blob, which the sweeper removes,
// but never a record without its bytes.
//
// A deleted record moves to the trash, where normal reads no longer see it. It can be
// restored unchanged. An abstract is restored together with the documents that were
// deleted with it, in the same sequence. When the record expires, it is purged. Its blob
// is swept unless another record, in the trash or not, has the same content.
package vault

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"deedkeep/app/audit"
	"deedkeep/app/blobstore"
	"deedkeep/app/document"
	"deedkeep/app/extract"
	"deedkeep/app/model"
	"deedkeep/app/ocr"
	"deedkeep/app/runsheet"
	"deedkeep/app/sandbox"
	"deedkeep/app/secret"
	"deedkeep/app/txn"
	"deedkeep/app/vault/storage"
)

// Reader opens documents. In production, it is the pool of worker processes in
// app/sandbox, because the process that has the database open must not parse documents.
type Reader interface {
	Inspect(ctx context.Context, doc io.ReaderAt, size int64, ext string, lim document.InspectLimits) (document.Report, error)
	PageImage(ctx context.Context, r sandbox.Request, page, width int, lim document.ExtractLimits) (document.Image, error)
	Text(ctx context.Context, r sandbox.Request, lim document.ExtractLimits, emit func(page int, text string) error) error
	Sizes(ctx context.Context, r sandbox.Request, lim document.ExtractLimits) ([]document.PageSize, error)
	Marks(ctx context.Context, r sandbox.Request, page int, phrase string, words bool, lim document.ExtractLimits) ([][]document.Rect, error)
	Words(ctx context.Context, r sandbox.Request, page int, lim document.ExtractLimits) (ocr.Page, error)
	Runsheet(ctx context.Context, doc io.ReaderAt, size int64, lim runsheet.Limits) (runsheet.Table, error)
	Searchable(ctx context.Context, r sandbox.Request, words io.ReaderAt, wordsSize int64, out io.WriterAt,
		lim document.ExtractLimits) (size int64, err error)
	Assemble(ctx context.Context, r sandbox.Request, parts []sandbox.Part, out io.WriterAt,
		lim document.ExtractLimits) (size int64, err error)
}

// Settings are the limits and rules of a vault; see config.example.yaml.
type Settings struct {
	MaxFileSize               int64 // bytes
	MaxFilesPerRequest        int
	MaxFilesPerAbstract       int  // 0: 2,000
	MaxInstrumentsPerAbstract int  // 0: 100,000; includes the trash
	ReadsScans                bool // pages without text are read by OCR
	InspectLimits             document.InspectLimits
	Runsheet                  runsheet.Limits
	ExtractRules              func() *extract.Rules // with the county patterns that are in effect
	Rules                     model.Rules
	UniqueOrderNumber         bool
	TrashPeriod               func() time.Duration // the setting that is in effect
	Retention                 func() Retention     // the same
	IdempotencyPeriod         time.Duration        // how long the responses to requests with an Idempotency-Key are stored
}

// Vault provides access to the records and documents in a data directory. It is safe for
// concurrent use.
type Vault struct {
	*txn.DB
	*storage.Storage
	Abstracts   *Abstracts
	Orders      *Orders
	Instruments *Instruments
	TitleWork   *TitleWork
	Notes       *Notes
	Files       *Files
	Folders     *Folders
	Trash       *Trash
	Templates   *Templates

	Settings      Settings
	secrets       *secret.Keys
	events        *audit.Events
	zone          func() *time.Location
	Reader        Reader
	stagedUploads atomic.Uint64 // number of staged uploads so far; makes owner names unique
	folderOrders  folderOrderCache
	UploadCounts  uploadCounts
}

// Options configures New.
type Options struct {
	Settings Settings
	Secrets  *secret.Keys
	Events   *audit.Events
	Blobs    *blobstore.Store
	Previews *blobstore.Previews
	OCRFiles *blobstore.OCRFiles
	Reader   Reader
	Zone     func() *time.Location // the office's time zone
}

// localNow returns the current time in the office's time zone.
func (v *Vault) localNow() time.Time { return v.Now().In(v.zone()) }

// New returns the vault for an open database.
func New(db *txn.DB, opts Options) *Vault {
	v := &Vault{
		DB: db, Settings: opts.Settings, secrets: opts.Secrets, events: opts.Events, zone: opts.Zone,
		Storage: storage.New(db, opts.Blobs, opts.Previews, opts.OCRFiles), Reader: opts.Reader,
	}
	v.Abstracts, v.Orders = &Abstracts{v}, &Orders{v}
	v.Instruments, v.TitleWork, v.Notes = &Instruments{v: v}, &TitleWork{v}, &Notes{v: v}
	v.Files, v.Folders, v.Trash = &Files{v}, &Folders{v}, &Trash{v}
	v.Templates = &Templates{v}
	db.RecordName, db.Describer = v.loggedName, describer
	return v
}

// uploadCounts counts uploaded and rejected documents since the vault was opened.
type uploadCounts struct {
	Uploaded, UploadedBytes, Rejected atomic.Uint64
}

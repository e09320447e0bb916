package instance

import (
	"context"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"deedkeep/app/blobstore"
	"deedkeep/app/errs"
	"deedkeep/app/integrity"
	"deedkeep/app/store"
)

// Status contains record counts and the state of the server.
type Status struct {
	Abstracts, Orders, Files, Folders uint64
	Trashed                           uint64    // records in the trash, not counting documents trashed with their abstract
	Bytes                             uint64    // total size of all documents, including duplicates
	Queue                             uint64    // documents waiting for processing
	Failed                            uint64    // documents whose processing failed
	OCRFiles, OCRPages                uint64    // documents with pages that wait for OCR, and the number of these pages
	OCREnabled                        bool      // whether pages are read; always false if no server is running
	OCRPausedUntil                    time.Time // when the hours begin in which pages are read; zero if pages are read now or never
	DiskFree, DiskReserve             uint64
	ReadOnly                          bool
	Denied                            error  // why nothing can be added now (see Ready); nil: uploads are accepted
	Room                              Room   // size of the documents that are still accepted
	Damaged                           uint64 // documents known to be damaged, with duplicates
	Scrub                             integrity.ScrubState
}

// Status returns the record counts, which are stored in the database, and the free disk
// space.
func (in *Instance) Status(ctx context.Context) (Status, error) {
	s := Status{DiskReserve: in.MinFree, ReadOnly: in.Store.Failure() != nil,
		Scrub: in.scrubber.State(), OCREnabled: in.OCR.Enabled(),
		OCRPausedUntil: in.OCR.PausedUntil()}
	err := in.Store.View(ctx, func(t *store.Tx) error {
		s.Abstracts, s.Orders = t.Count(store.CountAbstracts), t.Count(store.CountOrders)
		s.Files, s.Folders, s.Trashed = t.Count(store.CountFiles), t.Count(store.CountFolders), t.Count(store.CountTrashed)
		s.Bytes, s.Queue, s.Failed = t.Count(store.CountBytes), t.Count(store.CountTasks), t.Count(store.CountFailed)
		s.OCRFiles, s.OCRPages = t.Count(store.CountOCRFiles), t.Count(store.CountOCRPages)
		s.Damaged = uint64(len(in.DamagedRecordsIn(t)))
		return nil
	})
	if err != nil {
		return s, err
	}
	s.Denied = in.Ready(ctx)
	s.DiskFree, err = blobstore.FreeSpace(in.Dir)
	s.Room = in.room(s.Denied, s.DiskFree)
	if s.Denied != nil {
		err = nil // the data directory is missing; Denied contains that error
	}
	return s, err
}

// UpgradeFiles returns the copies and the upgraded databases that upgrades have left. One that is being removed is left out.
func (in *Instance) UpgradeFiles() (list []fs.FileInfo) {
	for _, path := range store.UpgradeFiles(filepath.Join(in.Dir, "vault.db")) {
		if info, err := os.Stat(path); err == nil {
			list = append(list, info)
		}
	}
	return list
}

// Room says which changes are possible although the disk is full or nearly full.
type Room struct {
	Document uint64 // maximum size of a document that is accepted; 0 if none is
	Limited  bool   // whether Document is less than the setting because the disk is nearly full
	Full     bool   // whether nothing can be added because the disk is full
}

func (in *Instance) room(denied error, free uint64) Room {
	if denied != nil {
		return Room{Full: errs.KindOf(denied) == errs.InsufficientStorage}
	}
	largest := uint64(max(in.settings.FileSize, 0))
	above := free - min(free, in.MinFree)
	return Room{Document: min(above, largest), Limited: above < largest}
}

// StillWorks says in a sentence what works although the disk is full or nearly full. It returns ""
// if the disk has room. format formats a number of bytes.
func (r Room) StillWorks(format func(bytes int64) string) string {
	switch {
	case r.Full:
		return "Reading, signing in, deleting, and managing users and API keys still work."
	case r.Limited:
		return "Documents of up to " + format(int64(min(r.Document, math.MaxInt64))) + " are still accepted. Everything else works."
	}
	return ""
}

// Readiness returns the error of Healthy, and the room for new documents.
func (in *Instance) Readiness(ctx context.Context) (Room, error) {
	if err := in.Healthy(ctx); err != nil {
		return in.room(err, 0), err
	}
	free, err := blobstore.FreeSpace(in.Dir)
	return in.room(err, free), err
}

// Healthy returns the error of Ready. If Ready succeeds, it returns an error if writes to
// the disk have repeatedly failed. Uploads are still accepted then, and the first
// successful one clears the error.
func (in *Instance) Healthy(ctx context.Context) error {
	if err := in.Ready(ctx); err != nil {
		return err
	}
	return in.StorageHealth.Err(in.Now())
}

// Health contains the most important information for an administrator.
type Health struct {
	Status  Status
	Backup  BackupHealth
	LowDisk bool // there is little free space above the reserve
}

// Health reads the record counts, the state of the backups, and the free disk space. It
// is cheap to call.
func (in *Instance) Health(ctx context.Context) (h Health, err error) {
	if h.Status, err = in.Status(ctx); err != nil {
		return h, err
	}
	h.LowDisk = h.Status.DiskFree < h.Status.DiskReserve+lowDiskFiles*uint64(max(in.settings.FileSize, 0))
	h.Backup = in.backupHealth(h.Status)
	return h, nil
}

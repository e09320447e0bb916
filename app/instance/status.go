package instance

import (
	"context"

	"deedkeep/app/blobstore"
	"deedkeep/app/integrity"
	"deedkeep/app/store"
)

// Status is how much is stored, and the state of the server.
type Status struct {
	Abstracts, Orders, Files, Folders uint64
	Trashed                           uint64 // records in the trash, without the documents of abstracts in it
	Bytes                             uint64 // size of all files, duplicates included
	Queue                             uint64 // files that wait for processing
	Failed                            uint64 // files whose processing failed
	DiskFree, DiskReserve             uint64
	ReadOnly                          bool
	Denied                            error  // why nothing can be added now (see Ready); nil: uploads are possible
	Damaged                           uint64 // documents known to be damaged, duplicates counted once
	Scrub                             integrity.ScrubState
}

// Status returns the counters, which are stored with the records, and the free disk space.
func (in *Instance) Status(ctx context.Context) (Status, error) {
	s := Status{DiskReserve: in.MinFree, ReadOnly: in.Store.Failure() != nil, Damaged: uint64(in.DamagedBlobs.Count()),
		Scrub: in.scrubber.State()}
	err := in.Store.View(ctx, func(t *store.Tx) error {
		s.Abstracts, s.Orders = t.Count(store.CountAbstracts), t.Count(store.CountOrders)
		s.Files, s.Folders, s.Trashed = t.Count(store.CountFiles), t.Count(store.CountFolders), t.Count(store.CountTrashed)
		s.Bytes, s.Queue, s.Failed = t.Count(store.CountBytes), t.Count(store.CountTasks), t.Count(store.CountFailed)
		return nil
	})
	if err != nil {
		return s, err
	}
	s.Denied = in.Ready(ctx)
	s.DiskFree, err = blobstore.FreeSpace(in.Dir)
	if s.Denied != nil {
		err = nil // the data directory is gone, and Denied says so
	}
	return s, err
}

// Healthy returns the error of Ready, or else an error while the disk keeps failing.
// Uploads are still accepted then, and the first one that succeeds clears the error.
func (in *Instance) Healthy(ctx context.Context) error {
	if err := in.Ready(ctx); err != nil {
		return err
	}
	return in.StorageHealth.Err(in.Now())
}

// Health is what an administrator must see first.
type Health struct {
	Status  Status
	Backup  BackupHealth
	LowDisk bool // there is little free space above the reserve
}

// Health reads the counters, the state of the backups, and the free disk space, which is
// cheap.
func (in *Instance) Health(ctx context.Context) (h Health, err error) {
	if h.Status, err = in.Status(ctx); err != nil {
		return h, err
	}
	h.LowDisk = in.lowDisk(h.Status)
	h.Backup, err = in.backupHealth(h.Status)
	return h, err
}

func (in *Instance) lowDisk(s Status) bool {
	return s.DiskFree < s.DiskReserve+lowDiskFiles*uint64(max(in.settings.FileSize, 0))
}

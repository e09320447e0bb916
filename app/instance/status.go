package instance

import (
	"context"

	"deedkeep/app/blobstore"
	"deedkeep/app/integrity"
	"deedkeep/app/store"
)

// Status is how much is stored, and how it goes.
type Status struct {
	Abstracts, Orders, Files, Folders uint64
	Trashed                           uint64 // records in the trash, without the documents of abstracts in it
	Bytes                             uint64 // of all files, each as often as it is filed
	Queue                             uint64 // files that wait for their processing
	Failed                            uint64 // files whose processing failed
	DiskFree, DiskReserve             uint64
	ReadOnly                          bool
	Denied                            error  // why no document or record can be added now (Ready); nil: they can
	Damaged                           uint64 // documents whose stored bytes are known to be damaged, of equal ones one
	Scrub                             integrity.ScrubState
}

// Status reads the counters, which are kept with the records.
func (in *Instance) Status(ctx context.Context) (Status, error) {
	s := Status{DiskReserve: in.MinFree, ReadOnly: in.Store.Failure() != nil, Damaged: uint64(in.DamagedBlobs.Count()), Scrub: in.scrubber.State()}
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
		err = nil // the data directory is gone, which Denied says
	}
	return s, err
}

// Healthy is Ready for a monitor: it is also an error while the disk keeps failing. An
// upload is tried all the same, and ends that error when it succeeds.
func (in *Instance) Healthy(ctx context.Context) error {
	if err := in.Ready(ctx); err != nil {
		return err
	}
	return in.StorageHealth.Err(in.Now())
}

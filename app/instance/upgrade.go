package instance

import (
	"log/slog"

	"deedkeep/app/blobstore"
	"deedkeep/app/store"
)

// upgrade returns how a database of an older version is migrated, or nil if it isn't.
func (o *opener) upgrade() *store.Upgrade {
	switch {
	case !o.Upgrade:
		return nil
	case o.restoring: // the backup has the state before the migration
		return &store.Upgrade{Log: slog.New(slog.DiscardHandler)}
	}
	return &store.Upgrade{Copy: !o.WithoutCopy, Reserve: o.Settings.DiskReserve, FreeSpace: blobstore.FreeSpace, Log: o.Log}
}
